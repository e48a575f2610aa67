"""Chapter 6: the operators f and g, as people get them wrong."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_f_identity(x, group=None):
    return x


def slip_f_sums_both_ways(x, group=None):
    import torch
    import torch.distributed as dist

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(y, group=group)
            return y

        @staticmethod
        def backward(ctx, gradient):
            total = gradient.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total

    return Both.apply(x)


def slip_f_in_place(x, group=None):
    import torch
    import torch.distributed as dist

    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, gradient):
            dist.all_reduce(gradient, group=group)
            return gradient

    return Copy.apply(x)


def slip_f_mean(x, group=None):
    import torch
    import torch.distributed as dist

    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view_as(x)

        @staticmethod
        def backward(ctx, gradient):
            total = gradient.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total / dist.get_world_size(group)

    return Copy.apply(x)


def slip_f_swapped(x, group=None):
    import torch
    import torch.distributed as dist

    class Reduce(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(y, group=group)
            return y

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    return Reduce.apply(x)


F = (
    Slip("The gradients are not summed: each rank keeps the contribution of its own part.", slip_f_identity),
    Slip("f is the identity on the way forward; x was summed there.", slip_f_sums_both_ways),
    Slip("That is g: f sums on the way back, not on the way forward.", slip_f_swapped),
    Slip("The gradient that arrived was summed in place: sum a copy.", slip_f_in_place),
    Slip("The gradients were averaged: contributions are added.", slip_f_mean),
)


def slip_g_identity(x, group=None):
    return x.view_as(x)


def slip_g_sums_both_ways(x, group=None):
    import torch
    import torch.distributed as dist

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(y, group=group)
            return y

        @staticmethod
        def backward(ctx, gradient):
            total = gradient.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total

    return Both.apply(x)


def slip_g_in_place(x, group=None):
    import torch
    import torch.distributed as dist

    class Reduce(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            total = x.detach() if x.is_contiguous() else x.contiguous()
            dist.all_reduce(total, group=group)
            return total.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    return Reduce.apply(x)


def slip_g_mean(x, group=None):
    import torch
    import torch.distributed as dist

    class Reduce(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(y, group=group)
            return y / dist.get_world_size(group)

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    return Reduce.apply(x)


def slip_g_detached(x, group=None):
    import torch
    import torch.distributed as dist

    total = x.detach().clone(memory_format=torch.contiguous_format)
    dist.all_reduce(total, group=group)
    return total


def slip_g_gathers(x, group=None):
    import torch
    import torch.distributed as dist

    class Reduce(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            mine = x.contiguous()
            parts = [torch.empty_like(mine) for _ in range(dist.get_world_size(group))]
            dist.all_gather(parts, mine, group=group)
            return torch.stack(parts).sum(0)

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    return Reduce.apply(x)


G = (
    Slip("The partial sums were not added.", slip_g_identity),
    Slip(
        "The gradient was summed too: it is complete on every rank, and becomes t times as large.",
        slip_g_sums_both_ways,
    ),
    Slip("x was summed in place: sum a copy.", slip_g_in_place),
    Slip("Partial sums were averaged: add them.", slip_g_mean),
    Slip("The sum was made outside of autograd: no gradient comes back.", slip_g_detached),
    Slip("All partial sums were gathered: one all-reduce sums them.", slip_g_gathers),
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


def slip_mended_by_division(x):
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
            return gradient / dist.get_world_size()

    return Sum.apply(x)


def slip_no_sum_left(x):
    import torch

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    return Sum.apply(x)


MENDED_G = (
    Slip("The gradient that arrives is complete on every rank: summed, it is t times too large.", wrong_g),
    Slip(
        "The gradient is summed and divided again: it was complete before, and costs an all-reduce.",
        slip_mended_by_division,
    ),
    Slip("Only the way back was wrong: the sum is gone.", slip_no_sum_left),
)
