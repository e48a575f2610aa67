"""Chapter 6: a sequence joined and split, as people get it wrong."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_gather_own_slice(x, dim, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)

    class Gather(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [torch.empty_like(x) for _ in range(ranks)]
            dist.all_gather(parts, x.contiguous(), group=group)
            return torch.cat(parts, dim)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.chunk(ranks, dim)[rank].contiguous()

    return Gather.apply(x)


def slip_gather_first_dim(x, dim, group=None):
    import torch
    import torch.distributed as dist

    ranks = dist.get_world_size(group)

    class Gather(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [torch.empty_like(x) for _ in range(ranks)]
            dist.all_gather(parts, x.contiguous(), group=group)
            return torch.cat(parts, 0)

        @staticmethod
        def backward(ctx, gradient):
            parts = [part.contiguous() for part in gradient.chunk(ranks, dim)]
            mine = torch.empty_like(parts[0])
            dist.reduce_scatter(mine, parts, group=group)
            return mine

    return Gather.apply(x)


def slip_gather_detached(x, dim, group=None):
    import torch
    import torch.distributed as dist

    parts = [torch.empty_like(x.detach()) for _ in range(dist.get_world_size(group))]
    dist.all_gather(parts, x.detach().contiguous(), group=group)
    return torch.cat(parts, dim)


def slip_gather_all_reduce(x, dim, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)

    class Gather(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [torch.empty_like(x) for _ in range(ranks)]
            dist.all_gather(parts, x.contiguous(), group=group)
            return torch.cat(parts, dim)

        @staticmethod
        def backward(ctx, gradient):
            total = gradient.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total.chunk(ranks, dim)[rank].contiguous()

    return Gather.apply(x)


GATHERS = (
    Slip("The way back takes the own slice: it loses what the other ranks made of the part.", slip_gather_own_slice),
    Slip("The parts were joined along the first dimension.", slip_gather_first_dim),
    Slip("The parts were joined outside of autograd: no gradient comes back.", slip_gather_detached),
    Slip("The way back is an all-reduce and a slice: a reduce-scatter sends half of it.", slip_gather_all_reduce),
)


def slip_scatter_slices(x, dim, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if x.shape[dim] % ranks:
        raise ValueError("x")

    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.chunk(ranks, dim)[rank].clone()

        @staticmethod
        def backward(ctx, gradient):
            parts = [torch.empty_like(gradient) for _ in range(ranks)]
            dist.all_gather(parts, gradient.contiguous(), group=group)
            return torch.cat(parts, dim)

    return Scatter.apply(x)


def slip_scatter_pads_gradient(x, dim, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if x.shape[dim] % ranks:
        raise ValueError("x")

    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [part.contiguous() for part in x.chunk(ranks, dim)]
            mine = torch.empty_like(parts[0])
            dist.reduce_scatter(mine, parts, group=group)
            return mine

        @staticmethod
        def backward(ctx, gradient):
            parts = [torch.zeros_like(gradient) for _ in range(ranks)]
            parts[rank] = gradient
            return torch.cat(parts, dim)

    return Scatter.apply(x)


def slip_scatter_first_dim(x, dim, group=None):
    import torch
    import torch.distributed as dist

    ranks = dist.get_world_size(group)
    if x.shape[dim] % ranks:
        raise ValueError("x")

    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [part.contiguous() for part in x.tensor_split(ranks, 0)]
            mine = torch.empty_like(parts[dist.get_rank(group)])
            dist.reduce_scatter(mine, parts, group=group)
            return mine

        @staticmethod
        def backward(ctx, gradient):
            parts = [torch.empty_like(gradient) for _ in range(ranks)]
            dist.all_gather(parts, gradient.contiguous(), group=group)
            return torch.cat(parts, 0)

    return Scatter.apply(x)


def slip_scatter_all_reduce(x, dim, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if x.shape[dim] % ranks:
        raise ValueError("x")

    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            total = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(total, group=group)
            return total.chunk(ranks, dim)[rank].clone()

        @staticmethod
        def backward(ctx, gradient):
            parts = [torch.empty_like(gradient) for _ in range(ranks)]
            dist.all_gather(parts, gradient.contiguous(), group=group)
            return torch.cat(parts, dim)

    return Scatter.apply(x)


def slip_scatter_unchecked(x, dim, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    rest = -x.shape[dim] % ranks
    longer = list(x.shape)
    longer[dim] = rest
    whole = torch.cat([x, x.new_zeros(longer)], dim) if rest else x

    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            parts = [part.contiguous() for part in x.chunk(ranks, dim)]
            mine = torch.empty_like(parts[rank])
            dist.reduce_scatter(mine, parts, group=group)
            return mine

        @staticmethod
        def backward(ctx, gradient):
            parts = [torch.empty_like(gradient) for _ in range(ranks)]
            dist.all_gather(parts, gradient.contiguous(), group=group)
            return torch.cat(parts, dim)

    return Scatter.apply(whole)


SCATTERS = (
    Slip("x was sliced and not summed: it is a partial sum on every rank.", slip_scatter_slices),
    Slip("The way back fills up with zeros: it is an all-gather of all ranks' gradients.", slip_scatter_pads_gradient),
    Slip("The sum was cut along the first dimension.", slip_scatter_first_dim),
    Slip("That is an all-reduce and a slice: a reduce-scatter sends half of it.", slip_scatter_all_reduce),
    Slip("Where the ranks do not divide the dimension, every rank must raise ValueError.", slip_scatter_unchecked),
)
