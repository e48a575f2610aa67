"""Drivers of no chapter: what several can use."""

# mypy: no-check-untyped-defs

import torch


def differentiated(program, *args, upstream=None, **options):
    """The tensors of floats ask for a gradient, and the result is sent back with an upstream gradient."""
    leaves = [arg.requires_grad_() for arg in args if isinstance(arg, torch.Tensor) and arg.is_floating_point()]
    value = program(*args, **options)
    value.backward(torch.ones_like(value) if upstream is None else upstream)
    return {"value": value, "gradients": [leaf.grad for leaf in leaves]}
