"""Chapter 5: ``min_ranks``, fewest ranks."""

from __future__ import annotations

import math
from math import ceil
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


def _shared_states(rng: Random, stage: int | None = None, other: float = 0.0) -> Case:
    """States that fit on 2 to 900 ranks and fill none of these counts exactly."""
    stage = rng.randint(1, 3) if stage is None else stage
    ranks, memory = rng.randint(2, 900), rng.choice((24e9, 40e9, 80e9, 141e9))
    kept, sliced = ((4, 12), (2, 14), (0, 16))[stage - 1]
    params = (memory - other) / (kept + sliced / (ranks - rng.uniform(0.2, 0.8)))
    return Case((float(f"{params:.9g}"), stage, memory, other))


def _beside_others(rng: Random, stage: int | None = None) -> Case:
    return _shared_states(rng, stage, float(rng.randint(5, 20)) * 1e9)


def _filled(rng: Random, stage: int | None = None) -> Case:
    """States that fill a number of ranks exactly."""
    stage = rng.randint(1, 3) if stage is None else stage
    ranks, billions = rng.choice((2, 4, 5, 8, 10, 16, 20, 40)), rng.randint(1, 4)
    kept, sliced = ((4, 12), (2, 14), (0, 16))[stage - 1]
    other = rng.choice((0.0, 20e9))
    return Case((billions * ranks * 1e9, stage, billions * (kept * ranks + sliced) * 1e9 + other, other))


def _filled_but_for_rounding(rng: Random) -> Case:
    """States that fill a number of ranks exactly, and of which plain arithmetic says that they need one more."""
    while True:
        params, ranks = rng.randint(10**9, 10**11), rng.randint(3, 99)
        memory = 16 * params / ranks
        if ceil(16 * params / memory) > ranks:
            return Case((params, 3, memory))


def _never(rng: Random, stage: int | None = None) -> Case:
    """What a stage does not slice is too much alone, or fills the memory alone."""
    stage = rng.randrange(3) if stage is None else stage
    memory, kept = rng.choice((40, 80)) * 1e9, (16, 4, 2)[stage]
    if stage and rng.random() < 0.4:
        return Case((memory / kept, stage, memory))
    return Case((float(f"{memory / kept * rng.uniform(1.1, 3):.6g}"), stage, memory))


def _alone(rng: Random, stage: int | None = None) -> Case:
    """One rank is enough; some of these fill it."""
    stage = rng.randrange(4) if stage is None else stage
    share = rng.choice((0.125, 0.5, 1.0))
    return Case((share * 5e9, stage, 80e9))


def ranks_by_doubling(params, stage, memory, other=0.0, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):
    """The definition: the first number of ranks whose sum fits, found by halving."""
    sizes = (weight_bytes, gradient_bytes, optimizer_bytes)

    def total(ranks):
        parts = (size if stage < first else size / ranks for size, first in zip(sizes, (3, 2, 1), strict=True))
        return other + params * sum(parts)

    def fits(size):
        return size <= memory * (1 + 1e-12)

    if fits(total(1)):
        return 1
    kept = total(math.inf)
    if stage == 0 or kept >= memory * (1 - 1e-12):
        return None
    above = 2
    while not fits(total(above)):
        above *= 2
    below = above // 2
    while above - below > 1:
        middle = (above + below) // 2
        below, above = (below, middle) if fits(total(middle)) else (middle, above)
    return above


EXERCISE = Build(
    "05 zero.min_ranks",
    section="5.13",
    topic="fewest ranks",
    bonus=True,
    cases=(
        Case((70e9, 3, 80e9)),
        Case((175e9, 3, 80e9)),  # fills 35 ranks exactly
        Case((175e9, 3, 80e9), {"optimizer_bytes": 8}),
        Case((30e9, 3, 80e9, 20e9)),
        Case((30e9, 2, 80e9, 20e9)),
        Case((40e9, 2, 80e9)),
        Case((7e9, 1, 80e9)),
        Case((405e9, 3, 80e9, 20e9)),
        Case((1e9, 0, 80e9)),
        Case((7.5e9, 3, 1.88e9)),  # the ZeRO paper's first figure: 1.88 GB on 64 ranks
    ),
    groups=(
        Group(
            "states on several ranks",
            _shared_states,
            6,
            "Solve for the ranks: what is sliced has to fit into what the rest leaves free. Round up.",
            corners=lambda rng: [_shared_states(rng, stage) for stage in (1, 2, 3)],
        ),
        Group(
            "beside activations",
            _beside_others,
            5,
            "What `other` holds is on every rank, whatever their number.",
            corners=lambda rng: [_beside_others(rng, stage) for stage in (1, 2, 3)],
        ),
        Group(
            "filled exactly",
            _filled,
            6,
            "States that fill the memory exactly fit, also where rounding makes them a little larger.",
            corners=lambda rng: [_filled(rng, stage) for stage in (1, 2, 3)] + [_filled_but_for_rounding(rng)],
        ),
        Group(
            "never",
            _never,
            6,
            "When what is not sliced fills the memory alone, no number of ranks is enough: None.",
            corners=lambda rng: [Case((20e9, 1, 80e9)), *(_never(rng, stage) for stage in (0, 1, 2))],
        ),
        Group("one is enough", _alone, 4, "The answer is at least one rank.", lambda rng: [_alone(rng, 0)]),
    ),
    slips=(
        Slip(
            "The number of ranks was rounded down: then it does not fit.",
            edit=("math.ceil((everything - kept) / room * (1 - _SLACK))", "int((everything - kept) // room)"),
        ),
        Slip(
            "States that fill the memory exactly fit; yours asks for one more rank.",
            edits=(
                ("other + everything <= memory * (1 + _SLACK)", "other + everything < memory"),
                ("math.ceil((everything - kept) / room * (1 - _SLACK))", "int((everything - kept) // room) + 1"),
            ),
        ),
        Slip(
            "What a stage does not slice may be too much alone: then the answer is None.",
            edit=(
                "    if room <= memory * _SLACK:\n"
                "        return None\n"
                "    ranks = math.ceil((everything - kept) / room * (1 - _SLACK))\n"
                "    return ranks if stage else None",
                "    return max(1, math.ceil((everything - kept) / room)) if room and stage else 1",
            ),
        ),
        Slip(
            "Everything was divided: that is stage 3. Lower stages keep a part whole.",
            edits=(
                ("params * sum(size for size, first in zip(sizes, (3, 2, 1), strict=True) if stage < first)", "0"),
                ("return ranks if stage else None", "return ranks"),
            ),
        ),
        Slip(
            "`other` was left out: every rank has to hold it too.",
            edits=(("if other + everything <=", "if everything <="), ("memory - other - kept", "memory - kept")),
        ),
        Slip(
            "`other` was sliced with the states: it stays whole on every rank.",
            edits=(
                ("memory - other - kept", "memory - kept"),
                ("(everything - kept) / room", "(everything - kept + other) / room"),
            ),
        ),
    ),
    rights=(
        Right("by the definition", program=ranks_by_doubling),
        Right("one part after the other", edit=("room = memory - other - kept", "room = memory - kept - other")),
    ),
    promises=(
        Promise(
            "States that fill the memory exactly fit",
            edit=("math.ceil((everything - kept) / room * (1 - _SLACK))", "math.floor((everything - kept) / room) + 1"),
        ),
        Promise(
            "one part in 1e12 counts as rounding",
            edit=("_SLACK = 1e-12", "_SLACK = 0.0"),
        ),
        Promise("None when no number is enough", edit=("        return None\n", "        return 1\n")),
        Promise(
            "the rest alone fills the memory, no number is enough",
            edits=(("if room <= memory * _SLACK:", "if room < 0:"), ("/ room *", "/ (room or 1e-9) *")),
        ),
    ),
)
