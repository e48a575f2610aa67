"""Attention over a sequence that is split over ranks: keys and values travel around a ring, one block per step.

Run it on four processes, each with its own part of the sequence::

    world.run(lambda: ring_attention(*(torch.ones(2, 3, 4),) * 3), ranks=4).values

The partial result of attention over a block of keys holds three numbers or rows for each query: the largest score, the
sum of the exponentials of all scores minus that largest one, and the sum of the values weighted by these exponentials.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.distributed as dist

from ..ch02.point_to_point import ring_shift


def partial_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, hidden: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The partial result of attention over one block of keys.

    Args:
        q: ``[..., T, d]``, the queries.
        k: ``[..., S, d]``, the keys of the block.
        v: ``[..., S, d]``, their values.
        hidden: ``[T, S]``, true where a query must not see a key; every query sees at least one.

    Returns:
        The largest score ``[..., T]``, the sum of exponentials ``[..., T]``, and the weighted values ``[..., T, d]``.
    """
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # [..., T, S]
    if hidden is not None:
        scores = scores.masked_fill(hidden, -torch.inf)
    largest = scores.amax(-1)
    weights = (scores - largest[..., None]).exp()
    return largest, weights.sum(-1), weights @ v


def merge_partials(
    one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The partial result over two blocks of keys together, from the partial results over each.

    The larger of the two maxima becomes the common one. Sums and weighted values that were formed with a smaller
    maximum are scaled down before they are added.

    Args:
        one: the largest score ``[..., T]``, the sum of exponentials ``[..., T]``, and the weighted values
            ``[..., T, d]`` of the first block.
        other: the same of the second block.

    Returns:
        The same three for both blocks: weighted values over sums of exponentials are the attention over all of the
        keys.

    Source: Milakov and Gimelshein (2018), arXiv:1805.02867; Dao et al. (2022), arXiv:2205.14135, section 3.1.
    """
    largest = torch.maximum(one[0], other[0])
    first, second = (one[0] - largest).exp(), (other[0] - largest).exp()  # at most 1
    total = one[1] * first + other[1] * second
    return largest, total, one[2] * first[..., None] + other[2] * second[..., None]


def ring_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Causal attention over a sequence that is split over all ranks; forward pass.

    Rank r holds the r-th block of tokens. In each of ``N - 1`` steps every rank passes the keys and values that it has
    to the next rank, and merges what it can use of those that arrive. Blocks of later tokens pass through. Scores are
    divided by ``sqrt(d)``. Keys and values travel as messages, and a rank sends at most ``N - 1`` blocks of each.

    Args:
        q: ``[heads, T, d]``, the queries of this rank's tokens, the same shape on every rank.
        k: ``[heads, T, d]``, their keys.
        v: ``[heads, T, d]``, their values.

    Returns:
        ``[heads, T, d]``, what attention over the whole sequence gives for this rank's queries.

    Source: Liu et al. (2023), arXiv:2310.01889.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    later = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    result = partial_attention(q, k, v, later)
    for step in range(1, ranks):
        k, v = ring_shift(k), ring_shift(v)
        if rank >= step:  # the block of rank - step lies before these queries
            result = merge_partials(result, partial_attention(q, k, v))
    _, total, weighted = result
    return weighted / total[..., None]
