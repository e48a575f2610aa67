"""In the child: a part of a model, made of the plain layers that a case describes, and what a call left in it."""

# mypy: no-check-untyped-defs

import torch


def make(parts):
    """A new ``torch.nn.Sequential`` from ``[frozen, layer, ...]``, where a layer is its class's name and parameters."""
    frozen, *layers = parts
    stage = torch.nn.Sequential(*(layer(*described) for described in layers))
    return stage.requires_grad_(not frozen)


def layer(name, *parameters):
    """One module of ``torch.nn`` with these parameters: a ``Linear`` with weight and bias, or one that has none."""
    if name != "Linear":
        return getattr(torch.nn, name)()
    weight, bias = parameters
    made = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    made.weight = torch.nn.Parameter(weight)
    if bias is not None:
        made.bias = torch.nn.Parameter(bias)
    return made


def answer(value, args, record):
    """``value``, with the gradients that a call left in the stage among its arguments when there is one.

    ``record(name, fields)`` holds both. A parameter without a gradient has None.
    """
    stages = [arg for arg in args if isinstance(arg, torch.nn.Module)]
    if not stages:
        return value
    gradients = {name: parameter.grad for stage in stages for name, parameter in stage.named_parameters()}
    return record("Trained", {"value": value, "gradients": gradients})
