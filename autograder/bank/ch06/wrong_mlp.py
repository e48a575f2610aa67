"""Chapter 6: a split MLP, as people get it wrong."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_mlp_gathers(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if up.shape[0] % ranks:
        raise ValueError("ffn")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    class Join(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            parts = [torch.empty_like(y) for _ in range(ranks)]
            dist.all_gather(parts, y.contiguous(), group=group)
            return torch.cat(parts, -1)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.chunk(ranks, -1)[rank].contiguous()

    inner = functional.linear(copied(x), up.chunk(ranks)[rank], up_bias.chunk(ranks)[rank])
    return functional.linear(functional.gelu(Join.apply(inner)), down, down_bias)


def slip_mlp_gelu_last(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if up.shape[0] % ranks:
        raise ValueError("ffn")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    def reduced(x):
        return x + (summed(x) - x).detach()

    inner = functional.linear(copied(x), up.chunk(ranks)[rank], up_bias.chunk(ranks)[rank])
    return functional.gelu(reduced(functional.linear(inner, down.chunk(ranks, 1)[rank]))) + down_bias


def slip_mlp_bias_of_each(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if up.shape[0] % ranks:
        raise ValueError("ffn")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    def reduced(x):
        return x + (summed(x) - x).detach()

    inner = functional.gelu(functional.linear(copied(x), up.chunk(ranks)[rank], up_bias.chunk(ranks)[rank]))
    return reduced(functional.linear(inner, down.chunk(ranks, 1)[rank], down_bias))


def slip_mlp_sums_gradient(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if up.shape[0] % ranks:
        raise ValueError("ffn")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

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

    inner = functional.gelu(functional.linear(copied(x), up.chunk(ranks)[rank], up_bias.chunk(ranks)[rank]))
    return Both.apply(functional.linear(inner, down.chunk(ranks, 1)[rank])) + down_bias


def slip_mlp_no_f(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if up.shape[0] % ranks:
        raise ValueError("ffn")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def reduced(x):
        return x + (summed(x) - x).detach()

    inner = functional.gelu(functional.linear(x, up.chunk(ranks)[rank], up_bias.chunk(ranks)[rank]))
    return reduced(functional.linear(inner, down.chunk(ranks, 1)[rank])) + down_bias


def slip_mlp_new_parameters(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if up.shape[0] % ranks:
        raise ValueError("ffn")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    def reduced(x):
        return x + (summed(x) - x).detach()

    rows, own_bias, columns = (
        torch.nn.Parameter(full.detach().chunk(ranks, dim)[rank].clone())
        for full, dim in ((up, 0), (up_bias, 0), (down, 1))
    )
    inner = functional.gelu(functional.linear(copied(x), rows, own_bias))
    return reduced(functional.linear(inner, columns)) + torch.nn.Parameter(down_bias.detach().clone())


def slip_mlp_tanh(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if up.shape[0] % ranks:
        raise ValueError("ffn")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    def reduced(x):
        return x + (summed(x) - x).detach()

    inner = functional.linear(copied(x), up.chunk(ranks)[rank], up_bias.chunk(ranks)[rank])
    inner = functional.gelu(inner, approximate="tanh")
    return reduced(functional.linear(inner, down.chunk(ranks, 1)[rank])) + down_bias


def slip_mlp_uneven(x, up, up_bias, down, down_bias, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    def reduced(x):
        return x + (summed(x) - x).detach()

    rows, own_bias = up.tensor_split(ranks)[rank], up_bias.tensor_split(ranks)[rank]
    inner = functional.gelu(functional.linear(copied(x), rows, own_bias))
    return reduced(functional.linear(inner, down.tensor_split(ranks, 1)[rank])) + down_bias


MLPS = (
    Slip("The inner activations were gathered: the second layer wants the slice that a rank has.", slip_mlp_gathers),
    Slip("GELU comes after the sum: it belongs between the layers.", slip_mlp_gelu_last),
    Slip("Every rank added the second bias before the sum: it counts t times.", slip_mlp_bias_of_each),
    Slip("The gradient of the output was summed: it is complete on every rank.", slip_mlp_sums_gradient),
    Slip("f is missing: the gradient of x holds the part of one rank's slice alone.", slip_mlp_no_f),
    Slip(
        "New parameters were made of the weights: no gradient reaches those that were passed.",
        slip_mlp_new_parameters,
    ),
    Slip("That is the approximate GELU, with a tanh.", slip_mlp_tanh),
    Slip("Where the ranks do not divide ffn, every rank must raise ValueError.", slip_mlp_uneven),
)
