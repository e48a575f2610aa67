"""Chapter 01: efficiency and speed-up, three build items."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Slip

# --- scaling_efficiency


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


SCALING_EFFICIENCY = Build(
    id="01-scaling-efficiency",
    module="scaling",
    function="scaling_efficiency",
    grade="call",
    section="1.13",
    topic="scaling efficiency",
    bonus=True,
    cases=(
        Case((1000, 50, 32)),
        Case((100, 15, 8)),
        Case((52, 6, 32), {"baseline_ranks": 2}),
        Case((1.00, 1.30, 32), {"weak": True}),
    ),
    groups=(
        Group("strong scaling", _strong, 5, "The problem stays, and n ranks should take one n-th of the time."),
        Group("from several ranks", _from_several, 4, "The baseline may have run on several ranks already."),
        Group("weak scaling", _weak, 4, "The work of each rank stays, and a step should take as long as before."),
        listed("above one", _super_linear, "An efficiency may be above 1, and one rank has 1."),
    ),
    slips=(
        Slip(
            "That is weak scaling: with strong scaling the time should fall with the ranks.",
            edit=("baseline_time * baseline_ranks / (time * ranks)", "baseline_time / time"),
        ),
        Slip(
            "weak was not used: with the same work for each rank, a step should take as long.",
            edit=("if weak:\n        return baseline_time / time", ""),
        ),
        Slip(
            "That is in percent: a fraction is asked for.",
            edits=(
                ("return baseline_time / time", "return 100 * baseline_time / time"),
                (
                    "baseline_time * baseline_ranks / (time * ranks)",
                    "100 * baseline_time * baseline_ranks / (time * ranks)",
                ),
            ),
        ),
        Slip(
            "The baseline was taken for one rank: it may have run on several.",
            edit=(
                "baseline_time * baseline_ranks / (time * ranks)",
                "baseline_time / time * (1 if weak else 1 / ranks)",
            ),
        ),
        Slip(
            "That is the ratio turned round.",
            edits=(
                ("return baseline_time / time", "return time / baseline_time"),
                ("baseline_time * baseline_ranks / (time * ranks)", "time * ranks / (baseline_time * baseline_ranks)"),
            ),
        ),
        Slip(
            "The efficiency was cut at 1: a measured one may be above.",
            edits=(
                ("return baseline_time / time", "return min(1.0, baseline_time / time)"),
                (
                    "baseline_time * baseline_ranks / (time * ranks)",
                    "min(1.0, baseline_time * baseline_ranks / (time * ranks))",
                ),
            ),
        ),
    ),
)


# --- amdahl_speedup and gustafson_speedup


def _speedup(rng: Random) -> Case:
    return Case((rng.uniform(0.01, 0.4), rng.randint(4, 4096)))


def _bounds(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 1024)
    return [Case((0.0, ranks)), Case((0, 49)), Case((1.0, ranks)), Case((rng.uniform(0.05, 0.9), 1))]


GROUPS = (
    Group("shares and ranks", _speedup, 6, "The serial part does not get faster; say what the rest does."),
    listed("bounds", _bounds, "All may be parallel, or nothing, or one rank."),
)

AMDAHL_SPEEDUP = Build(
    id="01-amdahl-speedup",
    module="scaling",
    function="amdahl_speedup",
    grade="call",
    section="1.13",
    topic="speed-up",
    bonus=True,
    cases=(
        Case((0.05, 16)),
        Case((0.1, 8)),
        Case((0.004, 1024)),  # the fixed problem of Gustafson (1988): about 201
        Case((0.0, 64)),
    ),
    groups=GROUPS,
    slips=(
        Slip(
            "Serial and parallel part are swapped.",
            edits=(
                ("return ranks", "return 1"),
                ("1 + serial_fraction * (ranks - 1)", "1 - serial_fraction + serial_fraction / ranks"),
            ),
        ),
        Slip(
            "That is for a problem that grows with the ranks: here it stays.",
            edit=("ranks / (1 + serial_fraction * (ranks - 1))", "serial_fraction + (1 - serial_fraction) * ranks"),
        ),
        Slip(
            "That is the limit for many ranks: the parallel part takes time too.",
            edit=(
                "ranks / (1 + serial_fraction * (ranks - 1))",
                "min(1 / serial_fraction, ranks) if serial_fraction else ranks",
            ),
        ),
        Slip(
            "That is the time that is left: the speed-up is one over it.",
            edit=("ranks / (1 + serial_fraction * (ranks - 1))", "serial_fraction + (1 - serial_fraction) / ranks"),
        ),
        Slip(
            "The share was read as measured on n ranks: it is of the time on one.",
            edit=("ranks / (1 + serial_fraction * (ranks - 1))", "(1 - serial_fraction) * ranks"),
        ),
    ),
)

GUSTAFSON_SPEEDUP = Build(
    id="01-gustafson-speedup",
    module="scaling",
    function="gustafson_speedup",
    grade="call",
    section="1.13",
    topic="speed-up",
    bonus=True,
    cases=(
        Case((0.004, 1024)),  # measured in 1988: 1020
        Case((0.008, 1024)),  # measured in 1988: 1016
        Case((0.1, 8)),
        Case((1.0, 64)),
    ),
    groups=GROUPS,
    slips=(
        Slip(
            "Serial and parallel part are swapped.",
            edit=("ranks - serial_fraction * (ranks - 1)", "1 - serial_fraction + serial_fraction * ranks"),
        ),
        Slip(
            "That is for a problem that stays: here it grows with the ranks.",
            edit=("ranks - serial_fraction * (ranks - 1)", "1 / (serial_fraction + (1 - serial_fraction) / ranks)"),
        ),
        Slip(
            "The serial part was left out: it is done once, in its share of the time.",
            edit=("ranks - serial_fraction * (ranks - 1)", "(1 - serial_fraction) * ranks"),
        ),
    ),
)

ITEMS = (SCALING_EFFICIENCY, AMDAHL_SPEEDUP, GUSTAFSON_SPEEDUP)
