"""Measured times of a link beside those that two numbers predict, as a table. Standard library only.

>>> from rankzero.facts.units import GB, us
>>> compare({1: 5 * us, 10**6: 26 * us}, [10**6], 5 * us, 50 * GB)
976.6 KiB:    26.00 µs, yours    25.00 µs, error  -4%,  77% of B
largest error of all 2 sizes: 4%
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rankzero.facts.units import format_bytes, us
from solutions.ch02.alpha_beta import message_time


def compare(
    times: Mapping[int, float],
    sizes: Sequence[int],
    alpha: float,
    bandwidth: float,
    predict: Callable[[float, float, float], float] = message_time,
) -> None:
    """Print a row for each of some sizes: measured time, predicted time, error, and the share of B that it achieves.

    Args:
        times: measured seconds by size in bytes.
        sizes: those of them that have a row.
        alpha: start-up of a message, seconds.
        bandwidth: B, bytes/s.
        predict: gives a time from size, bandwidth and start-up.
    """
    for size in sizes:
        found = predict(size, bandwidth, alpha)
        print(f"{format_bytes(size, binary=True):>8}: {times[size] / us:>8.2f} µs", end="")
        print(f", yours {found / us:>8.2f} µs", end="")
        print(f", error {round(100 * (found / times[size] - 1)):>3}%", end="")
        print(f", {size / times[size] / bandwidth:>4.0%} of B")
    largest = max(abs(predict(size, bandwidth, alpha) / times[size] - 1) for size in times)
    print(f"largest error of all {len(times)} sizes: {largest:.0%}")
