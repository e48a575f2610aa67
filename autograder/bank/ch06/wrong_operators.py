"""Chapter 6: the operators f and g, as people get them wrong."""

from __future__ import annotations

from autograder.items import Slip

_COPIED = "x.clone(memory_format=torch.contiguous_format)"

F = (
    Slip(
        "The gradients are not summed: each rank keeps the contribution of its own part.",
        edit=("return _Copy.apply(x, group)", "return x"),
    ),
    Slip("x was summed in the forward pass, where f does nothing.", edit=("x.view_as(x)", "_sum(x, group)")),
    Slip(
        "That is g: f sums in the backward pass, not in the forward pass.",
        edits=(("x.view_as(x)", "_sum(x, group)"), ("_sum(gradient, ctx.group)", "gradient")),
    ),
    Slip("The gradient that arrived was summed in place: sum a copy.", edit=(_COPIED, "x")),
    Slip(
        "The gradients were averaged: contributions have to be added.",
        edit=("return total", "return total / dist.get_world_size(group)"),
    ),
)

G = (
    Slip("The partial sums were not added.", edit=("_Reduce.apply(x, group)", "x.view_as(x)")),
    Slip(
        "The gradient was summed, too: it is complete on every rank and becomes t times too large.",
        edits=(
            ("return _sum(x, group)", "ctx.group = group\n        return _sum(x, group)"),
            ("return gradient, None", "return _sum(gradient, ctx.group), None"),
        ),
    ),
    Slip("x was summed in place: sum a copy.", edit=(_COPIED, "x.contiguous()")),
    Slip("Partial sums were averaged: add them.", edit=("return total", "return total / dist.get_world_size(group)")),
    Slip(
        "The sum was formed outside autograd: no gradient comes back.",
        edit=("_Reduce.apply(x, group)", "_sum(x.detach(), group)"),
    ),
    Slip(
        "All partial sums were gathered: one all-reduce would sum them.",
        edit=(
            "return _sum(x, group)",
            "mine = x.contiguous()\n"
            "        parts = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]\n"
            "        dist.all_gather(parts, mine, group=group)\n"
            "        return torch.stack(parts).sum(0)",
        ),
    ),
)


def wrong_g(x):
    import torch
    import torch.distributed as dist

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            dist.all_reduce(y)
            return y

        @staticmethod
        def backward(ctx, gradient):
            gradient = gradient.clone()
            dist.all_reduce(gradient)
            return gradient

    return Sum.apply(x)


FIXED_G = (
    Slip("The gradient that arrives is complete on every rank; summing it makes it t times too large.", wrong_g),
    Slip(
        "The gradient is summed and then divided: it was complete before, and this costs an all-reduce.",
        wrong_g,
        edit=("return gradient", "return gradient / dist.get_world_size()"),
    ),
    Slip(
        "Only the backward pass was wrong: now the forward sum is missing.",
        edit=("            dist.all_reduce(y)\n", ""),
    ),
)
