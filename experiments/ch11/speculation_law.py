"""The exact output distribution of a sampler: every draft and verdict, with its probability. Standard library only.

>>> from .speculative import speculative_step  # doctest: +SKIP
>>> law_of(speculative_step, draft, target, draft_length=2, tokens=3)  # doctest: +SKIP

Given its uniforms, a step is deterministic, and its result is constant between the thresholds that it compares them
with. One call for each cell between adjacent thresholds, weighted by the cell's size, therefore gives the exact
distribution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, product

#: Probabilities of the next token after these tokens.
Rows = Callable[[tuple[int, ...]], Sequence[float]]

#: A function of tokens, draft rows, target rows and uniforms that returns the tokens a round emits.
Step = Callable[[Sequence[int], Sequence[Sequence[float]], Sequence[Sequence[float]], Sequence[float]], list[int]]

Law = dict[tuple[int, ...], float]

#: Thresholds this close are the same one, rounded differently.
ROUNDING = 1e-15


def law_of(step: Step, draft: Rows, target: Rows, draft_length: int, tokens: int) -> Law:
    """The probability of every sequence of ``tokens`` tokens that rounds of ``step`` write, from an empty context.

    Args:
        step: as ``speculative_step``. Its verdicts compare a uniform with p/q, q/p or nothing; its draws go through
            cumulative sums of a target row or of a residual, in the order of the ids.
        draft, target: their next-token distributions.
        draft_length: k of every round.
        tokens: how many of the written tokens count.
    """
    law: Counter[tuple[int, ...]] = Counter()
    waiting: Law = {(): 1.0}
    while waiting:
        longer: Counter[tuple[int, ...]] = Counter()
        for written, chance in waiting.items():
            for emitted, share in _round(step, draft, target, draft_length, written):
                whole = (*written, *emitted)
                (law if len(whole) >= tokens else longer)[whole[:tokens]] += chance * share
        waiting = dict(longer)
    return dict(law)


def plain_law(target: Rows, tokens: int) -> Law:
    """The same for plain sampling from ``target``, token by token."""
    law: Law = {(): 1.0}
    for _ in range(tokens):
        law = {
            (*written, token): chance * p
            for written, chance in law.items()
            for token, p in enumerate(target(written))
            if p > 0
        }
    return law


def total_variation(one: Mapping[tuple[int, ...], float], other: Mapping[tuple[int, ...], float]) -> float:
    """Half the summed absolute difference of two distributions: the largest difference in any event's probability."""
    return sum(abs(one.get(key, 0.0) - other.get(key, 0.0)) for key in {*one, *other}) / 2


def _round(step: Step, draft: Rows, target: Rows, length: int, written: tuple[int, ...]) -> Iterator[tuple]:
    """What a round can emit after ``written``, with probabilities."""
    for tokens, chance in _drafts(draft, written, length):
        contexts = [(*written, *tokens[:i]) for i in range(length + 1)]
        rows, checks = [draft(context) for context in contexts[:-1]], [target(context) for context in contexts]
        verdicts = [_cells(_ratios(rows[i][token], checks[i][token])) for i, token in enumerate(tokens)]
        for cells in product(*verdicts):
            share, uniforms = chance, list[float]()
            for uniform, size in cells:
                share, uniforms = share * size, [*uniforms, uniform]
            last = len(step(tokens, rows, checks, [*uniforms, 0.5])) - 1
            for uniform, size in _cells(_sums(rows, checks, last)):
                yield step(tokens, rows, checks, [*uniforms, uniform]), share * size


def _drafts(draft: Rows, written: tuple[int, ...], length: int) -> Iterator[tuple[tuple[int, ...], float]]:
    yield from plain_law(lambda tokens: draft((*written, *tokens)), length).items()


def _ratios(q: float, p: float) -> list[float]:
    return [p / q, q / p] if p else [p / q]


def _sums(rows: Sequence[Sequence[float]], checks: Sequence[Sequence[float]], last: int) -> list[float]:
    """Every cumulative sum that the draw of token ``last`` may go through, in the rows about it."""
    result: list[float] = []
    for index in {max(0, last - 1), last, min(last + 1, len(checks) - 1)}:
        result += accumulate(checks[index])
        if index < len(rows):
            missing = [max(0.0, p - q) for p, q in zip(checks[index], rows[index], strict=True)]
            result += accumulate(part / (sum(missing) or 1.0) for part in missing)
            result += accumulate(rows[index])
    return result


def _cells(cuts: Iterable[float]) -> list[tuple[float, float]]:
    """The middle and the size of every interval between adjacent thresholds in [0, 1]."""
    ends = [0.0, *sorted(cut for cut in set(cuts) if 0 < cut < 1), 1.0]
    return [((low + high) / 2, high - low) for low, high in pairwise(ends) if high - low > ROUNDING]
