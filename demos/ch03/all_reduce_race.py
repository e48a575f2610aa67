"""Four ways to all-reduce: through one rank, whole tensors round a ring, chunks round a ring, and the library's.

Bytes are those of the busiest rank's messages. The library's messages are its own affair: its row shows the bound.

python -m demos all_reduce_race --ranks 4 --bytes 4194304
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch03.naive_all_reduces import star_all_reduce, whole_ring_all_reduce
from rankzero import world
from rankzero.units import ms
from solutions.ch03.collective_cost import traffic


def library(x: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks, as the library computes it."""
    total = x.clone()
    dist.all_reduce(total)
    return total


def race(all_reduce: Callable[[torch.Tensor], torch.Tensor], elements: int, rounds: int) -> tuple[list[float], bool]:
    """Seconds of each round on this rank, after one round to warm up, and whether the sums were right."""
    x = torch.full((elements,), float(dist.get_rank() + 1))
    ranks, seconds, right = dist.get_world_size(), [], True
    for _ in range(rounds + 1):
        dist.barrier()
        start = time.perf_counter()
        total = all_reduce(x)
        seconds.append(time.perf_counter() - start)
        right &= bool((total == ranks * (ranks + 1) / 2).all())
    return seconds[1:], right


def _picture(runs: dict):
    from rankzero import figures

    return figures.ledger_bars(runs)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--bytes", type=whole(4, 2**28), default=4 * 2**20, help="size of the tensor")
    arguments = options.parse_args(argv)
    ring = part(arguments.code, "ch03.collectives", "ring_all_reduce")
    ways = {"star": star_all_reduce, "whole-tensor ring": whole_ring_all_reduce, "ring": ring, "library": library}
    elements, rounds = (min(arguments.bytes, 2**18), 3) if arguments.quick else (arguments.bytes, 15)
    elements //= 4
    rows, books, right = [], {}, True
    for name, all_reduce in ways.items():
        run = world.run(race, all_reduce, elements, rounds, ranks=arguments.ranks)
        right &= all(correct for _, correct in run.values)
        slowest = [max(times) for times in zip(*(seconds for seconds, _ in run.values), strict=True)]
        if name == "library":
            most = round(traffic("all_reduce", 4 * elements, arguments.ranks, 0)[0])
        else:
            books[name] = world.run(all_reduce, torch.ones(elements), ranks=arguments.ranks).ledger()
            most = max(books[name].sent(rank) for rank in range(arguments.ranks))
        rows.append((name, most, statistics.median(slowest) / ms))
    show(arguments, Table(("way", "most bytes sent by a rank", "median time (ms)"), rows), lambda: _picture(books))
    return verdict(right, "every way gives the sum on every rank")


if __name__ == "__main__":
    sys.exit(main())
