"""Chapter 6: row-parallel layers, as people get them wrong. Each stands in a function that makes it."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_row_bias_before(weight, bias=None, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[1] % ranks:
        raise ValueError("in")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def reduced(x):
        return x + (summed(x) - x).detach()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks, 1)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

        def forward(self, x):
            if x.shape[-1] != self.weight.shape[1]:
                raise ValueError("x")
            return reduced(torch.nn.functional.linear(x, self.weight, self.bias))

    return Layer()


def slip_row_bias_on_rank_0(weight, bias=None, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[1] % ranks:
        raise ValueError("in")

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def reduced(x):
        return x + (summed(x) - x).detach()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks, 1)[rank].clone())
            self.bias = torch.nn.Parameter(bias.clone()) if bias is not None and rank == 0 else None

        def forward(self, x):
            if x.shape[-1] != self.weight.shape[1]:
                raise ValueError("x")
            y = reduced(torch.nn.functional.linear(x, self.weight))
            return y if self.bias is None else y + self.bias

    return Layer()


def slip_row_no_sum(weight, bias=None, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[1] % ranks:
        raise ValueError("in")

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks, 1)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

        def forward(self, x):
            if x.shape[-1] != self.weight.shape[1]:
                raise ValueError("x")
            return torch.nn.functional.linear(x, self.weight, self.bias)

    return Layer()


def slip_row_mean(weight, bias=None, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[1] % ranks:
        raise ValueError("in")

    class Mean(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone(memory_format=torch.contiguous_format)
            dist.all_reduce(y, group=group)
            return y / ranks

        @staticmethod
        def backward(ctx, gradient):
            return gradient / ranks

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.chunk(ranks, 1)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

        def forward(self, x):
            if x.shape[-1] != self.weight.shape[1]:
                raise ValueError("x")
            y = Mean.apply(torch.nn.functional.linear(x, self.weight))
            return y if self.bias is None else y + self.bias

    return Layer()


def slip_row_splits_outputs(weight, bias=None, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if weight.shape[1] % ranks:
        raise ValueError("in")

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.tensor_split(ranks)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.tensor_split(ranks)[rank].clone())

        def forward(self, x):
            if x.shape[-1] * ranks != weight.shape[1]:
                raise ValueError("x")
            whole = torch.nn.functional.pad(x, (0, weight.shape[1] - x.shape[-1]))
            return torch.nn.functional.linear(whole, self.weight, self.bias)

    return Layer()


def slip_row_takes_any_width(weight, bias=None, group=None):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)

    def summed(x):
        total = x.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def reduced(x):
        return x + (summed(x) - x).detach()

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(weight.tensor_split(ranks, 1)[rank].clone())
            self.bias = None if bias is None else torch.nn.Parameter(bias.clone())

        def forward(self, x):
            own = x if x.shape[-1] == self.weight.shape[1] else x.tensor_split(ranks, -1)[rank]
            y = reduced(torch.nn.functional.linear(own, self.weight))
            return y if self.bias is None else y + self.bias

    return Layer()


ROWS = (
    Slip("The bias was added before the sum: it counts t times.", slip_row_bias_before),
    Slip("Only rank 0 added the bias: the ranks no longer hold the same output.", slip_row_bias_on_rank_0),
    Slip("The partial sums were not added.", slip_row_no_sum),
    Slip("The partial sums were averaged: add them.", slip_row_mean),
    Slip("The output features were split: a row-parallel layer splits the input features.", slip_row_splits_outputs),
    Slip(
        "Where the ranks do not divide in, or x is not a slice, every rank must raise ValueError.",
        slip_row_takes_any_width,
    ),
)
