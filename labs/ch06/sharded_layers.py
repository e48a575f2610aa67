# Generated from solutions/ch06/sharded_layers.py by make stubs. Write the bodies; names and signatures stay.
"""Attention split by heads, a vocabulary split by token range, and activations split along the sequence.

Run one on four processes::

    world.run(lambda: gather_sequence(torch.ones(2, 3), dim=0), ranks=4).values

Everything is called by all ranks of a group; ``group=None`` is the default group, t its size. One rank sends nothing.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch.autograd.function import once_differentiable
from torch.nn import functional

from rankzero import checks


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
    raise NotImplementedError("06-parallel-attention: not written yet")


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
    raise NotImplementedError("06-vocab-parallel-cross-entropy: not written yet")


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
    raise NotImplementedError("06-vocab-parallel-embedding: not written yet")


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
    raise NotImplementedError("06-gather-sequence: not written yet")


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
    raise NotImplementedError("06-scatter-sequence: not written yet")


def debug_embed(ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Look up rows of a table that is split by token range over the default group; forward only.

    Args:
        ids: any shape, int64, token ids of the whole table, equal on all ranks.
        weight: ``[V / t, h]``, this rank's rows: rank r has token ids from ``r V / t``. Unchanged afterwards.

    Returns:
        ``[*ids.shape, h]``, equal on all ranks.
    """
    rows = weight.shape[0]
    local = (ids - dist.get_rank() * rows).clamp(0, rows - 1)
    found = weight[local]
    dist.all_reduce(found)
    return found
