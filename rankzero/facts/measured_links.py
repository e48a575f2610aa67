"""A published measurement of a network: the time of one message between two nodes of Alps, by its size.

Alps is a machine at the Swiss National Supercomputing Centre (CSCS). Its nodes have four Grace Hopper modules and one
Slingshot 11 port for each. Both tables are half of a ping-pong between the memories of two processors, measured by
``osu_latency`` from the OSU Micro-Benchmarks 7.5 with Open MPI 5.0.8. Standard library only.

>>> alpha, bandwidth = line_through(ALPS, 8192)
>>> round(alpha * 1e6, 2), round(bandwidth / 1e9, 2)
(7.97, 24.05)
"""

from __future__ import annotations

from collections.abc import Mapping

from rankzero.facts.units import Gbit, us

#: Where both tables are printed.
SOURCE = (
    "CSCS documentation, Open MPI image (https://github.com/eth-cscs/cscs-docs/blob/"
    "2179e76d36f349826180ed79aaa5eaa35a4fa6aa/docs/software/container-engine/guidelines-images/image-ompi.md)"
)

#: What a Slingshot port carries in one direction, bytes/s: De Sensi et al. (2020), arXiv:2008.08886, section II.
PORT = 200 * Gbit


def _table(microseconds: str) -> dict[int, float]:
    """Seconds by size, for sizes that double from 1 byte on."""
    return {2**power: float(time) * us for power, time in enumerate(microseconds.split())}


#: Seconds by size in bytes, through the network's own interface (libfabric).
ALPS = _table(
    "3.34 3.34 3.35 3.34 3.33 3.34 3.33 4.32 4.36 4.40 4.46 4.61 4.89 8.31 8.95 9.76 11.16 13.98 19.41 30.21 52.12 "
    "95.26 182.39"
)

#: The same nodes and the same benchmark in a container that is not connected to that interface.
WITHOUT_HOOK = _table(
    "28.92 28.99 29.07 29.13 29.48 29.18 29.39 30.11 32.10 34.07 38.36 61.00 81.04 80.11 126.99 124.97 123.84 207.48 "
    "252.43 319.47 497.84 956.03 1455.18"
)


def line_through(times: Mapping[int, float], smallest: int = 1) -> tuple[float, float]:
    """Start-up (seconds) and bandwidth (bytes/s) of the straight line through two points of a table.

    Args:
        times: seconds by size in bytes.
        smallest: the size of the first point; the second is the largest size of all.

    Raises:
        ValueError: ``smallest`` is not a size of the table below its largest.
    """
    large = max(times)
    if smallest not in times or smallest == large:
        raise ValueError(f"smallest must be a size below {large} bytes in the table, got {smallest!r}")
    bandwidth = (large - smallest) / (times[large] - times[smallest])
    return times[smallest] - smallest / bandwidth, bandwidth
