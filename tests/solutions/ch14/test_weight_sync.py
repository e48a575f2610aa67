"""Times and plans of weight transfers, against simulations, laws and a painted matrix."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from rankzero.facts.units import GB, ms, us
from solutions.ch14.weight_sync import (
    Box,
    Transfer,
    Transition,
    bucketed_sync_time,
    chain_broadcast_time,
    column_shards,
    moved_bytes,
    received,
    reshard_plan,
    row_shards,
    shard_boxes,
    transition_cost,
)

SEVENTY = 140 * GB
EIGHT_BY_SIX = (8, 6)
ROWS = row_shards(EIGHT_BY_SIX, 4)

# A chain.


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({}, 22.4),
        ({"chunks": 64}, 3.10625),
        ({"chunks": 1000}, 2.8196),
        ({"chunks": 1000, "latency": 10 * us}, 2.82967),
        ({"chunks": 10**5, "latency": 10 * us}, 3.80027),
    ],
)
def test_seventy_billion_down_a_chain_of_eight(options, seconds):
    assert chain_broadcast_time(SEVENTY, 8, 50 * GB, **options) == pytest.approx(seconds, rel=2e-6)


def simulated_chain(step: float, receivers: int, chunks: int) -> float:
    """Each chunk at each hop starts when it has arrived and the hop is free."""
    free = [0.0] * receivers
    for _ in range(chunks):
        arrived = 0.0
        for hop in range(receivers):
            arrived = free[hop] = max(arrived, free[hop]) + step
    return max(free, default=0.0)


def test_a_chain_takes_as_long_as_its_simulation():
    """Kills a formula with one step too many or too few."""
    rng = Random(14)
    for _ in range(100):
        receivers, chunks = rng.randint(0, 12), rng.randint(1, 30)
        size, bandwidth, latency = rng.uniform(1, 1e12), rng.uniform(1e8, 1e11), rng.uniform(0, 1e-2)
        expected = simulated_chain(latency + size / chunks / bandwidth, receivers, chunks)
        assert chain_broadcast_time(size, receivers, bandwidth, latency, chunks) == pytest.approx(expected)


# Buckets.


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ((SEVENTY, GB, (450 * GB, 50 * GB, 450 * GB)), 2.80444),
        ((SEVENTY, SEVENTY, (450 * GB, 50 * GB, 450 * GB)), 3.42222),
        ((10.5 * GB, 2 * GB, (10 * GB, 5 * GB), (10 * ms, 20 * ms)), 2.43),
        ((0, GB, (GB,)), 0.0),
        ((SEVENTY, SEVENTY, (7 * GB, 7 * GB)), 40.0),
        ((GB, 5 * GB, (GB, GB)), 2.0),
    ],
)
def test_buckets(arguments, seconds):
    assert bucketed_sync_time(*arguments) == pytest.approx(seconds, rel=2e-6)


def longest_path(sizes: list[float], bandwidths: list[float], latencies: list[float]) -> float:
    """The makespan of a flow shop is its longest way from the first bucket's first stage to the last's last."""
    cost = [[start + size / rate for rate, start in zip(bandwidths, latencies, strict=True)] for size in sizes]
    best = 0.0
    for turns in itertools.combinations_with_replacement(range(len(sizes)), len(bandwidths) - 1):
        edges = [0, *turns, len(sizes) - 1]
        spans = itertools.pairwise(edges)
        best = max(best, sum(sum(cost[b][s] for b in range(lo, hi + 1)) for s, (lo, hi) in enumerate(spans)))
    return best


def test_buckets_take_as_long_as_the_longest_path():
    """Kills a formula that takes the last bucket for a whole one, or the slowest stage for all."""
    rng = Random(2)
    for _ in range(60):
        stages, bucket = rng.randint(1, 4), rng.randint(1, 50) * 10**6
        size = rng.randint(1, 12 * bucket)
        bandwidths = [rng.uniform(1e8, 1e10) for _ in range(stages)]
        latencies = [rng.uniform(0, 1e-2) for _ in range(stages)]
        sizes = [float(bucket)] * (size // bucket) + [float(size % bucket)] * (size % bucket > 0)
        expected = longest_path(sizes, bandwidths, latencies)
        assert bucketed_sync_time(size, bucket, bandwidths, latencies) == pytest.approx(expected)


def test_many_buckets_are_no_list():
    """Kills a list as long as there are buckets: these would need 8 TB."""
    stages, latencies = (2 * GB, GB), (1e-9, 2e-9)
    first, pace = 3e-9 + 1.5 / GB, 2e-9 + 1 / GB
    assert bucketed_sync_time(1e12, 1, stages, latencies) == pytest.approx(first + (1e12 - 1) * pace)


def test_equal_buckets_cost_one_pass_and_then_the_slowest_stage():
    bandwidths, latencies = (4 * GB, GB, 2 * GB), (1e-3, 2e-3, 0.0)
    one = [start + GB / rate for rate, start in zip(bandwidths, latencies, strict=True)]
    assert bucketed_sync_time(9 * GB, GB, bandwidths, latencies) == pytest.approx(sum(one) + 8 * max(one))


# Changing over.


@pytest.mark.parametrize(
    ("engine", "small", "large"),
    [
        ("zero3", Transition(131.25, 140, 8.75), Transition(137.8125, 140, 2.1875)),
        ("gather", Transition(122.5, 140, 17.5), Transition(131.25, 140, 8.75)),
        ("nested", Transition(52.5, 70, 0), Transition(26.25, 35, 0)),
    ],
)
def test_three_engines(engine, small, large):
    assert transition_cost(140, 8, 1, 2, 2, 1, engine) == small
    assert transition_cost(140, 8, 2, 4, 4, 1, engine) == large


@pytest.mark.parametrize(("shards", "slices"), [(8, 4), (8, 2), (8, 1), (4, 4), (9, 3), (6, 2)])
def test_nested_is_what_a_plan_on_matching_boxes_moves(shards, slices):
    """Kills a formula that counts the own slice, or none at all."""
    shape = (72, 5)
    plan = reshard_plan(row_shards(shape, shards), shard_boxes(shape, f"rows{slices}:{shards // slices}"))
    cost = transition_cost(2 * 72 * 5, shards, 1, 1, slices, 1, "nested")
    assert {2 * received(plan, rank) for rank in range(shards)} == {cost.received}


@pytest.mark.parametrize(("train", "generate"), [((1, 4), (4, 1)), ((2, 4), (4, 1)), ((4, 1), (1, 2))])
def test_slices_that_do_not_nest_are_refused(train, generate):
    """Kills a condition on the products alone: a quarter of the layers is no part of a quarter of each layer."""
    with pytest.raises(ValueError, match=r"generate_\w\w must divide train_\w\w, got [42]"):
        transition_cost(140, *train, 2, *generate, "nested")
    assert transition_cost(140, *train, 2, *generate, "gather").peak == 140


def test_a_full_gather_is_what_a_plan_to_copies_moves():
    shape = (24, 5)
    plan = reshard_plan(row_shards(shape, 8), shard_boxes(shape, "rows1x8"))
    for engine, layout in (("zero3", (2, 2, 2)), ("gather", (4, 2, 7))):
        assert received(plan, 3) == pytest.approx(transition_cost(24 * 5, *layout, 2, 1, engine).received)


def test_an_assignment_of_slices_halves_the_bytes():
    shape = (8192, 8192)
    worst = {}
    for order in ("x", ":"):
        plan = reshard_plan(row_shards(shape, 8), shard_boxes(shape, f"rows4{order}2"))
        worst[order] = max(2 * received(plan, rank) for rank in range(8))
    assert worst == {"x": 33_554_432, ":": 16_777_216}
    assert transition_cost(2 * 8192**2, 8, 1, 1, 4, 1, "nested").received == worst[":"]


# Plans.


@pytest.mark.parametrize(
    ("layout", "sends", "elements", "by_rank"),
    [
        ("rows2x2", 6, 72, [12, 24, 24, 12]),
        ("columns2x2", 12, 72, [18, 18, 18, 18]),
        ("rows1x4", 12, 144, [36, 36, 36, 36]),
        ("columns4", 9, 36, [12, 12, 12, 0]),
        ("rows2:2", 4, 48, [12, 12, 12, 12]),
        ("rows4", 0, 0, [0, 0, 0, 0]),
    ],
)
def test_eight_by_six_over_four(layout, sends, elements, by_rank):
    plan = reshard_plan(ROWS, shard_boxes(EIGHT_BY_SIX, layout))
    assert sum(move.source != move.destination for move in plan) == sends
    assert moved_bytes(plan, 1) == elements
    assert [received(plan, rank) for rank in range(4)] == by_rank


def test_columns_of_a_large_matrix_move_all_but_an_eighth():
    plan = reshard_plan(row_shards((8192, 8192), 8), column_shards((8192, 8192), 8))
    assert moved_bytes(plan, 2) == 2 * 8192**2 * 7 // 8


def test_rows_are_cut_as_pytorch_cuts_them():
    import torch

    for rows, ranks in itertools.product(range(1, 14), range(1, 7)):
        theirs = [len(part) for part in torch.zeros(rows).chunk(ranks)]
        ours = [high - low for low, high, _, _ in row_shards((rows, 3), ranks)]
        assert ours == theirs + [0] * (ranks - len(theirs))


def random_layout(rng: Random, shape: tuple[int, int], ranks: int) -> list[Box]:
    """Slices of rows or columns, some ranks with equal ones, in any order."""
    slices = rng.randint(1, ranks)
    boxes = rng.choice((row_shards, column_shards))(shape, slices)
    dealt = boxes + [rng.choice(boxes) for _ in range(ranks - slices)]
    rng.shuffle(dealt)
    return dealt


def test_every_element_comes_once_from_whom_it_should():
    """Kills doubled replicas, inclusive ends, and a plan that asks others for what the rank has."""
    rng = Random(4)
    for _ in range(150):
        shape, ranks = (rng.randint(1, 12), rng.randint(1, 12)), rng.randint(1, 6)
        source, target = random_layout(rng, shape, ranks), random_layout(rng, shape, ranks)
        plan = reshard_plan(source, target)
        for destination in range(ranks):
            came = [(cell, m.source) for m in plan if m.destination == destination for cell in cells(m.box)]
            assert sorted(cell for cell, _ in came) == sorted(cells(target[destination]))
            for cell, owner in came:
                holders = [rank for rank in range(ranks) if cell in cells(source[rank])]
                assert owner == (destination if destination in holders else min(holders))
        assert all(cells(move.box) for move in plan)
        keys = [(m.destination, m.source != m.destination, m.source) for m in plan]
        assert keys == sorted(keys)


def cells(box: Box) -> set[tuple[int, int]]:
    return set(itertools.product(range(box[0], box[1]), range(box[2], box[3])))


def test_boxes_of_any_kind():
    """Targets may overlap and leave gaps; a rank may hold nothing and want nothing."""
    plan = reshard_plan([(0, 2, 0, 2), (2, 2, 0, 2), (2, 4, 0, 2)], [(0, 0, 0, 0), (1, 3, 0, 1), (2, 3, 1, 2)])
    assert plan == [
        Transfer(0, 1, (1, 2, 0, 1)),
        Transfer(2, 1, (2, 3, 0, 1)),
        Transfer(2, 2, (2, 3, 1, 2)),
    ]


@pytest.mark.parametrize("word", ["rows", "rows0", "full4", "rows2y2", "rows2x0", "4rows", "rows2x2x2"])
def test_a_layout_that_is_no_word(word):
    with pytest.raises(ValueError, match="layout must be a word"):
        shard_boxes(EIGHT_BY_SIX, word)
