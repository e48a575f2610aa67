"""Speculation on real models: a small target, a smaller draft, and caches that drop what was rejected.

>>> pair = tiny_pair()  # doctest: +SKIP
>>> run = generate(pair, ByteTokenizer().encode("Alice was "), 60, draft_length=4)  # doctest: +SKIP
>>> run.tokens_per_round, run.draft_passes, run.target_passes  # doctest: +SKIP
"""

from __future__ import annotations

import functools
import gzip
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

import torch

from rankzero.tiny import GPT, ByteTokenizer, GPTConfig, KVCache, bundled_text, one_thread, train, weights
from solutions.ch11.speculative import speculative_step

from .speculation_law import Law, Step

#: Shapes of the two models, with bytes as tokens, and the steps of their training.
TARGET = GPTConfig(vocab=257, layers=2, heads=4, head_dim=16)
DRAFT = GPTConfig(vocab=257, layers=1, heads=2, head_dim=16)
STEPS, DRAFT_STEPS = 100, 30
#: Both with these steps, as ``python benchmarks/tiny_pair.py --store`` trains and writes them.
STORED = Path(__file__).parent / "data" / "tiny_pair.json.gz"

#: The fields of a run that hold one entry for each token or round.
ROWS = ("tokens", "emitted", "drafted")


@dataclass(frozen=True)
class Pair:
    """A target and a draft with one vocabulary, and the temperature that both are sampled at."""

    target: GPT
    draft: GPT
    temperature: float = 1.0


@functools.cache
def tiny_pair(draft_steps: int = DRAFT_STEPS, steps: int = STEPS, temperature: float = 1.0) -> Pair:
    """Both trained on the bundled text, bytes as tokens. Models of the usual steps are stored, others trained."""
    target = stored_pair().target if steps == STEPS else trained(TARGET, steps, 0)
    draft = stored_pair().draft if draft_steps == DRAFT_STEPS else trained(DRAFT, draft_steps, 1)
    return Pair(target, draft, temperature)


@functools.cache
def trained(config: GPTConfig, steps: int, seed: int) -> GPT:
    """A model that is trained now, once in a process: some seconds for a hundred steps; frozen."""
    return train(steps=steps, seed=seed, config=config).eval().requires_grad_(False)


def store(pair: Pair, file: Path = STORED, made_on: str = "") -> None:
    """Store the weights of a pair of these shapes where :func:`tiny_pair` finds them."""
    texts = {
        role: {name: weights.as_text(held) for name, held in model.state_dict().items()}
        for role, model in (("target", pair.target), ("draft", pair.draft))
    }
    told = {"command": "python benchmarks/tiny_pair.py --store", "made on": made_on, "float32 in base64": texts}
    file.write_bytes(gzip.compress(json.dumps(told).encode(), mtime=0))


@functools.cache
def stored_pair(file: Path = STORED) -> Pair:
    """The pair that :func:`store` has written; frozen."""
    texts = json.loads(gzip.decompress(file.read_bytes()))["float32 in base64"]
    return Pair(_filled(GPT(TARGET), texts["target"]), _filled(GPT(DRAFT), texts["draft"]))


def _filled(model: GPT, texts: Mapping[str, str]) -> GPT:
    with torch.no_grad():
        for name, held in model.named_parameters():
            held.copy_(weights.from_text(texts[name], held.shape))
    return model.eval().requires_grad_(False)


def probabilities(logits: torch.Tensor, temperature: float = 1.0) -> torch.Tensor:
    """Next-token probabilities [..., V] in double precision; at temperature 0 all is on the arg-max."""
    if temperature == 0:
        return torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).double()
    return (logits.double() / temperature).softmax(-1)


# Acceptance.


def text_pieces(count: int = 64, length: int = 32, start: int = 100_000) -> torch.Tensor:
    """Pieces of the bundled text, tokens [count, length]: real contexts."""
    tokens = ByteTokenizer().encode(bundled_text()[start : start + count * length])
    return torch.tensor(tokens).view(count, length)


@one_thread()
def overlaps(pair: Pair, pieces: torch.Tensor) -> torch.Tensor:
    """The acceptance probability at every place of these pieces: ``sum(min(p, q))``, [count, length]."""
    rows = [probabilities(model(pieces), pair.temperature) for model in (pair.target, pair.draft)]
    return torch.minimum(*rows).sum(-1)


def acceptance(pair: Pair, pieces: torch.Tensor | None = None) -> float:
    """The mean acceptance probability over real contexts."""
    return overlaps(pair, text_pieces() if pieces is None else pieces).mean().item()


# Generation with caches.


class Reader:
    """A model, one sequence, and its cache; it counts its passes."""

    def __init__(self, model: GPT, temperature: float) -> None:
        self.model, self.temperature = model, temperature
        self.cache, self.passes = KVCache(model, 1), 0

    def rows(self, tokens: Sequence[int]) -> torch.Tensor:
        """Probabilities after each of these tokens [T, V]; tokens that are in the cache are not read again."""
        new = torch.tensor([list(tokens[self.cache.length :])])
        self.passes += 1
        return probabilities(self.model(new, cache=self.cache)[0], self.temperature)

    def forget(self, length: int) -> None:
        """Keep the first ``length`` tokens in the cache; the others were rejected."""
        self.cache.length = min(self.cache.length, length)


class Rules(Protocol):
    """The tokens that may be written: :class:`Free` allows all of them, an automaton fewer."""

    def allowed(self) -> Sequence[int] | None: ...
    def advance(self, token: int) -> None: ...
    def rollback(self, count: int) -> None: ...
    def forced(self) -> Sequence[int]: ...
    @property
    def finished(self) -> bool: ...


class Free:
    """No rules."""

    finished = False

    def allowed(self) -> Sequence[int] | None:
        return None

    def advance(self, token: int) -> None:
        pass

    def rollback(self, count: int) -> None:
        pass

    def forced(self) -> Sequence[int]:
        return ()


@dataclass(frozen=True)
class Run:
    """What a generation did.

    Attributes:
        tokens: that were written, without the prompt.
        emitted: how many each round of the target gave.
        drafted: how many each round had drafted.
        forced: tokens emitted without asking a model.
        draft_passes, target_passes: forward passes, those that read the prompt included.
        seconds: that it took.
    """

    tokens: tuple[int, ...]
    emitted: tuple[int, ...]
    drafted: tuple[int, ...]
    forced: int
    draft_passes: int
    target_passes: int
    seconds: float = field(compare=False)

    @property
    def tokens_per_round(self) -> float:
        """Mean number of tokens that a pass of the target gives."""
        return sum(self.emitted) / len(self.emitted)


def together(runs: Sequence[Run]) -> Run:
    """Several runs as one: their tokens and rounds in a row, their passes added up."""
    tokens, emitted, drafted = (tuple(chain(*(getattr(run, name) for run in runs))) for name in ROWS)
    sums = [sum(getattr(run, name) for run in runs) for name in ("forced", "draft_passes", "target_passes", "seconds")]
    return Run(tokens, emitted, drafted, *sums)


@one_thread()
def generate(
    pair: Pair,
    prompt: Sequence[int],
    new_tokens: int,
    draft_length: int,
    seed: int = 0,
    step: Step = speculative_step,
    rules: Rules | None = None,
) -> Run:
    """Draft, verify and correct until there are ``new_tokens`` (up to ``draft_length`` more) or the rules end the text.

    A draft length of 0 is plain sampling. Both models are sampled under the rules: a token that they forbid has
    probability 0 for both.
    """
    generator, begin = torch.Generator().manual_seed(seed), time.perf_counter()
    target, draft = Reader(pair.target, pair.temperature), Reader(pair.draft, pair.temperature)
    rules, written, emitted, lengths, forced = rules or Free(), list(prompt), list[int](), list[int](), 0
    end = len(written) + new_tokens
    while not rules.finished and len(written) < end:
        for token in rules.forced():
            rules.advance(token)
            written.append(token)
            forced += 1
        tokens, rows = _drafted(draft, written, draft_length, rules, generator)
        checks = _verified(target, written, tokens, rules)
        uniforms = torch.rand(len(tokens) + 1, generator=generator, dtype=torch.float64).tolist()
        found = step(tokens, rows, checks, uniforms)
        settle(rules, tokens, found)
        written += found
        emitted, lengths = [*emitted, len(found)], [*lengths, len(tokens)]
        for reader in (target, draft):
            reader.forget(len(written) - 1)  # the newest token has not been read; what is longer was rejected
    done = time.perf_counter() - begin
    counts = draft.passes, target.passes
    return Run(tuple(written[len(prompt) :]), tuple(emitted), tuple(lengths), forced, *counts, done)


def _drafted(
    draft: Reader, written: Sequence[int], length: int, rules: Rules, generator: torch.Generator
) -> tuple[list[int], list[list[float]]]:
    """Up to ``length`` tokens, one pass each, and the rows that they were drawn from; the rules follow along."""
    tokens, rows = list[int](), list[list[float]]()
    while len(tokens) < length and not rules.finished:
        row = under(rules.allowed(), draft.rows([*written, *tokens])[-1])
        tokens.append(int(torch.multinomial(row, 1, generator=generator)))
        rows.append(row.tolist())
        rules.advance(tokens[-1])
    return tokens, rows


def _verified(target: Reader, written: Sequence[int], tokens: Sequence[int], rules: Rules) -> list[list[float]]:
    """The target's rows at every drafted token and after the last, in one pass, under the rules at each place.

    The automaton is at the end of the draft; it is rolled back and walks over the draft again.
    """
    rows = target.rows([*written, *tokens])[-len(tokens) - 1 :]
    rules.rollback(len(tokens))
    masked = []
    for index, row in enumerate(rows):
        masked.append(under(None if rules.finished else rules.allowed(), row).tolist())
        if index < len(tokens):
            rules.advance(tokens[index])
    return masked


def settle(rules: Rules, tokens: list[int], found: list[int]) -> None:
    """Move the rules from the end of ``tokens``, which were drafted, to the end of ``found``, which the round emitted.

    After a drafted end there is nothing to add: the token that the round adds there is dropped from ``found``.
    """
    if found[: len(tokens)] == tokens and rules.finished:
        del found[len(tokens) :]
        return
    kept = len(found) - 1
    rules.rollback(len(tokens) - kept)
    rules.advance(found[-1])


def under(allowed: Sequence[int] | None, row: torch.Tensor) -> torch.Tensor:
    """``row`` restricted to the allowed tokens and normalized."""
    if allowed is None:
        return row
    kept = torch.zeros_like(row)
    kept[list(allowed)] = row[list(allowed)]
    return kept / kept.sum()


@one_thread()
def traced_round(pair: Pair, prompt: Sequence[int], draft_length: int, seed: int = 0) -> list[dict[str, Any]]:
    """One round, a row for each place: token, q, p, ratio, uniform, verdict, and the token finally written."""
    generator = torch.Generator().manual_seed(seed)
    target, draft = Reader(pair.target, pair.temperature), Reader(pair.draft, pair.temperature)
    tokens, rows = _drafted(draft, prompt, draft_length, Free(), generator)
    checks = _verified(target, prompt, tokens, Free())
    uniforms = torch.rand(draft_length + 1, generator=generator, dtype=torch.float64).tolist()
    found = speculative_step(tokens, rows, checks, uniforms)
    trace: list[dict[str, Any]] = []
    for index, written in enumerate(found):
        row: dict[str, Any] = {"drafted": None, "verdict": "one more", "written": written}
        if index < draft_length:
            token = tokens[index]
            q, p = rows[index][token], checks[index][token]
            verdict = "accepted" if index < len(found) - 1 or written == token else "replaced"
            row |= {"drafted": token, "q": q, "p": p, "u": uniforms[index], "verdict": verdict}
        trace.append(row)
    return trace


# The output distribution on real models.


@one_thread()
def continuations(
    pair: Pair,
    prompt: Sequence[int],
    count: int,
    length: int,
    draft_length: int,
    seed: int = 0,
    step: Step = speculative_step,
) -> Counter[tuple[int, ...]]:
    """How often each continuation of ``length`` tokens came up in ``count`` speculative runs, batched together."""
    generator = torch.Generator().manual_seed(seed)
    written: list[tuple[int, ...]] = [()] * count
    while lengths := {len(one) for one in written if len(one) < length}:
        now = min(lengths)
        places = [index for index, one in enumerate(written) if len(one) == now]
        contexts = torch.tensor([[*prompt, *written[index]] for index in places])
        found = _side_by_side(pair, contexts, draft_length, generator, step)
        for index, emitted in zip(places, found, strict=True):
            written[index] = (*written[index], *emitted)
    return Counter(one[:length] for one in written)


def _side_by_side(
    pair: Pair, contexts: torch.Tensor, draft_length: int, generator: torch.Generator, step: Step
) -> list[list[int]]:
    """One round for each row of ``contexts`` [B, T]."""
    whole, rows = contexts, []
    for _ in range(draft_length):
        rows.append(_distinct(pair.draft, whole, pair.temperature, 1)[:, 0])
        drawn = torch.multinomial(rows[-1], 1, generator=generator)
        whole = torch.cat([whole, drawn], dim=1)
    checks = _distinct(pair.target, whole, pair.temperature, draft_length + 1)
    drafts = torch.stack(rows, dim=1) if rows else checks[:, :0]
    uniforms = torch.rand(len(whole), draft_length + 1, generator=generator, dtype=torch.float64)
    tokens = whole[:, contexts.shape[1] :]
    return [
        step(tokens[i].tolist(), drafts[i].tolist(), checks[i].tolist(), uniforms[i].tolist())
        for i in range(len(whole))
    ]


def _distinct(model: GPT, contexts: torch.Tensor, temperature: float, last: int) -> torch.Tensor:
    """The last rows after each of these contexts [B, last, V]; duplicates are read once."""
    different, places = torch.unique(contexts, dim=0, return_inverse=True)
    return probabilities(model(different)[:, -last:], temperature)[places]


@one_thread()
def two_token_law(model: GPT, prompt: Sequence[int], temperature: float = 1.0) -> Law:
    """The model's own probability of every two tokens after the prompt."""
    first = probabilities(model(torch.tensor([list(prompt)]))[0, -1], temperature)
    contexts = torch.tensor([[*prompt, token] for token in range(len(first))])
    second = probabilities(model(contexts)[:, -1], temperature)
    joint = first.unsqueeze(1) * second  # [V, V]
    return {(a, b): p for a, row in enumerate(joint.tolist()) for b, p in enumerate(row)}


@dataclass(frozen=True)
class ChiSquare:
    """A test of counts against a distribution: the statistic, its degrees of freedom, and the p-value."""

    statistic: float
    degrees: int
    p_value: float


def chi_square(counts: Mapping[tuple[int, ...], int], law: Law, least: float = 5.0) -> ChiSquare:
    """Pearson's test; outcomes expected fewer than ``least`` times share a bin, if that is expected so often.

    Raises:
        ValueError: there is only one bin, or an outcome of probability 0 was seen.
    """
    drawn = sum(counts.values())
    if any(law.get(key, 0.0) <= 0 for key in counts):
        raise ValueError("counts hold an outcome of probability 0")
    large = {key: drawn * p for key, p in law.items() if drawn * p >= least}
    bins = [(counts.get(key, 0), expected) for key, expected in large.items()]
    rest = drawn - sum(seen for seen, _ in bins), drawn - sum(expected for _, expected in bins)
    bins += [rest] if rest[1] >= least else []
    if len(bins) < 2:
        raise ValueError(f"law must have two bins of {least:g} expected outcomes or more, got {len(bins)}")
    statistic = sum((seen - expected) ** 2 / expected for seen, expected in bins)
    halves = torch.tensor([(len(bins) - 1) / 2, statistic / 2], dtype=torch.float64)
    return ChiSquare(statistic, len(bins) - 1, torch.special.gammaincc(*halves).item())


# Time.


@one_thread()
def verification_times(
    batches: Sequence[int] = (1, 64), positions: Sequence[int] = (1, 2, 4, 8, 16), repeats: int = 3
) -> dict[int, list[tuple[int, float]]]:
    """Seconds of one pass over several new positions of each sequence, by batch size; the least of several repeats.

    The model has 50 MB of weights in its block, which a small core's cache does not hold; one thread.
    """
    model = GPT(GPTConfig(vocab=256, layers=1, heads=16, head_dim=64, context=64)).requires_grad_(False)
    return {batch: [(new, _least(model, batch, new, repeats)) for new in positions] for batch in batches}


def _least(model: GPT, batch: int, new: int, repeats: int, cached: int = 16) -> float:
    cache, found = KVCache(model, batch), []
    model(torch.zeros(batch, cached, dtype=torch.int64), cache=cache)
    tokens = torch.zeros(batch, new, dtype=torch.int64)
    for _ in range(repeats):
        cache.length = cached
        begin = time.perf_counter()
        model(tokens, cache=cache)
        found.append(time.perf_counter() - begin)
    return min(found)
