"""A model's weights as text, so that they can be stored in a table and read again anywhere, to the last bit.

>>> from_text(as_text(torch.tensor([[1.0, -0.5]])), (1, 2))
tensor([[ 1.0000, -0.5000]])
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import torch


def as_text(weight: torch.Tensor) -> str:
    """The numbers of ``weight`` as float32, little-endian, row after row, in base64."""
    return base64.b64encode(weight.detach().numpy().astype("<f4").tobytes()).decode()


def from_text(text: str, shape: Sequence[int]) -> torch.Tensor:
    """The float32 tensor of this shape that :func:`as_text` wrote.

    Raises:
        RuntimeError: the text holds more or fewer numbers than the shape.
    """
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float32).view(tuple(shape))
