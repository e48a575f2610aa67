"""The two explorers of chapter 3: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(eight_operations, ranks=Range(2, 8, 4), ...)``.
"""

from __future__ import annotations

from rankzero.charts import Axis, Spec, bars, below, beside, blocks, chart, grid, lines, shares
from rankzero.facts.units import KB, MB, us
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch03.collective_semantics import collective_outputs
from solutions.ch03.naive_all_reduce_costs import star_all_reduce_time, whole_ring_all_reduce_time

#: The full tensor S in the first explorer, bytes.
MESSAGE = 8 * MB

#: Three ways to all-reduce, with the time that each takes.
WAYS = {
    "star": star_all_reduce_time,
    "whole-tensor ring": whole_ring_all_reduce_time,
    "ring": ring_all_reduce_time,
}


def starting_blocks(operation: str, ranks: int, root: int = 0) -> list[list[float] | None]:
    """What each of ``ranks`` ranks holds before ``operation``, in the numbers of the chapter's pictures.

    Block ``c`` of rank ``r`` is ``10 * (r + 1) + c``: the number says where it comes from. In gather and all-gather a
    rank contributes one block, ``c = r``; in broadcast and scatter only the root has any.
    """
    rows: list[list[float]] = [[10.0 * (rank + 1) + index for index in range(ranks)] for rank in range(ranks)]
    if operation in ("gather", "all_gather"):
        return [[row[rank]] for rank, row in enumerate(rows)]
    if operation in ("broadcast", "scatter"):
        return [row if rank == root else None for rank, row in enumerate(rows)]
    return [*rows]


def eight_operations(operation: str = "all_gather", ranks: int = 4, root: int = 0, reduction: str = "sum") -> Spec:
    """A collective before and after, and the bytes that each rank sends and receives for a tensor of 8 MB.

    Args:
        operation: the library's name of the collective; the chapter lists all eight.
        ranks: 2 to 8.
        root: rank of the root, for operations that have one; a larger number means the last rank.
        reduction: for operations that reduce: ``sum``, ``avg``, ``product``, ``min`` or ``max``.
    """
    root = min(root, ranks - 1)
    inputs = starting_blocks(operation, ranks, root)
    before, after = blocks(operation, inputs, collective_outputs(operation, inputs, root, reduction))
    rows = []
    for rank in range(ranks):
        for direction, size in zip(("sent", "received"), traffic(operation, MESSAGE, ranks, rank, root), strict=True):
            rows.append({"rank": rank, "direction": direction, "megabytes": size / MB})
    pictures = beside(grid(before, ranks, "before"), grid(after, ranks, "after"))
    volume = bars(rows, Axis("rank", "rank", category=True), Axis("megabytes", "MB, for S = 8 MB"), by="direction")
    return chart(below(pictures, volume), f"{operation} on {ranks} ranks: blocks before and after, and bytes by rank.")


def all_reduce_time(
    ranks: int = 8, message_bytes: float = 100 * MB, bandwidth: float = 50e9, latency: float = 5 * us
) -> Spec:
    """Time of three all-reduces against the size of the tensor, and where the time goes at the marked size.

    Args:
        ranks: N, 2 to 1,024.
        message_bytes: S, the marked size, bytes.
        bandwidth: of one link, one direction, bytes/s.
        latency: of one step, seconds.
    """
    sizes = [KB * 10 ** (power / 4) for power in range(33)]  # 1 KB to 100 GB
    curves = [
        {"size": size, "seconds": time(size, ranks, bandwidth, latency), "way": way}
        for way, time in WAYS.items()
        for size in sizes
    ]
    parts = []
    for way, time in WAYS.items():
        whole = time(message_bytes, ranks, bandwidth, latency)
        waiting = time(0, ranks, bandwidth, latency)
        for part, seconds in (("start-ups", waiting), ("bytes", whole - waiting)):
            parts.append({"way": way, "part": part, "percent": 100 * seconds / whole, "seconds": seconds})
    x, y = Axis("size", "S, size of the tensor (bytes)", log=True), Axis("seconds", "time (seconds)", log=True)
    percent, name = Axis("percent", "share of the time at the marked size (%)"), Axis("way", "", category=True)
    return chart(
        below(lines(curves, x, y, by="way", mark=message_bytes), shares(parts, percent, name, by="part")),
        f"Time of an all-reduce over {ranks} ranks against its size, for a star, a ring of whole tensors and a ring.",
    )
