"""Attention split by heads, a vocabulary split by token range, and activations split along the sequence.

Run one on four processes::

    world.run(lambda: gather_sequence(torch.ones(2, 3), dim=0), ranks=4).values

Everything is called by all ranks of a group; ``group=None`` is the default group, t its size. One rank sends nothing.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch.autograd.function import once_differentiable
from torch.nn import functional

from rankzero import checks

from .heads import head_partition
from .tensor_parallel import copy_to_ranks, reduce_from_ranks


def parallel_attention(
    x: torch.Tensor,
    wq: torch.Tensor,
    wk: torch.Tensor,
    wv: torch.Tensor,
    wo: torch.Tensor,
    heads: int,
    kv_heads: int,
    group: dist.ProcessGroup | None = None,
) -> torch.Tensor:
    """Causal attention with grouped queries, split by heads: one all-reduce of x's bytes forward and one backward.

    Each rank computes with the query heads and the key-value heads that ``head_partition`` gives it: the projections to
    queries, keys and values are column-parallel, the output projection is row-parallel. d is the width of a head.
    Scores are divided by ``sqrt(d)``.

    Args:
        x: ``[batch, sequence, hidden]``, equal on all ranks.
        wq: the full weight ``[heads d, hidden]`` of the queries, equal on all ranks, head after head.
        wk: the full weight ``[kv_heads d, hidden]`` of the keys.
        wv: the full weight ``[kv_heads d, hidden]`` of the values.
        wo: the full weight ``[hidden, heads d]`` of the output.
        heads: query heads; at least 1. ``head_partition`` can split them over the ranks.
        kv_heads: key-value heads; at least 1. If there are fewer than ranks, several ranks hold the same one.
        group: the ranks that share the layer.

    Returns:
        ``[batch, sequence, hidden]``, equal on all ranks. Gradients reach the tensors that were passed: that of ``x``
        in full on every rank, those of the weights in the rows and columns of the rank's own heads. A replicated
        key-value head has its whole gradient on every rank that holds it: the sum of what each of them contributes,
        added up in at most one all-reduce for each weight.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3; Ainslie et al. (2023), arXiv:2305.13245.
    """
    checks.count(heads=heads, kv_heads=kv_heads)
    query, key_value, replicas = head_partition(heads, kv_heads, dist.get_world_size(group), dist.get_rank(group))
    if replicas > 1:  # the ranks' gradients of a full weight lie in the rows of their heads: f adds the replicas
        wk, wv = copy_to_ranks(wk, group), copy_to_ranks(wv, group)
    x = copy_to_ranks(x, group)
    width = wq.shape[0] // heads
    q = _projected(x, wq, query, width)  # [batch, own heads, sequence, d]
    k, v = (_projected(x, weight, key_value, width) for weight in (wk, wv))  # [batch, own kv heads, sequence, d]
    y = functional.scaled_dot_product_attention(
        q, k, v, is_causal=True, enable_gqa=True
    )  # [batch, own heads, sequence, d]
    return reduce_from_ranks(functional.linear(y.transpose(1, 2).flatten(2), wo[:, _features(query, width)]), group)


def vocab_parallel_cross_entropy(
    logits: torch.Tensor, target: torch.Tensor, group: dist.ProcessGroup | None = None
) -> torch.Tensor:
    """The loss of each token, from logits that are split along the vocabulary.

    Three all-reduces of one number per token: the largest logit, the sum of exponentials, the target's logit. The
    backward pass sends nothing. For logits in half precision the computation runs in float32 and is rounded at the end.

    Args:
        logits: ``[..., V / t]``, this rank's logits: rank r has token ids from ``r V / t``. Unchanged afterwards.
        target: ``[...]``, int64, token ids from 0 to ``V - 1``, equal on all ranks.
        group: the ranks that share the vocabulary.

    Returns:
        ``[...]``, the losses, equal on all ranks, of the type of the logits; differentiable with respect to this rank's
        logits.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3.
    """
    vocab = logits.shape[-1] * dist.get_world_size(group)
    inside = (target >= 0) & (target < vocab)
    checks.require(bool(inside.all()), f"be from 0 to {vocab - 1}", target=target)
    return _CrossEntropy.apply(logits, *_own_ids(target, logits.shape[-1], group), group)


def vocab_parallel_embedding(
    ids: torch.Tensor, weight: torch.Tensor, group: dist.ProcessGroup | None = None
) -> torch.Tensor:
    """Look up rows of a table that is split by token range: one all-reduce forward, none backward.

    Args:
        ids: any shape, int64, token ids from 0 to ``V - 1``, equal on all ranks.
        weight: ``[V / t, h]``, this rank's rows: rank r has token ids from ``r V / t``.
        group: the ranks that share the vocabulary.

    Returns:
        ``[*ids.shape, h]``, equal on all ranks. Only the rank's own tokens add to the gradient of ``weight``.

    Source: Shoeybi et al. (2019), arXiv:1909.08053, section 3.
    """
    vocab = len(weight) * dist.get_world_size(group)
    inside = (ids >= 0) & (ids < vocab)
    checks.require(bool(inside.all()), f"be from 0 to {vocab - 1}", ids=ids)
    local, own = _own_ids(ids, len(weight), group)
    return reduce_from_ranks(functional.embedding(local, weight).masked_fill(~own[..., None], 0), group)


def gather_sequence(x: torch.Tensor, dim: int, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """The parts of all ranks, joined along ``dim``; in the backward pass, this rank's part of the summed gradient.

    An all-gather forward, a reduce-scatter backward: what each rank computes from the whole contributes to the gradient
    of every part.

    Args:
        x: this rank's part, the same shape on all ranks; unchanged afterwards.
        dim: the dimension that is split, from the front or, if negative, from the back.
        group: the ranks that hold the parts.

    Returns:
        The whole, t times as long along ``dim``, equal on all ranks, differentiable once.

    Source: Korthikanti et al. (2022), arXiv:2205.05198, section 4.2.2.
    """
    return _Gather.apply(x, dim, group)


def scatter_sequence(x: torch.Tensor, dim: int, group: dist.ProcessGroup | None = None) -> torch.Tensor:
    """This rank's part of the sum over all ranks, cut along ``dim``; in the backward pass, all parts' gradients joined.

    A reduce-scatter forward, an all-gather backward: the adjoint of ``gather_sequence``.

    Args:
        x: this rank's partial sum of the whole, the same shape on all ranks; unchanged afterwards.
        dim: the dimension to split, from the front or, if negative, from the back; t divides its size.
        group: the ranks that hold the parts.

    Returns:
        The part, t times as short along ``dim``, differentiable once.

    Source: Korthikanti et al. (2022), arXiv:2205.05198, section 4.2.2.
    """
    ranks, shape = dist.get_world_size(group), tuple(x.shape)
    checks.require(shape[dim] % ranks == 0, f"split over {ranks} ranks", x=shape, dim=dim)
    return _Scatter.apply(x, dim, group)


def debug_embed(ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Look up rows of a table that is split by token range over the default group; forward only.

    Args:
        ids: any shape, int64, token ids of the whole table, equal on all ranks.
        weight: ``[V / t, h]``, this rank's rows: rank r has token ids from ``r V / t``. Unchanged afterwards.

    Returns:
        ``[*ids.shape, h]``, equal on all ranks.
    """
    rows = weight.shape[0]
    local = ids - dist.get_rank() * rows
    own = (local >= 0) & (local < rows)
    found = weight[local.clamp(0, rows - 1)].masked_fill(~own[..., None], 0)
    dist.all_reduce(found)
    return found


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, local: torch.Tensor, own: torch.Tensor, group: dist.ProcessGroup | None
    ) -> torch.Tensor:
        exact = logits.to(torch.promote_types(logits.dtype, torch.float32))  # [..., V / t]
        largest = _reduced(exact.amax(-1), dist.ReduceOp.MAX, group)  # [...]
        shifted = exact - largest[..., None]  # [..., V / t]
        exponentials = shifted.exp()
        total = _reduced(exponentials.sum(-1), dist.ReduceOp.SUM, group)
        mine = shifted.gather(-1, local[..., None]).squeeze(-1).masked_fill(~own, 0)  # [...]
        ctx.save_for_backward(exponentials / total[..., None], local, own)
        return (total.log() - _reduced(mine, dist.ReduceOp.SUM, group)).to(logits.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:
        probabilities, local, own = ctx.saved_tensors
        one_hot = torch.zeros_like(probabilities).scatter_(-1, local[..., None], own[..., None].to(probabilities))
        return ((probabilities - one_hot) * gradient[..., None]).to(gradient.dtype), None, None, None


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, dim: int, group: dist.ProcessGroup | None) -> torch.Tensor:
        ctx.dim, ctx.group = dim, group
        return _joined(x, dim, group)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return _scattered(gradient, ctx.dim, ctx.group), None, None


class _Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, dim: int, group: dist.ProcessGroup | None) -> torch.Tensor:
        ctx.dim, ctx.group = dim, group
        return _scattered(x, dim, group)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return _joined(gradient, ctx.dim, ctx.group), None, None


def _joined(x: torch.Tensor, dim: int, group: dist.ProcessGroup | None) -> torch.Tensor:
    """The all-gather, a new tensor."""
    ranks = dist.get_world_size(group)
    if ranks == 1:
        return x.clone()
    parts = [torch.empty_like(x, memory_format=torch.contiguous_format) for _ in range(ranks)]
    dist.all_gather(parts, x.contiguous(), group=group)
    return torch.cat(parts, dim)


def _scattered(x: torch.Tensor, dim: int, group: dist.ProcessGroup | None) -> torch.Tensor:
    """The reduce-scatter, a new tensor."""
    ranks = dist.get_world_size(group)
    if ranks == 1:
        return x.clone()
    parts = [part.contiguous() for part in x.chunk(ranks, dim)]
    mine = torch.empty_like(parts[0])
    dist.reduce_scatter(mine, parts, group=group)
    return mine


def _reduced(x: torch.Tensor, op: dist.ReduceOp.RedOpType, group: dist.ProcessGroup | None) -> torch.Tensor:
    """``x`` itself, reduced in place where there are other ranks."""
    if dist.get_world_size(group) > 1:
        dist.all_reduce(x, op, group=group)
    return x


def _own_ids(ids: torch.Tensor, rows: int, group: dist.ProcessGroup | None) -> tuple[torch.Tensor, torch.Tensor]:
    """The row of each id in this rank's part of the table (0 for an id of another rank), and which ids are its own."""
    local = ids - dist.get_rank(group) * rows
    own = (local >= 0) & (local < rows)
    return local.masked_fill(~own, 0), own


def _features(heads: range, width: int) -> slice:
    """Rows or columns of consecutive heads."""
    return slice(heads.start * width, heads.stop * width)


def _projected(x: torch.Tensor, weight: torch.Tensor, heads: range, width: int) -> torch.Tensor:
    """``[batch, sequence, hidden]`` to ``[batch, heads, sequence, width]`` with the rows of these heads."""
    return functional.linear(x, weight[_features(heads, width)]).unflatten(-1, (len(heads), width)).transpose(1, 2)
