"""How long four ranks take to start: a world beside ``torch.multiprocessing.spawn`` and torchrun.

    python -m benchmarks.world_start [--ranks 4] [--repeats 3]

All run one all-reduce. Warm: spawn and torchrun import torch again in each process, a world forks a process that has
it. First: a fresh interpreter does what the first cell of a page does, and then runs its first world. They take turns,
so that whatever else the machine does falls on all. Medians.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from benchmarks._rows import Row, arguments, finish, keep
from rankzero import world

ROOT = Path(__file__).resolve().parent.parent
#: What is aimed at: a warm world over spawn, and seconds of the first world after the page's own import of torch.
MOST_RATIO, MOST_FIRST = 1 / 15, 0.3

#: A page's first cells and its first world; prints the seconds of both.
FIRST = """
import json, time
began = time.perf_counter()
from rankzero import world
world.prepare()
import torch
ready = time.perf_counter()
def all_reduce():
    import torch.distributed as dist
    x = torch.ones(4)
    dist.all_reduce(x)
    return x[0].item()
world.run(all_reduce, ranks=RANKS)
print(json.dumps([ready - began, time.perf_counter() - ready]))
"""

#: The same for torchrun.
SCRIPT = """
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
x = torch.ones(4)
dist.all_reduce(x)
assert x[0].item() == dist.get_world_size()
dist.destroy_process_group()
"""


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


def torchrun(ranks: int) -> None:
    """The launcher of the library, with a free port."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "script.py")
        script.write_text(SCRIPT, encoding="utf-8")
        launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks), str(script)]
        subprocess.run([sys.executable, *launch], check=True, capture_output=True, cwd=folder)


def first(ranks: int) -> tuple[float, float]:
    """Seconds of a page's first cells in a fresh interpreter, and of its first world."""
    code = FIRST.replace("RANKS", str(ranks))
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    imported, ran = json.loads(done.stdout)
    return imported, ran


def rows(ranks: int, warm: float, spawned: float, launched: float, imported: float, ran: float) -> list[Row]:
    """The medians beside each other, in seconds."""
    again, same = f"{ranks} ranks, started again in the same program", "One all-reduce of four numbers, in turns."
    return [
        Row(again, warm, "s", "`torch.multiprocessing.spawn`", spawned, same, most=MOST_RATIO, goal="ratio"),
        Row(again, warm, "s", "`torchrun`", launched, f"{same} torchrun starts a program, so it has no second start."),
        Row(
            f"{ranks} ranks, from nothing to the result",
            *(imported + ran, "s", "`torchrun`", launched),
            fair="Both import torch first. Ours ends with the result, torchrun with its own end.",
        ),
        Row(
            "first world of a kernel, after the page's first cells",
            *(ran, "s", "those cells, which import torch", imported),
            fair="The wait that a reader adds to the import which the page needs anyway.",
            most=MOST_FIRST,
            missed_by="The process that ranks are forked from imports torch beside the cells, and more of it.",
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(argv)
    run(options.ranks)
    turns = []
    for _ in range(options.repeats):
        laps = [seconds(start, options.ranks) for start in (run, spawn, torchrun)]
        turns.append((*laps, *first(options.ranks)))
        medians = [statistics.median(column) for column in zip(*turns, strict=True)]
        keep(found := rows(options.ranks, *medians), options)
    for row in found:
        print(f"{row.what:<52}{row.ours:8.3f} s   {row.beside} {row.other:.3f} s")
    return finish(found, options)


if __name__ == "__main__":
    raise SystemExit(main())
