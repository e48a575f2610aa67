"""Real all-reduces, timed: the median time of the slowest rank, for each size. To run some on four processes::

    medians({"library": library_all_reduce}, sizes=(2**12, 2**20), ranks=4)

Each number is measured with one warm-up call, then a barrier, ``k`` calls, and a reading of the clock when the last one
has returned. The timed region contains no barrier. The slowest rank counts, and the median of the repeats is reported.
Operations take turns, so that a busy moment of the machine affects all of them. All ranks of the default group call
each of them.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.facts.units import KiB
from rankzero.world.job import Backend

#: Sizes from 4 KiB to 8 MiB, each twice the previous one, bytes.
SIZES = tuple(4 * KiB * 2**power for power in range(12))

#: Calls are timed together: as many as take about ``LAP`` seconds, but at most ``MOST``.
LAP, MOST = 0.01, 16

Operation = Callable[[torch.Tensor], object]
Rows = list[tuple[int, float]]
Key = TypeVar("Key", bound=Hashable)


def library_all_reduce(x: torch.Tensor) -> torch.Tensor:
    """The sum over all ranks as the library computes it, a new tensor."""
    total = x.clone()
    dist.all_reduce(total)
    return total


def adds_up(all_reduce: Callable[[torch.Tensor], torch.Tensor]) -> bool:
    """Whether this rank ends with the sum over all ranks."""
    ranks = dist.get_world_size()
    total = all_reduce(torch.full((1000,), dist.get_rank() + 1.0))
    return torch.equal(total, torch.full_like(total, ranks * (ranks + 1) / 2))


def five_collectives(size: int) -> dict[str, Callable[[], object]]:
    """Five library collectives on this rank, ready to call, whose full tensor has ``size`` bytes of float32.

    ``size`` must be divisible by four times the number of ranks.
    """
    ranks = dist.get_world_size()
    x = torch.zeros(size // 4, device=_device())  # the full tensor: zeros, so that sums stay small
    blocks = list(x.chunk(ranks))
    parts = [torch.empty_like(block) for block in blocks]
    out = torch.empty_like(x)
    return {
        "all_reduce": lambda: dist.all_reduce(x),
        "reduce_scatter": lambda: dist.reduce_scatter(parts[0], blocks),
        "all_gather": lambda: dist.all_gather(parts, blocks[dist.get_rank()]),
        "all_to_all": lambda: dist.all_to_all_single(out, x),
        "broadcast": lambda: dist.broadcast(x, src=0),
    }


def seconds_per_call(call: Callable[[], object], calls: int) -> float:
    """Mean time of one of ``calls`` calls on this rank, in seconds; all ranks start together."""
    dist.barrier()
    start = time.perf_counter()
    for _ in range(calls):
        call()
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()  # a GPU's call returns before its work is done
    return (time.perf_counter() - start) / calls


def calls_in_a_lap(call: Callable[[], object]) -> int:
    """How many calls to time together, the same on every rank: many short ones or few long ones. Also a warm-up."""
    call()
    count = int(LAP / seconds_per_call(call, 1))
    agreed = torch.tensor([max(1, min(MOST, count))], device=_device())
    dist.broadcast(agreed, src=0)
    return int(agreed)


def timed(calls: Mapping[Key, Callable[[], object]], repeats: int) -> dict[Key, list[float]]:
    """Seconds of each of the ``calls`` on this rank, one number per repeat; the calls take turns."""
    counts = {key: calls_in_a_lap(call) for key, call in calls.items()}
    laps: dict[Key, list[float]] = {key: [] for key in calls}
    for _ in range(repeats):
        for key, call in calls.items():
            laps[key].append(seconds_per_call(call, counts[key]))
    return laps


def medians(
    operations: Mapping[str, Operation],
    sizes: Sequence[int] = SIZES,
    ranks: int = 4,
    repeats: int = 5,
    backend: Backend | None = None,
) -> dict[str, Rows]:
    """Time of one call against its size: ``(bytes, seconds)`` for each operation, in the order of ``sizes``.

    Args:
        operations: functions of a 1-D float32 tensor, by name; all ranks call them.
        sizes: of that tensor, bytes; multiples of 4, at least 4.
        ranks: processes.
        repeats: measurements, of which the median is reported.
        backend: ``"gloo"``, ``"nccl"`` or None, as in :func:`rankzero.world.run`.
    """
    laps = world.run(_laps, dict(operations), tuple(sizes), repeats, ranks=ranks, timeout=300.0, backend=backend).values
    return {
        name: [(size, _median_of_slowest([rank[name, size] for rank in laps])) for size in sizes] for name in operations
    }


def collective_medians(size: int, ranks: int = 4, repeats: int = 5, backend: Backend | None = None) -> dict[str, float]:
    """Seconds that each of :func:`five_collectives` takes for a full tensor of ``size`` bytes."""
    laps = world.run(_collective_laps, size, repeats, ranks=ranks, timeout=120.0, backend=backend).values
    return {name: _median_of_slowest([rank[name] for rank in laps]) for name in laps[0]}


def _laps(operations: dict[str, Operation], sizes: Sequence[int], repeats: int) -> dict[tuple[str, int], list[float]]:
    """Seconds of a call on this rank, one number per repeat, by operation and size."""
    tensors = {size: torch.zeros(size // 4, device=_device()) for size in sizes}
    calls = {(name, size): partial(run, tensors[size]) for size in sizes for name, run in operations.items()}
    return timed(calls, repeats)


def _collective_laps(size: int, repeats: int) -> dict[str, list[float]]:
    return timed(five_collectives(size), repeats)


def _median_of_slowest(by_rank: Sequence[Sequence[float]]) -> float:
    """The median over repeats of the slowest rank's time; ``by_rank[rank][repeat]``."""
    return statistics.median(max(repeat) for repeat in zip(*by_rank, strict=True))


def _device() -> str:
    return "cuda" if dist.get_backend() == "nccl" else "cpu"
