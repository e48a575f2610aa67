"""The live runs of chapter 2, small, on real ranks: what they show is what happens. No time is asserted."""

from __future__ import annotations

import itertools
import re

import pytest
import torch

from experiments.ch01.launching import launched
from experiments.ch02 import mismatches, overlap, ping_pong, relay_runs, split_runs
from experiments.ch02.blocking_rings import CATALOGUE, play, ring_programs
from rankzero import figures, world
from rankzero.events import Event
from rankzero.facts.units import GB, MB, KiB, MiB, us
from rankzero.tiny import GPTConfig
from solutions.ch02 import model_split
from solutions.ch02.alpha_beta import relay_time
from solutions.ch02.deadlock import simulate
from solutions.ch02.model_parallel import naive_step
from solutions.ch02.point_to_point import chunked_relay, relay

# Mismatches


@pytest.mark.proof(part="runs")
@pytest.mark.skipif(
    not torch.__version__.startswith(mismatches.OBSERVED_WITH), reason="the outcomes belong to another version"
)
@pytest.mark.parametrize("name", mismatches.MISMATCHES)
def test_every_mismatch_is_observed_again(name):
    outcome = mismatches.observe(name, timeout=60.0)
    assert outcome.is_of(mismatches.MISMATCHES[name]), str(outcome)


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        (mismatches.Outcome((None, [1.0, 2.0, 3.0, 4.0])), "longer"),
        (mismatches.Outcome((None, 1)), "dtype"),
        (mismatches.Outcome((None, [1.0] * 4)), "shorter"),
        (mismatches.Outcome(None, ("has finished", "waits in recv(src=0) at line 1")), "shorter"),
        (mismatches.Outcome(None, ("has finished",) * 2), "longer"),
        (mismatches.Outcome(None, ("waits in send(dst=1)", "waits in recv(src=0)", "has finished")), "source"),
    ],
)
def test_another_outcome_is_told_from_that_of_the_catalogue(outcome, name):
    """Kills a comparison that holds for anything."""
    assert not outcome.is_of(mismatches.MISMATCHES[name])


# Programs on real ranks


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("name", CATALOGUE)
def test_real_ranks_are_stuck_where_the_simulator_says(name):
    assert play(CATALOGUE[name], timeout=60.0) == simulate(CATALOGUE[name])[1]


def test_a_ring_without_blocking_finishes():
    assert play(ring_programs("non_blocking", 3)) == {}


def test_a_rank_that_raises_is_not_taken_for_stuck():
    with pytest.raises(world.WorldError, match="destination rank should not be the same"):
        play([[("send", 0)], []], timeout=60.0)


# What a message costs


def test_a_ping_pong_has_a_time_for_every_size():
    times = ping_pong.ping_pong((4, 64 * KiB), repeats=3)
    assert list(times) == [4, 64 * KiB]
    assert all(0 < seconds < 60 for seconds in times.values())


def test_the_link_of_exact_times_is_found():
    times = {size: 5 * us + size / (50 * GB) for size in ping_pong.SIZES}
    assert ping_pong.link_of(times) == pytest.approx((5 * us, 50 * GB))
    with pytest.raises(ValueError, match=r"^times must grow"):
        ping_pong.link_of({4: 1.0, 8: 1.0})


# Overlap


def test_a_receive_is_posted_before_the_product_or_after_it():
    runs = overlap.overlap(message_bytes=MiB, width=64, rounds=2)
    spans = {
        name: {event.operation: event for event in run.events if event.rank == 1} for name, run in runs.items()
    }  # of the receiver
    early, late = spans["posted first"], spans["posted after"]
    assert early["recv"].start <= early["matrix product"].start
    assert early["matrix product"].end <= early["recv"].end
    assert late["matrix product"].end <= late["recv"].start
    assert all({event.operation for event in run.events} == {"send", "recv", "matrix product"} for run in runs.values())
    assert figures.spacetime(runs["posted first"]).alt.startswith("3 operations of 2 ranks")


def diary(opened: float, *spans: tuple[str, float, float]) -> overlap.Diary:
    made = object.__new__(overlap.Diary)  # without a barrier
    made.opened, made.spans = opened, list(spans)
    return made


def test_diaries_and_messages_share_a_clock():
    """The diaries' clock stands at 100 when the run starts; rank 1 is slow to open its second diary.

    Kills a reading that takes a diary's opening for the end of the barrier: the slow rank's work would move.
    """
    events = [
        Event(0, "barrier", (0, 1), 0, 0, 0.0, 1.0),
        Event(0, "send", (1,), 4, 0, 1.0, 2.0),
        Event(0, "barrier", (0, 1), 0, 0, 9.0, 10.0),
        Event(0, "send", (1,), 4, 0, 12.0, 14.0),
        Event(1, "barrier", (0, 1), 0, 0, 0.0, 1.0),
        Event(1, "barrier", (0, 1), 0, 0, 9.0, 11.0),
    ]
    diaries = [
        [diary(101.0), diary(101.5)],
        [diary(110.25, ("work", 110.5, 112.0)), diary(115.0, ("work", 115.0, 116.0))],
    ]
    first, last = overlap.with_diaries(overlap.laps_of(events, ranks=2), diaries)
    assert [(row.operation, row.start, row.end) for row in first] == [("send", 0.0, 1.0)]
    found = [(row.rank, row.operation, row.start, row.end) for row in last]
    assert found == [(0, "work", 0.5, 2.0), (0, "send", 2.0, 4.0), (1, "work", 5.0, 6.0)]


# The relay in chunks


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("elements", "chunks"), [(0, 3), (10, 4), (3, 5)])
def test_a_blocking_relay_brings_the_tensor_to_every_rank(elements, chunks):
    x = torch.arange(elements)  # the others receive into buffers of their own
    run = world.run(relay_runs.blocking_relay, x, chunks, ranks=3)
    assert all(torch.equal(value, x) for value in run.values)
    assert [run.ledger().sent(rank) for rank in range(3)] == [8 * elements, 8 * elements, 0]


def test_the_staircase_is_one():
    """All ranks but the first wait from the start, and each receive ends later than the one before."""
    events = relay_runs.staircase(relay, 42, 10).events
    receives = [next(e for e in events if (e.rank, e.operation) == (rank, "recv")) for rank in (1, 2, 3)]
    assert [one.start for one in receives] == [0, 0, 0]
    assert all(a.end < b.end for a, b in itertools.pairwise(receives))


DEAD_PEER = """
import json, os, sys
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
dist.barrier()
seen = {"RANK": os.environ["RANK"]}
if dist.get_rank() == 0:
    try:
        dist.recv(torch.ones(4), src=1)
    except RuntimeError as error:
        seen["error"] = str(error)
sys.stdout.write(json.dumps(seen) + "\\n")
sys.stdout.flush()
os._exit(0)
"""


@pytest.mark.proof(part="runs")
def test_a_rank_that_waits_for_a_dead_one_gets_gloo_s_error():
    """Long before the timeout of 30 minutes, in the words of the page."""
    waiting = launched("torchrun", ranks=2, program=DEAD_PEER)[0]
    assert re.search(r"Connection (closed|reset) by peer", waiting["error"] or "")


def test_a_middle_rank_that_blocks_never_receives_while_it_sends():
    events = [e for e in relay_runs.relay_timeline(relay_runs.blocking_relay, MiB, ranks=3).events if e.rank == 1]
    assert len(events) == 8
    assert all(a.end <= b.start for a, b in itertools.pairwise(events))


def test_two_buffers_let_it_do_both():
    events = [e for e in relay_runs.relay_timeline(chunked_relay, MiB, ranks=3).events if e.rank == 1]
    sends, receives = ([e for e in events if e.operation == name] for name in ("send", "recv"))
    assert all(later.start <= sent.start for sent, later in zip(sends, receives[1:], strict=False))


def test_every_relay_is_timed():
    ways = {"blocking": relay_runs.blocking_relay, "double-buffered": chunked_relay}
    seconds = relay_runs.relay_seconds(ways, MiB, chunks=(1, 4), ranks=3, rounds=2)
    assert {name: list(times) for name, times in seconds.items()} == {name: [1, 4] for name in ways}
    assert all(0 < time < 60 for times in seconds.values() for time in times.values())


@pytest.mark.parametrize(
    ("hops", "chunks", "steps"), [(3, 8, 17), (3, 1, 3), (2, 4, 8), (1, 5, 5), (0, 5, 0), (7, 100, 205)]
)
def test_steps_of_a_blocking_relay_are_those_of_an_execution(hops, chunks, steps):
    """The chain of blocking calls, played by the simulator, needs as many rounds."""
    programs: list[list[tuple[str, int]]] = [[] for _ in range(hops + 1)]
    for rank, program in enumerate(programs):
        for _ in range(chunks):
            program += [("recv", rank - 1)] * (rank > 0) + [("send", rank + 1)] * (rank < hops)
    assert simulate(programs) == (steps, {})
    assert relay_runs.blocking_relay_time(chunks * MB, hops, chunks, 1 * MB) == steps


def test_a_blocking_relay_costs_what_the_chapter_says():
    """64 MB over 3 hops in 8 chunks, 50 GB/s, 5 microseconds: 2.805 ms against 1.65 ms."""
    assert relay_runs.blocking_relay_time(64 * MB, 3, 8, 50 * GB, 5 * us) == pytest.approx(2.805e-3)
    assert relay_time(64 * MB, 3, 8, 50 * GB, 5 * us) == pytest.approx(1.65e-3)


# The model cut in stages

SMALL = GPTConfig(layers=4, heads=2, head_dim=8, context=16)


@pytest.fixture(scope="module")
def uncut() -> split_runs.Split:
    return split_runs.uncut_step(SMALL)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_cut_model_has_the_loss_and_the_gradients_of_the_whole(ranks, uncut):
    cut = split_runs.split_step(ranks, config=SMALL)
    assert cut.loss == pytest.approx(uncut.loss, abs=1e-6)
    assert cut.difference(uncut) < 1e-6
    assert sum(cut.parameters) == sum(uncut.parameters)
    assert 0 <= cut.idle_share < 1


def test_gradients_are_large_enough_for_the_difference_to_mean_something(uncut):
    assert max(float(gradient.abs().max()) for gradient in uncut.gradients.values()) > 1e-3


def test_a_step_that_does_not_send_gradients_back_is_seen(uncut):
    """The difference is no empty comparison: this step stops the gradient at every boundary."""

    def forgetful(stage, inputs, targets, shape):
        import torch.distributed as dist

        rank, ranks = dist.get_rank(), dist.get_world_size()
        if rank > 0:
            inputs = torch.empty(shape)
            dist.recv(inputs, rank - 1)
        output = stage(inputs)
        if rank < ranks - 1:
            dist.send(output.detach(), rank + 1)
            return None
        loss = torch.nn.functional.mse_loss(output, targets)
        loss.backward()
        return float(loss)

    cut = split_runs.split_step(2, forgetful, SMALL)
    assert cut.loss == pytest.approx(uncut.loss, abs=1e-6)
    with pytest.raises(ValueError, match=r"^gradients are missing of "):
        cut.difference(uncut)


def test_a_stage_works_forward_then_backward_and_one_at_a_time():
    events = split_runs.split_step(2, model_split.forward_backward, SMALL).timeline.events
    work = sorted((e for e in events if e.operation in ("forward", "backward")), key=lambda event: event.start)
    assert [(e.rank, e.operation) for e in work] == [
        (0, "forward"),
        (1, "forward"),
        (1, "backward"),
        (0, "backward"),
    ]
    assert all(a.end <= b.start for a, b in itertools.pairwise(work))


def test_the_idle_share_is_what_is_not_computed():
    events = (Event(0, "forward", (), 0, 0, 0.0, 1.0), Event(0, "recv", (1,), 0, 4, 1.0, 4.0))
    timeline = overlap.Timeline(4.0, events)
    assert split_runs.Split(0.0, {}, (1, 1), timeline).idle_share == 1 - 1 / 8


def test_the_planned_step_is_that_of_the_formula():
    assert split_runs.planned_step(12, 3, 0.01, 0.005).seconds == pytest.approx(naive_step(12, 3, 0.01, 0.005)[0])
