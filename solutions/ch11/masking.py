"""Forbidden tokens as logits: minus infinity everywhere but on the tokens that are allowed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from rankzero import checks


def mask_logits(logits: Tensor, allowed: Sequence[int]) -> Tensor:
    """A copy of ``logits`` in which every token but the allowed ones has minus infinity.

    Args:
        logits: of one position, [V]; any floating-point type. It stays as it is.
        allowed: the tokens that keep their logit, one or more, each from 0 to V - 1, in any order.

    Returns:
        [V], of the type of ``logits``. ``softmax`` of it is 0 for every other token and sums to 1.
    """
    checks.require(len(allowed) > 0, "name at least one token", allowed=allowed)
    checks.count(0, len(logits) - 1, allowed=allowed)
    kept = torch.zeros(len(logits), dtype=torch.bool, device=logits.device)
    kept[list(allowed)] = True
    return logits.masked_fill(~kept, float("-inf"))
