"""The capstone: ``debug_shares``, shares of a table."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip


def wrong_shares(counts, planned=()):
    total = sum(counts.values())
    return {cause: 100 * count / total for cause, count in counts.items() if cause not in planned}


CAUSES = ("faulty GPU", "GPU memory", "software", "network", "host", "storage", "power", "unknown")


def _log_of_causes(rng: Random) -> Case:
    counts = {cause: rng.randint(3, 150) for cause in rng.sample(CAUSES, rng.randint(4, 8))}
    return Case(
        (counts | {"maintenance": rng.randint(9, 60), "upgrade": rng.randint(3, 20)}, ["maintenance", "upgrade"])
    )


def _all_unexpected(rng: Random) -> Case:
    return Case(({cause: rng.randint(1, 150) for cause in rng.sample(CAUSES, rng.randint(1, 5))},))


EXERCISE = Debug(
    "cap run_plan.debug_shares",
    section="15.19",
    topic="shares of a table",
    bonus=True,
    wrong=wrong_shares,
    cases=(
        # Llama 3.1 405B: 148 of 419 unexpected interruptions were faulty GPUs; 47 of 466 were planned
        Case(({"faulty GPU": 148, "GPU memory": 72, "others": 199, "planned": 47}, ["planned"])),
        Case(({"software": 3, "network": 1},)),
    ),
    groups=(
        Group("some planned", _log_of_causes, 5, "Planned interruptions count neither above nor below the line."),
        Group("none planned", _all_unexpected, 3, "Without planned ones the shares are of all; nothing is rounded."),
    ),
    slips=(
        Slip("The planned interruptions are still in the total.", wrong_shares),
        Slip("The planned interruptions are still in the list.", edit=("unexpected.items", "counts.items")),
        Slip(
            "Rounded shares need not sum to 100: leave rounding to the printing.",
            edit=("100 * count / sum(unexpected.values())", "round(100 * count / sum(unexpected.values()), 1)"),
        ),
        Slip("Those are fractions; percentages were asked for.", edit=("100 * count / sum", "count / sum")),
    ),
    rights=(
        Right(
            "a share, then per cent",
            edit=("100 * count / sum(unexpected.values())", "count / sum(unexpected.values()) * 100"),
        ),
        Right(
            "times a hundredth's inverse",
            edit=("100 * count / sum(unexpected.values())", "count * (100 / sum(unexpected.values()))"),
        ),
    ),
)
