"""The capstone: ``debug_interval``, one unit under the root."""

from __future__ import annotations

from random import Random

from autograder.bank.ch15.shared import log
from autograder.items import Case, Debug, Group, Promise, Right, Slip


def wrong_interval(checkpoint_seconds, mtbf_hours):
    import math

    return math.sqrt(2 * checkpoint_seconds * mtbf_hours) * 60


def _two_units(rng: Random) -> Case:
    return Case((log(rng, 1, 600), log(rng, 0.5, 500)))


EXERCISE = Debug(
    "cap checkpointing.debug_interval",
    section="15.21",
    topic="one unit under the root",
    bonus=True,
    wrong=wrong_interval,
    cases=(Case((98, 24)), Case((60, 3.0930787)), Case((300, 24.0))),
    groups=(Group("two units", _two_units, 6, "Convert both to one unit first, and the result to minutes last."),),
    slips=(
        Slip("That mixes units. Convert both times to seconds first, and the result to minutes last.", wrong_interval),
        Slip(
            "The root is in seconds now: divide by 60 to get minutes, do not multiply.",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * checkpoint_seconds * mtbf_hours * 3600) * 60",
            ),
        ),
        Slip(
            "An hour has 3,600 seconds, and the root takes both times in one unit.",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * checkpoint_seconds * mtbf_hours * 60)",
            ),
        ),
        Slip(
            "That is the interval in hours.",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * checkpoint_seconds / 3600 * mtbf_hours)",
            ),
        ),
        Slip(
            "The root is in hours now: multiply by 60 to get minutes, do not divide.",
            edit=("2 * checkpoint_seconds * (mtbf_hours * 3600)", "2 * checkpoint_seconds / 3600 * mtbf_hours"),
        ),
    ),
    rights=(
        Right(
            "in hours, then in minutes",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * (checkpoint_seconds / 3600) * mtbf_hours) * 60",
            ),
        ),
        Right(
            "in minutes from the start",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * (checkpoint_seconds / 60) * (mtbf_hours * 60))",
            ),
        ),
    ),
    promises=(
        Promise(
            "in minutes",
            edit=(
                "math.sqrt(2 * checkpoint_seconds * (mtbf_hours * 3600)) / 60",
                "math.sqrt(2 * checkpoint_seconds / 3600 * mtbf_hours)",
            ),
        ),
    ),
)
