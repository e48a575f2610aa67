"""Chapter 3's ring beside published all-reduces. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import format_bytes, ms, us
from solutions.ch03.collective_cost import ring_all_reduce_time

from ..comparison import Compared, Comparison
from . import published

_FIRST, *_OTHERS = published.ROWS
#: The start-up of a step, from the smallest tensor's time: nearly all of that is start-up.
LATENCY = _FIRST.size / _FIRST.rate / (2 * (published.RANKS - 1))


def one(row: published.Row) -> Compared:
    """A size on eight GPUs."""
    seconds = ring_all_reduce_time(row.size, published.RANKS, published.BANDWIDTH, LATENCY)
    return Compared(f"8 GPUs, {format_bytes(row.size, binary=True)}", row.size / row.rate / us, seconds / us, "µs")


def fewer(gpus: int, chosen: bool) -> Compared:
    """8 GiB on so many GPUs, as NCCL chose or by the ring."""
    seconds = ring_all_reduce_time(published.FEWER_SIZE, gpus, published.BANDWIDTH)
    size = format_bytes(published.FEWER_SIZE, binary=True)
    return Compared(f"{gpus} GPUs, {size}", published.times(gpus)[not chosen] / ms, seconds / ms, "ms")


COMPARISONS = (
    Comparison(
        "3.8",
        "Time of a ring all-reduce inside a node",
        "ch03.collective_cost.ring_all_reduce_time",
        "measured",
        published.SOURCE,
        (
            *(one(row) for row in _OTHERS if row.how == "ring"),
            *(fewer(gpus, chosen=False) for gpus in published.FEWER_GPUS),
        ),
        "The links are counted at their data sheet's rate; even a plain copy stays below it.",
        "which part of the time is start-up and which is bytes; a large tensor takes longer",
    ),
    Comparison(
        "3.8",
        "The same formula where NCCL let the switches add",
        "ch03.collective_cost.ring_all_reduce_time",
        "measured",
        published.SOURCE,
        (
            *(one(row) for row in _OTHERS if row.how != "ring"),
            *(fewer(gpus, chosen=True) for gpus in published.FEWER_GPUS if gpus > 4),
        ),
        "This is no ring: each GPU sends and receives little more than one tensor.",
        "nothing on such a switch: the true time does not grow with the GPUs",
    ),
)
