"""Chapter 4: ``crossover_bytes``, ring against tree."""

from __future__ import annotations

from random import Random

from autograder.bank.ch04.shared import NAMES, link, uneven
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import GB, us


def _crossover(rng: Random) -> Case:
    return Case(args=(rng.randint(4, 8192), *link(rng)), kwargs={"algorithm": rng.choice(NAMES[1:3])})


def _crossovers(rng: Random) -> list[Case]:
    """Both trees, on powers of two and between them."""
    named = [(name, ranks) for name in NAMES[1:3] for ranks in (2 ** rng.randint(2, 12), uneven(rng), uneven(rng))]
    return [Case(args=(ranks, *link(rng)), kwargs={"algorithm": name}) for name, ranks in named]


def _default(rng: Random) -> Case:
    return Case(args=(rng.randint(4, 8192), *link(rng)))


def _nevers(rng: Random) -> list[Case]:
    """One, two or three ranks."""
    return [Case(args=(ranks, *link(rng), name)) for name in NAMES[1:3] for ranks in (1, 2, 3)]


EXERCISE = Build(
    "04 all_reduce_algorithms.crossover_bytes",
    section="4.13",
    topic="ring against tree",
    bonus=True,
    cases=(
        *(Case(args=(ranks, 50 * GB, 5 * us)) for ranks in (8, 64, 1024, 4, 2)),
        *(Case(args=(ranks, 50 * GB, 5 * us), kwargs={"algorithm": "tree"}) for ranks in (8, 64, 1024)),
    ),
    groups=(
        Group("both trees", _crossover, 8, "Set the two times equal and solve for the size.", _crossovers),
        Group("the double tree", _default, 3, "The double tree is the default."),
        listed("few ranks", _nevers, "For one, two or three ranks the ring is never slower."),
    ),
    slips=(
        Slip(
            "A constant was returned: the crossover depends on ranks, latency and bandwidth.",
            edit=("if ranks == 1:\n        return 0.0", "return 256 * 1024.0 if ranks > 3 else 0.0"),
        ),
        Slip(
            "The ring's bytes were counted for one step of each phase: it moves S/N in each of 2(N-1) steps.",
            edits=(
                (
                    "return ranks * more_steps * latency * bandwidth",
                    "return more_steps * latency * bandwidth / (1 - 1 / ranks)",
                ),
                ("(levels - (ranks - 1) / ranks)", "(levels - 1 / ranks)"),
            ),
        ),
        Slip(
            "The factor N is missing: the bandwidth terms of ring and double tree differ by 2S/N.",
            edit=("ranks * more_steps * latency", "more_steps * latency"),
        ),
        Slip(
            "The levels were rounded down: then three ranks seem to have a crossover.",
            edit=("(ranks - 1).bit_length()", "ranks.bit_length() - 1"),
        ),
        Slip(
            "The plain tree was given the double tree's bytes: it moves S on every level.",
            edit=(
                "more_steps * latency * bandwidth / (levels - (ranks - 1) / ranks)",
                "ranks * (ranks - 1 - levels) * latency * bandwidth",
            ),
        ),
    ),
    rights=(
        Right(
            "the two times set equal",
            edits=(
                (
                    "return ranks * more_steps * latency * bandwidth",
                    "return more_steps * latency / (1 / bandwidth - (ranks - 1) / ranks / bandwidth)",
                ),
                (
                    "return more_steps * latency * bandwidth / (levels - (ranks - 1) / ranks)",
                    "return more_steps * latency / (levels / bandwidth - (1 - 1 / ranks) / bandwidth)",
                ),
            ),
        ),
        Right(
            "whole numbers under the line",
            edits=(
                (
                    "return ranks * more_steps * latency * bandwidth",
                    "return bandwidth * latency * (more_steps * ranks)",
                ),
                (
                    "return more_steps * latency * bandwidth / (levels - (ranks - 1) / ranks)",
                    "return bandwidth * latency * ranks * more_steps / (levels * ranks - ranks + 1)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "0.0 when it is never slower.",
            edit=("more_steps = ranks - 1 - levels", "more_steps = max(1, ranks - 1 - levels)"),
        ),
    ),
)
