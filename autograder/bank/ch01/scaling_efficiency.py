"""Chapter 1: ``scaling_efficiency``, scaling efficiency."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


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


STRONG = "baseline_time * baseline_ranks / (time * ranks)"


EXERCISE = Build(
    "01 scaling.scaling_efficiency",
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
    rights=(
        Right("speed-up over ranks", edit=(STRONG, "baseline_time / time / (ranks / baseline_ranks)")),
        Right("ideal time over time", edit=(STRONG, "baseline_time / ranks * baseline_ranks / time")),
    ),
    promises=(
        Promise(
            "it is not clipped",
            edit=(
                "return baseline_time * baseline_ranks / (time * ranks)",
                "return min(1.0, baseline_time * baseline_ranks / (time * ranks))",
            ),
        ),
    ),
)
