"""A profiled run of DDP: its trace has what it should, in the order that causes dictate; times are not judged."""

from __future__ import annotations

import json

import pytest

from benchmarks.ddp_trace import cut, most_even
from experiments.ch05.profile_runs import CLASSES, LAYERS, profiled_run, small_model, toy_step, trace_lanes
from rankzero.facts import measured_traces as traces
from rankzero.facts.units import MiB, ms
from solutions.ch05.buckets import assign_buckets

WIDTH, STEPS = 64, 2
CAP = WIDTH * WIDTH * 4


@pytest.fixture(scope="module")
def events():
    return profiled_run(rows=(4, 6), cap=CAP / MiB, steps=STEPS, width=WIDTH)


@pytest.fixture(scope="module")
def spans(events):
    return traces.spans(events)


@pytest.mark.proof(part="runs")
def test_both_ranks_compute_and_communicate(spans):
    """Computing is in lane 0; communication is in the lanes of other threads."""
    for rank in (0, 1):
        lanes = {kind: {s.lane for s in traces.select(spans, kind, rank=rank)} for kind in traces.NAMES}
        assert all(lanes[kind] == {0} for kind in (*traces.COMPUTING, "copy"))
        assert lanes["all_reduce"]
        assert 0 not in lanes["all_reduce"]
        assert len(traces.select(spans, "forward", rank=rank)) == STEPS
        assert len(traces.select(spans, "optimizer", rank=rank)) == STEPS


def test_buckets_are_those_of_the_rule(spans):
    """From the second step on, DDP fills its buckets as ``assign_buckets`` says: the head's gradient comes first."""
    sizes = [p.nbytes for p in reversed([*small_model(width=WIDTH).parameters()])]
    assert sizes == [CLASSES * WIDTH * 4, *[CAP] * LAYERS]
    expected = [sum(sizes[index] for index in bucket) for bucket in assign_buckets(sizes, [CAP])]
    for rank in (0, 1):
        for step in traces.steps(spans, rank):
            found = traces.select(spans, "all_reduce", rank=rank, within=step)
            assert sorted(s.nbytes for s in found) == sorted(expected)


def test_a_step_waits_for_its_last_bucket(spans):
    """The last all-reduce begins late in the backward pass, or after it, and the optimizer only after that."""
    for rank in (0, 1):
        for step in traces.steps(spans, rank):
            sent = traces.select(spans, "all_reduce", rank=rank, within=step)
            nodes = traces.select(spans, "backward", rank=rank, within=step)
            (update,) = traces.select(spans, "optimizer", rank=rank, within=step)
            assert nodes[len(nodes) // 2].start < max(s.start for s in sent) < update.start
        assert all(wait > 0 for wait in traces.waits(spans, rank))
        assert 0 <= traces.hidden_share(spans, rank) <= 1


def test_a_cut_trace_reads_the_same(events, spans):
    """Kills a cut that loses a span, a size or a time; numbers of processes and threads of the machine are gone."""
    shorter = cut(events)
    found = traces.spans(json.loads(json.dumps(shorter)))
    assert [(s.rank, s.lane, s.name, s.nbytes) for s in found] == [(s.rank, s.lane, s.name, s.nbytes) for s in spans]
    assert [s.seconds for s in found] == pytest.approx([s.seconds for s in spans], abs=2e-9)
    assert {event["tid"] for event in shorter} <= {0, 1, 2}


def test_the_steps_that_differ_least_are_kept():
    """Kills steps of different places on the two ranks, and a search that takes the shortest steps instead."""
    names = {kind: name for kind, name in traces.NAMES.items() if kind in ("forward", "optimizer")}
    tries = []
    for lengths in ((10, 40, 41, 20), (30, 90, 60, 65)):
        events, start = [], 0
        for length in lengths:
            for rank, late in ((0, 0), (1, 3)):
                first = {"ph": "X", "name": names["forward"], "pid": rank, "tid": 5, "ts": start + late, "dur": 1}
                events += [first, first | {"name": names["optimizer"], "ts": start + length - 4 + late, "dur": 1}]
            start += length
        tries.append(events)
    kept = traces.spans(most_even(tries, 2))
    assert [end - start for start, end in traces.steps(kept, 0)] == pytest.approx([37e-6, 38e-6])
    assert [end - start for start, end in traces.steps(kept, 1)] == pytest.approx([37e-6, 38e-6])
    assert len(kept) == 8


def test_lanes_of_a_picture():
    picture = trace_lanes({"": toy_step()})
    assert [label.get_text() for label in picture.axes[0].get_yticklabels()] == [
        "rank 0, compute",
        "rank 0, Gloo 1",
        "rank 0, Gloo 2",
    ]
    assert len(picture.axes[0].patches) == len(toy_step())
    assert "rank 0, Gloo 2 busy 15% of 20 ms" in picture.alt


def test_colours_do_not_depend_on_what_occurs():
    """Kills a close look without a forward pass in which the backward pass has the forward pass's colour."""
    spans = toy_step()
    whole, end = (trace_lanes({"": part}).axes[0].patches for part in (spans, spans[1:]))
    assert [bar.get_facecolor() for bar in whole[1:]] == [bar.get_facecolor() for bar in end]
    assert len({bar.get_facecolor() for bar in whole}) == 4


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("run", ["buckets", "one_bucket", "slow_rank"])
def test_a_stored_trace_can_be_drawn(run):
    stored = traces.read(run)
    both, one = trace_lanes({run: stored}), trace_lanes({run: stored}, rank=1)
    assert len(both.axes[0].patches) == len(stored)
    assert len(one.axes[0].patches) == sum(span.rank == 1 for span in stored)
    first = trace_lanes({run: stored}, within=traces.steps(stored, 0)[0], rank=0)
    assert 0 < len(first.axes[0].patches) < sum(span.rank == 0 for span in stored)


def test_the_gap_is_what_is_exposed():
    """The step's length is its computing and the exposed communication, and nothing else."""
    step = toy_step()
    sent, computing = traces.select(step, "all_reduce", rank=0), traces.select(step, *traces.COMPUTING, rank=0)
    exposed = (traces.total(sent) - traces.overlap(sent, computing)) / ms
    ((start, end),) = traces.steps(step, 0)
    assert pytest.approx(exposed) == traces.waits(step, 0)[0] / ms
    assert pytest.approx(exposed) == (end - start - traces.total(computing)) / ms
