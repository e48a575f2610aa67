"""Serialization: what a notebook defines travels to the ranks."""

from __future__ import annotations

import pytest

from rankzero.world import serialization

CLASS = """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        return 2 * gradient
"""
HEAD = "import torch\nfrom torch.autograd.function import once_differentiable\n"
INSIDE = HEAD + "def double(x):\n" + CLASS.replace("\n", "\n    ") + "\n    return Double.apply(x)\n"
BESIDE = HEAD + CLASS + "def double(x):\n    return Double.apply(x)\n"


@pytest.mark.parametrize("cell", [INSIDE, BESIDE], ids=["class in the function", "class in the cell"])
def test_an_autograd_function_of_a_notebook_travels(cell):
    """Kills: a decorator's name that stays behind, and torch._C._functions sent by value, which cannot be rebuilt."""
    import torch

    names = {"__name__": "__main__"}
    exec(cell, names)
    x = torch.ones(2, requires_grad=True)
    serialization.unpack(serialization.pack(names["double"]))(x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
