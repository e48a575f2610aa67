# Generated from solutions/ch06/tensor_parallel.py by make stubs. Write the bodies; names and signatures stay.
"""Linear layers split over ranks: Megatron's operators f and g, column- and row-parallel layers, and an MLP of the two.

Run one on four processes, with weights that every process draws from one seed::

    world.run(lambda: ColumnParallelLinear(torch.ones(8, 3))(torch.ones(3)), ranks=4).values

Everything is called by all ranks of a group; ``group=None`` is the default group, t its size. Weights have torch's
layout ``[out, in]``. One rank sends nothing.
"""

from __future__ import annotations

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
    raise NotImplementedError("06-copy-to-ranks: not written yet")


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
    raise NotImplementedError("06-reduce-from-ranks: not written yet")


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
        raise NotImplementedError("06-column-parallel-linear: not written yet")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[..., in]``, equal on all ranks, to ``[..., out / t]``, or to ``[..., out]`` with ``gather_output``."""
        raise NotImplementedError("06-column-parallel-linear: not written yet")


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
        raise NotImplementedError("06-row-parallel-linear: not written yet")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``[..., in / t]``, this rank's slice, to ``[..., out]``, equal on all ranks."""
        raise NotImplementedError("06-row-parallel-linear: not written yet")


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
    raise NotImplementedError("06-parallel-mlp: not written yet")


def debug_g(x: torch.Tensor) -> torch.Tensor:
    """The operator g on the default group: the sum over all ranks; in the backward pass, the gradient as it is.

    Args:
        x: this rank's partial sum, the same shape on all ranks; unchanged afterwards.
    """

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
