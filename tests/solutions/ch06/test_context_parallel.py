"""Attention in blocks and around a ring, against the library's attention over the whole sequence."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from rankzero import world
from solutions.ch06.context_parallel import merge_partials, partial_attention, ring_attention

Tensor = torch.Tensor


def drawn(seed: int, *shape: int, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def finished(partial: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    _, total, weighted = partial
    return weighted / total[..., None]


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_one_block_is_attention(scale):
    q, k, v = (drawn(seed, 2, 5, 4, scale=scale) for seed in range(3))
    torch.testing.assert_close(finished(partial_attention(q, k, v)), functional.scaled_dot_product_attention(q, k, v))
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    causal = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(finished(partial_attention(q, k, v, later)), causal)


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(4)), st.floats(0.1, 50))
def test_blocks_merge_in_any_order_to_the_whole(order, scale):
    """Kills a merge that forgets to rescale, and one that divides too early."""
    q, k, v = drawn(1, 2, 3, 4, scale=scale), drawn(2, 2, 8, 4, scale=scale), drawn(3, 2, 8, 4)
    parts = [partial_attention(q, *pair) for pair in zip(k.chunk(4, 1), v.chunk(4, 1), strict=True)]
    first, *others = (parts[place] for place in order)
    for other in others:
        first = merge_partials(first, other)
    torch.testing.assert_close(finished(first), functional.scaled_dot_product_attention(q, k, v))


def _own(tensors: list[Tensor]) -> Tensor:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    return ring_attention(*(tensor.chunk(ranks, 1)[rank] for tensor in tensors))


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_a_ring_is_causal_attention_over_the_whole_sequence(ranks):
    tensors = [drawn(seed, 2, 8, 4) for seed in range(3)]
    run = world.run(_own, tensors, ranks=ranks)
    whole = functional.scaled_dot_product_attention(*tensors, is_causal=True)
    torch.testing.assert_close(torch.cat(run.values, 1), whole)
    block = 2 * 8 * tensors[0].numel() // ranks  # keys and values of a rank, 8 bytes a number
    assert [run.ledger().sent(rank) for rank in range(ranks)] == [(ranks - 1) * block] * ranks
