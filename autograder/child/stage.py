"""In the child: a part of a model, built from the layers that a case describes, and its gradients after a call."""

import torch


def make(parts):
    """A new ``torch.nn.Sequential`` from ``[frozen, layer, ...]``; a layer is its class's name and its parameters."""
    frozen, *layers = parts
    stage = torch.nn.Sequential(*(layer(*described) for described in layers))
    return stage.requires_grad_(not frozen)


def layer(name, *parameters):
    """A module of ``torch.nn``: a ``Linear`` with this weight and bias, or any module that has no parameters."""
    if name != "Linear":
        return getattr(torch.nn, name)()
    weight, bias = parameters
    made = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    made.weight = torch.nn.Parameter(weight)
    if bias is not None:
        made.bias = torch.nn.Parameter(bias)
    return made


def answer(value, args, record):
    """``value``; if a stage is among the arguments, a ``record(name, fields)`` of value and the stage's gradients.

    A parameter without a gradient has None.
    """
    stages = [arg for arg in args if isinstance(arg, torch.nn.Module)]
    if not stages:
        return value
    gradients = {name: parameter.grad for stage in stages for name, parameter in stage.named_parameters()}
    return record("Trained", {"value": value, "gradients": gradients})
