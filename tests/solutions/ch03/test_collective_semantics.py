"""The table of meanings against laws of its own, and against the library on real ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero import world
from solutions.ch03 import collective_cost
from solutions.ch03.collective_semantics import OPERATIONS, REDUCTIONS, collective_outputs

INPUTS = [[1.5, -2.0, 3.0], [4.0, 0.5, -6.0], [7.0, 8.0, -0.25], [2.0, -1.0, 0.125]]  # exact in binary
ROOTED = ("broadcast", "scatter", "gather", "reduce")


def test_meaning_and_cost_know_the_same_operations():
    """Each module has its own list, because a cell of the page must stand alone."""
    assert collective_cost.OPERATIONS == OPERATIONS


@st.composite
def every_rank_alike(draw) -> list[list[float]]:
    """One list per rank, of a length that the ranks divide; small integers, so that sums are exact."""
    ranks, blocks = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    numbers = st.lists(st.integers(-99, 99).map(float), min_size=ranks * blocks, max_size=ranks * blocks)
    return draw(st.lists(numbers, min_size=ranks, max_size=ranks))


def test_published_examples():
    ones = [[1], [2], [3], [4]]
    assert collective_outputs("all_reduce", ones) == [[10]] * 4
    assert collective_outputs("reduce", ones, root=2) == [None, None, [10], None]
    assert collective_outputs("all_reduce", ones, reduction="avg") == [[2.5]] * 4
    assert collective_outputs("all_reduce", ones, reduction="product") == [[24]] * 4
    rows = [[(r + 1) * v for v in (1, 2, 3, 4)] for r in range(4)]
    assert collective_outputs("reduce_scatter", rows) == [[10], [20], [30], [40]]
    table = [[10 * r + c for c in range(4)] for r in range(4)]
    assert collective_outputs("all_to_all", table)[1] == [1, 11, 21, 31]
    assert collective_outputs("scatter", [[10, 20, 30, 40], None, None, None]) == [[10], [20], [30], [40]]


@given(every_rank_alike(), st.sampled_from(sorted(REDUCTIONS)))
def test_an_all_reduce_is_a_reduce_scatter_and_an_all_gather(inputs, reduction):
    """Kills: a reduce-scatter that reduces each rank's own list."""
    parts = collective_outputs("reduce_scatter", inputs, reduction=reduction)
    assert collective_outputs("all_gather", parts) == collective_outputs("all_reduce", inputs, reduction=reduction)


@given(every_rank_alike(), st.data())
def test_an_all_reduce_is_a_reduce_and_a_broadcast(inputs, data):
    root = data.draw(st.integers(0, len(inputs) - 1))
    reduced = collective_outputs("reduce", inputs, root)
    assert [rank for rank, value in enumerate(reduced) if value is not None] == [root]
    assert collective_outputs("broadcast", reduced, root) == collective_outputs("all_reduce", inputs)


@given(every_rank_alike(), st.data())
def test_gather_undoes_scatter(inputs, data):
    root = data.draw(st.integers(0, len(inputs) - 1))
    gathered = collective_outputs("gather", collective_outputs("scatter", inputs, root), root)
    assert gathered[root] == inputs[root]


@given(every_rank_alike())
def test_all_to_all_twice_changes_nothing(inputs):
    """Kills: a copy instead of a transpose would pass this, so some list must move too."""
    once = collective_outputs("all_to_all", inputs)
    assert collective_outputs("all_to_all", once) == inputs
    marked = [[float(rank)] * len(inputs) for rank in range(len(inputs))]
    assert collective_outputs("all_to_all", marked) == [[float(r) for r in range(len(inputs))]] * len(inputs)


@given(every_rank_alike(), st.sampled_from(OPERATIONS))
def test_inputs_stay_as_they_are_and_outputs_share_nothing(inputs, operation):
    before = [list(row) for row in inputs]
    outputs = collective_outputs(operation, inputs)
    for row in outputs:
        if row is not None:
            row.append(0.0)
    assert inputs == before
    assert len({id(row) for row in outputs if row is not None}) == sum(row is not None for row in outputs)


def library(ranks: int) -> dict:
    """What the library leaves on this rank, for every operation, root and reduction."""
    from experiments.ch03.library_collectives import library_collective

    return {
        key: library_collective(key[0], inputs_of(key[0], ranks), *key[1:]) for key in every_call(ranks)
    }  # the same order on every rank


def inputs_of(operation: str, ranks: int) -> list[list[float]]:
    """As many numbers as ``operation`` can cut: three blocks for each rank where it cuts, else three."""
    cuts = operation in ("scatter", "reduce_scatter", "all_to_all")
    return [row * ranks if cuts else row for row in INPUTS[:ranks]]


def every_call(ranks: int) -> list[tuple[str, int, str]]:
    roots = {operation: range(ranks) if operation in ROOTED else [0] for operation in OPERATIONS}
    reductions = {operation: REDUCTIONS if "reduce" in operation else ["sum"] for operation in OPERATIONS}
    return [(name, root, kind) for name in OPERATIONS for root in roots[name] for kind in reductions[name]]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_the_library_agrees_on_real_ranks(ranks):
    """Every operation, root and reduction; None is not compared: nothing is promised there."""
    held = world.run(library, ranks, ranks=ranks).values
    for key in every_call(ranks):
        expected = collective_outputs(key[0], inputs_of(key[0], ranks), *key[1:])
        for rank, value in enumerate(expected):
            if value is not None:
                assert held[rank][key] == pytest.approx(value, rel=1e-12), (key, rank)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (("all_reduce", [[1], [2], []]), r"inputs must hold lists of one length, got \[\[1\], \[2\], \[\]\]"),
        (("all_gather", [[1], None]), r"inputs must hold lists of one length, got \[\[1\], None\]"),
        (("all_gather", []), r"inputs must hold one list per rank, got \[\]"),
        (("all_to_all", [[1, 2, 3]] * 2), "inputs must have a length divisible by 2 ranks, got .*3"),
    ],
)
def test_bad_input_is_named(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        collective_outputs(*call)
