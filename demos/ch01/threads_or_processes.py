"""Threads or processes: the same work by one worker, by threads of one process and by processes, timed here and now.

Every worker does the whole work, so a time like that of one worker is ideal. The work is a loop of plain Python, which
holds the interpreter's lock, and matrix products, which let go of it.

python -m demos threads_or_processes --workers 2
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import torch

from demos.common import Table, demo, parser, show, verdict, whole
from experiments.ch01.workers import SIDE, matrix_products, python_loop, wall_times
from rankzero.units import ms


def _picture(times: dict[str, dict[str, float]]):
    from rankzero import plots

    groups = {work: {who: seconds / ms for who, seconds in by.items()} for work, by in times.items()}
    said = "; ".join(f"{work}: {who} {t:.3g} ms" for work, by in groups.items() for who, t in by.items())
    return plots.bars(groups, y="wall time (ms)", alt=f"Wall times of the same work for each worker: {said}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--workers", type=whole(1, 8), default=2)
    arguments = options.parse_args(argv)
    additions, products, repeats = (100_000, 2, 1) if arguments.quick else (2_000_000, 20, 3)
    times = wall_times(arguments.workers, additions, products, repeats)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"cores for this process: {cores}")
    rows = [
        (work, who, seconds / ms, seconds / by["1 worker"]) for work, by in times.items() for who, seconds in by.items()
    ]
    show(arguments, Table(("work", "workers", "wall time (ms)", "times one worker"), rows), lambda: _picture(times))
    summed = python_loop(additions) == additions * (additions - 1) // 2
    right = summed and torch.equal(matrix_products(products), torch.eye(SIDE)) and min(row[2] for row in rows) > 0
    return verdict(right, "the timed work gives the right sum and the right product")


if __name__ == "__main__":
    sys.exit(main())
