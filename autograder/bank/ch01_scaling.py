"""Chapter 01: efficiency and speed-up, three build items. Wrong programs are complete in themselves."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid

# --- scaling_efficiency


def slip_weak_for_strong(baseline_time, time, ranks, *, baseline_ranks=1, weak=False):
    if baseline_time <= 0 or time <= 0 or ranks < 1 or baseline_ranks < 1:
        raise ValueError("out of range")
    return baseline_time / time


def slip_strong_for_weak(baseline_time, time, ranks, *, baseline_ranks=1, weak=False):
    if baseline_time <= 0 or time <= 0 or ranks < 1 or baseline_ranks < 1:
        raise ValueError("out of range")
    return baseline_time * baseline_ranks / (time * ranks)


def slip_percent(baseline_time, time, ranks, *, baseline_ranks=1, weak=False):
    if baseline_time <= 0 or time <= 0 or ranks < 1 or baseline_ranks < 1:
        raise ValueError("out of range")
    return 100 * baseline_time / time * (1 if weak else baseline_ranks / ranks)


def slip_one_rank_before(baseline_time, time, ranks, *, baseline_ranks=1, weak=False):
    if baseline_time <= 0 or time <= 0 or ranks < 1 or baseline_ranks < 1:
        raise ValueError("out of range")
    return baseline_time / time * (1 if weak else 1 / ranks)


def slip_inverse(baseline_time, time, ranks, *, baseline_ranks=1, weak=False):
    if baseline_time <= 0 or time <= 0 or ranks < 1 or baseline_ranks < 1:
        raise ValueError("out of range")
    return time / baseline_time * (1 if weak else ranks / baseline_ranks)


def slip_cut_at_one(baseline_time, time, ranks, *, baseline_ranks=1, weak=False):
    if baseline_time <= 0 or time <= 0 or ranks < 1 or baseline_ranks < 1:
        raise ValueError("out of range")
    return min(1.0, baseline_time / time * (1 if weak else baseline_ranks / ranks))


def slip_unchecked_efficiency(baseline_time, time, ranks, *, baseline_ranks=1, weak=False):
    return baseline_time / time * (1 if weak else baseline_ranks / ranks)


def _measured(rng: Random) -> tuple[float, float, int]:
    """A run on one rank, and on several with an efficiency of 0.3 to 0.95."""
    ranks, alone = rng.randint(4, 1024), 10 ** rng.uniform(0, 5)
    return alone, alone / ranks / rng.uniform(0.3, 0.95), ranks


def _strong(rng: Random) -> Case:
    return Case(_measured(rng))


def _from_several(rng: Random) -> Case:
    alone, together, ranks = _measured(rng)
    few = rng.randint(2, ranks - 1)
    return Case((alone / few, together, ranks), {"baseline_ranks": few})


def _weak(rng: Random) -> Case:
    alone, ranks = 10 ** rng.uniform(-2, 2), rng.randint(2, 1024)
    return Case((alone, alone * rng.uniform(1.05, 3), ranks), {"weak": True, "baseline_ranks": rng.choice((1, 2))})


def _super_linear(rng: Random) -> list[Case]:
    alone, ranks = 10 ** rng.uniform(0, 3), rng.randint(2, 64)
    return [
        Case((alone, alone / ranks / rng.uniform(1.05, 1.5), ranks)),
        Case((alone, alone / rng.uniform(1.05, 1.5), ranks), {"weak": True}),
        Case((alone, alone, 1)),
    ]


def _impossible_times(rng: Random) -> list[Case]:
    alone, together, ranks = _measured(rng)
    return [
        invalid(-alone, together, ranks),
        invalid(0.0, together, ranks),
        invalid(alone, -together, ranks),
        invalid(alone, together, 0),
        invalid(alone, together, -ranks),
        invalid(alone, together, ranks, baseline_ranks=0),
        invalid(float("nan"), together, ranks),
    ]


SCALING_EFFICIENCY = Build(
    id="01-scaling-efficiency",
    module="scaling",
    function="scaling_efficiency",
    grade="call",
    section="1.10",
    topic="scaling efficiency",
    cases=(
        Case((1000, 50, 32)),
        Case((100, 15, 8)),
        Case((52, 6, 32), {"baseline_ranks": 2}),
        Case((1.00, 1.30, 32), {"weak": True}),
        invalid(1000, 0, 32),
    ),
    groups=(
        Group("strong scaling", _strong, 5, "The problem stays, and n ranks should take one n-th of the time."),
        Group("from several ranks", _from_several, 4, "The baseline may have run on several ranks already."),
        Group("weak scaling", _weak, 4, "The work of each rank stays, and a step should take as long as before."),
        Group(
            "above one",
            lambda rng: rng.choice(_super_linear(rng)),
            3,
            "An efficiency may be above 1, and one rank has 1.",
            _super_linear,
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_impossible_times(rng)),
            7,
            "Bad input must raise ValueError: times that are not positive or nan, no ranks.",
            _impossible_times,
        ),
    ),
    slips=(
        Slip("That is weak scaling: with strong scaling the time should fall with the ranks.", slip_weak_for_strong),
        Slip("weak was not used: with the same work for each rank, a step should take as long.", slip_strong_for_weak),
        Slip("That is in percent: a fraction is asked for.", slip_percent),
        Slip("The baseline was taken for one rank: it may have run on several.", slip_one_rank_before),
        Slip("That is the ratio turned round.", slip_inverse),
        Slip("The efficiency was cut at 1: a measured one may be above.", slip_cut_at_one),
        Slip("Impossible arguments were accepted: times not positive or nan, no ranks.", slip_unchecked_efficiency),
    ),
)


# --- amdahl_speedup and gustafson_speedup


def slip_amdahl_swapped(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return 1 / ((1 - serial_fraction) + serial_fraction / ranks)


def slip_gustafson_for_fixed(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return serial_fraction + (1 - serial_fraction) * ranks


def slip_limit(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return min(1 / serial_fraction, ranks) if serial_fraction else ranks


def slip_amdahl_time(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return serial_fraction + (1 - serial_fraction) / ranks


def slip_share_at_n(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return (1 - serial_fraction) * ranks


def slip_amdahl_unchecked(serial_fraction, ranks):
    return 1 / (serial_fraction + (1 - serial_fraction) / ranks) if ranks else 0.0


def slip_gustafson_swapped(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return (1 - serial_fraction) + serial_fraction * ranks


def slip_amdahl_for_scaled(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return 1 / (serial_fraction + (1 - serial_fraction) / ranks)


def slip_serial_part_gone(serial_fraction, ranks):
    if not 0 <= serial_fraction <= 1 or ranks < 1:
        raise ValueError("out of range")
    return (1 - serial_fraction) * ranks


def slip_gustafson_unchecked(serial_fraction, ranks):
    return serial_fraction + (1 - serial_fraction) * ranks


def _speedup(rng: Random) -> Case:
    return Case((rng.uniform(0.01, 0.4), rng.randint(4, 4096)))


def _bounds(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 1024)
    return [Case((0.0, ranks)), Case((0, 49)), Case((1.0, ranks)), Case((rng.uniform(0.05, 0.9), 1))]


def _impossible_shares(rng: Random) -> list[Case]:
    share, ranks = rng.uniform(0.01, 0.5), rng.randint(2, 1024)
    shares = [invalid(-share, ranks), invalid(1 + share, ranks), invalid(100 * share + 1, ranks)]
    return [*shares, invalid(float("nan"), ranks), invalid(share, 0), invalid(share, -ranks)]


GROUPS = (
    Group("shares and ranks", _speedup, 6, "The serial part does not get faster; say what the rest does."),
    Group("bounds", lambda rng: rng.choice(_bounds(rng)), 4, "All may be parallel, or nothing, or one rank.", _bounds),
    Group(
        "bad input",
        lambda rng: rng.choice(_impossible_shares(rng)),
        6,
        "Bad input must raise ValueError: a share outside 0 to 1, no ranks.",
        _impossible_shares,
    ),
)

AMDAHL_SPEEDUP = Build(
    id="01-amdahl-speedup",
    module="scaling",
    function="amdahl_speedup",
    grade="call",
    section="1.10",
    topic="speed-up",
    bonus=True,
    cases=(
        Case((0.05, 16)),
        Case((0.1, 8)),
        Case((0.004, 1024)),  # the fixed problem of Gustafson (1988): about 201
        Case((0.0, 64)),
        invalid(1.5, 8),
    ),
    groups=GROUPS,
    slips=(
        Slip("Serial and parallel part are swapped.", slip_amdahl_swapped),
        Slip("That is for a problem that grows with the ranks: here it stays.", slip_gustafson_for_fixed),
        Slip("That is the limit for many ranks: the parallel part takes time too.", slip_limit),
        Slip("That is the time that is left: the speed-up is one over it.", slip_amdahl_time),
        Slip("The share was read as measured on n ranks: it is of the time on one.", slip_share_at_n),
        Slip("Impossible arguments were accepted: a share above 1, no ranks.", slip_amdahl_unchecked),
    ),
)

GUSTAFSON_SPEEDUP = Build(
    id="01-gustafson-speedup",
    module="scaling",
    function="gustafson_speedup",
    grade="call",
    section="1.10",
    topic="speed-up",
    bonus=True,
    cases=(
        Case((0.004, 1024)),  # measured in 1988: 1020
        Case((0.008, 1024)),  # measured in 1988: 1016
        Case((0.1, 8)),
        Case((1.0, 64)),
        invalid(0.1, 0),
    ),
    groups=GROUPS,
    slips=(
        Slip("Serial and parallel part are swapped.", slip_gustafson_swapped),
        Slip("That is for a problem that stays: here it grows with the ranks.", slip_amdahl_for_scaled),
        Slip("The serial part was left out: it is done once, in its share of the time.", slip_serial_part_gone),
        Slip("Impossible arguments were accepted: a share above 1, no ranks.", slip_gustafson_unchecked),
    ),
)

ITEMS = (SCALING_EFFICIENCY, AMDAHL_SPEEDUP, GUSTAFSON_SPEEDUP)
