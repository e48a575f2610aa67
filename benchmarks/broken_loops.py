"""GRPO loops with one wrong line: ``python benchmarks/broken_loops.py``.

Prints for the right loop and each fault where the reward and the judge's mark end, how far the writer went, and the
seconds that it took. With ``--store`` every loop is trained with every seed (some minutes), and the runs are written
where the page reads them.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Iterator, Sequence

import torch

from benchmarks.ddp_trace import processor
from experiments.ch13 import broken_loops
from experiments.ch13.broken_loops import Kept


def told(runs: Iterator[Kept]) -> Iterator[Kept]:
    """The runs, each printed when it has ended."""
    started = time.perf_counter()
    for run in runs:
        now = time.perf_counter()
        ends = f"reward {run.reward:6.2f}   judge {run.judge:6.2f}   {run.kl:6.1f} nats"
        print(f"{run.name:26} seed {run.seed}   {ends}   {now - started:5.1f} s", flush=True)
        started = now
        yield run


def main(argv: Sequence[str] | None = None) -> int:
    """Train and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--store", action="store_true", help="train with every seed, and write the runs")
    options = parser.parse_args(argv)
    if options.store:
        made_on = f"{processor()}, Python {platform.python_version()}, torch {torch.__version__}"
        broken_loops.store(told(broken_loops.all_runs()), made_on)
        print(f"stored in {broken_loops.STORED.name}")
        return 0
    for _ in told(broken_loops.all_runs(broken_loops.SEEDS[:1])):
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
