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
    if not len(allowed):
        raise ValueError("allowed must name at least one token, got none")
    for token in allowed:
        if type(token) is not int:
            raise ValueError(f"allowed must hold integers, got {token!r}")
    if min(allowed) < 0 or max(allowed) >= len(logits):
        raise ValueError(f"allowed must be from 0 to {len(logits) - 1}, got {list(allowed)}")
    kept = torch.zeros(len(logits), dtype=torch.bool, device=logits.device)
    kept[list(allowed)] = True
    return logits.masked_fill(~kept, float("-inf"))
