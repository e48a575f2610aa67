"""Traces of a small model trained under DDP, recorded once with ``torch.profiler``, and functions that read a trace.

Three runs of the same program on two ranks are stored in ``data/ddp_*.json.gz``, each as a Chrome trace that Perfetto
(https://ui.perfetto.dev) opens, too: a process is a rank, thread 0 is the one that computes, and the others belong to
Gloo. The readers take any trace that PyTorch exports for CPUs. Standard library only; times are in seconds.

>>> spans = read("buckets")
>>> sent = select(spans, "all_reduce", rank=0)
>>> 0 < overlap(sent, select(spans, "backward", rank=0)) < total(sent)
True
"""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from rankzero import checks

DATA = Path(__file__).parent / "data"
#: The stored runs: gradients in buckets of 4 MiB; all of them in one bucket; in buckets, and rank 1 has more rows.
Run = Literal["buckets", "one_bucket", "slow_rank"]
#: What a span is: the model's forward pass, one node of its backward pass, the all-reduce of a bucket, the copy of one
#: averaged gradient out of its bucket, a step of the optimizer.
Kind = Literal["forward", "backward", "all_reduce", "copy", "optimizer"]
#: How PyTorch's names of events begin, by kind.
NAMES: Mapping[Kind, str] = {
    "forward": "DistributedDataParallel.forward",
    "backward": "autograd::engine::evaluate_function: ",
    "all_reduce": "gloo:all_reduce",
    "copy": "torch.distributed.ddp.reducer::copy_bucket_to_grad",
    "optimizer": "Optimizer.step",
}
#: Kinds of work that a rank would have on its own, too; copies are made for the sake of communication.
COMPUTING: tuple[Kind, ...] = ("forward", "backward", "optimizer")
#: Bytes of an element, by the profiler's name of its type.
BYTES = {"float": 4, "double": 8, "c10::BFloat16": 2, "c10::Half": 2}

Interval = tuple[float, float]


@dataclass(frozen=True)
class Span:
    """One event of a trace.

    Attributes:
        rank: whose it is.
        lane: the rank's thread, counted from 0 in the order of first use.
        kind: what was done.
        name: what PyTorch calls it.
        start: seconds since the first event of the trace.
        end: seconds since the first event of the trace.
        nbytes: size of its first tensor; 0 if the trace does not say.
    """

    rank: int
    lane: int
    kind: Kind
    name: str
    start: float
    end: float
    nbytes: int = 0

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.start


# Reading files.


@functools.cache
def stored(run: Run) -> Mapping[str, Any]:
    """A stored trace as it is in its file, with what it was recorded on under ``otherData``."""
    checks.one_of(get_args(Run), run=run)
    return json.loads(gzip.decompress((DATA / f"ddp_{run}.json.gz").read_bytes()))


def read(run: Run) -> tuple[Span, ...]:
    """The spans of a stored trace, by time.

    Raises:
        ValueError: as :func:`stored`.
    """
    return spans(stored(run)["traceEvents"])


def source(run: Run) -> str:
    """What a trace was recorded with, in one line.

    Raises:
        ValueError: as :func:`stored`.
    """
    made = stored(run)["otherData"]
    return f"torch {made['torch']}, Gloo, {made['ranks']} ranks on {made['cpu']}: {made['command']}"


def spans(events: Iterable[Mapping[str, Any]]) -> tuple[Span, ...]:
    """The events of a Chrome trace whose kinds are known, by time; all others are left out.

    Args:
        events: its ``traceEvents``, with times in microseconds; ``pid`` is the rank.
    """
    known = sorted((event for event in events if kind_of(event) is not None), key=lambda event: event["ts"])
    lanes: dict[tuple[int, int], int] = {}
    for event in known:
        used = [thread for rank, thread in lanes if rank == event["pid"]]
        lanes.setdefault((event["pid"], event["tid"]), len(used))
    return tuple(_span(event, lanes[event["pid"], event["tid"]], known[0]["ts"]) for event in known)


def kind_of(event: Mapping[str, Any]) -> Kind | None:
    """What an event of a trace is; None for one that is not a span of a known kind."""
    if event.get("ph") != "X":
        return None
    return next((kind for kind, name in NAMES.items() if event["name"].startswith(name)), None)


def _span(event: Mapping[str, Any], lane: int, first: float) -> Span:
    start, end = event["ts"] - first, event["ts"] - first + event["dur"]
    kind = kind_of(event)
    assert kind is not None
    return Span(event["pid"], lane, kind, event["name"], start / 1e6, end / 1e6, _bytes(event.get("args", {})))


def _bytes(args: Mapping[str, Any]) -> int:
    """Bytes of the first tensor that an event was recorded with, or 0."""
    shapes, kinds = args.get("Input Dims", []), args.get("Input type", [])
    return math.prod(shapes[0]) * BYTES.get(kinds[0], 0) if shapes and kinds and shapes[0] else 0


# Reading spans.


def select(spans: Iterable[Span], *kinds: Kind, rank: int, within: Interval = (-math.inf, math.inf)) -> list[Span]:
    """The spans of one rank that are of one of ``kinds`` and begin within an interval."""
    return [s for s in spans if s.rank == rank and s.kind in kinds and within[0] <= s.start < within[1]]


def steps(spans: Sequence[Span], rank: int) -> list[Interval]:
    """The training steps of a rank: each from the start of its forward pass to the end of the optimizer's step."""
    starts = [span.start for span in select(spans, "forward", rank=rank)]
    ends = [span.end for span in select(spans, "optimizer", rank=rank)]
    return list(zip(starts, ends, strict=True))


def union(spans: Iterable[Span]) -> list[Interval]:
    """The times at which at least one of the spans goes on, as intervals that do not touch, in order."""
    intervals: list[Interval] = []
    for start, end in sorted((span.start, span.end) for span in spans):
        if intervals and start <= intervals[-1][1]:
            intervals[-1] = (intervals[-1][0], max(intervals[-1][1], end))
        else:
            intervals.append((start, end))
    return intervals


def total(spans: Iterable[Span]) -> float:
    """Seconds during which at least one of the spans goes on: what runs at the same time counts once."""
    return sum(end - start for start, end in union(spans))


def overlap(some: Iterable[Span], others: Iterable[Span]) -> float:
    """Seconds during which at least one span of each of the two goes on."""
    ours, theirs = union(some), union(others)
    return sum(max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in ours for b in theirs)


def largest_gap(spans: Iterable[Span]) -> Interval:
    """The longest time between two spans at which none goes on.

    Raises:
        ValueError: there is no such time, because the spans never pause.
    """
    gaps = [(before[1], after[0]) for before, after in pairwise(union(spans))]
    if not gaps:
        raise ValueError("spans must pause at least once, got none that do")
    return max(gaps, key=lambda gap: gap[1] - gap[0])


def waits(spans: Sequence[Span], rank: int) -> list[float]:
    """For each step of a rank, the seconds from its last gradient to the optimizer's step.

    All that happens meanwhile is communication that is left, and copies of the gradients that have arrived.
    """
    result = []
    for step in steps(spans, rank):
        computed = max(span.end for span in select(spans, "backward", rank=rank, within=step))
        (update,) = select(spans, "optimizer", rank=rank, within=step)
        result.append(update.start - computed)
    return result


def hidden_share(spans: Sequence[Span], rank: int) -> float:
    """The share of a rank's communication time that passes while it computes, from 0 to 1."""
    sent = select(spans, "all_reduce", rank=rank)
    return overlap(sent, select(spans, *COMPUTING, rank=rank)) / total(sent)
