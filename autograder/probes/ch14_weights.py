"""Drivers of chapter 14's weights: a plan carried out, weights pushed into existing tensors, a captured layer.

All answers are values. Whether a block is contiguous shows in the order of its elements in memory; whether a parameter
is still the same object, in a gradient that is written to the old one and read from the new. Which parameters require
gradients is reported by the child; a lie about it saves no work.
"""

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

Tensor = torch.Tensor
as_strided, copy_, full_like = Tensor.as_strided, Tensor.copy_, torch.full_like
linear = torch.nn.functional.linear


def resharded(program, local, source, target, plan):
    """Called on each rank; the answer holds the block, its layout in memory, and the rank's own block afterwards."""
    block = program(local, source, target, plan)
    return {"block": block, "elements in memory": in_memory(block), "own block after the call": local}


def shared(program, x):
    """Called on each rank; the answer also tells how many groups the rank helped to create."""
    created, create = [], c10d._new_group_with_tag

    def counted(*args, **options):
        created.append(1)
        return create(*args, **options)

    c10d._new_group_with_tag = counted
    try:
        value = program(x)
    finally:
        c10d._new_group_with_tag = create
    return {"returned": value, "groups created": len(created), "own tensor afterwards": x}


def in_memory(block):
    """As many elements as the block has, in the order of memory; None if the memory has fewer."""
    if not isinstance(block, Tensor):
        return None
    try:
        return as_strided(block, (block.numel(),), (1,))
    except RuntimeError:
        return None


def pushed(program, state, trainer, members, bucket_bytes, ties=(), turned=()):
    """The members of a group call it; the answer is what the original tensors hold afterwards.

    ``ties`` are pairs of names that share memory; the tensors in ``turned`` are transposed views.
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
    copy_(layer.weight.data, weight)
    copy_(layer.bias.data, bias)
    layer.requires_grad_(not frozen)
    engine, parameters = (layer.weight.detach(), layer.bias.detach()), list(layer.parameters())
    program(layer, new_weight, new_bias)
    answer = {
        "engine": linear(x, *engine),
        "layer": layer(x).detach(),
        "ask for gradients": [parameter.requires_grad for parameter in layer.parameters()],
    }
    for number, parameter in enumerate(parameters, start=1):
        parameter.grad = full_like(parameter, number)
    return answer | {"gradients put into the parameters": [parameter.grad for parameter in layer.parameters()]}
