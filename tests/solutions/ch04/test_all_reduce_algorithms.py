"""Times against a network that knows ports and messages only; trees against laws and a table from the library."""

from __future__ import annotations

import math
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts.units import GB, KB, MB, us
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch04.all_reduce_algorithms import (
    ALGORITHMS,
    all_reduce_time,
    crossover_bytes,
    double_binary_tree,
    hierarchical_all_reduce_time,
)

SIZES = st.floats(0, 1e12)
LINKS = st.tuples(st.floats(1e6, 1e12), st.floats(0, 1e-3))


class Ports:
    """A network in which every rank has one port out and one port in; a message holds both until it has arrived."""

    def __init__(self, ranks: int, bandwidth: float, latency: float) -> None:
        self.ready, self.out, self.into = [0.0] * ranks, [0.0] * ranks, [0.0] * ranks
        self.bandwidth, self.latency = bandwidth, latency

    def step(self, messages: list[tuple[int, int]], size: float) -> None:
        """Messages ``(source, to)`` that leave together; each hands on what its source had before them."""
        ready, arrivals = list(self.ready), []
        for source, to in messages:
            end = max(ready[source], self.out[source], self.into[to]) + self.latency + size / self.bandwidth
            self.out[source] = self.into[to] = end
            arrivals.append((to, end))
        for to, end in arrivals:
            self.ready[to] = max(self.ready[to], end)


def simulated_tree(size: float, ranks: int, *link: float) -> float:
    """A binomial reduce to rank 0 and the same tree back."""
    ports, levels = Ports(ranks, *link), (ranks - 1).bit_length()
    steps = [[(r + 2**k, r) for r in range(0, ranks - 2**k, 2 ** (k + 1))] for k in range(levels)]
    for messages in steps:
        ports.step(messages, size)
    for messages in reversed(steps):
        ports.step([(to, source) for source, to in messages], size)
    return max(ports.ready)


def simulated_halving(size: float, ranks: int, *link: float) -> float:
    """Partners at half the ranks' distance first: halves, quarters, ...; then the same way back."""
    ports, distances = Ports(ranks, *link), [2**k for k in reversed(range((ranks - 1).bit_length()))]
    for place, distance in enumerate(distances):
        ports.step([(r, r ^ distance) for r in range(ranks)], size / 2 ** (place + 1))
    for place, distance in reversed(list(enumerate(distances))):
        ports.step([(r, r ^ distance) for r in range(ranks)], size / 2 ** (place + 1))
    return max(ports.ready)


@given(SIZES, st.integers(1, 70), LINKS)
def test_the_tree_is_that_of_a_network_of_ports(size, ranks, link):
    """Kills: levels rounded down, one way only, one start-up for all, 2 S/B for whole messages.

    The last rank of an uneven tree has fewer levels below it, never more: the root's levels decide.
    """
    assert all_reduce_time("tree", size, ranks, *link) == pytest.approx(simulated_tree(size, ranks, *link), rel=1e-9)


@given(SIZES, st.integers(0, 6), LINKS)
def test_halving_doubling_is_that_of_a_network_of_ports(size, power, link):
    expected = simulated_halving(size, 2**power, *link)
    assert all_reduce_time("halving_doubling", size, 2**power, *link) == pytest.approx(expected, rel=1e-9)


@given(SIZES, st.integers(1, 32768), LINKS)
def test_the_ring_is_that_of_the_chapter_before(size, ranks, link):
    assert all_reduce_time("ring", size, ranks, *link) == ring_all_reduce_time(size, ranks, *link)


@given(st.floats(1, 1e12), st.integers(2, 512), LINKS)
def test_the_double_tree_is_the_limit_of_chunks(size, ranks, link):
    """Half of the data on each of two trees whose busiest rank receives three messages of four: 2 S in all.

    In the limit of many chunks the deepest chain of start-ups remains, up and down.
    """
    bandwidth, latency = link
    trees = double_binary_tree(ranks)
    deepest = max(_depth(tree, rank) for tree in trees for rank in range(ranks))
    limit = 2 * deepest * latency + 2 * size / bandwidth
    assert all_reduce_time("double_tree", size, ranks, *link) == pytest.approx(limit, rel=1e-12)


@pytest.mark.parametrize("power", range(1, 31))
def test_levels_at_powers_of_two_and_next_to_them(power):
    """Kills: a floating-point logarithm that is one off at 2**k or 2**k + 1."""
    for ranks in (2**power, 2**power + 1):
        assert all_reduce_time("tree", 0.0, ranks, 1.0, 1.0) == 2 * math.ceil(math.log2(ranks))


PUBLISHED = [
    ((4 * GB, 8, 50 * GB, 5 * us), (0.14007, 0.48003, 0.16003, 0.14003)),
    ((1 * MB, 1024, 50 * GB, 5 * us), (1.02700e-2, 5.0e-4, 1.4e-4, 1.39961e-4)),
    ((10 * KB, 8, 50 * GB, 5 * us), (7.035e-5, 3.12e-5, 3.04e-5, 3.035e-5)),
    ((1 * GB, 1, 50 * GB, 5 * us), (0.0, 0.0, 0.0, 0.0)),
]


@pytest.mark.parametrize(("arguments", "times"), PUBLISHED)
def test_published_times(arguments, times):
    for algorithm, time in zip(ALGORITHMS, times, strict=True):
        assert all_reduce_time(algorithm, *arguments) == pytest.approx(time, rel=1e-5)


def test_six_ranks():
    times = {"ring": 2.33333e-4, "tree": 5.4e-4, "double_tree": 2.2e-4}
    for algorithm, time in times.items():
        assert all_reduce_time(algorithm, 1 * MB, 6, 12.5 * GB, 10 * us) == pytest.approx(time, rel=1e-5)


# The crossover.


@given(
    st.integers(2, 32768),
    st.tuples(st.floats(1e6, 1e12), st.floats(1e-9, 1e-3)),
    st.sampled_from(["double_tree", "tree"]),
)
def test_the_two_times_agree_at_the_crossover(ranks, link, algorithm):
    """And the ring is the faster one above it; where there is none, it is never slower."""
    size = crossover_bytes(ranks, *link, algorithm)
    times = [all_reduce_time(name, size, ranks, *link) for name in ("ring", algorithm)]
    if ranks > 3:
        assert size > 0
        assert times[0] == pytest.approx(times[1], rel=1e-9)
        assert all_reduce_time("ring", 2 * size, ranks, *link) < all_reduce_time(algorithm, 2 * size, ranks, *link)
        assert all_reduce_time("ring", size / 2, ranks, *link) > all_reduce_time(algorithm, size / 2, ranks, *link)
    else:
        assert size == 0
        assert times[0] <= times[1] * (1 + 1e-12)


def test_published_crossovers():
    double = {8: 8e6, 64: 9.12e8, 1024: 2.59328e11, 4: 1e6, 3: 0.0, 2: 0.0, 1: 0.0}
    plain = {8: 470588, 64: 2.84112e6, 1024: 2.81358e7, 3: 0.0, 2: 0.0, 1: 0.0}
    for ranks, size in double.items():
        assert crossover_bytes(ranks, 50 * GB, 5 * us) == pytest.approx(size, rel=1e-5)
    for ranks, size in plain.items():
        assert crossover_bytes(ranks, 50 * GB, 5 * us, "tree") == pytest.approx(size, rel=1e-5)
    assert all_reduce_time("ring", 8e6, 8, 50 * GB, 5 * us) == pytest.approx(0.35e-3)


# Two trees.


@cache
def _children(ranks: int, which: int) -> tuple[tuple[int, ...], ...]:
    tree = double_binary_tree(ranks)[which]
    below: list[list[int]] = [[] for _ in range(ranks)]
    for child, parent in enumerate(tree):
        if parent is not None:
            below[parent].append(child)
    return tuple(map(tuple, below))


def _depth(tree: list[int | None], rank: int) -> int:
    parent = tree[rank]
    return 0 if parent is None else 1 + _depth(tree, parent)


@pytest.mark.parametrize("first", range(1, 601, 60))
def test_the_laws_of_two_trees(first):
    """Kills: ranks left out, a heap layout, odd numbers mirrored, parents outside, a rank with three children."""
    for ranks in range(first, first + 60):
        levels = (ranks - 1).bit_length()
        for which, tree in enumerate(double_binary_tree(ranks)):
            below = _children(ranks, which)
            (root,) = [rank for rank, parent in enumerate(tree) if parent is None]
            seen, frontier, depth = {root}, [root], 0
            while frontier := [child for rank in frontier for child in below[rank]]:
                assert seen.isdisjoint(frontier)
                seen |= set(frontier)
                depth += 1
            assert seen == set(range(ranks))
            assert depth == levels
            assert max(map(len, below)) <= 2
        inner_twice = [rank for rank in range(ranks) if _children(ranks, 0)[rank] and _children(ranks, 1)[rank]]
        assert inner_twice == ([] if ranks % 2 == 0 or ranks == 1 else [0])
        assert all(len(_children(ranks, which)[rank]) == 1 for rank in inner_twice for which in (0, 1))


def test_the_table_of_the_library():
    """NVIDIA NCCL, src/graph/trees.cc: the drawing for 14 ranks."""
    assert double_binary_tree(14)[0] == [None, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12]


def test_published_trees():
    assert double_binary_tree(1) == ([None], [None])
    assert double_binary_tree(2) == ([None, 0], [1, None])
    assert double_binary_tree(4) == ([None, 2, 0, 2], [1, 3, 1, None])
    assert double_binary_tree(6) == ([None, 2, 4, 2, 0, 4], [1, 5, 3, 1, 3, None])
    assert double_binary_tree(7) == ([None, 2, 4, 2, 0, 6, 4], [5, None, 3, 5, 3, 1, 0])
    assert double_binary_tree(8) == ([None, 2, 4, 2, 0, 6, 4, 6], [1, 3, 1, 7, 5, 3, 5, None])


# Levels.


@given(SIZES, st.integers(1, 64), st.integers(1, 16), LINKS, LINKS)
def test_levels_are_two_half_rings_around_a_ring(size, nodes, inside, intra, inter):
    """Kills: the whole tensor across, no way back, ports added up, one flat ring."""
    half = ring_all_reduce_time(size, inside, *intra) / 2
    across = ring_all_reduce_time(size / inside, nodes, *inter)
    time = hierarchical_all_reduce_time(size, nodes, inside, intra[0], inter[0], intra[1], inter[1])
    assert time == pytest.approx(half + across + half, rel=1e-12)


@given(st.floats(1, 1e12), st.integers(2, 64), st.integers(2, 16), st.floats(1e9, 1e12), st.floats(1e9, 1e11))
def test_no_plan_beats_what_a_node_must_push(size, nodes, inside, intra, inter):
    """Each node sends 2(n-1)/n of S through its ports."""
    least = 2 * (nodes - 1) / nodes * size / (inside * inter)
    assert hierarchical_all_reduce_time(size, nodes, inside, intra, inter) > least * (1 - 1e-12)


@pytest.mark.parametrize(
    ("arguments", "time"),
    [
        ((20 * GB, 8, 8, 450 * GB, 50 * GB), 0.165278),
        ((20 * GB, 8, 8, 450 * GB, 50 * GB, 3 * us, 10 * us), 0.16546),
        ((20 * GB, 8, 8, 300 * GB, 50 * GB), 0.204167),
        ((1 * GB, 1, 8, 450 * GB, 50 * GB), 3.88889e-3),
        ((1 * GB, 8, 1, 450 * GB, 50 * GB), 0.035),
        ((1 * GB, 2, 8, 450 * GB, 50 * GB), 6.38889e-3),
    ],
)
def test_published_levels(arguments, time):
    assert hierarchical_all_reduce_time(*arguments) == pytest.approx(time, rel=1e-5)
