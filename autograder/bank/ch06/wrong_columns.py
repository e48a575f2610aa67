"""Chapter 6: column-parallel layers, as people get them wrong. Each stands in a function that makes it."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_column_splits_inputs(weight, bias=None, gather_output=False, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[0] % ranks:
        raise ValueError("out")

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.tensor_split(ranks, 1)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(ranks)[rank].clone())

        def forward(self, x):
            y = torch.nn.functional.linear(x.tensor_split(ranks, -1)[rank], self.weight)
            y = y.chunk(ranks, -1)[rank]
            return y if self.bias is None else y + self.bias

    return Layer()


def slip_column_no_f(weight, bias=None, gather_output=False, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[0] % ranks:
        raise ValueError("out")

    class Join(torch.autograd.Function):
        @staticmethod
        def forward(ctx, y):
            parts = [torch.empty_like(y) for _ in range(ranks)]
            dist.all_gather(parts, y.contiguous(), group=group)
            return torch.cat(parts, -1)

        @staticmethod
        def backward(ctx, gradient):
            return gradient.chunk(ranks, -1)[rank].contiguous()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(ranks)[rank].clone())

        def forward(self, x):
            y = torch.nn.functional.linear(x, self.weight, self.bias)
            return Join.apply(y) if gather_output else y

    return Layer()


def slip_column_detached_gather(weight, bias=None, gather_output=False, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[0] % ranks:
        raise ValueError("out")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(ranks)[rank].clone())

        def forward(self, x):
            y = torch.nn.functional.linear(copied(x), self.weight, self.bias)
            if not gather_output:
                return y
            parts = [torch.empty_like(y) for _ in range(ranks)]
            dist.all_gather(parts, y.detach().contiguous(), group=group)
            return torch.cat(parts, -1)

    return Layer()


def slip_column_whole_bias(weight, bias=None, gather_output=False, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[0] % ranks:
        raise ValueError("out")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

        def forward(self, x):
            y = torch.nn.functional.linear(copied(x), self.weight)
            return y if self.bias is None else y + self.bias[: y.shape[-1]]

    return Layer()


def slip_column_block_0(weight, bias=None, gather_output=False, group=None):
    import torch
    import torch.distributed as dist

    ranks = dist.get_world_size(group)
    if weight.shape[0] % ranks:
        raise ValueError("out")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks)[0].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.chunk(ranks)[0].clone())

        def forward(self, x):
            return torch.nn.functional.linear(copied(x), self.weight, self.bias)

    return Layer()


def slip_column_strided(weight, bias=None, gather_output=False, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[0] % ranks:
        raise ValueError("out")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def copied(x):
        x = x.view_as(x)
        x.register_hook(summed)
        return x

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight[rank::ranks].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias[rank::ranks].clone())

        def forward(self, x):
            return torch.nn.functional.linear(copied(x), self.weight, self.bias)

    return Layer()


def slip_column_uneven(weight, bias=None, gather_output=False, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)

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

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.tensor_split(ranks)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.tensor_split(ranks)[rank].clone())

        def forward(self, x):
            y = torch.nn.functional.linear(copied(x), self.weight, self.bias)
            return Join.apply(y) if gather_output else y

    return Layer()


COLUMNS = (
    Slip(
        "The input features were split: a column-parallel layer splits the output features.",
        slip_column_splits_inputs,
    ),
    Slip("f is missing: the gradient of x holds the part of one rank's slice alone.", slip_column_no_f),
    Slip("The slices were joined outside of autograd: no gradient comes back.", slip_column_detached_gather),
    Slip("The bias was not split with the weight.", slip_column_whole_bias),
    Slip("Every rank keeps the first block.", slip_column_block_0),
    Slip("The rows were dealt out in turn: a rank keeps consecutive ones.", slip_column_strided),
    Slip("Where the ranks do not divide out, every rank must raise ValueError.", slip_column_uneven),
)
