"""Write a sharded checkpoint to the disk with more and more processes, and see where it stops getting faster.

    for written in write_rates((1, 2, 4, 8), size=64 * MB):
        print(written.writers, written.bandwidth)

The total size stays the same. Each process writes its part into its own file and returns when the disk has it
(``fsync``; without it only memory would be timed). The clock runs from the common start to the last writer's end.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.facts.units import MB

from .survive import write_durably


@dataclass(frozen=True)
class Written:
    """A checkpoint on the disk.

    Attributes:
        writers: processes that wrote.
        size: bytes of all parts, as the disk counts them.
        seconds: from the common start to the last writer's end; the shortest of several.
    """

    writers: int
    size: int
    seconds: float

    @property
    def bandwidth(self) -> float:
        """Bytes/s of all writers together."""
        return self.size / self.seconds


def write_rates(
    writers: Sequence[int] = (1, 2, 4, 8), size: float = 64 * MB, repeats: int = 2, folder: str | None = None
) -> list[Written]:
    """Write ``size`` bytes with each number of processes in turn.

    Args:
        writers: how many; each at least 1.
        size: bytes of the whole checkpoint; each writer has its share, rounded down.
        repeats: at least 1; the fastest counts, since whatever else the disk does can only add to a time.
        folder: on the disk that is measured; None takes the folder for temporary files. Nothing stays there.

    Raises:
        ValueError: a writer would have nothing to write.
    """
    if size < max(writers, default=1):
        raise ValueError(f"size must be at least one byte for each writer, got {size!r} for {max(writers)}")
    result = []
    for count in writers:
        with tempfile.TemporaryDirectory(dir=folder) as place:
            laps = [_written(world.run(_write, place, int(size) // count, ranks=count).values) for _ in range(repeats)]
        result.append(min(laps, key=lambda lap: lap.seconds))
    return result


def _write(place: str, share: int) -> tuple[float, float, int]:
    """On each rank: when the write began and ended, by the machine's clock, and the bytes that are on the disk."""
    content = os.urandom(min(share, 2**20))  # random, so that no disk can compress it
    content = (content * -(-share // len(content)))[:share]
    path = Path(place) / f"part-{dist.get_rank()}"
    dist.all_reduce(torch.zeros(1))  # all are ready
    start = time.monotonic()
    write_durably(path, content)
    return start, time.monotonic(), path.stat().st_size


def _written(values: Sequence[tuple[float, float, int]]) -> Written:
    starts, ends, sizes = zip(*values, strict=True)
    return Written(len(values), sum(sizes), max(ends) - min(starts))
