"""What adding ranks gains: the efficiency of measured runs, and two bounds on the speed-up. Standard library only.

>>> scaling_efficiency(1000, 50, ranks=32)
0.625
"""

from __future__ import annotations

from rankzero import checks


def scaling_efficiency(
    baseline_time: float, time: float, ranks: int, *, baseline_ranks: int = 1, weak: bool = False
) -> float:
    """The share of the ideal that a run on more ranks reaches.

    Strong scaling keeps the problem fixed: n times the ranks should take one n-th of the time. Weak scaling keeps the
    work of each rank fixed: a step should take as long as before.

    Args:
        baseline_time: of one step, or of the whole run when it is strong scaling, on ``baseline_ranks`` ranks, seconds;
            positive.
        time: of the same on ``ranks`` ranks, seconds; positive.
        ranks: at least 1.
        baseline_ranks: at least 1.
        weak: weak scaling; the times are those of one step.

    Returns:
        1.0 for ideal scaling. It may be more (a smaller share of the work can fit a cache); it is not clipped.
    """
    checks.positive(baseline_time=baseline_time, time=time)
    checks.count(ranks=ranks, baseline_ranks=baseline_ranks)
    if weak:
        return baseline_time / time
    return baseline_time * baseline_ranks / (time * ranks)


def amdahl_speedup(serial_fraction: float, ranks: int) -> float:
    """The speed-up on a fixed problem: the serial part takes as long as on one rank, the rest is shared by n ranks.

    Args:
        serial_fraction: s, the share of the time on one rank that is serial, from 0 to 1. Communication is not
            included: one rank does not communicate.
        ranks: n, at least 1.

    Source: Amdahl (1967), doi:10.1145/1465482.1465560.
    """
    checks.between(0, 1, serial_fraction=serial_fraction)
    checks.count(ranks=ranks)
    return ranks / (1 + serial_fraction * (ranks - 1))  # 1 / (s + (1 - s) / n), exact for s = 0 and s = 1


def gustafson_speedup(serial_fraction: float, ranks: int) -> float:
    """The speed-up on a problem that grows with the ranks: each does the parallel work that one rank did alone before.

    A single rank would have to do the parallel part n times, and the serial part once.

    Args:
        serial_fraction: s, the share of the time on n ranks that is serial, from 0 to 1.
        ranks: n, at least 1.

    Source: Gustafson (1988), doi:10.1145/42411.42415.
    """
    checks.between(0, 1, serial_fraction=serial_fraction)
    checks.count(ranks=ranks)
    return ranks - serial_fraction * (ranks - 1)  # s + (1 - s) n, exact for s = 0 and s = 1
