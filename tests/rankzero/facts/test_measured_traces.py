"""Reading a trace: intervals by hand and by brute force; and the stored traces, whole and without names."""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts import measured_traces as traces
from rankzero.facts.measured_traces import DATA, Run, Span
from tools.common import ROOT

RUNS = get_args(Run)
#: Whole seconds, so that a second is either busy or not.
INTERVALS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair))), max_size=8
)


def span(start: float, end: float, kind: traces.Kind = "all_reduce", rank: int = 0, lane: int = 1) -> Span:
    return Span(rank, lane, kind, kind, start, end)


def busy(intervals) -> set[int]:
    return {second for start, end in intervals for second in range(start, end)}


def event(name: str, ts: float, dur: float, pid: int = 0, tid: int = 7, **args) -> dict:
    return {"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid, "args": args}


# Intervals.


@given(INTERVALS, INTERVALS)
def test_total_and_overlap_count_every_second_once(some, others):
    """Kills sums of durations, and an overlap that counts a second twice where two spans of one kind go on."""
    ours, theirs = ([span(*pair) for pair in pairs] for pairs in (some, others))
    assert traces.total(ours) == len(busy(some))
    assert traces.overlap(ours, theirs) == traces.overlap(theirs, ours) == len(busy(some) & busy(others))


@given(INTERVALS)
def test_a_union_is_in_order_and_apart(intervals):
    found = traces.union([span(*pair) for pair in intervals])
    assert busy(found) == busy(intervals)
    assert all(before[1] < after[0] for before, after in pairwise(found))


def test_the_largest_gap_is_between_spans():
    assert traces.largest_gap([span(0, 2), span(3, 4), span(1, 2.5), span(9, 10)]) == (4, 9)
    with pytest.raises(ValueError, match="spans must pause at least once"):
        traces.largest_gap([span(0, 2), span(1, 3)])


def test_a_wait_begins_with_the_last_gradient():
    first = [span(0, 1, "forward", lane=0), span(1, 3, "backward", lane=0), span(3, 4, "backward", lane=0)]
    first += [span(2, 3.5), span(3.5, 6), span(6, 6.5, "optimizer", lane=0)]
    second = [
        span(7, 8, "forward", lane=0),
        span(8, 11, "backward", lane=0),
        span(9, 10),
        span(11, 12, "optimizer", lane=0),
    ]
    assert traces.steps([*first, *second], 0) == [(0, 6.5), (7, 12)]
    assert traces.waits([*first, *second], 0) == [2, 0]
    assert traces.hidden_share(first, 0) == pytest.approx(2 / 4)


# Events.


def test_spans_of_a_chrome_trace():
    """Microseconds become seconds, threads lanes by first use; what is of no known kind is left out."""
    shapes = {"Input Dims": [[512, 3]], "Input type": ["float"]}
    events = [
        event("gloo:all_reduce", 1500.0, 250.0, tid=9, **shapes),
        event("aten::mm", 900.0, 5.0),
        event("Optimizer.step#SGD.step", 2000.0, 40.0),
        event("DistributedDataParallel.forward", 1000.0, 100.0),
        event("autograd::engine::evaluate_function: MmBackward0", 1000.0, 30.0, pid=1, tid=3),
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
    ]
    found = traces.spans(events)
    assert [(s.rank, s.lane, s.kind, s.nbytes) for s in found] == [
        (0, 0, "forward", 0),
        (1, 0, "backward", 0),
        (0, 1, "all_reduce", 512 * 3 * 4),
        (0, 0, "optimizer", 0),
    ]
    assert [(s.start, s.end) for s in found] == [
        pytest.approx(pair) for pair in ((0, 1e-4), (0, 3e-5), (5e-4, 7.5e-4), (1e-3, 1.04e-3))
    ]
    assert traces.spans([]) == ()


def test_select_takes_kinds_of_one_rank_that_begin_within():
    every = [span(0, 1, "forward"), span(1, 2), span(1, 2, rank=1), span(2, 3)]
    assert traces.select(every, "all_reduce", rank=0) == [every[1], every[3]]
    assert traces.select(every, "all_reduce", "forward", rank=0, within=(0, 2)) == every[:2]


# The stored traces.


@pytest.mark.parametrize("run", RUNS)
def test_a_stored_trace_holds_what_is_read_and_no_names(run):
    """Kills a folder, a host or a thread's number of the machine that recorded it."""
    found = traces.stored(run)
    assert set(found) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert all(set(one) == {"ph", "name", "pid", "tid", "ts", "dur", "args"} for one in found["traceEvents"])
    assert all(set(one["args"]) <= {"Input Dims", "Input type"} for one in found["traceEvents"])
    assert all(traces.kind_of(one) for one in found["traceEvents"])
    assert {one["pid"] for one in found["traceEvents"]} == {0, 1}
    assert {one["tid"] for one in found["traceEvents"]} <= {0, 1, 2}
    assert "/" not in json.dumps(found)
    assert (DATA / f"ddp_{run}.json.gz").stat().st_size < 200_000


@pytest.mark.parametrize("run", RUNS)
def test_a_stored_trace_says_how_it_was_made(run):
    assert traces.source(run).endswith("python -m benchmarks.ddp_trace FOLDER")
    assert "Gloo, 2 ranks on" in traces.source(run)


def test_an_unknown_trace_is_refused():
    with pytest.raises(ValueError, match="run must be one of buckets, one_bucket, slow_rank, got 'nccl'"):
        traces.read("nccl")  # type: ignore[arg-type]


def test_a_wheel_contains_the_traces():
    """The pattern in pyproject.toml covers the files."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["*"]
    shipped = {file.name for pattern in patterns for file in DATA.parent.glob(pattern)}
    assert {f"ddp_{run}.json.gz" for run in RUNS} <= shipped
