"""All-reduce message by message: every rank gets the sum, in the time that the cost models say."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch04.all_reduce_schedules import (
    SCHEDULES,
    complete,
    ring_schedule,
    simulate_all_reduce,
    simulate_relay,
)
from rankzero import figures
from rankzero.facts.units import GB, MB, us
from rankzero.sim.network import Network, by_rank, simulate_programs
from solutions.ch02.alpha_beta import relay_time
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch03.ring_walk import ring_walk
from solutions.ch04.all_reduce_algorithms import all_reduce_time, crossover_bytes, hierarchical_all_reduce_time

UNIT = Network(bandwidth=1.0)
SIZES = st.integers(0, 10**9)
LATENCIES = st.floats(0, 1e-2)
BANDWIDTHS = st.floats(1e6, 1e12)
FEW = settings(deadline=None, max_examples=15)


def close(seconds):
    return pytest.approx(seconds, rel=1e-9, abs=1e-15)


def levels(ranks):
    return math.ceil(math.log2(ranks))


# Every rank ends with the sum.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [*range(1, 14), 16, 17, 24, 32])
def test_every_rank_ends_with_the_sum(ranks):
    """Whatever the algorithm, the cutting and the size: each contribution once (a second one is refused on the way)."""
    for message_bytes in (0, 1, 1000) if ranks < 6 else (1000,):
        runs = [simulate_all_reduce(name, message_bytes, ranks, UNIT) for name in ("ring", "tree", "hierarchical")]
        runs += [
            simulate_all_reduce(name, message_bytes, ranks, UNIT, chunks)
            for name in ("double_tree", "chain")
            for chunks in (1, 2, 5)
        ]
        if ranks & (ranks - 1) == 0:
            runs.append(simulate_all_reduce("halving_doubling", message_bytes, ranks, UNIT))
        assert all(complete(run) for run in runs)
        assert all(run.ranks == ranks for run in runs)


@pytest.mark.parametrize(("nodes", "size"), [(1, 1), (1, 5), (5, 1), (2, 2), (3, 4), (4, 3), (2, 8)])
def test_levels_end_with_the_sum(nodes, size):
    run = simulate_all_reduce("hierarchical", 101, nodes * size, Network(4.0, 0.5, size, 1.0, 2.0))
    assert complete(run)


def test_half_of_an_all_reduce_is_not_complete():
    """Kills a check that cannot fail: a reduce-scatter leaves each chunk complete on one rank, as the walk says."""
    for ranks in (2, 3, 7):
        schedule = ring_schedule(ranks)
        run = simulate_programs(by_rank(schedule[: len(schedule) // 2], ranks), [1] * ranks, UNIT)
        assert not complete(run)
        assert [[len(chunk) for chunk in chunks] for chunks in run.holds] == ring_walk(ranks)[-1]
        assert not complete(simulate_programs(by_rank(schedule[:-1], ranks), [1] * ranks, UNIT))


# Times, against the closed forms.


@pytest.mark.proof(part="runs")
@settings(deadline=None, max_examples=200)
@given(st.integers(1, 12), SIZES, BANDWIDTHS, LATENCIES)
def test_ring_takes_its_closed_form(ranks, block, bandwidth, latency):
    """Two hundred drawn rings, every chunk sent as a message of its own.

    Kills: one start-up for all steps, a step too many, whole tensors in a step.
    """
    run = simulate_all_reduce("ring", ranks * block, ranks, Network(bandwidth, latency))
    assert run.seconds == close(ring_all_reduce_time(ranks * block, ranks, bandwidth, latency))
    assert run.seconds == close(all_reduce_time("ring", ranks * block, ranks, bandwidth, latency))


@FEW
@given(st.integers(1, 70), SIZES, BANDWIDTHS, LATENCIES)
def test_tree_takes_its_closed_form(ranks, message_bytes, bandwidth, latency):
    run = simulate_all_reduce("tree", message_bytes, ranks, Network(bandwidth, latency))
    assert run.seconds == close(all_reduce_time("tree", message_bytes, ranks, bandwidth, latency))


@FEW
@given(st.sampled_from([1, 2, 4, 8, 16, 32]), SIZES, BANDWIDTHS, LATENCIES)
def test_halving_doubling_takes_its_closed_form(ranks, block, bandwidth, latency):
    run = simulate_all_reduce("halving_doubling", ranks * block, ranks, Network(bandwidth, latency))
    assert run.seconds == close(all_reduce_time("halving_doubling", ranks * block, ranks, bandwidth, latency))


@FEW
@given(st.integers(1, 5), st.integers(1, 5), SIZES, BANDWIDTHS, BANDWIDTHS, LATENCIES, LATENCIES)
def test_hierarchical_takes_its_closed_form(nodes, size, block, inside, across, inner_latency, outer_latency):
    ranks, network = nodes * size, Network(inside, inner_latency, size, across, outer_latency)
    run = simulate_all_reduce("hierarchical", ranks * block, ranks, network)
    closed = hierarchical_all_reduce_time(ranks * block, nodes, size, inside, across, inner_latency, outer_latency)
    assert run.seconds == close(closed)


@FEW
@given(st.integers(1, 10), st.integers(1, 20), SIZES, BANDWIDTHS, LATENCIES)
def test_relay_takes_its_closed_form_and_a_chain_twice_that(ranks, chunks, block, bandwidth, latency):
    network, size = Network(bandwidth, latency), chunks * block
    closed = relay_time(size, ranks - 1, chunks, bandwidth, latency)
    relay = simulate_relay(size, ranks, network, chunks)
    assert relay.seconds == close(closed)
    assert set(sum(relay.holds, ())) == {frozenset({0})}
    assert simulate_all_reduce("chain", size, ranks, network, chunks).seconds == close(2 * closed)


# The double tree.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [*range(3, 20), 31, 33, 64])
@pytest.mark.parametrize("chunks", [1, 2, 3, 8, 17])
def test_double_tree_steps(ranks, chunks):
    """In steps of one message: one per chunk up and down on the busiest port, and filling that does not grow with them.

    Kills: unordered trees, whose ports wait for each other in every chunk.
    """
    steps = simulate_all_reduce("double_tree", chunks, ranks, UNIT, chunks).seconds
    even = chunks + chunks % 2
    assert 2 * chunks <= steps <= 2 * even + 4 * (levels(ranks) - 1)


@FEW
@given(st.integers(3, 24), st.integers(1, 12), st.integers(0, 10**6), BANDWIDTHS, LATENCIES)
def test_double_tree_lies_between_the_limit_and_the_bound(ranks, pairs, block, bandwidth, latency):
    """Never faster than the closed form, 2 d latency + 2 S/B; more chunks add start-ups, fewer add filling."""
    chunks, depth = 2 * pairs, levels(ranks)
    size = chunks * block
    seconds = simulate_all_reduce("double_tree", size, ranks, Network(bandwidth, latency), chunks).seconds
    bound = (2 * chunks + 4 * (depth - 1)) * (latency + block / bandwidth)
    limit = all_reduce_time("double_tree", size, ranks, bandwidth, latency)
    assert limit * (1 - 1e-9) <= seconds <= bound * (1 + 1e-9)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [3, 8, 16, 24])
def test_double_tree_tends_to_two_messages_per_byte(ranks):
    """Without latency, the excess over 2 S/B halves when the chunks double."""
    excess = []
    for chunks in (32, 64, 128):
        size = 10_000 * chunks
        excess.append(simulate_all_reduce("double_tree", size, ranks, UNIT, chunks).seconds / (2 * size) - 1)
    assert excess == pytest.approx([excess[0], excess[0] / 2, excess[0] / 4])
    assert excess[-1] <= 2 * (levels(ranks) - 1) / 128


@pytest.mark.proof(part="runs")
def test_double_tree_with_the_best_chunks_is_near_the_limit():
    """4 GB, 8 ranks, 50 GB/s, 5 µs: less than 3 % above the closed form, and far below the unpipelined tree."""
    network = Network(50 * GB, 5 * us)
    best = min(simulate_all_reduce("double_tree", 4 * GB, 8, network, chunks).seconds for chunks in (140, 220, 300))
    limit = all_reduce_time("double_tree", 4 * GB, 8, 50 * GB, 5 * us)
    assert limit < best < 1.03 * limit
    assert best < 0.4 * all_reduce_time("tree", 4 * GB, 8, 50 * GB, 5 * us)


@pytest.mark.proof(part="runs")
def test_the_simulated_crossing_is_where_the_page_says():
    """Kills a claim of 4.4: with a start-up for every chunk the trees win at 8 MB and lose at 32, on 64 ranks."""
    network = Network(50 * GB, 5 * us)
    assert crossover_bytes(64, 50 * GB, 5 * us) / MB == pytest.approx(912)
    for size, trees_win in ((8 * MB, True), (32 * MB, False)):
        many = (8, 16, 24, 32, 48, 64)
        trees = min(simulate_all_reduce("double_tree", size, 64, network, chunks).seconds for chunks in many)
        assert (trees < simulate_all_reduce("ring", size, 64, network).seconds) == trees_win


def test_two_ranks_are_faster_than_the_closed_form_of_the_double_tree():
    """Each rank is the root of one tree: one half goes up there while the other half goes up here."""
    assert simulate_all_reduce("double_tree", 100, 2, UNIT, 2).seconds == 100
    assert all_reduce_time("double_tree", 100, 2, 1.0) == 200


# Bytes.


@pytest.mark.parametrize("ranks", [2, 3, 8, 13])
def test_ring_sends_what_the_lower_bound_says(ranks):
    book = simulate_all_reduce("ring", 60 * ranks, ranks, UNIT).ledger()
    expected = traffic("all_reduce", 60 * ranks, ranks, 0)
    assert {(book.sent(rank), book.received(rank)) for rank in range(ranks)} == {expected}


@pytest.mark.parametrize("ranks", [*range(4, 18), 64])
def test_nobody_moves_more_than_twice_the_message_in_the_double_tree(ranks):
    book = simulate_all_reduce("double_tree", 120, ranks, UNIT, 4).ledger()
    assert max(book.sent(rank) for rank in range(ranks)) == 240
    assert max(book.received(rank) for rank in range(ranks)) == 240
    assert sum(book.sent(rank) for rank in range(ranks)) == 2 * (ranks - 1) * 120


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8, 13])
def test_the_root_of_a_tree_has_a_message_of_every_level(ranks):
    book = simulate_all_reduce("tree", 100, ranks, UNIT).ledger()
    assert book.sent(0) == book.received(0) == 100 * (ranks - 1).bit_length()
    assert sum(book.calls(rank) for rank in range(ranks)) == 2 * 2 * (ranks - 1)


def test_across_nodes_goes_the_share_of_a_rank():
    """2 nodes of 4: of 800 bytes each rank sends 2 (n-1)/n of its share of 200 across; a flat ring sends 8 times that
    over each of the two links that leave a node.
    """
    run = simulate_all_reduce("hierarchical", 800, 8, Network(1.0, ranks_per_node=4))
    across = [
        event.sent for event in run.events if event.operation == "send" and event.rank // 4 != event.peers[0] // 4
    ]
    assert sum(across) == 8 * 200
    flat = simulate_all_reduce("ring", 800, 8, UNIT)
    over = [e.sent for e in flat.events if e.operation == "send" and (e.rank, e.peers) == (3, (4,))]
    assert sum(over) == 2 * 700


# Uneven chunks, pictures, refusals.


@FEW
@given(st.integers(1, 9), st.integers(0, 50))
def test_chunks_have_whole_bytes(ranks, message_bytes):
    """Between the closed forms of the next smaller and the next larger size that divides."""
    seconds = simulate_all_reduce("ring", message_bytes, ranks, UNIT).seconds
    low, high = message_bytes // ranks * ranks, -(-message_bytes // ranks) * ranks
    assert all_reduce_time("ring", low, ranks, 1.0) <= seconds <= all_reduce_time("ring", high, ranks, 1.0) + 1e-9
    book = simulate_all_reduce("chain", message_bytes, ranks, UNIT, chunks=7).ledger()
    assert sum(book.sent(rank) for rank in range(ranks)) == 2 * (ranks - 1) * message_bytes


@pytest.mark.proof(part="runs")
def test_many_ranks_and_chunks_and_a_picture():
    """64 ranks and 64 chunks; and a small run drawn."""
    run = simulate_all_reduce("double_tree", 64 * 10**6, 64, Network(50 * GB, 5 * us), 64)
    assert len(run.events) == 2 * 2 * 63 * 64
    assert complete(run)
    small = simulate_all_reduce("tree", 10, 4, UNIT)
    assert figures.spacetime(small).alt.startswith("12 operations of 4 ranks over time")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("star", 8, 4, UNIT), f"algorithm must be one of {', '.join(SCHEDULES)}, got 'star'"),
        (("ring", 8, 0, UNIT), "ranks must be an integer >= 1, got 0"),
        (("chain", 8, 2, UNIT, 0), "chunks must be an integer >= 1, got 0"),
        (("ring", 8, 2, UNIT, 2), "chunks must be 1 for ring, got 2"),
        (("ring", 8.5, 2, UNIT), "message_bytes must be a whole number, got 8.5"),
        (("ring", -1, 2, UNIT), "message_bytes must be a finite number >= 0, got -1"),
        (("halving_doubling", 8, 6, UNIT), "ranks must be a power of two for halving_doubling, got 6"),
        (("hierarchical", 8, 6, Network(1.0, 0.0, 4)), "ranks must be a multiple of ranks_per_node = 4, got 6"),
    ],
)
def test_refusals(given, message):
    with pytest.raises(ValueError) as caught:
        simulate_all_reduce(*given)
    assert str(caught.value) == message


def test_a_relay_has_ranks_and_chunks():
    with pytest.raises(ValueError, match=r"^ranks must be an integer >= 1, got 0$"):
        simulate_relay(8, 0, UNIT)
    with pytest.raises(ValueError, match=r"^chunks must be an integer >= 1, got 0$"):
        simulate_relay(8, 2, UNIT, 0)
