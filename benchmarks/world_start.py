"""How long a world of four ranks takes, warm, against ``torch.multiprocessing.spawn`` of the same function.

    python benchmarks/world_start.py [--ranks 4] [--repeats 5]

Both run one all-reduce; spawn imports torch again in each process, a world forks a process that has it. The two take
turns, so that whatever else the machine does falls on both. Prints medians, the ratio, and whether it reaches 15.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from rankzero import world

GOAL = 15.0


def all_reduce() -> float:
    """The work: one all-reduce of four numbers."""
    x = torch.ones(4)
    dist.all_reduce(x)
    return x[0].item()


def spawned(rank: int, ranks: int, store: str) -> None:
    """The same for a spawned process, which has to make its group itself."""
    dist.init_process_group("gloo", store=dist.FileStore(store, ranks), rank=rank, world_size=ranks)
    assert all_reduce() == ranks
    dist.destroy_process_group()


def spawn(ranks: int) -> None:
    """The library's own way."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(spawned, args=(ranks, str(Path(folder) / "store")), nprocs=ranks)


def run(ranks: int) -> None:
    """Ours."""
    assert world.run(all_reduce, ranks=ranks).values == (ranks,) * ranks


def seconds(function: Callable[[int], None], ranks: int) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    function(ranks)
    return time.perf_counter() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    first = seconds(run, options.ranks)
    pairs = [(seconds(spawn, options.ranks), seconds(run, options.ranks)) for _ in range(options.repeats)]
    theirs, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"world.run, the first time  {first:8.3f} s")
    print(f"world.run, warm            {ours:8.3f} s")
    print(f"torch.multiprocessing      {theirs:8.3f} s")
    print(f"ratio                      {theirs / ours:8.1f}   (at least {GOAL:g} wanted)")
    return 0 if theirs / ours >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
