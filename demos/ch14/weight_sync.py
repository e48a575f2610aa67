"""Weights sent between processes on four roads: through a disk, a pipe, a Gloo broadcast, a handle to memory.

python -m demos weight_sync --sizes 16,64,256 --roads disk,pipe,gloo,shared --repeat 5
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import torch

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch14 import sync_runs as runs
from rankzero.facts.units import GB, MB, format_bytes

#: The size in the last column: a model of 70 billion parameters in bf16.
MODEL = 140 * GB


def numbers(text: str) -> list[int]:
    """An argparse type: sizes in MB, ascending."""
    words = text.split(",")
    if not all(word.isdecimal() and 1 <= int(word) <= 1024 for word in words) or len(words) < 2:
        raise argparse.ArgumentTypeError(f"must be two sizes or more from 1 to 1024 MB, got {text}")
    return sorted({int(word) for word in words})


def names(text: str) -> list[str]:
    """An argparse type: roads by name."""
    if not set(text.split(",")) <= set(runs.ROADS):
        raise argparse.ArgumentTypeError(f"must be some of {','.join(runs.ROADS)}, got {text}")
    return text.split(",")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--sizes", type=numbers, default=[4, 16, 64], metavar="MB,MB,...")
    options.add_argument("--roads", type=names, default=list(runs.ROADS), metavar="ROAD,ROAD,...")
    options.add_argument("--repeat", type=whole(1, 50), default=3, help="timed runs of each size; the median counts")
    options.add_argument("--cuda-ipc", action="store_true", help="a handle to GPU memory too, where there is a GPU")
    asked = options.parse_args(argv)
    sizes = [size * int(MB) for size in ([1, 8] if asked.quick else asked.sizes)]
    roads = {name: runs.ROADS[name] for name in asked.roads}
    if asked.cuda_ipc and torch.cuda.is_available():
        roads["cuda ipc"] = runs.cuda_ipc
    elif asked.cuda_ipc:
        print("cuda ipc skipped: no GPU")
    times = runs.road_times(sizes, roads, 1 if asked.quick else asked.repeat)
    lines = {road: runs.line_of(rows) for road, rows in times.items()}
    chain = part(asked.code, "ch14.weight_sync", "chain_broadcast_time")
    rows = []
    for road, line in lines.items():
        level = line.bandwidth == float("inf")
        handle = road in ("shared", "cuda ipc")  # the others do grow, though sizes this small do not show it
        hidden: str | float = line.alpha if handle else "unknown"
        predicted = hidden if level else chain(MODEL, 1, line.bandwidth, max(0.0, line.alpha))
        rate = "level" if level and handle else "not seen" if level else f"{format_bytes(line.bandwidth)}/s"
        rows.append((road, *(1e3 * times[road][size] for size in sizes), 1e3 * line.alpha, rate, predicted))
    header = ("road", *(f"{format_bytes(size)} (ms)" for size in sizes), "alpha (ms)", "rate", "140 GB (s)")

    def picture():
        from rankzero import figures

        return figures.weight_sync.roads(times, {road: (line.alpha, line.bandwidth) for road, line in lines.items()})

    show(asked, Table(header, rows), picture)
    small, large = runs.handle_sizes((4_000, sizes[-1])).values()
    print(f"a handle to 4 kB has {small} bytes, one to {format_bytes(sizes[-1])} {large}")
    return verdict(abs(small - large) < 16, "weights arrived whole on every road, and a handle does not grow with them")


if __name__ == "__main__":
    sys.exit(main())
