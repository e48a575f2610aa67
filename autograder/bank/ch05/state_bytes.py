"""Chapter 5: ``state_bytes``, bytes per parameter."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip

TYPES = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")
OPTIMIZERS = ("adam", "momentum", "sgd")


def _recipe(rng: Random, compute: str | None = None, optimizer: str | None = None) -> Case:
    """No master given, moments of another size than the weights, gradients as the weights."""
    compute = compute or rng.choice(TYPES)
    moment = rng.choice(("bf16", "int8") if compute in ("fp32", "tf32") else ("fp32", "tf32"))
    return Case((compute, None, optimizer or rng.choice(OPTIMIZERS), moment))


def _recipes(rng: Random) -> list[Case]:
    """Every type of weights and every optimizer."""
    return [_recipe(rng, compute, OPTIMIZERS[index % 3]) for index, compute in enumerate((*TYPES, *TYPES[::-1]))]


def _chosen(rng: Random) -> Case:
    return Case((rng.choice(TYPES),), {"gradient": rng.choice(TYPES), "moment": rng.choice(TYPES)})


def _narrow_moments(rng: Random) -> list[Case]:
    """Masters beside moments of fewer bytes."""
    narrow = TYPES[2:]
    return [Case((rng.choice(narrow),), {"moment": rng.choice(narrow)}) for _ in range(2)]


def _forced(rng: Random) -> Case:
    return Case((), {"compute": rng.choice(TYPES), "master": rng.random() < 0.5, "optimizer": rng.choice(OPTIMIZERS)})


EXERCISE = Build(
    "05 zero.state_bytes",
    section="5.13",
    topic="bytes per parameter",
    bonus=True,
    cases=(
        Case(),  # the ZeRO paper, section 3.1: 16 bytes together
        Case((), {"master": False}),
        Case((), {"gradient": "fp32"}),  # Megatron-LM: 18 bytes together
        Case(("fp32",)),
        Case((), {"moment": "bf16", "master": False}),
        Case((), {"moment": "int8"}),
        Case(("fp8",), {"gradient": "bf16"}),
        Case(("fp32",), {"optimizer": "sgd"}),
    ),
    groups=(
        Group(
            "recipes",
            _recipe,
            14,
            "Count weights, gradients, each moment, and a master copy where the weights are narrower than 4 bytes.",
            _recipes,
        ),
        Group("types given", _chosen, 6, "Weights, gradients and moments have types of their own.", _narrow_moments),
        Group(
            "a master asked for",
            _forced,
            6,
            "With `master=True` there is a copy beside any weights, with `master=False` beside none.",
            lambda rng: [Case(("fp32",), {"master": True}), Case(("bf16",), {"master": False})],
        ),
    ),
    slips=(
        Slip(
            "An fp32 weight is its own master: no copy is kept beside it.",
            edit=("copy = weights < 4 if master is None else master", "copy = master is not False"),
        ),
        Slip(
            "The moments have a type of their own, fp32 unless another is given.",
            edit=("MOMENTS[optimizer] * NUMBER_BYTES[moment]", "MOMENTS[optimizer] * weights"),
        ),
        Slip(
            "Gradients have the type of the weights unless another is given, not that of the master.",
            edit=(
                "return weights, NUMBER_BYTES[gradient or compute]",
                'return weights, NUMBER_BYTES[gradient or ("fp32" if copy else compute)]',
            ),
        ),
        Slip(
            "Weights narrower than 4 bytes need an fp32 master copy: it is part of the optimizer states.",
            edit=("copy = weights < 4 if master is None else master", "copy = master"),
        ),
        Slip(
            "Only Adam keeps two moments: momentum keeps one, plain SGD none.",
            edit=("MOMENTS[optimizer] * NUMBER", "2 * NUMBER"),
        ),
        Slip(
            "The master copy is in fp32, 4 bytes, whatever the type of the moments.",
            edit=("(4.0 if copy else 0.0)", "(NUMBER_BYTES[moment] if copy else 0.0)"),
        ),
        Slip(
            "The master copy was counted with the weights: it belongs to the optimizer states.",
            edit=(
                "return weights, NUMBER_BYTES[gradient or compute], moments + (4.0 if copy else 0.0)",
                "return weights + (4.0 if copy else 0.0), NUMBER_BYTES[gradient or compute], moments",
            ),
        ),
        Slip("tf32 is a way to multiply: the numbers are stored in 4 bytes.", edit=('"tf32": 4.0', '"tf32": 2.0')),
    ),
    rights=(
        Right(
            "summed from the other end",
            edit=("moments + (4.0 if copy else 0.0)", "(4.0 if copy else 0.0) + moments"),
        ),
        Right("halves of bytes", edit=("moments + (4.0 if copy else 0.0)", "(moments * 2 + 8 * bool(copy)) / 2")),
    ),
    promises=(
        Promise(
            "and, where there is one, the fp32 master copy of the weights",
            edit=("moments + (4.0 if copy else 0.0)", "moments"),
        ),
        Promise(
            "whether an fp32 copy is kept besides the weights",
            edit=("copy = weights < 4 if master is None else master", "copy = weights < 4 and master is not False"),
        ),
        Promise(
            "None is the type of the weights",
            edit=("NUMBER_BYTES[gradient or compute]", 'NUMBER_BYTES[gradient or "bf16"]'),
        ),
    ),
)
