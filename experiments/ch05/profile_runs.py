"""A small model trained under DDP and recorded with ``torch.profiler``: the trace, and its drawing.

    spans = measured_traces.spans(profiled_run())
    trace_lanes({"DDP": spans})

The traces that the course ships (:mod:`rankzero.facts.measured_traces`) come from ``python -m benchmarks.ddp_trace``.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

from rankzero import world
from rankzero.facts.measured_traces import COMPUTING, Interval, Kind, Span, kind_of, select
from rankzero.facts.units import ms
from rankzero.figures import serving
from rankzero.figures.picture import Picture

#: Width of a layer: its weights take 4 MiB.
WIDTH = 1024
CLASSES = 128
LAYERS = 8
#: What a picture calls the kinds of spans that it does not call by their own name.
SHOWN = {"all_reduce": "all-reduce", "copy": "update", "optimizer": "update"}


def small_model(layers: int = LAYERS, width: int = WIDTH, classes: int = CLASSES) -> nn.Sequential:
    """Equal linear layers, ``width`` x ``width``, and a head, ``classes`` x ``width``; no biases."""
    body = [part for _ in range(layers) for part in (nn.Linear(width, width, bias=False), nn.ReLU())]
    return nn.Sequential(*body, nn.Linear(width, classes, bias=False))


def profiled_steps(rows: Sequence[int], cap: float, steps: int, width: int) -> list[dict[str, Any]]:
    """What each rank runs: train, recording all steps but the first two, in which DDP arranges its buckets.

    Args:
        rows: of a batch, for each rank.
        cap: ``bucket_cap_mb``, in MiB.
        steps: to record.
        width: of the model.

    Returns:
        The events of this rank's Chrome trace, with its rank as ``pid``.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(small_model(width=width), bucket_cap_mb=cap)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(rows[dist.get_rank()], width)
    labels = torch.randint(CLASSES, (len(x),))

    plan = schedule(wait=1, warmup=1, active=steps)
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, record_shapes=True) as profiler:
        for _ in range(2 + steps):
            optimizer.zero_grad()
            cross_entropy(model(x), labels).backward()
            optimizer.step()
            profiler.step()
    return [event | {"pid": dist.get_rank()} for event in chrome_events(profiler)]


def chrome_events(profiler: profile) -> list[dict[str, Any]]:
    """The ``traceEvents`` of a profiler that has stopped."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(file))
        return json.loads(file.read_text(encoding="utf-8"))["traceEvents"]


def profiled_run(
    rows: Sequence[int] = (256, 256), cap: float = 4.0, steps: int = 3, width: int = WIDTH
) -> list[dict[str, Any]]:
    """Train on one rank per entry of ``rows`` under the profiler; returns the events of all ranks that are read.

    Args:
        rows: of a batch, for each rank; at least 1 each.
        cap: of a bucket, MiB.
        steps: to record.
        width: of the model.
    """
    run = world.run(profiled_steps, tuple(rows), cap, steps, width, ranks=len(rows))
    return [event for events in run.values for event in events if kind_of(event) is not None]


#: Seconds of a step that is small enough to read by hand: kind, thread, start and end.
_TOY: tuple[tuple[Kind, int, float, float], ...] = (
    ("forward", 0, 0 * ms, 4 * ms),
    *(("backward", 0, start * ms, (start + 4) * ms) for start in (4, 8, 12)),
    ("all_reduce", 1, 8 * ms, 13 * ms),
    ("all_reduce", 2, 12 * ms, 15 * ms),
    ("all_reduce", 1, 16 * ms, 19 * ms),
    ("optimizer", 0, 19 * ms, 20 * ms),
)


def toy_step() -> tuple[Span, ...]:
    """An invented step of one rank with three buckets, two of which travel at the same time for a while."""
    return tuple(Span(0, lane, kind, kind, start, end) for kind, lane, start, end in _TOY)


def trace_lanes(runs: Mapping[str, Sequence[Span]], within: Interval | None = None, rank: int | None = None) -> Picture:
    """A trace as lanes: for each rank one row of computing, and one for each thread that communicates.

    Copies of averaged gradients and the optimizer's step are both called ``update``.

    Args:
        runs: the spans of a trace, by the name of the run.
        within: leave out what begins outside this interval of seconds; None for all.
        rank: show this one alone; None for all.
    """
    rows = {name: _rows(spans, within or (0.0, math.inf), rank) for name, spans in runs.items()}
    return serving.timelines(rows, kinds=("forward", "backward", "update", "all-reduce"))


def _rows(spans: Sequence[Span], within: Interval, only: int | None) -> dict[str, list[tuple[str, float, float]]]:
    rows: dict[str, list[tuple[str, float, float]]] = {}
    for rank in sorted({span.rank for span in spans} if only is None else {only}):
        rows[f"rank {rank}, compute"] = _named(select(spans, *COMPUTING, "copy", rank=rank, within=within))
        sent = select(spans, "all_reduce", rank=rank, within=within)
        for number, lane in enumerate(sorted({span.lane for span in sent}), 1):
            rows[f"rank {rank}, Gloo {number}"] = _named([span for span in sent if span.lane == lane])
    return rows


def _named(spans: Sequence[Span]) -> list[tuple[str, float, float]]:
    return [(SHOWN.get(span.kind, span.kind), span.start, span.end) for span in spans]
