"""Rounds of speculative decoding, all at once: how many drafted tokens are accepted, given how easy the text is.

Each token of a text is one that the draft would get right, or not. A round takes up to ``draft_length`` right ones and
one more from the target: in place of the first wrong one, or after the last. Whatever a round took, after a wrong token
a new round begins. So a text is cut at its wrong tokens, the pieces do not know of each other, and NumPy plays all of
them together. :func:`round_by_round` plays the same model token after token; it is slow, and there to be compared with.

>>> simulate(1.0, draft_length=4, tokens=1000).tokens_per_round
5.0
>>> simulate(0.0, draft_length=4, tokens=1000).tokens_per_round
1.0

Costs are in units of one decode step of the target.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

#: Gaps drawn at a time: few enough to stay near the processor.
BLOCK = 1 << 15
#: Above this mean number of right tokens in a row, gaps are drawn in double precision.
LONG = 1e4


@dataclass(frozen=True)
class Passages:
    """A text whose hard spots come together: an easy passage, a hard one, and so on. Each ends with a wrong token.

    Attributes:
        easy: acceptance of a token in an easy passage, below 1.
        hard: acceptance of a token in a hard one, below 1.
        share: of the tokens that stand in hard passages, in (0, 1).
        length: mean tokens of a hard passage.

    Raises:
        ValueError: a value is outside its range, or a passage would be too short to end with a wrong token.
    """

    easy: float
    hard: float
    share: float
    length: float

    def __post_init__(self) -> None:
        for name in ("easy", "hard"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be in [0, 1), got {getattr(self, name)}")
        if not 0 < self.share < 1:
            raise ValueError(f"share must be in (0, 1), got {self.share}")
        if min(self.wrong) < 1 - 1e-9:
            raise ValueError(
                f"length must be such that passages hold a wrong token, got {self.length}: easy and hard ones would "
                f"hold {self.wrong[0]:.3g} and {self.wrong[1]:.3g} on average"
            )

    @property
    def acceptance(self) -> float:
        """Mean over the tokens of the text."""
        return self.share * self.hard + (1 - self.share) * self.easy

    @property
    def wrong(self) -> tuple[float, float]:
        """Mean wrong tokens of an easy and of a hard passage."""
        easy = self.length * (1 - self.share) / self.share
        return easy * (1 - self.easy), self.length * (1 - self.hard)


@dataclass(frozen=True)
class Rounds:
    """What became of some rounds.

    Attributes:
        counts: how many rounds accepted 0, 1, ..., ``draft_length`` drafted tokens.
    """

    counts: tuple[int, ...]

    @property
    def draft_length(self) -> int:
        """Tokens drafted in each round."""
        return len(self.counts) - 1

    @property
    def rounds(self) -> int:
        """Rounds; the target runs once in each."""
        return sum(self.counts)

    @property
    def accepted(self) -> int:
        """Drafted tokens that were accepted."""
        return sum(number * count for number, count in enumerate(self.counts))

    @property
    def tokens(self) -> int:
        """Tokens given out: the accepted ones, and one of the target in each round."""
        return self.accepted + self.rounds

    @property
    def tokens_per_round(self) -> float:
        """Mean tokens of a round."""
        return self.tokens / self.rounds if self.rounds else 0.0

    @property
    def acceptance(self) -> float:
        """Accepted over examined: what stands behind a rejected token is not looked at."""
        examined = self.accepted + sum(self.counts[:-1])
        return self.accepted / examined if examined else 0.0

    def time(self, draft_cost: float, verify_cost: float = 1.0) -> float:
        """Time of all rounds: every one pays for ``draft_length`` steps of the draft, accepted or not."""
        return self.rounds * (self.draft_length * draft_cost + verify_cost)

    def speedup(self, draft_cost: float, verify_cost: float = 1.0) -> float:
        """Tokens over time: how many times as fast as one step of the target for each token."""
        time = self.time(draft_cost, verify_cost)
        return self.tokens / time if time else 0.0


def simulate(acceptance: float | Passages, draft_length: int, tokens: int, seed: int = 0) -> Rounds:
    """Rounds over a text of ``tokens`` tokens; a last round that the end of the text would cut is left out.

    Args:
        acceptance: probability that a token of the draft is accepted, each on its own; or easy and hard passages.
        draft_length: tokens drafted in each round; not negative.
        tokens: of the text; at least 1.
        seed: of the random numbers.

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.

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
    """How often each gap came, with these."""
    new = np.bincount(gaps, minlength=len(histogram))
    new[: len(histogram)] += histogram
    return new


def _rounds(histogram: np.ndarray, rest: int, draft_length: int) -> Rounds:
    """Rounds over a text that is given by the right tokens before each wrong one, and after the last.

    A gap is full rounds, then one that ends with the wrong token, be it rejected or, in a full round, never drafted.
    """
    counts = [0] * (draft_length + 1)
    for gap in np.flatnonzero(histogram).tolist():
        full, partly = divmod(gap, draft_length + 1)
        counts[draft_length] += full * int(histogram[gap])
        counts[partly] += int(histogram[gap])
    counts[draft_length] += rest // (draft_length + 1)
    return Rounds(tuple(counts))


def _gaps(acceptance: float | Passages, most: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Right tokens in a row, again and again, a block at a time; none is above ``most``.

    A geometric number is the whole part of an exponential one: both are at least n with ``acceptance`` to the n-th.
    """
    easiest = acceptance.easy if isinstance(acceptance, Passages) else acceptance
    kind: Any = np.float32 if _scale(easiest) < LONG else np.float64
    while True:
        count, scales = _passages(acceptance, rng) if isinstance(acceptance, Passages) else (BLOCK, _scale(acceptance))
        gaps = rng.random(count, dtype=kind)
        np.log(np.subtract(1, gaps, out=gaps), out=gaps)
        gaps *= np.negative(scales, dtype=kind)
        yield np.minimum(gaps, most, out=gaps).astype(np.int32 if most < 2**30 else np.int64)


def _scale(acceptance: float) -> float:
    """Mean of the exponential number."""
    return -1 / math.log(acceptance) if acceptance else 0.0


def _passages(text: Passages, rng: np.random.Generator) -> tuple[int, np.ndarray]:
    """A block of whole passages, easy and hard in turn: how many gaps, and the scale of each."""
    pairs = int(BLOCK / sum(text.wrong)) + 1
    runs = np.stack([rng.geometric(min(1.0, 1 / wrong), pairs) for wrong in text.wrong], axis=1).ravel()
    scales = np.repeat(np.tile(np.array([_scale(text.easy), _scale(text.hard)], np.float32), pairs), runs)
    return len(scales), scales


def round_by_round(acceptance: float | Passages, draft_length: int, tokens: int, seed: int = 0) -> Rounds:
    """The same model in a plain loop, verdict by verdict: slow.

    Args:
        acceptance: as in :func:`simulate`.
        draft_length: tokens drafted in each round; not negative.
        tokens: of the text, as in :func:`simulate`.
        seed: of the random numbers, which are others than those of :func:`simulate`.
    """
    _check(acceptance, draft_length, tokens)
    rng = Random(seed)
    verdicts = _mixed(acceptance, rng) if isinstance(acceptance, Passages) else _alike(acceptance, rng)
    counts, done = [0] * (draft_length + 1), 0
    while True:
        accepted = 0
        for _ in range(draft_length):
            if not next(verdicts):
                break
            accepted += 1
        else:
            next(verdicts)  # the target's own token: nobody asks what the draft would have said
        done += accepted + 1
        if done > tokens:
            return Rounds(tuple(counts))
        counts[accepted] += 1


def _alike(acceptance: float, rng: Random) -> Iterator[bool]:
    """Whether the draft is right, token by token."""
    draw = rng.random
    while True:
        yield draw() < acceptance


def _mixed(text: Passages, rng: Random) -> Iterator[bool]:
    """The same where easy and hard passages take turns, which they do after wrong tokens alone."""
    draw, ends = rng.random, [1 / wrong for wrong in text.wrong]
    accepts = (text.easy, text.hard)
    hard = False
    while True:
        right = draw() < accepts[hard]
        yield right
        if not right and draw() < ends[hard]:
            hard = not hard


def _check(acceptance: float | Passages, draft_length: int, tokens: int) -> None:
    if not isinstance(acceptance, Passages) and not 0 <= acceptance <= 1:
        raise ValueError(f"acceptance must be in [0, 1], got {acceptance}")
    if draft_length < 0:
        raise ValueError(f"draft_length must not be negative, got {draft_length}")
    if tokens < 1:
        raise ValueError(f"tokens must be at least 1, got {tokens}")
