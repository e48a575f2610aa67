"""The network simulator against a clock that ticks, against sequential execution, and programs that cannot run."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rankzero import figures
from rankzero.sim.network import Network, Transfer, by_rank, simulate_programs

UNIT = Network(bandwidth=1.0)


def reduce(source, target, *chunks):
    return Transfer(source, target, chunks, "reduce")


def copy(source, target, *chunks):
    return Transfer(source, target, chunks, "copy")


def simulate(transfers, ranks, sizes=(1, 1, 1), network=UNIT, **more):
    return simulate_programs(by_rank(transfers, ranks), sizes, network, **more)


def times(run, operation="send"):
    return {
        (event.rank, *event.peers, event.start): event.end - event.start
        for event in run.events
        if event.operation == operation
    }


# The model, one rule at a time.


@pytest.mark.parametrize(("size", "seconds"), [(0, 3.0), (1, 3.5), (10, 8.0)])
def test_a_message_takes_latency_and_bytes_over_bandwidth(size, seconds):
    run = simulate([reduce(0, 1, 0)], 2, [size], Network(bandwidth=2.0, latency=3.0))
    assert run.seconds == seconds


def test_a_message_of_several_chunks_starts_up_once():
    run = simulate([reduce(0, 1, 0, 2)], 2, [4, 100, 6], Network(bandwidth=2.0, latency=3.0))
    assert run.seconds == 8.0
    assert run.holds == (tuple([frozenset({0})] * 3), (frozenset({0, 1}), frozenset({1}), frozenset({0, 1})))


def test_a_port_receives_one_message_at_a_time():
    """Kills a model in which a rank hears everybody at once."""
    assert simulate([reduce(1, 0, 0), reduce(2, 0, 0), reduce(3, 0, 0)], 4).seconds == 3


def test_a_port_sends_one_message_at_a_time():
    assert simulate([reduce(0, 1, 0), reduce(0, 2, 0), reduce(0, 3, 0)], 4).seconds == 3


def test_a_port_sends_and_receives_at_once():
    """Kills a half-duplex model: a ring of three moves in one step."""
    assert simulate([reduce(0, 1, 0), reduce(1, 2, 1), reduce(2, 0, 2)], 3).seconds == 1


def test_a_chunk_is_passed_on_when_it_has_arrived_and_not_before():
    run = simulate([reduce(0, 1, 0), reduce(1, 2, 0)], 3)
    assert run.seconds == 2
    assert run.holds[2][0] == {0, 1, 2}


def test_another_chunk_does_not_wait_for_it():
    """Rank 1 sends its own chunk 1 while chunk 0 is still coming."""
    assert simulate([reduce(0, 1, 0), reduce(1, 2, 1)], 3).seconds == 1


def test_what_arrives_does_not_overwrite_what_is_still_to_be_sent():
    """Rank 1 sends its chunk 0 before it receives it, so the receive waits although the port is free."""
    run = simulate([reduce(2, 1, 1), reduce(1, 0, 1), reduce(1, 3, 0), reduce(2, 1, 0)], 4)
    assert times(run) == {(2, 1, 0): 1, (1, 0, 1): 1, (1, 3, 2): 1, (2, 1, 3): 1}
    assert run.holds[3][0] == {1, 3}


def test_messages_leave_in_the_order_of_the_program():
    """Rank 0's second message could go at once, and waits behind the first, which waits for rank 2."""
    run = simulate([reduce(2, 0, 0), reduce(0, 1, 0), reduce(0, 3, 1)], 4)
    assert times(run) == {(2, 0, 0): 1, (0, 1, 1): 1, (0, 3, 2): 1}


def test_nodes_have_links_of_their_own():
    network = Network(10.0, 1.0, ranks_per_node=2, inter_bandwidth=2.0, inter_latency=5.0)
    assert [network.seconds(0, to, 20) for to in (1, 2, 3)] == [3.0, 15.0, 15.0]
    assert network.seconds(2, 3, 20) == 3.0
    assert Network(10.0, 1.0, ranks_per_node=2).seconds(0, 2, 20) == 3.0
    assert Network(10.0, 1.0, ranks_per_node=2, inter_latency=0.0).seconds(0, 2, 20) == 2.0
    run = simulate([reduce(0, 1, 0), reduce(2, 1, 0)], 4, [20], network)
    assert run.seconds == 18.0


def test_ranks_may_start_with_nothing():
    run = simulate([copy(0, 1, 0), copy(1, 2, 0)], 3, [1], holds=[[{0}], [()], [()]])
    assert run.holds == ((frozenset({0}),),) * 3


def test_nothing_to_do():
    run = simulate([], 2)
    assert (run.events, run.seconds, run.ranks) == ((), 0.0, 2)
    assert run.holds == (tuple([frozenset({0})] * 3), tuple([frozenset({1})] * 3))


# Events.


def test_events_and_ledger():
    run = simulate([reduce(0, 1, 0, 1), copy(1, 0, 0)], 2, [5, 7, 9])
    sends = [(e.rank, e.operation, e.peers, e.sent, e.received, e.start, e.end) for e in run.events]
    assert sends == [
        (0, "send", (1,), 12, 0, 0, 12),
        (0, "recv", (1,), 0, 5, 12, 17),
        (1, "recv", (0,), 0, 12, 0, 12),
        (1, "send", (0,), 5, 0, 12, 17),
    ]
    assert (run.ledger().sent(0), run.ledger().received(0), run.ledger()[1, "send"].calls) == (12, 5, 1)


def test_figures_draw_a_run():
    run = simulate([reduce(0, 1, 0), reduce(1, 2, 0), copy(2, 0, 0)], 3)
    pairs = figures.messages(run.events)
    assert [(a.rank, b.rank, a.start, a.end) for a, b in sorted(pairs, key=lambda pair: pair[0].start)] == [
        (0, 1, 0, 1),
        (1, 2, 1, 2),
        (2, 0, 2, 3),
    ]
    assert figures.spacetime(run).alt.startswith("6 operations of 3 ranks over time: send, recv; arrows are messages")
    assert "the most that one rank sent is 1 bytes" in figures.ledger_bars(run).alt


# Random programs.


@st.composite
def sequences(draw, ranks=4, chunks=3, most=14):
    """Transfers that can be carried out one after the other, and what the ranks hold then."""
    held = [[{rank} for _ in range(chunks)] for rank in range(ranks)]
    transfers = []
    for _ in range(draw(st.integers(0, most))):
        source, target = draw(st.permutations(range(ranks)))[:2]
        picked = draw(st.sets(st.integers(0, chunks - 1), min_size=1))
        for kind, fits in (("reduce", set.isdisjoint), ("copy", set.issuperset)):
            fitting = tuple(sorted(c for c in picked if fits(held[source][c], held[target][c])))
            if fitting:
                transfers.append(Transfer(source, target, fitting, kind))
                for chunk in fitting:
                    held[target][chunk] = held[target][chunk] | held[source][chunk]
    return transfers, held


def ticked(programs, sizes):
    """Seconds until all is done, by a clock that ticks: at every second, start what may start. An independent count.

    A rank's transfer may start when it is the first of its direction that has not started, that direction is idle, and
    no earlier transfer of its program that has not ended carries one of its chunks.
    """
    started, ended, now = {}, set(), 0
    ends = [[(t, sum(u == t for u in program[:i])) for i, t in enumerate(program)] for program in programs]

    def may(rank, item):
        before = ends[rank][: ends[rank].index(item)]
        same_way = [other for other in before if (other[0].source == rank) == (item[0].source == rank)]
        same_chunk = [other for other in before if set(other[0].chunks) & set(item[0].chunks)]
        return all(other in ended for other in same_way + same_chunk)

    items = {item for program in ends for item in program}
    while len(ended) < len(items):
        ended |= {item for item, end in started.items() if end == now}
        for item in items - set(started):
            if may(item[0].source, item) and may(item[0].target, item):
                started[item] = now + sum(sizes[c] for c in item[0].chunks)
        now += 1
        assert now < 1000
    return max(started.values(), default=0)


@settings(deadline=None, max_examples=40)
@given(sequences(), st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_random_programs_against_a_ticking_clock(sequence, sizes):
    transfers, held = sequence
    run = simulate(transfers, 4, sizes)
    assert [[set(chunk) for chunk in chunks] for chunks in run.holds] == held
    assert run.seconds == ticked(by_rank(transfers, 4), sizes)


@settings(deadline=None, max_examples=40)
@given(sequences(), st.floats(0, 2), st.floats(0.1, 10))
def test_no_port_is_used_twice_at_a_time(sequence, latency, bandwidth):
    transfers, sizes = sequence[0], [3, 5, 0]
    run = simulate(transfers, 4, sizes, Network(bandwidth, latency))
    for rank in range(4):
        for operation in ("send", "recv"):
            mine = [event for event in run.events if (event.rank, event.operation) == (rank, operation)]
            assert all(a.end <= b.start for a, b in pairwise(mine))
            for event in mine:
                took = latency + (event.sent + event.received) / bandwidth
                assert event.end - event.start == pytest.approx(took, abs=1e-9)
    size = sum(sizes[chunk] for transfer in transfers for chunk in transfer.chunks)
    book = run.ledger()
    assert sum(book.sent(rank) for rank in range(4)) == sum(book.received(rank) for rank in range(4)) == size


def attempt(programs):
    """The run, or why there is none."""
    try:
        return simulate_programs(programs, [1, 1, 1], UNIT)
    except ValueError as error:
        return str(error)


@settings(deadline=None, max_examples=40)
@given(sequences(), st.randoms(use_true_random=False))
def test_shuffled_programs_run_or_are_refused(sequence, random):
    """Whatever the order, the simulation ends: it gives every message's events or says what is wrong."""
    programs = by_rank(sequence[0], 4)
    for program in programs:
        random.shuffle(program)
    outcome = attempt(programs)
    assert "rank" in outcome if isinstance(outcome, str) else len(outcome.events) == 2 * len(sequence[0])


@settings(deadline=None, max_examples=40)
@given(sequences(), st.data())
def test_a_lost_message_is_noticed(sequence, data):
    """One end forgets one of its transfers."""
    programs = by_rank(sequence[0], 4)
    rank = data.draw(st.integers(0, 3))
    assume(programs[rank])
    programs[rank].pop(data.draw(st.integers(0, len(programs[rank]) - 1)))
    with pytest.raises(ValueError, match=r"which (does not|receives)"):
        simulate_programs(programs, [1, 1, 1], UNIT)


# Programs that cannot run.


@pytest.mark.parametrize(
    ("transfers", "message"),
    [
        (
            [reduce(0, 1, 0), reduce(1, 2, 0), reduce(0, 2, 0)],
            "rank 2 adds rank 0's numbers to chunk 0 twice, from rank 0",
        ),
        ([reduce(0, 1, 2), reduce(0, 1, 2)], "rank 1 adds rank 0's numbers to chunk 2 twice, from rank 0"),
        (
            [copy(1, 2, 1)],
            "rank 1 sends chunk 1 to rank 2 before it has rank 2's numbers, and the copy would replace them",
        ),
        ([reduce(0, 3, 0)], "target must be an integer from 0 to 2, got 3"),
        ([reduce(1, 1, 0)], "source and target must be two ranks, got 1 and 1"),
        ([reduce(0, 1, 3)], "chunks[0] must be an integer from 0 to 2, got 3"),
        ([reduce(0, 1)], "chunks must be different, got ()"),
        ([reduce(0, 1, 1, 1)], "chunks must be different, got (1, 1)"),
        ([Transfer(0, 1, (0,), "move")], "kind must be one of reduce, copy, got 'move'"),
    ],
)
def test_impossible_transfers(transfers, message):
    with pytest.raises(ValueError) as caught:
        simulate(transfers, 3)
    assert str(caught.value) == message


def test_a_rank_cannot_send_what_it_does_not_have():
    with pytest.raises(ValueError, match=r"^rank 1 sends chunk 1 to rank 2 before it has any of it$"):
        simulate([copy(0, 1, 0), copy(1, 2, 1)], 3, [1, 1], holds=[[{0}, {0}], [(), ()], [(), ()]])


@pytest.mark.parametrize(
    ("programs", "message"),
    [
        ([[reduce(0, 1, 0)], []], "rank 0 sends chunk 0 to rank 1, which does not receive it"),
        ([[], [reduce(0, 1, 0, 2)]], "rank 1 receives chunks 0, 2 from rank 0, which does not send it"),
        (
            [[reduce(0, 1, 0)], [reduce(0, 1, 1)]],
            "rank 0 sends chunk 0 to rank 1 to reduce, which receives chunk 1 to reduce",
        ),
        (
            [[reduce(0, 1, 0)], [copy(0, 1, 0)]],
            "rank 0 sends chunk 0 to rank 1 to reduce, which receives chunk 0 to copy",
        ),
        (
            [[reduce(1, 2, 0)], [], []],
            "the program of rank 0 must hold its own transfers, got one from rank 1 to 2",
        ),
        ([[reduce(0, 5, 0)], []], "target must be an integer from 0 to 1, got 5"),
        ([[reduce(0, 1, 0), reduce(1, 0, 0)], [reduce(1, 0, 0), reduce(0, 1, 0)]], None),
    ],
)
def test_ends_that_do_not_agree(programs, message):
    message = message or "deadlock: rank 0 waits to send chunk 0 to rank 1; rank 1 waits to send chunk 0 to rank 0"
    with pytest.raises(ValueError) as caught:
        simulate_programs(programs, [1, 1, 1], UNIT)
    assert str(caught.value) == message


def test_a_ring_that_waits_in_a_circle():
    """Every rank first receives chunk 0 and then sends it: nobody begins. Four are named, the rest counted."""
    ring = [Transfer(rank, (rank + 1) % 6, (0,), "reduce") for rank in range(6)]
    programs = [[ring[rank - 1], ring[rank]] for rank in range(6)]
    with pytest.raises(ValueError) as caught:
        simulate_programs(programs, [1], UNIT)
    assert str(caught.value).startswith("deadlock: rank 0 waits to receive chunk 0 from rank 5; rank 1 ")
    assert str(caught.value).endswith("rank 3 waits to receive chunk 0 from rank 2; and 2 more")


def test_a_start_that_fits_neither_ranks_nor_chunks():
    with pytest.raises(ValueError, match=r"holds must have 3 chunks on each of 2 ranks, got \[1, 1\]"):
        simulate([reduce(0, 1, 0)], 2, holds=[[{0}], [{1}]])
