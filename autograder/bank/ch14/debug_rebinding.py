"""Chapter 14: ``debug_rebinding``, weights in place."""

from __future__ import annotations

from random import Random

from autograder.bank.ch14.shared import numbers
from autograder.items import Case, Debug, Group, Promise, Right, Slip


def wrong_rebinding(layer, weight, bias):
    import torch

    layer.weight = torch.nn.Parameter(weight)
    layer.bias = torch.nn.Parameter(bias)


def _layer(rng: Random, frozen: bool = False, dtype: str = "float32") -> Case:
    out, into, rows = rng.randint(2, 5), rng.randint(2, 5), rng.randint(1, 4)
    shapes = ((out, into), (out,), (out, into), (out,), (rows, into))
    return Case(tuple(numbers(rng, dtype, *shape) for shape in shapes), {"frozen": True} if frozen else {})


_COPIES = "    with torch.no_grad():\n        layer.weight.copy_(weight)\n        layer.bias.copy_(bias)\n"


EXERCISE = Debug(
    "14 weight_push.debug_rebinding",
    section="14.5",
    topic="weights in place",
    grade="tensor",
    probe="ch14_weights.served",
    tolerance=1e-5,
    wrong=wrong_rebinding,
    cases=(_layer(Random("layer")), _layer(Random("frozen"), True)),
    groups=(
        Group("layers", _layer, 4, "The engine reads at the addresses that it captured."),
        Group("frozen", lambda rng: _layer(rng, True, "float64"), 3, "A layer that needs no gradients stays so."),
    ),
    slips=(
        Slip("A new Parameter has a new address: copy into the old one, without gradients.", wrong_rebinding),
        Slip(
            "`.data = ` gives the parameter another memory: the engine reads the old one.",
            edits=(("weight.copy_(weight)", "weight.data = weight"), ("bias.copy_(bias)", "bias.data = bias")),
        ),
        Slip(
            "`assign=True` puts new tensors in place of the old.",
            edits=(
                ("layer.weight.copy_(weight)", 'layer.load_state_dict({"weight": weight, "bias": bias}, assign=True)'),
                ("layer.bias.copy_(bias)", "layer.weight.requires_grad_(True)"),
            ),
        ),
        Slip("The bias is a parameter, too.", edit=("\n        layer.bias.copy_(bias)", "")),
        Slip(
            "Parameters must go on asking for gradients: copy under `torch.no_grad()`.",
            edit=("layer.weight.copy_(weight)", "layer.requires_grad_(False)\n        layer.weight.copy_(weight)"),
        ),
    ),
    rights=(
        Right(
            "copies into the data",
            edit=(_COPIES, "    layer.weight.data.copy_(weight)\n    layer.bias.data.copy_(bias)\n"),
        ),
        Right("a state is loaded", edit=(_COPIES, '    layer.load_state_dict({"weight": weight, "bias": bias})\n')),
    ),
    promises=(
        Promise("Give a layer new weights while an engine runs on it.", program=wrong_rebinding),
        Promise("the new weight [out, in]", edit=("layer.weight.copy_(weight)", "pass")),
        Promise("the new bias [out]", edit=("layer.bias.copy_(bias)", "pass")),
    ),
)
