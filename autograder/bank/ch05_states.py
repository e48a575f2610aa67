"""Chapter 5: bytes per parameter of a training recipe."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip, invalid

TYPES = ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")
OPTIMIZERS = ("adam", "momentum", "sgd")


def slip_always_a_master(compute="bf16", gradient=None, optimizer="adam", moment="fp32", master=None):
    size = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
    moments = {"adam": 2, "momentum": 1, "sgd": 0}
    if compute not in size or (gradient or compute) not in size or moment not in size or optimizer not in moments:
        raise ValueError("unknown")
    if master not in (None, True, False):
        raise ValueError("master")
    copy = 0 if master is False else 4
    return float(size[compute]), float(size[gradient or compute]), float(moments[optimizer] * size[moment] + copy)


def slip_moments_as_weights(compute="bf16", gradient=None, optimizer="adam", moment="fp32", master=None):
    size = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
    moments = {"adam": 2, "momentum": 1, "sgd": 0}
    if compute not in size or (gradient or compute) not in size or moment not in size or optimizer not in moments:
        raise ValueError("unknown")
    if master not in (None, True, False):
        raise ValueError("master")
    copy = 4 if (size[compute] < 4 if master is None else master) else 0
    return float(size[compute]), float(size[gradient or compute]), float(moments[optimizer] * size[compute] + copy)


def slip_gradients_as_master(compute="bf16", gradient=None, optimizer="adam", moment="fp32", master=None):
    size = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
    moments = {"adam": 2, "momentum": 1, "sgd": 0}
    if compute not in size or (gradient or compute) not in size or moment not in size or optimizer not in moments:
        raise ValueError("unknown")
    if master not in (None, True, False):
        raise ValueError("master")
    copy = 4 if (size[compute] < 4 if master is None else master) else 0
    gradients = size[gradient] if gradient else copy or size[compute]
    return float(size[compute]), float(gradients), float(moments[optimizer] * size[moment] + copy)


def slip_never_a_master(compute="bf16", gradient=None, optimizer="adam", moment="fp32", master=None):
    size = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
    moments = {"adam": 2, "momentum": 1, "sgd": 0}
    if compute not in size or (gradient or compute) not in size or moment not in size or optimizer not in moments:
        raise ValueError("unknown")
    if master not in (None, True, False):
        raise ValueError("master")
    copy = 4 if master else 0
    return float(size[compute]), float(size[gradient or compute]), float(moments[optimizer] * size[moment] + copy)


def slip_two_moments(compute="bf16", gradient=None, optimizer="adam", moment="fp32", master=None):
    size = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
    if compute not in size or (gradient or compute) not in size or moment not in size:
        raise ValueError("unknown")
    if master not in (None, True, False) or optimizer not in ("adam", "momentum", "sgd"):
        raise ValueError("unknown")
    copy = 4 if (size[compute] < 4 if master is None else master) else 0
    return float(size[compute]), float(size[gradient or compute]), float(2 * size[moment] + copy)


def slip_short_tf32(compute="bf16", gradient=None, optimizer="adam", moment="fp32", master=None):
    size = {"fp32": 4, "tf32": 2, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
    moments = {"adam": 2, "momentum": 1, "sgd": 0}
    if compute not in size or (gradient or compute) not in size or moment not in size or optimizer not in moments:
        raise ValueError("unknown")
    if master not in (None, True, False):
        raise ValueError("master")
    copy = 4 if (size[compute] < 4 if master is None else master) else 0
    return float(size[compute]), float(size[gradient or compute]), float(moments[optimizer] * size[moment] + copy)


def slip_states_unchecked(compute="bf16", gradient=None, optimizer="adam", moment="fp32", master=None):
    size = {"fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1}
    moments = {"momentum": 1, "sgd": 0}
    weights = size.get(compute, 2)
    copy = 4 if (weights < 4 if master is None else master) else 0
    gradients = size.get(gradient or compute, 2)
    return float(weights), float(gradients), float(moments.get(optimizer, 2) * size.get(moment, 4) + copy)


def _recipe(rng: Random, compute: str | None = None, optimizer: str | None = None) -> Case:
    """No master given, moments of another size than the weights, gradients as the weights."""
    compute = compute or rng.choice(TYPES)
    moment = rng.choice(("bf16", "int8") if compute in ("fp32", "tf32") else ("fp32", "tf32"))
    return Case((compute, None, optimizer or rng.choice(OPTIMIZERS), moment))


def _recipes(rng: Random) -> list[Case]:
    """Every type of weights and every optimizer."""
    return [_recipe(rng, compute, OPTIMIZERS[place % 3]) for place, compute in enumerate((*TYPES, *TYPES[::-1]))]


def _chosen(rng: Random) -> Case:
    return Case((rng.choice(TYPES),), {"gradient": rng.choice(TYPES), "moment": rng.choice(TYPES)})


def _forced(rng: Random) -> Case:
    return Case((), {"compute": rng.choice(TYPES), "master": rng.random() < 0.5, "optimizer": rng.choice(OPTIMIZERS)})


def _unknown(rng: Random) -> list[Case]:
    return [
        *(invalid(name) for name in ("fp64", "BF16", "")),
        *(invalid(gradient=name) for name in ("half", "int4")),
        *(invalid(optimizer=name) for name in ("adamw8", "lion")),
        *(invalid(moment=name) for name in ("fp", "none")),
        invalid(rng.choice(TYPES), master="fp32"),
    ]


STATE_BYTES = Build(
    id="05-state-bytes",
    module="zero",
    function="state_bytes",
    grade="call",
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
        invalid("fp12"),
    ),
    groups=(
        Group(
            "recipes",
            _recipe,
            14,
            "Count weights, gradients, each moment, and a master copy where the weights are narrower than 4 bytes.",
            _recipes,
        ),
        Group("types given", _chosen, 6, "Weights, gradients and moments have types of their own."),
        Group(
            "a master asked for",
            _forced,
            6,
            "With `master=True` there is a copy beside any weights, with `master=False` beside none.",
            lambda rng: [Case(("fp32",), {"master": True}), Case(("bf16",), {"master": False})],
        ),
        Group(
            "unknown names", lambda rng: rng.choice(_unknown(rng)), 10, "Unknown names must raise ValueError.", _unknown
        ),
    ),
    slips=(
        Slip("An fp32 weight is its own master: no copy is kept beside it.", slip_always_a_master),
        Slip("The moments have a type of their own, fp32 unless another is given.", slip_moments_as_weights),
        Slip(
            "Gradients have the type of the weights unless another is given, not that of the master.",
            slip_gradients_as_master,
        ),
        Slip(
            "Weights narrower than 4 bytes need an fp32 master copy: it is part of the optimizer states.",
            slip_never_a_master,
        ),
        Slip("Only Adam keeps two moments: momentum keeps one, plain SGD none.", slip_two_moments),
        Slip("tf32 is a way to multiply: the numbers are stored in 4 bytes.", slip_short_tf32),
        Slip("Unknown names were accepted.", slip_states_unchecked),
    ),
    section="5.6",
    topic="bytes per parameter",
)

ITEMS = (STATE_BYTES,)
