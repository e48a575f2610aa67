"""A measurement that somebody else published: nccl-tests on two nodes of eight H100. Standard library only.

Source: AWS, awsome-distributed-training, micro-benchmarks/nccl-tests/README.md at commit
27b7d49e944e55839324a22fe5ed9f77170d7999: ``all_reduce_perf`` on two p5.48xlarge, out of place. Each of these nodes has
eight H100 and network cards for 3,200 Gb/s.

>>> TWO_NODES[0], len(TWO_NODES)
(Row(size=8, microseconds=69.12, bus=0.0), 32)
"""

from __future__ import annotations

from typing import NamedTuple

#: GPUs that took part.
RANKS = 16

_PRINTED = """
69.12 0.00, 72.64 0.00, 74.06 0.00, 65.48 0.00, 74.92 0.00, 74.12 0.01, 69.50 0.01, 69.24 0.03, 72.22 0.05, 78.58 0.10,
81.44 0.19, 94.36 0.33, 111.7 0.55, 135.1 0.91, 108.9 2.26, 128.0 3.84, 123.7 7.95, 123.2 15.95, 147.2 26.70,
168.6 46.64, 204.8 76.80, 298.1 105.52, 439.7 143.09, 601.5 209.19, 870.3 289.16, 1468.2 342.81, 2559.2 393.34,
4607.6 436.95, 9074.5 443.72, 17286 465.87, 33605 479.28, 66132 487.09
"""


class Row(NamedTuple):
    """A line of the published table.

    Attributes:
        size: of the tensor, bytes.
        microseconds: of one all-reduce.
        bus: the bus bandwidth that the tool printed, GB/s.
    """

    size: int
    microseconds: float
    bus: float


def _read() -> tuple[Row, ...]:
    """The printed numbers; the sizes are 8 bytes, 16, 32, ..."""
    pairs = (line.split() for line in _PRINTED.replace("\n", " ").split(","))
    return tuple(Row(8 * 2**index, float(time), float(bus)) for index, (time, bus) in enumerate(pairs))


#: The table, from 8 bytes to 16 GiB.
TWO_NODES = _read()
