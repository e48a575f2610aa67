"""Chapter 5: ``synchronize_gradients``, gradients of the joined batch."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from autograder.bank.ch05.rules import Events, Values
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def gradients_once(case: Case, values: Values, events: Events) -> str | None:
    """As many all-reduces as the function reports, at most two more for small values, and each distinct gradient once.

    The facts are the counts of rows and, for each parameter, on how many ranks it has a gradient.
    """
    if len(case.args) == 1:
        return None
    frozen = case.kwargs.get("frozen", ())
    size = {"float64": 8, "float32": 4, "bfloat16": 2}[case.kwargs.get("dtype", "float64")]
    for rank, (gradients, *_) in enumerate(case.args):
        elements = sum(math.prod(g.shape) for index, g in enumerate(gradients) if index not in frozen)
        mine = [event for event in events if event.rank == rank]
        other = next((event.operation for event in mine if event.operation != "all_reduce"), None)
        if other:
            return f"rank {rank} called {other}: gradients and counts are all-reduced"
        told = values[rank]["reductions"]
        if not told <= len(mine) <= told + 2:
            return (
                f"rank {rank} called {len(mine)} all-reduces and told of {told}; "
                "one or two more tell how many rows there are and which gradients are None"
            )
        sent, most = sum(event.sent for event in mine), elements * size + 16 * (len(mine) + len(gradients) + 1)
        if sent > most:
            return f"rank {rank} handed in {sent:,} bytes; each distinct gradient once is {elements * size:,} bytes"
    return None


def _gradients(rng: Random, sizes: list[int]) -> list[Tensor]:
    return [Tensor.of([rng.uniform(-2, 2) for _ in range(size)], "float64") for size in sizes]


def _rows(rng: Random, counts: list[int], sizes: list[int], **options: Any) -> Case:
    """Gradients of these sizes for each rank, which has so many rows."""
    return Case(tuple((_gradients(rng, sizes), count) for count in counts), options)


def _counts(rng: Random, ranks: int) -> list[int]:
    return rng.sample(range(1, 30), ranks)


def _unequal_of_each(rng: Random) -> list[Case]:
    """Three ranks, and four with a tensor that no small number divides and that a cap of a few kB would part."""
    return [_rows(rng, _counts(rng, ranks), sizes) for ranks, sizes in ((3, [7, 2, 5]), (4, [13, 1009, 7]))]


def _unused_of_each(rng: Random) -> list[Case]:
    """A gradient is missing on one rank, another one on every rank, where it keeps its place in a bucket."""
    counts = _counts(rng, 2)
    one = tuple((_gradients(rng, [4, 4, 4]), count, (1, 2) if rank else (2,)) for rank, count in enumerate(counts))
    both = tuple((_gradients(rng, [3, 3]), count, (0,)) for count in counts)
    return [Case(one, {"bucket_bytes": 1.0}), Case(both)]


def _no_rows(rng: Random) -> Case:
    """One rank has no rows, and a mean over none of them: its gradients are nan."""
    counts = [0, *_counts(rng, 2)]
    rng.shuffle(counts)
    nan = [Tensor.of([math.nan] * 5, "float64"), Tensor.of([math.nan], "float64")]
    return Case(tuple((_gradients(rng, [5, 1]) if count else nan, count) for count in counts))


def _tied_and_frozen(rng: Random) -> Case:
    """The first weight is named twice, the second is frozen."""
    return _rows(rng, _counts(rng, 2), [6, 3, 4], order=(0, 1, 2, 0), frozen=(1,))


#: Elements of float64 in the order of the parameters; with a cap of 80 bytes, every other way of filling them fails.
UNEVEN = [2, 9, 4, 4, 4, 11, 1]


def _buckets_of_each(rng: Random) -> list[Case]:
    """Uneven sizes under a cap; and bf16, with numbers that it holds exactly in any order of adding."""
    whole = [[Tensor.of([float(rng.randint(-8, 8)) for _ in range(6)]) for _ in range(4)] for _ in range(2)]
    half = Case(tuple(zip(whole, (1, 3), strict=True)), {"dtype": "bfloat16", "bucket_bytes": 24.0})
    return [_rows(rng, _counts(rng, 3), UNEVEN, bucket_bytes=80.0), half]


def _public(values: tuple[float | None, float | None], counts: tuple[int, int]) -> Case:
    """One weight on two ranks."""
    rows = zip(values, counts, strict=True)
    return Case(tuple(([Tensor.of([v or 0.0], "float64")], n, () if v is not None else (0,)) for v, n in rows))


def _filled(elements: tuple[int, ...], cap: float) -> Case:
    """float32 gradients of so many elements, the same on two ranks."""
    rank = ([Tensor.of([index + 1.0] * size) for index, size in enumerate(elements)], 2)
    return Case((rank, rank), {"dtype": "float32", "bucket_bytes": cap})


def _tied() -> Case:
    """One weight, named twice."""
    return Case(_public((2.0, 4.0), (7, 3)).args, {"order": (0, 0)})


EXERCISE = Build(
    "05 data_parallel.synchronize_gradients",
    section="5.10",
    topic="gradients of the joined batch",
    bonus=True,
    grade="world",
    probe="ch05.synchronized",
    tolerance=1e-9,
    rule=gradients_once,
    cases=(
        _public((2.0, 4.0), (7, 3)),
        _public((2.0, 4.0), (1, 1)),
        _public((2.0, None), (1, 1)),
        _public((2.0, math.nan), (3, 0)),
        _tied(),
        _filled((25, 25, 25), 100.0),
        _filled((25, 25, 25), 1e9),
        _filled((1, 8, 3, 6), 32.0),
    ),
    groups=(
        listed("unequal counts", _unequal_of_each, "Ranks have unequal numbers of rows."),
        listed(
            "unused weights",
            _unused_of_each,
            "A gradient may be None: on some ranks it gets the result, on all of them it stays None.",
        ),
        Group("no rows", _no_rows, 1, "A rank without rows takes part and adds nothing, whatever it holds."),
        Group("tied and frozen", _tied_and_frozen, 1, "A parameter may be named twice, or need no gradient."),
        listed("buckets", _buckets_of_each, "A bucket is full when it holds the cap or more."),
    ),
    slips=(
        Slip(
            "Divided by the number of ranks: a rank with more rows weighs more.",
            edit=("_weighted(parameter, count / rows)", "_weighted(parameter, 1 / dist.get_world_size(group))"),
        ),
        Slip(
            "A gradient that is None was left out on that rank, so the ranks' all-reduces do not fit.",
            edit=(
                "for parameter in trainable]\n    buckets",
                "for parameter in trainable if parameter.grad is not None]\n    buckets",
            ),
        ),
        Slip(
            "A weight that is named twice was weighted and reduced twice.",
            edit=("in dict.fromkeys(parameters) if", "in parameters if"),
        ),
        Slip(
            "Buckets were filled from the first parameter: the backward pass ends with that one.",
            edit=("_trainable(parameters)[::-1]", "_trainable(parameters)"),
        ),
        Slip(
            "A bucket was closed before it held the cap; it closes when it holds the cap or more.",
            edit=(
                "buckets = assign_buckets([gradient.nbytes for gradient in gradients], [bucket_bytes])",
                "buckets: list[list[int]] = []\n"
                "    for place, gradient in enumerate(gradients):\n"
                "        held = sum(gradients[other].nbytes for other in buckets[-1]) if buckets else math.inf\n"
                "        if held + gradient.nbytes > bucket_bytes:\n"
                "            buckets.append([])\n"
                "        buckets[-1].append(place)",
            ),
        ),
        Slip(
            "Every parameter had an all-reduce of its own: fill buckets.",
            edit=(
                "assign_buckets([gradient.nbytes for gradient in gradients], [bucket_bytes])",
                "[[place] for place in range(len(gradients))]",
            ),
        ),
        Slip(
            "A rank without rows left early, and the others wait for it.",
            edit=("    trainable = ", "    if count == 0:\n        return 0\n    trainable = "),
        ),
        Slip(
            "Zero times nan is nan: a rank without rows adds nothing.",
            edit=(" if share else parameter.grad.zero_()", ""),
        ),
        Slip(
            "A grad was replaced by a new tensor: fill the existing one.",
            edit=(
                "return parameter.grad.mul_(share) if share else parameter.grad.zero_()",
                "parameter.grad = parameter.grad * share if share else torch.zeros_like(parameter)\n"
                "    return parameter.grad",
            ),
        ),
        Slip(
            "A gradient that is None on every rank has to stay None; yours becomes zeros, and AdamW decays the weight.",
            edit=(
                "    for parameter, ranks in zip(trainable, holders, strict=True):\n"
                "        if not ranks:\n"
                "            parameter.grad = None\n",
                "",
            ),
        ),
    ),
    rights=(
        Right(
            "sums of rows, divided at the end",
            edits=(
                ("_weighted(parameter, count / rows) for", "_weighted(parameter, count) for"),
                ("        _fill(members, flat)\n", "        _fill(members, flat / rows)\n"),
            ),
        ),
        Right(
            "in double precision, two divisions",
            edits=(
                (
                    "_weighted(parameter, count / rows) for",
                    "_weighted(parameter, count / dist.get_world_size(group)) for",
                ),
                (
                    "        _fill(members, flat)\n",
                    "        _fill(members, flat.double() * (dist.get_world_size(group) / rows))\n",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "One that is named twice is reduced once.",
            edit=("for parameter in dict.fromkeys(parameters) if", "for parameter in parameters if"),
        ),
        Promise(
            "One that needs no gradient is left alone.",
            edit=("dict.fromkeys(parameters) if parameter.requires_grad]", "dict.fromkeys(parameters)]"),
        ),
        Promise(
            "One whose ``grad`` is None on this rank travels as zeros",
            edit=("        if not ranks:\n", "        if ranks < dist.get_world_size(group):\n"),
        ),
        Promise(
            "on every rank travels all the same, but stays None",
            edit=("            parameter.grad = None\n", "            continue\n"),
        ),
        Promise(
            "A ``grad`` keeps its storage",
            edit=(
                "    return parameter.grad.mul_(share) if share else parameter.grad.zero_()\n",
                "    grad = parameter.grad\n"
                "    parameter.grad = grad * share if share else torch.zeros_like(grad)\n"
                "    return parameter.grad\n",
            ),
        ),
        Promise(
            "A rank without rows adds nothing, whatever its gradients hold.",
            edit=("parameter.grad.mul_(share) if share else parameter.grad.zero_()", "parameter.grad.mul_(share)"),
        ),
        Promise(
            "so from the last parameter to the first",
            edit=("_trainable(parameters)[::-1]", "_trainable(parameters)"),
        ),
    ),
)
