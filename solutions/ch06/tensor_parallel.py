"""Linear layers split over ranks: Megatron's operators f and g, column- and row-parallel layers, and an MLP of the two.

Run one on four processes, with weights that every process draws from one seed::

    world.run(lambda: ColumnParallelLinear(torch.ones(8, 3))(torch.ones(3)), ranks=4).values

Everything is called by all ranks of a group; ``group=None`` is the default group, t its size. Weights have torch's
layout ``[out, in]``. One rank sends nothing.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from rankzero import checks


def copy_to_ranks(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """The operator f: ``x`` as it is; in the backward pass, the sum of its gradients over all ranks.

    It belongs where a replicated tensor goes into a split computation. Each rank's gradient is then the contribution of
    its own part, and the gradient of ``x`` is their sum.

    Args:
        x: any shape and any strides, equal on all ranks; unchanged afterwards, as is the gradient that arrives.
        group: the ranks that share the computation.

    Returns:
        A tensor equal to ``x``, differentiable once.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3.
    """
    return _Copy.apply(x, group)


def reduce_from_ranks(x: torch.Tensor, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """The operator g: the sum of ``x`` over all ranks; in the backward pass, the gradient as it is.

    It belongs where partial sums become a replicated tensor. Every rank computes the same from there on, so the
    gradient that arrives is complete on each of them.

    Args:
        x: this rank's partial sum, any shape and any strides, the same shape on all ranks; unchanged afterwards, as is
            the gradient that arrives.
        group: the ranks that share the computation.

    Returns:
        The sum, differentiable once.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3.
    """
    return _Reduce.apply(x, group)


class ColumnParallelLinear(nn.Module):
    """A linear layer whose output features are split: rank r holds and computes the r-th block of them.

    Its input is replicated, so f comes before it. Its output needs no communication where a row-parallel layer
    follows; otherwise ``gather_output`` joins the slices in one all-gather, and its backward pass keeps this rank's
    slice of the gradient.

    Args:
        weight: the full weight ``[out, in]``, equal on all ranks; t divides out.
        bias: the full bias ``[out]``, or None.
        gather_output: return all output features on every rank.
        group: the ranks that share the layer.

    Attributes:
        weight: this rank's parameter, ``[out / t, in]``: consecutive rows, copied from the full weight.
        bias: this rank's parameter, ``[out / t]``, copied too, or None.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3.
    """

    def __init__(
        self,
        weight: torch.Tensor,
        bias: torch.Tensor | None = None,
        gather_output: bool = False,
        group: dist.ProcessGroup | None = None,
    ) -> None:
        ranks, shape = dist.get_world_size(group), tuple(weight.shape)
        checks.require(shape[0] % ranks == 0, f"have a multiple of {ranks} rows", weight=shape)
        super().__init__()
        self.gather_output, self.group = gather_output, group
        self.weight = _parameter(_own_block(weight, 0, group))
        self.bias = None if bias is None else _parameter(_own_block(bias, 0, group))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[..., in]``, equal on all ranks, to ``[..., out / t]``, or to ``[..., out]`` with ``gather_output``."""
        y = functional.linear(copy_to_ranks(x, self.group), self.weight, self.bias)
        return _Join.apply(y, self.group) if self.gather_output else y


class RowParallelLinear(nn.Module):
    """A linear layer whose input features are split: rank r holds the r-th block of them and computes a partial sum.

    The operator g adds up the partial sums of all ranks; the bias, which every rank holds in full, is added once,
    afterwards.

    Args:
        weight: the full weight ``[out, in]``, equal on all ranks; t divides in.
        bias: the full bias ``[out]``, or None.
        group: the ranks that share the layer.

    Attributes:
        weight: this rank's parameter, ``[out, in / t]``: consecutive columns, copied from the full weight.
        bias: a copy of the whole bias, a parameter on every rank, or None.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3.
    """

    def __init__(
        self, weight: torch.Tensor, bias: torch.Tensor | None = None, group: dist.ProcessGroup | None = None
    ) -> None:
        ranks, shape = dist.get_world_size(group), tuple(weight.shape)
        checks.require(shape[1] % ranks == 0, f"have a multiple of {ranks} columns", weight=shape)
        super().__init__()
        self.group = group
        self.weight = _parameter(_own_block(weight, 1, group))
        self.bias = None if bias is None else _parameter(bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[..., in / t]``, this rank's slice, to ``[..., out]``, equal on all ranks."""
        y = reduce_from_ranks(functional.linear(x, self.weight), self.group)  # [..., out]
        return y if self.bias is None else y + self.bias


def parallel_mlp(
    x: torch.Tensor,
    up: torch.Tensor,
    up_bias: torch.Tensor,
    down: torch.Tensor,
    down_bias: torch.Tensor,
    group: dist.ProcessGroup | None = None,
) -> torch.Tensor:
    """A column-parallel layer, exact GELU, a row-parallel layer: one all-reduce of x's bytes forward, one backward.

    Args:
        x: ``[..., h]``, equal on all ranks.
        up: the full weight ``[ffn, h]`` of the first layer, equal on all ranks; t divides ffn.
        up_bias: its full bias ``[ffn]``.
        down: the full weight ``[h, ffn]`` of the second layer.
        down_bias: its full bias ``[h]``.
        group: the ranks that share the layers.

    Returns:
        ``[..., h]``, equal on all ranks. Gradients reach the tensors that were passed: that of ``x`` and of
        ``down_bias`` in full on every rank, those of ``up``, ``up_bias`` and ``down`` in the rank's own block. What
        they hold elsewhere does not count.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3.
    """
    ranks, shape = dist.get_world_size(group), tuple(up.shape)
    checks.require(shape[0] % ranks == 0, f"have a multiple of {ranks} rows", up=shape)
    rows, bias = _own_block(up, 0, group), _own_block(up_bias, 0, group)  # [ffn / t, h], [ffn / t]
    inner = functional.gelu(functional.linear(copy_to_ranks(x, group), rows, bias))  # [..., ffn / t]
    return reduce_from_ranks(functional.linear(inner, _own_block(down, 1, group)), group) + down_bias


def debug_g(x: torch.Tensor) -> torch.Tensor:
    """The operator g on the default group: the sum over all ranks; in the backward pass, the gradient as it is.

    Args:
        x: this rank's partial sum, the same shape on all ranks; unchanged afterwards.
    """

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            y = x.clone()
            dist.all_reduce(y)
            return y

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return gradient

    return Sum.apply(x)


class _Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: dist.ProcessGroup | None) -> torch.Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _sum(gradient, ctx.group), None


class _Reduce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: dist.ProcessGroup | None) -> torch.Tensor:
        return _sum(x, group)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return gradient, None


class _Join(torch.autograd.Function):
    """All ranks' slices of the last dimension, joined; backward, this rank's slice of the gradient they share."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, group: dist.ProcessGroup | None) -> torch.Tensor:
        ctx.group = group
        slices = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(dist.get_world_size(group))]
        dist.all_gather(slices, x.contiguous(), group=group)
        return torch.cat(slices, -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _own_block(gradient, -1, ctx.group).contiguous(), None


def _sum(x: torch.Tensor, group: dist.ProcessGroup | None) -> torch.Tensor:
    """The sum of ``x`` over all ranks, a new tensor."""
    total = x.clone(memory_format=torch.contiguous_format)
    if dist.get_world_size(group) > 1:
        dist.all_reduce(total, group=group)
    return total


def _own_block(full: torch.Tensor, dim: int, group: dist.ProcessGroup | None) -> torch.Tensor:
    """This rank's block of ``full`` along ``dim``, a view."""
    return full.chunk(dist.get_world_size(group), dim)[dist.get_rank(group)]


def _parameter(tensor: torch.Tensor) -> nn.Parameter:
    return nn.Parameter(tensor.detach().clone(memory_format=torch.contiguous_format))
