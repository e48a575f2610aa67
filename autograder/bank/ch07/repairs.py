"""Chapter 07: two checks of an advisor that let too much pass."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Debug, Group, Slip, invalid
from rankzero.facts.units import GB

# --- debug_validate


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


VALIDATE = Debug(
    id="07-debug-validate",
    module="layout",
    function="debug_validate",
    grade="call",
    section="7.11",
    topic="meshes of ranks",
    cases=(
        Case((16_384, 8, 16, 16, 8)),  # the Llama 3 report, table 4, at 131,072 tokens
        Case((64, 8, 1, 4, 2)),
        invalid(16_384, 8, 16, 16, 4),  # as the report's first version prints it
        invalid(16_384, 8, 1, 16, 64),
        invalid(100, 8, 1, 4, 3),
    ),
    groups=(
        Group(
            "meshes",
            _fitting,
            9,
            "A mesh that takes exactly the GPUs that there are is right; any other must raise ValueError.",
            lambda rng: [*_off(rng), *(_fitting(rng) for _ in range(4))],
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
    wrong=wrong_validate,
)

# --- debug_impossible


def wrong_impossible(parameters, gpu_memory):
    return (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)


def _large(share: float, memory: float) -> Case:
    """A model of which a GPU of TP 8, PP 4 holds ``share`` of its memory in bf16 weights."""
    return Case((share * memory * 16, memory))


def _fits(rng: Random) -> Case:
    return _large(rng.uniform(0.3, 0.95), rng.choice((40, 80, 141)) * GB)


def _too_large(rng: Random, least: float = 1.05) -> Case:
    return _large(least * rng.uniform(1, 1.7), rng.choice((24, 40, 80)) * GB)


def _smaller(rng: Random) -> list[Case]:
    return [
        Case((rng.uniform(1, 9) * 1e9, 80 * GB)),
        Case((rng.uniform(1.2, 1.9) * 4e9, 8 * GB)),
        Case((rng.uniform(45, 90) * 1e9, 80 * GB)),
        Case((rng.uniform(50, 90) * 1e9, 12 * GB)),
        Case((32e9, 8 * GB)),
        *(Case((parameters, 80 * GB)) for parameters in (10e9, 15e9, 100e9, 150e9)),
    ]


IMPOSSIBLE = Debug(
    id="07-debug-impossible",
    module="layout",
    function="debug_impossible",
    grade="call",
    section="7.25",
    bonus=True,
    topic="choosing a layout",
    cases=(
        Case((1.7e12, 80 * GB)),
        Case((405e9, 80 * GB)),
        Case((70e9, 80 * GB)),
        Case((7e9, 80 * GB)),
    ),
    groups=(
        Group(
            "large models",
            _fits,
            8,
            "A GPU holds 2 bytes of each parameter of its shard of its stage; None where that is more than its memory.",
            lambda rng: [_too_large(rng, least) for least in (1.05, 1.05, 1.05, 2.2, 2.2)],
        ),
        one_of_each(
            "smaller models",
            _smaller,
            "The check holds for every line of the rule; weights that just fill the memory fit.",
        ),
    ),
    slips=(
        Slip("That is the program as it was: it never asks whether the weights fit.", wrong_impossible),
        Slip(
            "TP was raised beyond the rule, across nodes. Say that the plan is impossible instead.",
            edit=(
                "return (tp, pp) if weights <= gpu_memory else None",
                "while 2 * parameters / (tp * pp) > gpu_memory:\n        tp *= 2\n    return (tp, pp)",
            ),
        ),
        Slip(
            "A GPU holds its share of the weights, not all of them.",
            edit=("2 * parameters / (tp * pp)", "2 * parameters"),
        ),
        Slip("The stages divide the weights as well.", edit=("tp * pp", "tp")),
        Slip("A bf16 weight takes 2 bytes.", edit=("2 * parameters", "parameters")),
        Slip(
            "Training states take 16 bytes, but the question is whether the weights alone fit, at 2 bytes.",
            edit=("weights = 2", "weights = 16"),
        ),
    ),
    wrong=wrong_impossible,
)

ITEMS: tuple[Build, ...] = (VALIDATE, IMPOSSIBLE)
