# Generated from solutions/ch11/masking.py by make stubs. Write the bodies; names and signatures stay.
"""Forbidden tokens as logits: minus infinity everywhere but on the tokens that are allowed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def mask_logits(logits: Tensor, allowed: Sequence[int]) -> Tensor:
    """A copy of ``logits`` in which every token but the allowed ones has minus infinity.

    Args:
        logits: of one position, [V]; any floating-point type. It stays as it is.
        allowed: the tokens that keep their logit, each from 0 to V - 1, in any order.

    Returns:
        [V], of the type of ``logits``. ``softmax`` of it is 0 for every other token and sums to 1.

    Raises:
        ValueError: nothing is allowed, or a token is not an integer or not in the vocabulary.
    """
    raise NotImplementedError("11-mask-logits: not written yet")
