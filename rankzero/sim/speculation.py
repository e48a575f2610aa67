"""A simulator of speculative decoding: how many drafted tokens are accepted, given how predictable the text is.

The draft would predict each token of a text either right or wrong. A round accepts up to ``draft_length`` right tokens
and adds one from the target model: in place of the first wrong one, or after the last. A wrong token always ends its
round. So the text can be cut after its wrong tokens into independent pieces, which NumPy processes all at once.
:func:`round_by_round` simulates the same model token by token; it is slow, and serves as a reference in tests.

>>> simulate(1.0, draft_length=4, tokens=1000).tokens_per_round
5.0
>>> simulate(0.0, draft_length=4, tokens=1000).tokens_per_round
1.0

Costs are in units of one decode step of the target model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from rankzero import checks

#: Number of gaps (runs of right tokens) drawn at a time: few enough to stay in the processor's cache.
BLOCK = 1 << 15
#: Above this mean length, gaps are drawn in double precision.
LONG_GAP = 1e4


@dataclass(frozen=True)
class Passages:
    """A text with clusters of hard tokens: easy and hard passages alternate, and each ends with a wrong token.

    Attributes:
        easy: acceptance of a token in an easy passage, below 1.
        hard: acceptance of a token in a hard passage, below 1.
        share: fraction of the tokens that are in hard passages, in (0, 1).
        length: mean number of tokens in a hard passage.

    Raises:
        ValueError: a passage would be too short to end with a wrong token.
    """

    easy: float
    hard: float
    share: float
    length: float

    def __post_init__(self) -> None:
        checks.require(0 <= self.easy < 1 and 0 <= self.hard < 1, "be in [0, 1)", easy=self.easy, hard=self.hard)
        checks.require(0 < self.share < 1, "be in (0, 1)", share=self.share)
        if min(self.wrong) < 1 - 1e-9:
            raise ValueError(
                f"length must be such that passages hold a wrong token, got {self.length}: easy and hard ones would "
                f"hold {self.wrong[0]:.3g} and {self.wrong[1]:.3g} on average"
            )

    @property
    def acceptance(self) -> float:
        """Mean acceptance over the tokens of the text."""
        return self.share * self.hard + (1 - self.share) * self.easy

    @property
    def wrong(self) -> tuple[float, float]:
        """Mean number of wrong tokens in an easy and in a hard passage."""
        easy = self.length * (1 - self.share) / self.share
        return easy * (1 - self.easy), self.length * (1 - self.hard)


@dataclass(frozen=True)
class Rounds:
    """The result of a simulation.

    Attributes:
        counts: the number of rounds that accepted 0, 1, ..., ``draft_length`` drafted tokens.
    """

    counts: tuple[int, ...]

    @property
    def draft_length(self) -> int:
        """Tokens drafted in each round."""
        return len(self.counts) - 1

    @property
    def rounds(self) -> int:
        """Number of rounds; the target runs once in each."""
        return sum(self.counts)

    @property
    def accepted(self) -> int:
        """Number of drafted tokens that were accepted."""
        return sum(number * count for number, count in enumerate(self.counts))

    @property
    def tokens(self) -> int:
        """Number of tokens produced: the accepted ones, and one from the target in each round."""
        return self.accepted + self.rounds

    @property
    def tokens_per_round(self) -> float:
        """Mean number of tokens per round."""
        return self.tokens / self.rounds if self.rounds else 0.0

    @property
    def acceptance(self) -> float:
        """Accepted tokens divided by examined ones; tokens drafted after a rejected one are not examined."""
        examined = self.accepted + sum(self.counts[:-1])
        return self.accepted / examined if examined else 0.0

    def time(self, draft_cost: float, verify_cost: float = 1.0) -> float:
        """Time of all rounds; each pays for ``draft_length`` steps of the draft model, whether accepted or not."""
        return self.rounds * (self.draft_length * draft_cost + verify_cost)

    def speedup(self, draft_cost: float, verify_cost: float = 1.0) -> float:
        """How many times as fast as decoding with one step of the target per token."""
        time = self.time(draft_cost, verify_cost)
        return self.tokens / time if time else 0.0


def simulate(acceptance: float | Passages, draft_length: int, tokens: int, seed: int = 0) -> Rounds:
    """Simulate the rounds over a text; a last round that the end of the text would cut short is left out.

    Args:
        acceptance: probability that a drafted token is accepted, independent of the others; or easy and hard passages.
        draft_length: tokens drafted in each round; not negative.
        tokens: length of the text; at least 1.
        seed: seed of the random numbers.

    Source: Leviathan, Kalman and Matias (2023), arXiv:2211.17192.
    """
    _check(acceptance, draft_length, tokens)
    if acceptance == 1:
        return _rounds(np.zeros(1, np.int64), tokens, draft_length)
    histogram, left = np.zeros(1, np.int64), tokens
    for gaps in _gaps(acceptance, tokens, np.random.default_rng(seed)):
        used = int(gaps.sum(dtype=np.int64)) + len(gaps)
        if used <= left:
            histogram, left = _added(histogram, gaps), left - used
            continue
        ends = np.cumsum(gaps, dtype=np.int64) + np.arange(1, len(gaps) + 1)
        inside = int(np.searchsorted(ends, left, side="right"))
        rest = left - int(ends[inside - 1]) if inside else left
        return _rounds(_added(histogram, gaps[:inside]), rest, draft_length)
    raise AssertionError("gaps never end")


def _added(histogram: np.ndarray, gaps: np.ndarray) -> np.ndarray:
    """The histogram of gap lengths, with these gaps added."""
    new = np.bincount(gaps, minlength=len(histogram))
    new[: len(histogram)] += histogram
    return new


def _rounds(histogram: np.ndarray, rest: int, draft_length: int) -> Rounds:
    """The rounds over a text, from the histogram of its gaps and the number of right tokens after the last wrong one.

    A gap consists of full rounds and then a round that ends with the wrong token, which is either rejected or, if the
    round was full, not drafted at all.
    """
    counts = [0] * (draft_length + 1)
    for gap in np.flatnonzero(histogram).tolist():
        full, partly = divmod(gap, draft_length + 1)
        counts[draft_length] += full * int(histogram[gap])
        counts[partly] += int(histogram[gap])
    counts[draft_length] += rest // (draft_length + 1)
    return Rounds(tuple(counts))


def _gaps(acceptance: float | Passages, most: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Random numbers of right tokens in a row, at most ``most`` each, in an endless sequence of blocks.

    These numbers follow a geometric distribution. Each is drawn as the integer part of an exponential number, since
    both are at least n with probability ``acceptance ** n``.
    """
    easiest = acceptance.easy if isinstance(acceptance, Passages) else acceptance
    kind: Any = np.float32 if _scale(easiest) < LONG_GAP else np.float64
    while True:
        count, scales = _passages(acceptance, rng) if isinstance(acceptance, Passages) else (BLOCK, _scale(acceptance))
        gaps = rng.random(count, dtype=kind)
        np.log(np.subtract(1, gaps, out=gaps), out=gaps)
        gaps *= np.negative(scales, dtype=kind)
        yield np.minimum(gaps, most, out=gaps).astype(np.int32 if most < 2**30 else np.int64)


def _scale(acceptance: float) -> float:
    """Mean of the exponential distribution behind the gaps."""
    return -1 / math.log(acceptance) if acceptance else 0.0


def _passages(text: Passages, rng: np.random.Generator) -> tuple[int, np.ndarray]:
    """A block of complete passages, easy and hard alternating: the number of gaps, and the scale of each."""
    pairs = int(BLOCK / sum(text.wrong)) + 1
    runs = np.stack([rng.geometric(min(1.0, 1 / wrong), pairs) for wrong in text.wrong], axis=1).ravel()
    scales = np.repeat(np.tile(np.array([_scale(text.easy), _scale(text.hard)], np.float32), pairs), runs)
    return len(scales), scales


def round_by_round(acceptance: float | Passages, draft_length: int, tokens: int, seed: int = 0) -> Rounds:
    """The same model in a plain loop over tokens: a slow reference.

    Args:
        acceptance: as in :func:`simulate`.
        draft_length: tokens drafted in each round; not negative.
        tokens: length of the text; at least 1.
        seed: seed of the random numbers; they differ from those of :func:`simulate`.
    """
    _check(acceptance, draft_length, tokens)
    rng = Random(seed)
    verdicts = (
        _verdicts_in_passages(acceptance, rng) if isinstance(acceptance, Passages) else _verdicts(acceptance, rng)
    )
    counts, done = [0] * (draft_length + 1), 0
    while True:
        accepted = 0
        for _ in range(draft_length):
            if not next(verdicts):
                break
            accepted += 1
        else:
            next(verdicts)  # the target's own token: what the draft would have predicted does not matter
        done += accepted + 1
        if done > tokens:
            return Rounds(tuple(counts))
        counts[accepted] += 1


def _verdicts(acceptance: float, rng: Random) -> Iterator[bool]:
    """Whether the draft is right, token by token."""
    draw = rng.random
    while True:
        yield draw() < acceptance


def _verdicts_in_passages(text: Passages, rng: Random) -> Iterator[bool]:
    """The same in a text where easy and hard passages alternate; a passage can end only after a wrong token."""
    draw, ends = rng.random, [1 / wrong for wrong in text.wrong]
    accepts = (text.easy, text.hard)
    hard = False
    while True:
        right = draw() < accepts[hard]
        yield right
        if not right and draw() < ends[hard]:
            hard = not hard


def _check(acceptance: float | Passages, draft_length: int, tokens: int) -> None:
    if not isinstance(acceptance, Passages):
        checks.between(0, 1, acceptance=acceptance)
    checks.count(0, draft_length=draft_length)
    checks.count(tokens=tokens)
