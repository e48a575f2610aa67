"""Drivers of chapter 9: keys and values in fewer bits.

Numbers are values. The type of the integers is reported by the child; it takes one call of ``to`` to get it right.
"""

import torch


def quantized(program, x, *bits):
    """Called once; the answer holds the integers, their type and the scales."""
    q, scale = program(x, *bits)
    return {"q": q.long(), "type of q": str(q.dtype).removeprefix("torch."), "scale": scale}


def dequantized(program, q, scale):
    """Called once, with the integers as int8."""
    return program(q.to(torch.int8), scale)
