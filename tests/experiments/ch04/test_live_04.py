"""The live runs of chapter 4: real worlds, small tensors. What they count is checked, what they time is not."""

from __future__ import annotations

import itertools
import math

import one_world
import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st

from experiments.ch04.all_reduce_runs import (
    SIZES,
    _median_of_slowest,
    calls_in_a_lap,
    collective_medians,
    five_collectives,
    library_all_reduce,
    medians,
    seconds_per_call,
)
from experiments.ch04.hierarchical_all_reduce import hierarchical_all_reduce, uncut_all_reduce, wire_bytes
from experiments.ch04.link_fits import (
    Fit,
    HeldOut,
    crossing,
    describe,
    describe_crossing,
    describe_measured,
    fit_rows,
    measured_crossing,
    median_error,
    split,
)
from rankzero import world
from rankzero.events import Event
from rankzero.facts.units import GB, KiB, MiB, us
from solutions.ch03.collective_cost import traffic
from solutions.ch03.collectives import ring_all_reduce
from solutions.ch04.all_reduce_algorithms import all_reduce_time, crossover_bytes
from solutions.ch04.bandwidth import MEASURED, fit_alpha_beta
from solutions.ch04.tree_collectives import tree_all_reduce

# The clock.


def test_medians_have_a_row_for_each_size():
    found = medians({"ring": ring_all_reduce, "tree": tree_all_reduce}, sizes=(64, 1024), ranks=3, repeats=2)
    assert list(found) == ["ring", "tree"]
    for rows in found.values():
        assert [size for size, _ in rows] == [64, 1024]
        assert all(0 < seconds < math.inf for _, seconds in rows)


def test_collective_medians_name_what_bus_bandwidth_knows():
    found = collective_medians(4096, ranks=2, repeats=2)
    assert set(found) <= set(MEASURED)
    assert len(found) == 5
    assert all(seconds > 0 for seconds in found.values())


def test_sizes_are_those_of_the_page():
    assert (SIZES[0], SIZES[-1]) == (4 * KiB, 8 * MiB)
    assert all(large == 2 * small for small, large in itertools.pairwise(SIZES))


def _barrier(_x: torch.Tensor) -> None:
    dist.barrier()


@pytest.mark.proof(part="runs")
def test_a_barrier_weighs_more_beside_a_small_tensor():
    """The order that 4.7 states. A busy machine may turn one measurement round, but not five."""
    ways = {"all-reduce": library_all_reduce, "barrier": _barrier}
    for _ in range(5):
        found = medians(ways, sizes=(4 * KiB, 4 * MiB), ranks=2, repeats=9)
        small, large = (
            barrier / alone for (_, alone), (_, barrier) in zip(found["all-reduce"], found["barrier"], strict=True)
        )
        if small > large:
            return
    pytest.fail(f"a barrier beside 4 KiB adds {small:.0%}, beside 4 MiB {large:.0%}")


def _three_calls() -> None:
    seconds_per_call(lambda: dist.all_reduce(torch.zeros(1)), 3)


def test_no_barrier_between_clock_and_clock():
    """Kills a lap that ends, or parts its calls, with a barrier: one stands before the calls, and none after."""
    run = world.run(_three_calls, ranks=2)
    for rank in range(2):
        assert [e.operation for e in run.events if e.rank == rank] == ["barrier", *["all_reduce"] * 3]


def _agreed() -> int:
    calls = iter(range(1000))

    def uneven() -> None:  # slow on one rank alone: the ranks would choose different numbers
        if dist.get_rank() == 1:
            sum(range(200_000 + next(calls)))

    return calls_in_a_lap(uneven)


def test_ranks_agree_on_the_number_of_calls():
    """Kills a number that each rank chooses for itself: they would wait for each other for ever."""
    assert len(set(world.run(_agreed, ranks=3).values)) == 1


def test_slowest_rank_and_median():
    """Kills the mean, the fastest rank, and the median over ranks."""
    assert _median_of_slowest([[1, 10, 3], [2, 4, 30]]) == 10


def _library_keeps_x() -> tuple[list[float], list[float]]:
    x = torch.tensor([dist.get_rank() + 1.0])
    return library_all_reduce(x).tolist(), x.tolist()


def test_library_all_reduce_is_not_in_place():
    assert world.run(_library_keeps_x, ranks=3).values == (([6.0], [1.0]), ([6.0], [2.0]), ([6.0], [3.0]))


def _one_of_each() -> None:
    for call in five_collectives(1024).values():
        call()


def test_five_collectives_have_one_full_tensor():
    """Kills a shard taken for the full tensor: whatever goes in or comes out, its larger side has S bytes."""
    run = world.run(_one_of_each, ranks=4)
    found = {event.operation: max(event.sent, event.received) for event in run.events if event.rank == 1}
    assert found == dict.fromkeys(("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast"), 1024)


# Two levels.


def _sum_in_levels(function, elements: int, ranks_per_node: int) -> list[float]:
    x = torch.arange(float(elements)) * (dist.get_rank() + 1)
    kept = x.clone()
    total = function(x.reshape(-1, 1), ranks_per_node)
    assert torch.equal(x, kept)
    assert total.shape == (elements, 1)
    return total.flatten().tolist()


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("ranks", "shapes"), [(4, ((7, 2), (8, 4), (5, 1))), (2, ((1, 2),))])
def test_levels_give_the_sum(ranks, shapes):
    """Shapes: elements, and ranks of a node."""
    cases = tuple((function, *shape) for function in (hierarchical_all_reduce, uncut_all_reduce) for shape in shapes)
    for (_, elements, _), run in one_world.runs(_sum_in_levels, cases, ranks).items():
        assert run.values == ([value * ranks * (ranks + 1) / 2 for value in range(elements)],) * ranks


def _thousand(function, *per_node: int) -> None:
    function(torch.ones(1000), *per_node)


@pytest.fixture(scope="module")
def wires() -> dict:
    """What four ranks send when a thousand numbers are summed, by function."""
    cases = ((hierarchical_all_reduce, 2), (uncut_all_reduce, 2), (ring_all_reduce,))
    return {case[0]: run.events for case, run in one_world.runs(_thousand, cases, 4).items()}


def test_across_bytes_fall_by_the_ranks_of_a_node(wires):
    """The law of the chapter: cut first, and each rank sends 1/g of the bytes to other nodes."""
    cut, whole = wires[hierarchical_all_reduce], wires[uncut_all_reduce]
    for (_, few), (_, many) in zip(wire_bytes(cut, 4, 2), wire_bytes(whole, 4, 2), strict=True):
        assert many == 2 * few == 4000


def test_wire_bytes_are_those_of_the_closed_form(wires):
    """Two half rings inside and a ring of the share across, as the time formula counts them."""
    inside = 2 * traffic("reduce_scatter", 4000, 2, 0)[0]
    across = traffic("all_reduce", 2000, 2, 0)[0]
    assert wire_bytes(wires[hierarchical_all_reduce], 4, 2) == [(inside, across)] * 4


def test_wire_bytes_of_messages(wires):
    """A flat ring over two nodes of two crosses at ranks 1 and 3 alone."""
    assert wire_bytes(wires[ring_all_reduce], 4, 2) == [(6000, 0), (0, 6000)] * 2


def test_wire_bytes_count_a_message_once():
    events = [Event(0, "send", (2,), 10, 0), Event(2, "recv", (0,), 0, 10)]
    assert wire_bytes(events, 4, 2) == [(0, 10), (0, 0), (0, 0), (0, 0)]


def test_a_node_must_fit():
    with pytest.raises(world.WorldError, match="ranks_per_node must divide 4 ranks, got 3"):
        world.run(hierarchical_all_reduce, torch.ones(4), 3, ranks=4)


# Fits.

ALPHA, BANDWIDTH = 5 * us, 50 * GB
LINE = [(float(size), ALPHA + size / BANDWIDTH) for size in (1e3, 1e4, 1e5, 1e6, 1e7)]


def test_a_line_is_found_and_foretold():
    fit = fit_rows(LINE)
    assert (fit.latency, fit.bandwidth) == pytest.approx((ALPHA, BANDWIDTH))
    assert fit.median_error < 1e-12
    assert fit.seconds(3e6) == pytest.approx(ALPHA + 3e6 / BANDWIDTH)


def test_a_busy_moment_does_not_turn_the_line_round():
    """Kills a page whose fit fails where small messages met a busy machine; held-out times stay as measured."""
    line = [(4096.0 * 2**power, ALPHA + 4096 * 2**power / BANDWIDTH) for power in range(11)]
    late = [(size, 2 * line[-1][1] if size < 1e6 else seconds) for size, seconds in line]
    with pytest.raises(ValueError, match="grow with the size"):
        fit_alpha_beta([size for size, _ in late], [seconds for _, seconds in late])
    fit = fit_rows(late)
    assert fit.bandwidth > 0
    assert {(row.size, row.measured) for row in fit.held_out} < set(late)
    assert [seconds for _, seconds in fit.fitted] == sorted(seconds for _, seconds in fit.fitted)


def test_held_out_sizes_are_not_fitted():
    """Kills a fit that has seen what it foretells: the held-out times may be anything."""
    odd = [(size, seconds * (100 if place % 2 else 1)) for place, (size, seconds) in enumerate(LINE)]
    fit = fit_rows(odd)
    assert (fit.latency, fit.bandwidth) == pytest.approx((ALPHA, BANDWIDTH))
    assert [row.error for row in fit.held_out] == pytest.approx([-0.99, -0.99])
    assert fit.fitted == tuple(odd[::2])


@given(st.lists(st.integers(1, 10**9), min_size=3, max_size=20, unique=True))
def test_split_parts_every_row(sizes):
    rows = [(size, 1.0) for size in sizes]
    fitted, held_out = split(rows)
    assert sorted(fitted + held_out) == sorted(rows)
    assert min(sizes) == fitted[0][0]
    assert len(fitted) - len(held_out) in (0, 1)


@pytest.mark.parametrize("sizes", [[], [1, 2], [1, 1, 2], [1, 2, 2, 3]])
def test_split_refuses(sizes):
    with pytest.raises(ValueError, match="rows must hold at least three sizes, each once, got"):
        split([(size, 1.0) for size in sizes])


def _fit(*errors: float) -> Fit:
    """A fit whose predictions are off by the given shares."""
    rows = tuple(HeldOut(2.0**i, 1.0, 1 + error) for i, error in enumerate(errors))
    return Fit(ALPHA, BANDWIDTH, (), rows)


@pytest.mark.parametrize(
    ("errors", "word", "said"),
    [
        ((0.01, -0.05, 0.5), "well", "5.0%, the worst +50.0%"),
        ((-0.2, 0.2), "fairly", "20.0%"),
        ((0.9, -0.31, 0.0, -0.9), "badly", "60.5%"),
    ],
)
def test_the_sentence_says_what_the_numbers_say(errors, word, said):
    sentence = describe("ring", _fit(*errors))
    assert said in sentence
    assert f"predict this run {word}:" in sentence


def test_lines_cross_where_the_closed_forms_do():
    """An independent way to the crossover: fit both curves, intersect the lines."""
    sizes = [1e3 * 4**power for power in range(9)]
    fits = {
        name: fit_rows([(size, all_reduce_time(name, size, 8, BANDWIDTH, ALPHA)) for size in sizes])
        for name in ("ring", "tree", "double_tree")
    }
    for tree in ("tree", "double_tree"):
        assert crossing(fits[tree], fits["ring"]) == pytest.approx(crossover_bytes(8, BANDWIDTH, ALPHA, tree))
        assert crossing(fits["ring"], fits[tree]) is None


def test_measured_crossing_is_the_last_one():
    tree = [(1, 1.0), (2, 5.0), (4, 4.0), (8, 8.0), (16, 16.0)]
    ring = [(1, 3.0), (2, 3.0), (4, 5.0), (8, 6.0), (16, 9.0)]
    assert measured_crossing(tree, ring) == (4, 8)
    assert "between 4 B and 8 B" in describe_measured(("tree", "ring"), tree, ring)


def test_measurements_without_a_crossing():
    slow, fast = [(1, 2.0), (2, 2.0)], [(1, 1.0), (2, 1.0)]
    assert measured_crossing(slow, fast) is None
    assert measured_crossing(fast, slow) is None
    assert (
        describe_measured(("tree", "ring"), slow, fast) == "measured: the ring is faster at every size from 1 B to 2 B."
    )
    assert "the ring has not taken the lead at 2 B" in describe_measured(("tree", "ring"), fast, slow)


def _line(latency: float, bandwidth: float) -> Fit:
    return Fit(latency, bandwidth, (), ())


@pytest.mark.parametrize(
    ("small", "large", "ahead", "said"),
    [
        ((1.0, 1.0), (3.0, 2.0), [False, True], "the ring is faster above 4 B."),
        ((3.0, 2.0), (1.0, 1.0), [True, False], "the ring is faster below 4 B."),
        ((1.0, 2.0), (3.0, 1.0), [False, False], "the tree is faster at every size."),
        ((1.0, 2.0), (1.0, 1.0), [False, False], "the tree is faster at every size."),
        ((3.0, 1.0), (1.0, 2.0), [True, True], "the ring is faster at every size."),
        ((3.0, 1.0), (1.0, 1.0), [True, True], "the ring is faster at every size."),
        ((1.0, 1.0), (1.0, 1.0), [False, False], "tree and ring take the same time."),
    ],
)
def test_predictions_in_words(small, large, ahead, said):
    """Every way in which two lines can lie; whether the ring is ahead below and above is read off the lines."""
    tree, ring = _line(*small), _line(*large)
    assert [ring.seconds(size) < tree.seconds(size) for size in (1, 100)] == ahead
    assert describe_crossing(("tree", "ring"), tree, ring) == f"predicted by the fits: {said}"


def test_a_median_over_several_fits():
    assert median_error([_fit(0.1, -0.2), _fit(0.9)]) == pytest.approx(0.2)


@given(st.floats(1e-7, 1e-3), st.floats(1e8, 1e12))
def test_fit_is_the_chapters_own(latency, bandwidth):
    rows = [(4.0**power, latency + 4.0**power / bandwidth) for power in range(5, 15)]
    fit = fit_rows(rows)
    sizes, seconds = zip(*rows[::2], strict=True)
    assert (fit.latency, fit.bandwidth) == fit_alpha_beta(sizes, seconds)
