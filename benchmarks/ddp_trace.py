"""Record the course's traces of DDP: ``python -m benchmarks.ddp_trace FOLDER``, on a machine with a core per rank.

For each run of :mod:`rankzero.facts.measured_traces` more steps are recorded than kept. The trace holds the steps in a
row whose lengths differ least, those that were disturbed most evenly by what else the machine did. Of each event only
what is read remains, so that no name of a machine, a user or a folder is stored.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import torch

from experiments.ch05.profile_runs import LAYERS, WIDTH, profiled_run
from rankzero.facts import measured_traces
from rankzero.facts.measured_traces import Run

#: Rows of each rank, the cap of a bucket in MiB, and the steps that are recorded in one try.
SETTINGS: Mapping[Run, tuple[tuple[int, int], float, int]] = {
    "buckets": ((384, 384), 4.0, 14),
    "one_bucket": ((384, 384), 1000.0, 8),
    "slow_rank": ((384, 768), 4.0, 8),
}
TRIES, KEPT = 2, 3


def recorded(run: Run) -> list[dict[str, Any]]:
    """The events of the steps that are kept."""
    rows, cap, steps = SETTINGS[run]
    return most_even([profiled_run(rows, cap, steps) for _ in range(TRIES)], KEPT)


def most_even(tries: Sequence[list[dict[str, Any]]], kept: int) -> list[dict[str, Any]]:
    """The events, on all ranks, of the ``kept`` steps in a row whose lengths on rank 0 differ least."""
    events, _, place = min(((events, *_evenest(events, kept)) for events in tries), key=lambda found: found[1])
    spans = measured_traces.spans(events)
    first = min(event["ts"] for event in events)
    steps = {rank: measured_traces.steps(spans, rank)[place : place + kept] for rank in {span.rank for span in spans}}
    window = {rank: (own[0][0], own[-1][1]) for rank, own in steps.items()}
    return [e for e in events if window[e["pid"]][0] <= (e["ts"] - first) / 1e6 < window[e["pid"]][1]]


def _evenest(events: Sequence[Mapping[str, Any]], kept: int) -> tuple[float, int]:
    """The least difference in length among ``kept`` steps in a row, in seconds, and the number of the first of them."""
    lengths = [end - start for start, end in measured_traces.steps(measured_traces.spans(events), rank=0)]
    rows = [lengths[place : place + kept] for place in range(len(lengths) - kept + 1)]
    return min((max(row) - min(row), place) for place, row in enumerate(rows))


def cut(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What is read of each event, with times from the first one and threads numbered from 0 on each rank."""
    ordered = sorted(events, key=lambda event: event["ts"])
    threads: dict[int, list[int]] = {event["pid"]: [] for event in ordered}
    for event in ordered:
        if event["tid"] not in threads[event["pid"]]:
            threads[event["pid"]].append(event["tid"])
    return [_short(event, threads[event["pid"]], ordered[0]["ts"]) for event in ordered]


def _short(event: Mapping[str, Any], threads: Sequence[int], first: float) -> dict[str, Any]:
    kept = {key: event["args"][key] for key in ("Input Dims", "Input type") if event["args"].get(key)}
    numbers = {"pid": event["pid"], "tid": threads.index(event["tid"])}
    times = {"ts": round(event["ts"] - first, 3), "dur": round(event["dur"], 3)}
    return {"ph": "X", "name": event["name"], **numbers, **times, "args": kept}


def processor() -> str:
    """The processor's name and the number of its cores, as Linux tells them."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} cores of {names[0]}"


def main(folder: Path) -> None:
    """Record every run and store it in ``folder``, each file atomically."""
    for run in get_args(Run):
        store(run, recorded(run), folder)


def store(run: Run, events: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Write the file of a run, with what it was recorded on."""
    rows, cap, steps = SETTINGS[run]
    made: dict[str, Any] = {"torch": torch.__version__, "cpu": processor(), "ranks": len(rows), "rows": rows}
    made |= {"bucket_cap_mb": cap, "layers": LAYERS, "width": WIDTH, "recorded_steps": TRIES * steps}
    made |= {"command": "python -m benchmarks.ddp_trace FOLDER"}
    trace = {"displayTimeUnit": "ms", "otherData": made, "traceEvents": cut(events)}
    draft = folder / f"ddp_{run}.part"
    draft.write_bytes(gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), mtime=0))
    draft.replace(folder / f"ddp_{run}.json.gz")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
