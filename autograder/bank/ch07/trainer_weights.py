"""The milestone "trainer": are these the plain twin's weights, and if not, which mistake gives them?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import isfinite, nan, prod
from typing import Any

from autograder.bank.ch07.trainer_draws import Drawn, plain
from autograder.items import Played, Tensor

#: Largest distance from the twin, relative to the largest number of a parameter: rounding stays far below it.
TOLERANCE = 1e-8
#: A rank's weights by name, each flat.
Weights = Mapping[str, Sequence[float]]
Counts = Sequence[Sequence[int]]


def wrong_weights(job: Drawn, played: Played) -> str:
    """Why a run did not end with the plain twin's weights; empty if it did."""
    if found := _misshapen(job, played):
        return found
    got = [weights_of(value) for value in played.values]
    away = first_difference(job, got, job.weights())
    if not away:
        return ""
    if any(not isfinite(x) for weights in got for values in weights.values() for x in values):
        return f"{away} is not finite: zero rows divided by zero rows is nan"
    return next(
        _mistakes(job, played, got), f"{away} is not what the plain twin has after {counted(len(job.steps), 'step')}"
    )


def counted(number: int, noun: str) -> str:
    """``"1 step"``, ``"10 steps"``."""
    return f"{number} {noun}{'s' * (number != 1)}"


def returned(value: Any) -> tuple[Mapping[str, Tensor], Any]:
    """Weights and state as a rank returned them."""
    weights, state = value["returned"]
    return weights, state


def weights_of(value: Any) -> Weights:
    """The weights that a rank returned."""
    return {name: tensor.tolist() for name, tensor in returned(value)[0].items()}


def _misshapen(job: Drawn, played: Played) -> str:
    """Why a run has no weights that can be compared; empty if it has."""
    ranks = enumerate(played.values)
    return played.failure or next(filter(None, (_rank_misshapen(job, rank, value) for rank, value in ranks)), "")


def _rank_misshapen(job: Drawn, rank: int, value: Any) -> str:
    """Why what a rank returned is not its weights and a state; empty if it is."""
    pair = value["returned"]
    if type(pair) not in (tuple, list) or len(pair) != 2 or type(pair[0]) is not dict:
        return f"rank {rank} must return (weights, state) with a dictionary of weights by name"
    expected = {name: size for name, size in shard_shapes(job, rank).items() if size is not None}
    if missing := [name for name in expected if name not in pair[0]]:
        return f"rank {rank} returned no {missing[0]}"
    if len(pair[0]) > len(expected):
        return f"rank {rank} returned {len(pair[0])} parameters; {len(expected)} belong to it under this plan"
    for name, size in expected.items():
        tensor = pair[0][name]
        if type(tensor) is not Tensor or tensor.dtype != "float64":
            return f"rank {rank} must return {name} as a float64 tensor"
        if tensor.shape != size:
            return f"rank {rank} returned {name} with shape {tensor.shape}; its share has shape {size}"
    return ""


def shard_shapes(job: Drawn, rank: int) -> dict[str, tuple[int, ...] | None]:
    """The shape of a rank's share of each parameter; None where it has none."""
    cuts = {name: _cut(job, name, size, rank) for name, size in job.shapes.items()}
    return {name: None if cut is None else tuple(part.stop - part.start for part in cut) for name, cut in cuts.items()}


def shard_bytes(job: Drawn, rank: int) -> int:
    """Bytes of all weights that a rank holds."""
    return 8 * sum(prod(size) for size in shard_shapes(job, rank).values() if size is not None)


def _cut(job: Drawn, name: str, size: tuple[int, ...], rank: int) -> list[slice] | None:
    return plain.shard(name, size, job.mesh, job.shape["layers"], rank)


def _share(values: Sequence[float], size: tuple[int, ...], cut: list[slice]) -> list[float]:
    """The elements of a flat tensor that a cut holds."""
    if len(size) == 1:
        return list(values[cut[0]])
    rows, columns = (range(part.start, part.stop) for part in cut)
    return [values[row * size[1] + column] for row, column in product(rows, columns)]


def first_difference(job: Drawn, got: Sequence[Weights], whole: Weights) -> str:
    """The first weight that is not its share of these whole weights, as ``"norm.weight on rank 0"``; else empty."""
    for rank, weights in enumerate(got):
        for name in weights:
            if not _same(job, rank, name, weights, whole):
                return f"{name} on rank {rank}"
    return ""


def _same(job: Drawn, rank: int, name: str, got: Weights, whole: Weights) -> bool:
    size = job.shapes[name]
    cut = _cut(job, name, size, rank)
    return cut is not None and alike(_share(whole[name], size, cut), got[name])


def alike(expected: Sequence[float], got: Sequence[float]) -> bool:
    """Whether two tensors agree up to rounding."""
    scale = TOLERANCE * max(map(abs, expected))
    return all(abs(one - other) <= scale for one, other in zip(expected, got, strict=True))


def drifted(job: Drawn, played: Played) -> str:
    """Whether tensor-parallel ranks hold different norms or embeddings, which are whole on each of them; else empty."""
    if _misshapen(job, played):
        return ""
    held = [returned(value)[0] for value in played.values]
    whole = [name for name, size in shard_shapes(job, 0).items() if size == job.shapes[name]]
    apart = next((name for name in whole if not alike(held[0][name].tolist(), held[1][name].tolist())), "")
    return apart and (
        f"{apart} differs between the ranks, which all hold it whole: each knows only its own part of the gradient "
        "of a split layer's input, and the parts have to be added up (the operator f)."
    )


# Mistakes, each as the weight with which it counts a micro-batch's mean loss.


def _mistakes(job: Drawn, played: Played, got: Sequence[Weights]) -> Iterator[str]:
    """Sentences of the mistakes that explain these weights."""
    ranks = range(len(got))
    dp = job.mesh.dp
    if dp > 1:
        for own in (_own_mean, _own_share):
            twins = [job.weights(weigh=own(replica)) for replica in range(dp)]
            whole = [first_difference(job, [{}] * r + [got[r]], twins[job.replica(r)]) for r in ranks]
            if not any(whole):
                yield _STEPPED_EARLY if _talked(job, played) else _NEVER_AVERAGED
    for sentence, weigh in _WEIGHTS:
        if not first_difference(job, got, job.weights(weigh=weigh)):
            yield sentence.format(dp=dp)


def _talked(job: Drawn, played: Played) -> bool:
    """Whether every rank handed in at least one gradient's bytes."""
    least = 8 * sum(map(prod, job.shapes.values())) // 2
    return all(
        sum(event.sent for event in played.events if event.rank == rank) >= least for rank in range(job.mesh.ranks)
    )


def _own_mean(replica: int) -> Any:
    return lambda counts, r, m: counts[r][m] / sum(counts[r]) if r == replica else 0.0


def _own_share(replica: int) -> Any:
    return lambda counts, r, m: plain.fair(counts, r, m) if r == replica else 0.0


def _sum_of_means(counts: Counts, r: int, m: int) -> float:
    return counts[r][m] / sum(counts[r])


def _mean_of_means(counts: Counts, r: int, m: int) -> float:
    return _sum_of_means(counts, r, m) / len(counts)


def _twice(counts: Counts, r: int, m: int) -> float:
    return plain.fair(counts, r, m) / len(counts)


def _twice_of_means(counts: Counts, r: int, m: int) -> float:
    return _mean_of_means(counts, r, m) / len(counts)


def _micro_means(counts: Counts, r: int, m: int) -> float:
    return 1 / len(counts[r]) / len(counts)


def _micro_sums(counts: Counts, _r: int, _m: int) -> float:
    return 1 / len(counts)


def _without(index: int, whole: bool) -> Any:
    """One micro-batch is left out; the others count by their rows over those of all, or over those that are left.

    Who has only one is not told so: without it nothing is trained, which has many other reasons.
    """

    def weigh(counts: Counts, r: int, m: int) -> float:
        if min(map(len, counts)) < 2:
            return nan
        there = [[rows for one, rows in enumerate(own) if one != index % len(own)] for own in counts]
        rows = sum(map(sum, counts if whole else there))
        return counts[r][m] / rows if m != index % len(counts[r]) and rows else 0.0

    return weigh


def _last_micro(counts: Counts, r: int, m: int) -> float:
    return (m == len(counts[r]) - 1) / len(counts)


_NEVER_AVERAGED = "The gradients were never averaged: every rank took its steps with the gradient of its own rows."
_STEPPED_EARLY = (
    "The step was taken before the gradients were there: they were sent, but each rank's weights moved by the gradient "
    "of its own rows. Wait for the sum, then step."
)
_SKIPPED = "The {} micro-batch of every step was left out: a step has the rows of all its micro-batches."
_WEIGHTS = (
    ("The gradients were added up and not averaged: they are {dp} times too large.", _sum_of_means),
    ("The gradients were averaged twice: they are {dp} times too small.", _twice),
    ("The gradients were averaged twice: they are {dp} times too small.", _twice_of_means),
    (
        "Every rank counts the same, whatever rows it has: weight its gradient by its rows over those of all.",
        _mean_of_means,
    ),
    (
        "Every micro-batch counts the same, whatever rows it has: weight its loss by its rows over those of all.",
        _micro_means,
    ),
    ("The micro-batches' gradients were added up and not averaged.", _micro_sums),
    ("Only the last micro-batch of a step counts: accumulate, and clear the gradients after the step.", _last_micro),
    *((_SKIPPED.format("first"), _without(0, whole)) for whole in (True, False)),
    *((_SKIPPED.format("last"), _without(-1, whole)) for whole in (True, False)),
)


def lost_parameters(job: Drawn, played: Played) -> str:
    """After a single step: which parameters moved by the rank's own gradient, if others are right; else empty."""
    if _misshapen(job, played):
        return ""
    whole, lost = job.weights(), set()
    for rank, value in enumerate(played.values):
        got = weights_of(value)
        own = [job.weights(weigh=weigh(job.replica(rank))) for weigh in (_own_mean, _own_share)]
        wrong = {name for name in got if not _same(job, rank, name, got, whole)}
        if any(not any(_same(job, rank, name, got, twin) for twin in own) for name in wrong):
            return ""
        lost |= wrong
    if not lost or len(lost) == len(whole):
        return ""
    some = [name for name in whole if name in lost]
    rest = f" and {len(some) - 1} more" if len(some) > 1 else ""
    return (
        f"A bucket was lost: after one step {some[0]}{rest} moved by each rank's own gradient, the other parameters by "
        "the average. The last bucket is rarely full, and it has to be sent and waited for, too."
    )
