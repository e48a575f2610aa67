"""Chapter 7: ``debug_validate``, meshes of ranks."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Promise, Slip, invalid


def wrong_validate(gpus, tp, cp, pp, dp):
    if tp * pp * dp > gpus:
        raise ValueError(f"tp * pp * dp must be at most {gpus}, got {tp * pp * dp}")
    return tp * cp * pp


def _mesh(rng: Random) -> tuple[int, int, int, int]:
    return rng.choice((1, 2, 4, 8)), rng.choice((2, 4, 16)), rng.randint(2, 16), rng.randint(2, 64)


def _fitting(rng: Random) -> Case:
    tp, cp, pp, dp = _mesh(rng)
    return Case((tp * cp * pp * dp, tp, cp, pp, dp))


def _without_context(rng: Random) -> Case:
    tp, _, pp, dp = _mesh(rng)
    return Case((tp * pp * dp, tp, 1, pp, dp))


def _off(rng: Random) -> list[Case]:
    """Meshes that leave GPUs over, hide a remainder, or take too many."""
    tp, cp, pp, dp = _mesh(rng)
    model = tp * cp * pp
    return [
        invalid(2 * model * dp, tp, cp, pp, dp),
        invalid(model * dp + rng.randint(1, model - 1), tp, cp, pp, dp),
        invalid(model * dp + rng.randint(1, model - 1), tp, cp, pp, dp),
        invalid(tp * pp * dp, tp, cp, pp, dp),
        invalid(model * dp - 1, tp, cp, pp, dp),
    ]


EXERCISE = Debug(
    "07 layout.debug_validate",
    section="7.24",
    bonus=True,
    topic="meshes of ranks",
    wrong=wrong_validate,
    cases=(
        Case((16_384, 8, 16, 16, 8)),  # the Llama 3 report, table 4, at 131,072 tokens
        Case((64, 8, 1, 4, 2)),
        invalid(16_384, 8, 16, 16, 4),  # as the report's first version prints it
        invalid(16_384, 8, 1, 16, 64),
        invalid(100, 8, 1, 4, 3),
    ),
    groups=(
        listed(
            "meshes",
            lambda rng: [*_off(rng), *(_fitting(rng) for _ in range(4))],
            "A mesh that takes exactly the GPUs that there are is right; any other must raise ValueError.",
        ),
        Group("without CP", _without_context, 2, "A CP of 1 changes nothing."),
    ),
    slips=(
        Slip(
            "CP takes GPUs too, and none may be left over: the product of all four sizes is the number of GPUs.",
            wrong_validate,
        ),
        Slip("CP takes GPUs, too.", edit=("if taken", "if tp * pp * dp")),
        Slip(
            "Whole division hides the remainder: some GPUs are left over.",
            edit=("taken != gpus", "dp != gpus // (tp * cp * pp)"),
        ),
        Slip("GPUs are left over: the product must be their number.", edit=("taken != gpus", "taken > gpus")),
    ),
    promises=(
        Promise("when the mesh takes exactly the GPUs that there are", edit=("taken != gpus", "taken > gpus")),
        Promise("when the mesh takes exactly the GPUs that there are", edit=("if taken != gpus:", "if taken < gpus:")),
    ),
)
