"""Bytes of a whole RLHF job, added up over real tensors after a real step of each model that learns.

    job_bytes({"policy": actor, "critic": critic, "reward": reward, "reference": start}, learning={"policy", "critic"})

Nothing here uses a formula; the chapter compares the two.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy

import torch

from rankzero.tiny import GPT


def job_bytes(models: Mapping[str, GPT], learning: Collection[str]) -> dict[str, dict[str, int]]:
    """Bytes of weights, gradients and optimizer states of each model, in bf16 with fp32 masters and AdamW.

    The models are copied first. Those that learn take one step; the others keep only their weights.

    Args:
        models: by role.
        learning: the roles that learn.

    Returns:
        By role, bytes of ``weights``, ``gradients``, ``optimizer`` (master copy and moments) and ``counters`` (AdamW
        counts its steps, one number for each tensor).
    """
    return {role: _bytes_of(deepcopy(model), role in learning) for role, model in models.items()}


def _bytes_of(model: GPT, learns: bool) -> dict[str, int]:
    """Convert a copy, take a step if it learns, and add up what it holds."""
    weights = list(model.to(torch.bfloat16).requires_grad_(learns).parameters())
    masters: list[torch.Tensor] = []
    moments: list[torch.Tensor] = []
    counters: list[torch.Tensor] = []
    if learns:
        masters = [weight.detach().float() for weight in weights]
        optimizer = torch.optim.AdamW(masters)
        model(torch.zeros(1, 2, dtype=torch.int64)).float().square().mean().backward()
        for master, weight in zip(masters, weights, strict=True):
            assert weight.grad is not None
            master.grad = weight.grad.float()
        optimizer.step()
        states = [state for by_name in optimizer.state.values() for state in by_name.items()]
        moments = [tensor for name, tensor in states if name != "step"]
        counters = [tensor for name, tensor in states if name == "step"]
    return {
        "weights": _added(weights),
        "gradients": _added(weight.grad for weight in weights if weight.grad is not None),
        "optimizer": _added(masters) + _added(moments),
        "counters": _added(counters),
    }


def _added(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.nbytes for tensor in tensors)
