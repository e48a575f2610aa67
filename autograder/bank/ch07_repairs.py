"""Chapter 07: two checks of an advisor that let too much pass."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip, invalid
from rankzero.units import GB

# --- debug_validate


def wrong_validate(gpus, tp, cp, pp, dp):
    if min(gpus, tp, cp, pp, dp) < 1:
        raise ValueError(f"sizes must be >= 1, got {gpus}, {tp}, {cp}, {pp}, {dp}")
    if tp * pp * dp > gpus:
        raise ValueError(f"tp * pp * dp must be at most {gpus}, got {tp * pp * dp}")
    return tp * cp * pp


def slip_context_left_out(gpus, tp, cp, pp, dp):
    if min(gpus, tp, cp, pp, dp) < 1:
        raise ValueError("sizes must be >= 1")
    if tp * pp * dp != gpus:
        raise ValueError("the product must be gpus")
    return tp * cp * pp


def slip_whole_quotient(gpus, tp, cp, pp, dp):
    if min(gpus, tp, cp, pp, dp) < 1:
        raise ValueError("sizes must be >= 1")
    if dp != gpus // (tp * cp * pp):
        raise ValueError("dp must be the rest")
    return tp * cp * pp


def slip_at_most(gpus, tp, cp, pp, dp):
    if min(gpus, tp, cp, pp, dp) < 1:
        raise ValueError("sizes must be >= 1")
    if tp * cp * pp * dp > gpus:
        raise ValueError("the product must be at most gpus")
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
        invalid(model * dp, tp, cp, pp, 0),
        invalid(0, tp, cp, pp, dp),
        invalid(model * dp, tp, cp, -pp, -dp),
    ]


VALIDATE = Debug(
    id="07-debug-validate",
    module="layout",
    function="debug_validate",
    grade="call",
    section="7.13",
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
            12,
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
        Slip("CP takes GPUs, too.", slip_context_left_out),
        Slip("Whole division hides the remainder: some GPUs are left over.", slip_whole_quotient),
        Slip("GPUs are left over: the product must be their number.", slip_at_most),
    ),
    wrong=wrong_validate,
)

# --- debug_impossible


def wrong_impossible(parameters, gpu_memory):
    if parameters <= 0 or gpu_memory <= 0:
        raise ValueError(f"parameters and gpu_memory must be > 0, got {parameters!r} and {gpu_memory!r}")
    return (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)


def slip_wider_tp(parameters, gpu_memory):
    if parameters <= 0 or gpu_memory <= 0:
        raise ValueError("out of range")
    tp, pp = (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)
    while 2 * parameters / (tp * pp) > gpu_memory:
        tp *= 2
    return tp, pp


def slip_whole_weights(parameters, gpu_memory):
    if parameters <= 0 or gpu_memory <= 0:
        raise ValueError("out of range")
    tp, pp = (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)
    return (tp, pp) if 2 * parameters <= gpu_memory else None


def slip_tp_alone(parameters, gpu_memory):
    if parameters <= 0 or gpu_memory <= 0:
        raise ValueError("out of range")
    tp, pp = (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)
    return (tp, pp) if 2 * parameters / tp <= gpu_memory else None


def slip_one_byte(parameters, gpu_memory):
    if parameters <= 0 or gpu_memory <= 0:
        raise ValueError("out of range")
    tp, pp = (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)
    return (tp, pp) if parameters / (tp * pp) <= gpu_memory else None


def slip_all_states(parameters, gpu_memory):
    if parameters <= 0 or gpu_memory <= 0:
        raise ValueError("out of range")
    tp, pp = (1, 1) if parameters < 10e9 else (8, 1) if parameters < 100e9 else (8, 4)
    return (tp, pp) if 16 * parameters / (tp * pp) <= gpu_memory else None


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
    section="7.14",
    topic="choosing a layout",
    cases=(
        Case((1.7e12, 80 * GB)),
        Case((405e9, 80 * GB)),
        Case((70e9, 80 * GB)),
        Case((7e9, 80 * GB)),
        invalid(0, 80 * GB),
    ),
    groups=(
        Group(
            "large models",
            _fits,
            8,
            "A GPU holds 2 bytes of each parameter of its shard of its stage; None where that is more than its memory.",
            lambda rng: [_too_large(rng, least) for least in (1.05, 1.05, 1.05, 2.2, 2.2)],
        ),
        Group(
            "smaller models",
            lambda rng: rng.choice(_smaller(rng)),
            9,
            "The check holds for every line of the rule; weights that just fill the memory fit.",
            _smaller,
        ),
        Group(
            "bad input",
            lambda rng: invalid(-rng.uniform(1, 9), 80 * GB),
            2,
            "What is not positive must raise ValueError.",
            lambda rng: [invalid(70e9, 0.0), invalid(-1.0, 80 * GB)],
        ),
    ),
    slips=(
        Slip("That is the program as it was: it never asks whether the weights fit.", wrong_impossible),
        Slip("TP was raised beyond the rule, across nodes: say that the plan is impossible.", slip_wider_tp),
        Slip("A GPU holds its share of the weights, not all of them.", slip_whole_weights),
        Slip("The stages divide the weights as well.", slip_tp_alone),
        Slip("A bf16 weight takes 2 bytes.", slip_one_byte),
        Slip("The states of training take 16 bytes: asked is whether the weights alone fit, 2 bytes.", slip_all_states),
    ),
    wrong=wrong_impossible,
)

ITEMS: tuple[Build, ...] = (VALIDATE, IMPOSSIBLE)
