"""The capstone: ``partition_layers``, layers per stage."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip, invalid


def _uneven(rng: Random) -> Case:
    """A remainder, and places reserved at both ends."""
    stages, each = rng.choice((4, 8, 12, 16)), rng.randint(3, 12)
    first, last = rng.randint(1, 2), rng.randint(1, 2)
    return Case((stages * each + rng.randint(1, stages - 1) - first - last, stages, first, last))


def _nothing_reserved(rng: Random) -> Case:
    stages = rng.randint(3, 16)
    return Case((stages * rng.randint(1, 12) + rng.randint(1, stages - 1), stages))


def _even(rng: Random) -> Case:
    stages, each = rng.randint(2, 16), rng.randint(2, 12)
    return Case((stages * each - 2, stages), {"reserved_first": 1, "reserved_last": 1})


def _few(rng: Random) -> Case:
    """One stage, or stages without a layer."""
    return rng.choice((Case((rng.randint(2, 40), 1, 1, 1)), Case((rng.randint(1, 3), 3, 1, 1)), Case((2, 4, 1, 1))))


def _too_much_reserved(rng: Random) -> list[Case]:
    """More places reserved on the first stage, or on the last one, than it gets."""
    cases = []
    for first in (True, False):
        stages, each = rng.randint(4, 10), rng.randint(2, 5)
        places, much = stages * each + rng.randint(0, stages - 1), each + rng.randint(2, 4)
        reserved = (much, 1) if first else (1, much)
        cases.append(invalid(places - much - 1, stages, *reserved))
    return cases


EXERCISE = Build(
    "cap run_plan.partition_layers",
    section="15.15",
    topic="layers per stage",
    bonus=True,
    cases=(
        Case((126, 16, 1, 1)),  # Llama 3.1 405B: one layer fewer on the first and on the last stage
        Case((126, 16)),
        Case((80, 4)),
        Case((10, 4)),
        Case((32, 4, 1, 1)),
        Case((2, 4, 1, 1)),
        invalid(20, 8, 5, 1),
    ),
    groups=(
        Group("uneven", _uneven, 5, "Spread layers and reserved places; what is left over goes to the last stages."),
        Group("nothing reserved", _nothing_reserved, 4, "Without reserved places, too, the last stages hold more."),
        Group("even", _even, 3, "Even when nothing is left over, the reserved places are taken away again."),
        Group("few layers", _few, 3, "One stage holds everything; a stage may hold no layer."),
        listed(
            "too much reserved",
            _too_much_reserved,
            "The embedding or the head may count as more layers than a stage gets: then there is no partition.",
        ),
    ),
    slips=(
        Slip(
            "Rounded down: some layers are on no stage.",
            edit=(
                "[each + (1 if stage >= stages - more else 0) for stage in range(stages)]",
                "[places // stages] * stages",
            ),
        ),
        Slip(
            "Rounded up: there are more layers than the model has.",
            edit=(
                "[each + (1 if stage >= stages - more else 0) for stage in range(stages)]",
                "[-(-places // stages)] * stages",
            ),
        ),
        Slip(
            "The first stages hold the most micro-batches: what is left over goes to the last ones.",
            edit=(
                "each + (1 if stage >= stages - more else 0)",
                "places // stages + (1 if stage < places % stages else 0)",
            ),
        ),
        Slip(
            "The reserved places are for the embedding and the head: subtract them at the two ends.",
            edits=(
                ("divmod(places, stages)", "divmod(layers, stages)"),
                ("counts[0] -= reserved_first", "counts[0] += reserved_first"),
                ("counts[-1] -= reserved_last", "counts[-1] += reserved_last"),
            ),
        ),
        Slip(
            "The reserved places are ignored.",
            edit=(
                "return counts",
                "more = layers % stages\n"
                "    return [layers // stages + (1 if stage >= stages - more else 0) for stage in range(stages)]",
            ),
        ),
        Slip(
            "A stage was left with fewer than no layers.",
            edit=(
                "if min(counts) < 0:",
                "if False:",
            ),
        ),
    ),
    promises=(
        Promise(
            "goes to the *last* stages, one each",
            edit=("1 if stage >= stages - more", "1 if stage < more"),
        ),
        Promise(
            "Then the reserved places are removed",
            edits=(
                ("divmod(places, stages)", "divmod(layers, stages)"),
                ("counts[0] -= reserved_first", "counts[0] += reserved_first"),
                ("counts[-1] -= reserved_last", "counts[-1] += reserved_last"),
            ),
        ),
        Promise(
            "A stage may be left without a layer",
            edit=("if min(counts) < 0:", "if min(counts) < 1:"),
        ),
    ),
)
