"""All-reduces of a node with eight H200 GPUs, as published, for the formula of chapter 3. Standard library only.

The GPUs are joined by NVLink 4, 450 GB/s in each direction of each GPU. NCCL 2.27.7 ran a ring up to 1 MiB; from 2 MiB
on the switches between the GPUs did the adding (NVLink SHARP), unless that was switched off.

>>> [round(seconds / 1e-3, 1) for seconds in times(8)]  # milliseconds of 8 GiB: as NCCL chooses, and a ring
[31.8, 41.1]
>>> round(ROWS[0].size / ROWS[0].rate / 1e-6)  # microseconds
40
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.units import GB, GiB, KiB, MiB

_FOLDER = "https://github.com/stas00/ml-engineering/blob/c53741b8b7dcc17b152757f104398c6dd6f231b3/network"
SOURCE = (
    f"S. Bekman, ml-engineering, [all-reduce-8xH200.md]({_FOLDER}/benchmarks/results/all-reduce-8xH200.md) and, on "
    f"SHARP, [network/README.md]({_FOLDER}/README.md), measured 2026-08-04"
)
RANKS, BANDWIDTH = 8, 450 * GB


@dataclass(frozen=True)
class Row:
    """One measurement.

    Attributes:
        size: of the tensor on each GPU, bytes.
        rate: the size over the time, bytes/s: the table's *algbw*.
        how: what NCCL ran.
    """

    size: float
    rate: float
    how: str


#: What one GPU copies to another on this node, in one direction, bytes/s (network/README.md).
COPY = 396.40 * GB

#: The published bus bandwidth at 16 GiB with the adding switch off, bytes/s: 2 (N - 1) / N times the rate.
RING_BUS = 367.61 * GB
RING_16_GIB = RING_BUS * RANKS / (2 * (RANKS - 1))

#: The published bus bandwidths at 8 GiB over fewer GPUs of such a node (network/README.md), bytes/s: as NCCL chooses,
#: and with the adding switch off. Over four GPUs NCCL chooses the ring.
FEWER_SIZE = 8 * GiB
FEWER_GPUS = {
    4: (363.3 * GB, 363.3 * GB),
    5: (414.2 * GB, 364.4 * GB),
    6: (435.6 * GB, 365.1 * GB),
    7: (460.0 * GB, 365.7 * GB),
    8: (473.1 * GB, 365.6 * GB),
}

ROWS = (
    Row(32 * KiB, 0.82 * GB, "ring"),
    Row(256 * KiB, 6.71 * GB, "ring"),
    Row(1 * MiB, 22.82 * GB, "ring"),
    Row(16 * GiB, RING_16_GIB, "ring"),
    Row(16 * GiB, 275.58 * GB, "switch"),
)


def times(gpus: int) -> tuple[float, float]:
    """Seconds of the published all-reduce of :data:`FEWER_SIZE` over ``gpus``: as NCCL chooses, and by a ring."""
    chosen, ring = FEWER_GPUS[gpus]
    sent = 2 * (gpus - 1) / gpus * FEWER_SIZE
    return sent / chosen, sent / ring
