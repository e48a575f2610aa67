"""Chapter 3: ``debug_double``, ring time."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Debug, Group, Right, Slip
from rankzero.facts.units import GB


def wrong_double(message_bytes, ranks, bandwidth):
    steps = 2 * (ranks - 1)
    return 2 * steps * (message_bytes / ranks) / bandwidth


def _double(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), rng.randint(2, 1024), 10 ** rng.uniform(8, 12)))


def _double_alone(rng: Random) -> Case:
    return Case(args=(10 ** rng.uniform(3, 12), 1, 10 ** rng.uniform(8, 12)))


DOUBLE = "steps * (message_bytes / ranks) / bandwidth"


EXERCISE = Debug(
    "03 collective_cost.debug_double",
    section="3.15",
    topic="ring time",
    bonus=True,
    wrong=wrong_double,
    cases=(Case(args=(2 * GB, 8, 50 * GB)), Case(args=(1 * GB, 8, 450 * GB)), Case(args=(14 * GB, 64, 50 * GB))),
    groups=(
        Group("rings", _double, 6, "Count the steps, and the bytes of a step."),
        Group("one rank", _double_alone, 2, "A ring of one rank takes no time."),
    ),
    slips=(
        Slip("Both trips are still counted twice: `steps` already holds the factor 2.", wrong_double),
        Slip(
            "The tensor was divided by the number of ranks twice.",
            edit=("steps * (message_bytes / ranks)", "steps * (message_bytes / ranks) / ranks"),
        ),
    ),
    rights=(
        Right("the whole without a share", edit=(DOUBLE, "2 * (message_bytes - message_bytes / ranks) / bandwidth")),
        Right("bytes over the wire", edit=(DOUBLE, "steps * message_bytes / (ranks * bandwidth)")),
    ),
)
