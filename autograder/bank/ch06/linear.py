"""Chapter 6: linear layers split by output and by input features, on real ranks."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random

from autograder.bank.ch06 import rules
from autograder.bank.ch06.wrong_layers import COLUMNS, ROWS
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Tensor


def tensor(rng: Random, *shape: int) -> Tensor:
    """Numbers from -2 to 2 in float64."""
    return Tensor.of([rng.uniform(-2, 2) for _ in range(math.prod(shape))], "float64", shape)


def vector(*values: float) -> Tensor:
    """These numbers in float64."""
    return Tensor.of(values, "float64")


def _column(
    rng: Random,
    ranks: int,
    out: int,
    width: int,
    batch: tuple[int, ...] = (3,),
    biased: bool = True,
    gather: bool = False,
) -> Case:
    weight, bias, x = tensor(rng, out, width), tensor(rng, out) if biased else None, tensor(rng, *batch, width)
    whole = tensor(rng, *batch, out)
    each = [whole if gather else tensor(rng, *batch, out // ranks) for _ in range(ranks)]
    return Case(tuple((weight, bias, x, back) for back in each), {"gather_output": True} if gather else {})


def _row(rng: Random, ranks: int, out: int, width: int, batch: tuple[int, ...] = (3,), biased: bool = True) -> Case:
    weight, bias, back = tensor(rng, out, width), tensor(rng, out) if biased else None, tensor(rng, *batch, out)
    given = [tensor(rng, *batch, width // ranks) for _ in range(ranks)]
    return Case(tuple((weight, bias, x, back) for x in given))


def _any(make: Callable[..., Case]) -> Callable[[Random], Case]:
    """An ordinary case: two to four ranks, which divide both sizes."""

    def draw(rng: Random) -> Case:
        ranks = rng.randint(2, 4)
        return make(rng, ranks, ranks * rng.randint(2, 6), ranks * rng.randint(2, 6))

    return draw


def _several(make: Callable[..., Case]) -> Callable[[Random], list[Case]]:
    return lambda rng: [make(rng, ranks, ranks * rng.randint(2, 5), 12) for ranks in (2, 3, 4)]


def _batches(make: Callable[..., Case]) -> Callable[[Random], list[Case]]:
    return lambda rng: [make(rng, 2, 8, 6, (), False), make(rng, 3, 9, 12, (2, 3)), make(rng, 1, 5, 7, (2,))]


def _first(corners: Callable[[Random], list[Case]]) -> Callable[[Random], Case]:
    return lambda rng: rng.choice(corners(rng))


def _gathered(rng: Random) -> list[Case]:
    return [_column(rng, 2, 6, 5, (3,), True, True), _column(rng, 3, 6, 4, (2, 2), False, True)]


def _column_calls(case: Case) -> list[tuple[str, int]]:
    weight, _, x, _ = case.args[0]
    share = rules.bytes_of(x) // weight.shape[1] * weight.shape[0] // len(case.args)
    gather = [("all_gather", share)] if case.kwargs.get("gather_output") else []
    return [("all_reduce", rules.bytes_of(x)), *gather]


W = Tensor.of(range(1, 9), "float64", (4, 2))
V = Tensor.of(range(1, 9), "float64", (2, 4))


COLUMN = Build(
    id="06-column-parallel-linear",
    module="tensor_parallel",
    function="ColumnParallelLinear",
    grade="world",
    probe="ch06.layer",
    section="6.13",
    bonus=True,
    topic="split linear layers",
    cases=(
        Case(tuple((W, None, vector(1, 1), back) for back in (vector(1, 0), vector(0, 1)))),
        Case(tuple((W, None, vector(1, 1), vector(1, 0, 0, 1)) for _ in range(2)), {"gather_output": True}),
        _column(Random("column"), 3, 6, 4),
    ),
    groups=(
        Group(
            "two to four ranks",
            _any(_column),
            3,
            "Rank r keeps the r-th block of rows, and each rank has a part of the gradient of x.",
            _several(_column),
        ),
        listed("batches", _batches(_column), "There may be one rank, no bias, no batch or two dimensions of it."),
        listed("joined", _gathered, "With gather_output, each rank takes its own slice of the gradient."),
    ),
    slips=COLUMNS,
    rule=rules.calls_at_most(
        _column_calls,
        "f sums the gradient of x in one all-reduce, and gather_output joins the slices in one all-gather",
        least=lambda case: sum(size for _, size in _column_calls(case)),
    ),
)

ROW = Build(
    id="06-row-parallel-linear",
    module="tensor_parallel",
    function="RowParallelLinear",
    grade="world",
    probe="ch06.layer",
    section="6.13",
    bonus=True,
    topic="split linear layers",
    cases=(
        Case(tuple((V, vector(100, 200), vector(1, 1), vector(1, 2)) for _ in range(2))),
        Case(tuple((V, None, vector(1, 1), vector(1, 2)) for _ in range(2))),
        _row(Random("row"), 3, 4, 6),
    ),
    groups=(
        Group(
            "two to four ranks",
            _any(_row),
            4,
            "Rank r keeps the r-th block of columns, and the bias is added to the sum.",
            _several(_row),
        ),
        listed("batches", _batches(_row), "There may be one rank, no bias, no batch or two dimensions of it."),
    ),
    slips=ROWS,
    rule=rules.calls_at_most(
        lambda case: [("all_reduce", rules.bytes_of(case.args[0][3]))],
        "g sums the output once, and nothing else",
        least=lambda case: rules.bytes_of(case.args[0][3]),
    ),
)

ITEMS = (COLUMN, ROW)
