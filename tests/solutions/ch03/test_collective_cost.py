"""Bytes and times against the published factors, and against a simulator that knows ports and messages only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts.units import GB, MB, Gbit, us
from solutions.ch03.collective_cost import debug_double, ring_all_reduce_time, traffic
from solutions.ch03.collective_semantics import OPERATIONS
from solutions.ch03.naive_all_reduce_costs import star_all_reduce_time, whole_ring_all_reduce_time

SIZES = st.floats(0, 1e12)


def test_published_factors():
    """nccl-tests, doc/PERFORMANCE.md: 2(n-1)/n and (n-1)/n."""
    assert traffic("all_reduce", 1 * GB, 8, 0) == (1.75 * GB, 1.75 * GB)
    for operation in ("all_gather", "reduce_scatter", "all_to_all"):
        assert traffic(operation, 1 * GB, 8, 3) == (0.875 * GB, 0.875 * GB)


def test_published_examples():
    assert traffic("all_reduce", 8 * MB, 4, 0) == (12e6, 12e6)
    assert traffic("all_gather", 8 * MB, 4, 0) == (6e6, 6e6)
    assert traffic("broadcast", 8 * MB, 4, 1, root=2) == (0, 8e6)
    assert traffic("scatter", 8 * MB, 4, 2, root=2) == (6e6, 0)
    assert traffic("reduce", 8 * MB, 4, 3, root=2) == (8e6, 0)


@given(st.sampled_from(OPERATIONS), SIZES, st.integers(1, 64), st.data())
def test_what_is_sent_is_received(operation, size, ranks, data):
    root = data.draw(st.integers(0, ranks - 1))
    counts = [traffic(operation, size, ranks, rank, root) for rank in range(ranks)]
    assert sum(sent for sent, _ in counts) == pytest.approx(sum(received for _, received in counts), rel=1e-12)


@given(SIZES, st.integers(1, 64), st.data())
def test_reduce_is_a_broadcast_run_backwards_in_time(size, ranks, data):
    """Who sends in one receives in the other: on the mirrored ring, where rank root + k is rank root - k."""
    root, rank = data.draw(st.integers(0, ranks - 1)), data.draw(st.integers(0, ranks - 1))
    mirrored = (2 * root - rank) % ranks
    assert traffic("reduce", size, ranks, rank, root) == traffic("broadcast", size, ranks, mirrored, root)[::-1]


@given(st.sampled_from(OPERATIONS), SIZES)
def test_one_rank_or_nothing_moves_nothing(operation, size):
    assert traffic(operation, size, 1, 0) == (0, 0)
    assert traffic(operation, 0, 5, 2, 1) == (0, 0)


class Ports:
    """A network in which every rank has one port out and one port in; a message holds both until it has arrived."""

    def __init__(self, ranks: int, bandwidth: float, latency: float) -> None:
        self.out, self.into = [0.0] * ranks, [0.0] * ranks
        self.bandwidth, self.latency = bandwidth, latency

    def send(self, source: int, to: int, size: float, ready: float) -> float:
        """When a message that is there at ``ready`` has arrived."""
        end = max(ready, self.out[source], self.into[to]) + self.latency + size / self.bandwidth
        self.out[source] = self.into[to] = end
        return end


def simulated_ring(size: float, ranks: int, steps: int, bandwidth: float, latency: float) -> float:
    """``steps`` steps of a ring: a rank sends on what the last step brought."""
    ports, ready = Ports(ranks, bandwidth, latency), [0.0] * ranks
    for _ in range(steps):
        arrivals = [ports.send(rank, (rank + 1) % ranks, size, ready[rank]) for rank in range(ranks)]
        ready = [arrivals[rank - 1] for rank in range(ranks)]
    return max(ready)


def simulated_star(size: float, ranks: int, bandwidth: float, latency: float) -> float:
    ports = Ports(ranks, bandwidth, latency)
    complete = max([ports.send(rank, 0, size, 0.0) for rank in range(1, ranks)], default=0.0)
    return max([ports.send(0, rank, size, complete) for rank in range(1, ranks)], default=0.0)


@given(SIZES, st.integers(1, 40), st.floats(1e6, 1e12), st.floats(0, 1e-3))
def test_times_are_those_of_a_network_of_ports(size, ranks, bandwidth, latency):
    """Kills: one start-up for all steps, whole tensors in a step, both phases counted twice."""
    link = (bandwidth, latency)
    steps = ranks - 1
    ring = simulated_ring(size / ranks, ranks, 2 * steps, *link)
    assert ring_all_reduce_time(size, ranks, *link) == pytest.approx(ring, rel=1e-9)
    whole = simulated_ring(size, ranks, steps, *link)
    assert whole_ring_all_reduce_time(size, ranks, *link) == pytest.approx(whole, rel=1e-9)
    assert star_all_reduce_time(size, ranks, *link) == pytest.approx(simulated_star(size, ranks, *link), rel=1e-9)


@given(st.floats(1, 1e12), st.integers(2, 16384), st.floats(1e6, 1e12))
def test_without_latency_the_bus_bandwidth_is_the_link(size, ranks, bandwidth):
    """nccl-tests: busbw = S/t * 2(n-1)/n."""
    time = ring_all_reduce_time(size, ranks, bandwidth)
    assert size / time * 2 * (ranks - 1) / ranks == pytest.approx(bandwidth, rel=1e-12)
    assert debug_double(size, ranks, bandwidth) == pytest.approx(time, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "time"),
    [
        ((2 * GB, 8, 50 * GB), 0.07),
        ((2 * GB, 8, 50 * GB, 5 * us), 0.07007),
        ((2 * GB, 8, 25 * GB), 0.14),
        ((1 * GB, 8, 450 * GB), 3.88889e-3),
        ((1 * MB, 1024, 50 * GB, 5 * us), 1.02700e-2),
        ((14 * GB, 64, 50 * GB), 0.55125),
        ((100 * MB, 8, 100 * Gbit), 0.014),
    ],
)
def test_published_times(arguments, time):
    assert ring_all_reduce_time(*arguments) == pytest.approx(time, rel=1e-5)


def test_the_star_takes_ranks_times_as_long():
    link = (450 * GB,)
    assert star_all_reduce_time(1 * GB, 8, *link) / ring_all_reduce_time(1 * GB, 8, *link) == pytest.approx(8)


@pytest.mark.parametrize("time", [whole_ring_all_reduce_time, star_all_reduce_time])
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((-1.0, 8, 1.0), "message_bytes must be a finite number >= 0, got -1.0"),
        ((1.0, 0, 1.0), "ranks must be an integer >= 1, got 0"),
        ((1.0, 8, 0.0), "bandwidth must be a finite number > 0, got 0.0"),
        ((1.0, 8, 1.0, -1.0), "latency must be a finite number >= 0, got -1.0"),
    ],
)
def test_times_name_bad_input(time, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        time(*arguments)
