"""Cached, paged and quantised attention against torch's own, at every cut and in shuffled blocks."""

from __future__ import annotations

from random import Random

import pytest
import torch
from torch.nn import functional

from solutions.ch09.cached_attention import cached_attention, debug_mask, dequantize_kv, paged_attention, quantize_kv

HEADS, WIDTH = 3, 8


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("first", range(12))
def test_every_cut_of_twelve_tokens_is_the_whole(first):
    """Chunks [0, first) and [first, 12) give what one pass gives."""
    query, key, value = (drawn(HEADS, 12, WIDTH, seed=seed) for seed in range(3))
    whole = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    output, keys, values = cached_attention(
        query[:, first:], key[:, first:], value[:, first:], key[:, :first], value[:, :first]
    )
    torch.testing.assert_close(output, whole[:, first:], rtol=1e-12, atol=1e-12)
    assert torch.equal(keys, key)
    assert torch.equal(values, value)


def test_one_by_one_and_in_three_chunks():
    query, key, value = (drawn(HEADS, 20, WIDTH, seed=seed) for seed in range(3))
    whole = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    for sizes in ([1] * 20, [7, 13], [5, 5, 10]):
        keys = values = key[:, :0]
        outputs = []
        for q, k, v in zip(*(x.split(sizes, 1) for x in (query, key, value)), strict=True):
            output, keys, values = cached_attention(q, k, v, keys, values)
            outputs.append(output)
        torch.testing.assert_close(torch.cat(outputs, 1), whole, rtol=1e-12, atol=1e-12)


def test_torchs_flag_is_aligned_to_the_start():
    """What the debug item is about: is_causal lets the first new token see the first cached token alone."""
    query, key, value = (drawn(HEADS, 20, WIDTH, seed=seed) for seed in range(3))
    whole = functional.scaled_dot_product_attention(query, key, value, is_causal=True)[:, 13:]
    flagged = functional.scaled_dot_product_attention(query[:, 13:], key, value, is_causal=True)
    torch.testing.assert_close(debug_mask(query[:, 13:], key, value), whole, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(flagged[:, 0], value[:, 0])
    assert (flagged - whole).abs().max() > 0.1


@pytest.mark.parametrize("seed", range(40))
def test_blocks_in_any_order_are_the_gathered_copy(seed):
    """NaN wherever no token of the sequence stands."""
    rng = Random(seed)
    kv_heads = rng.choice((1, 2, 4))
    heads, block, length = kv_heads * rng.choice((1, 2)), rng.randint(1, 16), rng.randint(1, 70)
    count = -(-length // block)
    pools = [torch.full((count + 3, block, kv_heads, WIDTH), torch.nan, dtype=torch.float64) for _ in range(2)]
    table = rng.sample(range(count + 3), count)
    keys, values = drawn(length, kv_heads, WIDTH, seed=seed), drawn(length, kv_heads, WIDTH, seed=seed + 1)
    for pool, held in zip(pools, (keys, values), strict=True):
        for place in range(length):
            pool[table[place // block], place % block] = held[place]
    query = drawn(heads, WIDTH, seed=seed + 2)
    expected = functional.scaled_dot_product_attention(
        query[None, :, None], keys.transpose(0, 1)[None], values.transpose(0, 1)[None], enable_gqa=True
    )[0, :, 0]
    torch.testing.assert_close(paged_attention(query, *pools, table, length), expected, rtol=1e-12, atol=1e-12)


def test_a_longer_table_and_a_tuple():
    """Blocks beyond the length are not read."""
    pool = torch.full((4, 2, 1, 2), torch.nan)
    pool[2, 0] = torch.tensor([1.0, 3.0])
    assert paged_attention(torch.ones(2, 2), pool, pool, (2, 0, 1), 1).tolist() == [[1.0, 3.0]] * 2


# Quantisation.


def test_numbers_of_the_page():
    q, scale = quantize_kv(torch.tensor([1, -2, 0.25, 0]))
    assert (q.dtype, q.tolist(), scale.shape) == (torch.int8, [64, -127, 16, 0], (1,))
    assert scale.item() == pytest.approx(0.0157480, rel=1e-5)
    assert dequantize_kv(q, scale).tolist() == pytest.approx([1.00787, -2, 0.251969, 0], rel=1e-5)
    q, scale = quantize_kv(torch.tensor([0.9, -2, 0.25, 0]), bits=4)
    assert q.tolist() == [3, -7, 1, 0]
    assert scale.item() == pytest.approx(0.285714, rel=1e-5)
    assert dequantize_kv(q, scale).tolist() == pytest.approx([0.857143, -2, 0.285714, 0], rel=1e-5)


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_an_error_is_at_most_half_a_scale(bits):
    x = drawn(5, 7, 32)
    q, scale = quantize_kv(x, bits)
    assert ((dequantize_kv(q, scale) - x).abs() <= scale / 2 * (1 + 1e-12)).all()
    assert q.abs().max() == 2 ** (bits - 1) - 1
    assert scale.shape == (5, 7, 1)


@pytest.mark.parametrize("bits", [4, 8])
def test_it_is_torchs_per_channel_quantisation(bits):
    """Each vector is a channel, its zero point 0; torch's own gives the numbers that come back."""
    x, most = drawn(9, 16).float(), 2 ** (bits - 1) - 1
    q, scale = quantize_kv(x, bits)
    theirs = torch.fake_quantize_per_channel_affine(x, scale[:, 0], torch.zeros(9, dtype=torch.int32), 0, -most, most)
    torch.testing.assert_close(dequantize_kv(q, scale), theirs)


def test_zeros_and_types():
    q, scale = quantize_kv(torch.zeros(2, 4, dtype=torch.float64))
    assert scale.tolist() == [[1], [1]]
    assert not q.any()
    assert dequantize_kv(q, scale).dtype == torch.float64
