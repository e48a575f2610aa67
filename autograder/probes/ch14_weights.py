"""Drivers of chapter 14's weights: a plan carried out, weights pushed into tensors that are held, a captured layer."""

# mypy: no-check-untyped-defs

import torch
import torch.distributed as dist


def resharded(program, local, source, target, plan):
    """One call on each rank; the answer says whether the block is contiguous, and what the rank's own became."""
    before = local.clone()
    block = program(local, source, target, plan)
    whole = getattr(block, "is_contiguous", lambda: False)()
    return {"block": block, "contiguous": whole, "unchanged": torch.equal(local, before)}


def pushed(program, state, trainer, members, bucket_bytes, ties=(), turned=()):
    """The members of a group call it; the answer is what stands in the tensors that were there before the call.

    ``ties`` are pairs of names that share one memory, the tensors in ``turned`` are transposed views.
    """
    for name in turned:
        state[name] = state[name].t().contiguous().t()
    for name, other in ties:
        state[name] = state[other].detach()
    held = dict(state)
    group = dist.new_group(list(members))
    if dist.get_rank() in members:
        program(state, trainer, group, bucket_bytes)
    return {name: held[name].contiguous() for name in sorted(held)}


def served(program, weight, bias, new_weight, new_bias, x, frozen=False):
    """A layer is captured at its addresses, the function gives it new weights, and the engine answers for x."""
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], dtype=weight.dtype)
    layer.weight.data.copy_(weight)
    layer.bias.data.copy_(bias)
    layer.requires_grad_(not frozen)
    engine, parameters = (layer.weight.detach(), layer.bias.detach()), list(layer.parameters())
    program(layer, new_weight, new_bias)
    same = all(new is old for new, old in zip(layer.parameters(), parameters, strict=True))
    return {
        "engine": torch.nn.functional.linear(x, *engine),
        "layer": layer(x).detach(),
        "same parameters": same,
        "ask for gradients": [parameter.requires_grad for parameter in layer.parameters()],
    }
