"""Chapter 13: ``role_bytes``, memory by role."""

from __future__ import annotations

from random import Random

from autograder.bank.ch13.shared import LLAMA2_7B, parameters_of
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _adapter(rng: Random, parameters: int) -> int:
    return round(parameters * rng.uniform(0.001, 0.05))


def _role(rng: Random) -> Case:
    return Case((parameters_of(rng), rng.random() < 0.6))


def _adapted(rng: Random) -> Case:
    parameters = parameters_of(rng)
    return Case((parameters, True, _adapter(rng, parameters)))


def _recipe(rng: Random) -> Case:
    parameters = parameters_of(rng)
    trainable = _adapter(rng, parameters) if rng.random() < 0.5 else None
    return Case((parameters, True, trainable, rng.choice((1, 4)), rng.choice((1, 4)), rng.choice((6, 8, 16))))


def _ends(rng: Random) -> list[Case]:
    sizes = [parameters_of(rng) for _ in range(3)]
    return [*(Case((size, True, size)) for size in sizes[:2]), Case((sizes[2], True, 0)), Case((0, True))]


_ROLE_PARTS = '    return parts | {"total": sum(parts.values())}\n'


EXERCISE = Build(
    "13 rlhf_memory.role_bytes",
    section="13.21",
    topic="memory by role",
    bonus=True,
    cases=(
        Case((7e9, True)),
        Case((7e9, False)),
        Case((7e9, True, 40e6)),
        Case((LLAMA2_7B, True)),  # 16 bytes for each parameter: Rajbhandari et al., section 3.1
        Case((7e9, True, 7e9)),
        Case((7e9, True, None, 2, 2, 8)),
    ),
    groups=(
        Group(
            "roles",
            _role,
            6,
            "A frozen model has weights alone; a trained one a gradient and states for each parameter.",
            lambda rng: [Case((parameters_of(rng), learns)) for learns in (True, False, False)],
        ),
        Group(
            "adapters", _adapted, 4, "What learns is the adapter; it has weights of its own beside those of the body."
        ),
        Group("recipes", _recipe, 5, "Bytes of a weight, a gradient and the states are arguments."),
        listed("ends", _ends, "All parameters trainable means no adapter."),
    ),
    slips=(
        Slip(
            "The optimizer has states for what learns: the adapter, not the body.",
            edit=("optimizer_bytes * learning", "optimizer_bytes * (parameters if trained else 0)"),
        ),
        Slip(
            "The adapter has weights of its own, beside those of the body.",
            edit=("weight_bytes * (parameters + adapter)", "weight_bytes * parameters"),
        ),
        Slip(
            "The masters are part of the optimizer states: the sum is right, the split is not.",
            edits=(
                ("weight_bytes * (parameters + adapter)", "weight_bytes * (parameters + adapter) + 4 * learning"),
                ("optimizer_bytes * learning", "(optimizer_bytes - 4) * learning"),
            ),
        ),
        Slip(
            "A frozen model has no gradients.",
            edit=("grad_bytes * learning", "grad_bytes * (learning if trained else parameters)"),
        ),
        Slip(
            "The body stays in memory beside the adapter.", edit=("(parameters + adapter)", "(adapter or parameters)")
        ),
        Slip(
            "Bytes of weights, gradients and states are arguments: they need not be 2, 2 and 12.",
            edits=(
                ("weight_bytes * (parameters + adapter)", "2 * (parameters + adapter)"),
                ("grad_bytes * learning", "2 * learning"),
                ("optimizer_bytes * learning", "12 * learning"),
            ),
        ),
        Slip(
            "With all parameters trainable there is no second copy of the weights.",
            edit=(
                "adapter = learning if trained and learning < parameters else 0",
                "adapter = learning if trainable is not None else 0",
            ),
        ),
    ),
    rights=(
        Right(
            "bytes of a parameter summed first",
            edit=(
                _ROLE_PARTS,
                "    total = weight_bytes * parameters + weight_bytes * adapter\n"
                "    total += (grad_bytes + optimizer_bytes) * learning\n"
                + _ROLE_PARTS.replace("sum(parts.values())", "total"),
            ),
        ),
        Right(
            "products in another order",
            edits=(
                (
                    "float(weight_bytes * (parameters + adapter))",
                    "float(weight_bytes * parameters + weight_bytes * adapter)",
                ),
                ("float(optimizer_bytes * learning)", "optimizer_bytes * float(learning)"),
            ),
        ),
    ),
    promises=(
        Promise(
            "A frozen model has weights alone.", edit=("if trained else 0\n", "if trained else 1e-3 * parameters\n")
        ),
        Promise(
            "master copy included",
            edit=("float(optimizer_bytes * learning)", "float((optimizer_bytes + 4) * learning)"),
        ),
        Promise("the adapter has weights of its own beside the body's", edit=("(parameters + adapter)", "parameters")),
        Promise("None: all of a trained model", edit=("(parameters if trainable is None", "(0 if trainable is None")),
    ),
)
