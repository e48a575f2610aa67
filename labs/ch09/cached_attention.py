# Generated from solutions/ch09/cached_attention.py by make stubs. Write the bodies; names and signatures stay.
"""Attention over cached keys and values, contiguous or in blocks, and quantized keys and values.

output, key, value = cached_attention(query, key, value, past_key, past_value)  # T new tokens after P cached ones
output = paged_attention(query, key_pool, value_pool, table=[7, 2, 5], length=41)  # one new token, blocks of a pool
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from rankzero import checks


def cached_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    past_key: torch.Tensor,
    past_value: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Causal attention of T new tokens to P cached tokens and to each other.

    New token i is at position P + i: it sees the cached tokens, itself and the new tokens before it. Scores are divided
    by the square root of d.

    Args:
        query, key, value: of the new tokens, [heads, T, d]; T is at least 1.
        past_key, past_value: of the cached tokens, [heads, P, d]; P may be 0.

    Returns:
        ``(output, key, value)``: the output [heads, T, d], and the keys and values of all tokens, [heads, P + T, d].

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.2; Pope et al. (2022), arXiv:2211.05102, section 2.
    """
    checks.count(T=query.shape[1])
    raise NotImplementedError("09-cached-attention: not written yet")


def debug_mask(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """Causal attention of the last T of S tokens to all of them: a chunk of a prompt after the chunks before it.

    Query i belongs to token S - T + i; it sees the keys of that token and of all before it.

    Args:
        query: of the last T tokens, [heads, T, d]; T is from 1 to S.
        key, value: of all S tokens, [heads, S, d].

    Returns:
        [heads, T, d].
    """
    checks.count(1, key.shape[1], T=query.shape[1])
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def paged_attention(
    query: torch.Tensor, key_pool: torch.Tensor, value_pool: torch.Tensor, table: Sequence[int], length: int
) -> torch.Tensor:
    """Attention of one new token to a sequence whose keys and values lie in blocks of a pool.

    Token i of the sequence lies in block ``table[i // block_size]`` at place ``i % block_size``. Whatever else lies in
    the pool, NaN too, must not reach the output. Query head h uses key-value head ``h // (heads // kv_heads)``. Scores
    are divided by the square root of d.

    Args:
        query: of the new token, [heads, d].
        key_pool, value_pool: [blocks, block_size, kv_heads, d]; ``kv_heads`` divides ``heads``.
        table: blocks of the sequence in the order of its tokens.
        length: tokens of the sequence, the new one included: it sees them all; at least 1, at most the slots of the
            table.

    Returns:
        [heads, d].

    Source: Kwon et al. (2023), arXiv:2309.06180, section 4.1.
    """
    checks.count(1, len(table) * key_pool.shape[1], length=length)
    checks.require(len(query) % key_pool.shape[2] == 0, f"be a multiple of {key_pool.shape[2]}", heads=len(query))
    raise NotImplementedError("09-paged-attention: not written yet")


def quantize_kv(x: torch.Tensor, bits: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys or values as small integers, with one scale for each vector along the last dimension.

    The scale is the largest magnitude of the vector over ``2**(bits - 1) - 1``, or 1 for a vector of zeros. Elements
    are divided by it and rounded to the nearest integer (ties to even).

    Args:
        x: [..., d], float32 or float64: in 16 bits a quotient may round beyond the largest integer.
        bits: of an integer, from 2 to 8.

    Returns:
        ``(q, scale)``: q of type int8 [..., d] (in 4 bits it takes values from -7 to 7), and the scales [..., 1] of
        x's type.

    Source: Jacob et al. (2018), arXiv:1712.05877, section 2.1 (affine quantization; here with zero point 0).
    """
    checks.count(2, 8, bits=bits)
    raise NotImplementedError("09-quantize-kv: not written yet")


def dequantize_kv(q: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """The numbers that quantized ones represent, each within half a scale of the original.

    Args:
        q: from :func:`quantize_kv`, int8 [..., d].
        scale: from there too, [..., 1].

    Returns:
        ``q`` times ``scale``, of the type of ``scale``.
    """
    raise NotImplementedError("09-dequantize-kv: not written yet")
