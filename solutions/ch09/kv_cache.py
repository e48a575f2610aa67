"""The KV cache in numbers: bytes per token, requests that fit, waste in blocks, savings from shared prefixes.

Standard library only. A context of "32K" is 32,768 tokens; sizes are bytes.

>>> kv_bytes_per_token(layers=80, kv_heads=8, head_dim=128)
327680.0
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankzero import checks


def kv_bytes_per_token(
    layers: int, kv_heads: int, head_dim: int, bytes_per_element: float = 2.0, tensor_parallel: int = 1
) -> float:
    """Bytes of keys and values that one rank stores for each token: ``2 L max(1, n_kv / t) d w``.

    Tensor parallelism splits the key-value heads until each rank has one; with more ranks than heads, heads are copied.

    Args:
        layers: L, transformer blocks; at least 1.
        kv_heads: n_kv, key and value heads of a layer (not query heads); at least 1.
        head_dim: d, elements of one head; at least 1.
        bytes_per_element: w; 2 for bf16, 1 for 8 bits, 0.5 for 4 bits; positive.
        tensor_parallel: t, ranks that share the layer; at least 1, a divisor or a multiple of ``kv_heads``.

    Source: Kwon et al. (2023), arXiv:2309.06180, section 3; Ainslie et al. (2023), arXiv:2305.13245 (grouped queries).
    """
    checks.count(layers=layers, kv_heads=kv_heads, head_dim=head_dim, tensor_parallel=tensor_parallel)
    checks.positive(bytes_per_element=bytes_per_element)
    fits = kv_heads % tensor_parallel == 0 or tensor_parallel % kv_heads == 0
    checks.require(fits, f"be a divisor or a multiple of kv_heads = {kv_heads}", tensor_parallel=tensor_parallel)
    return 2.0 * layers * max(1, kv_heads // tensor_parallel) * head_dim * bytes_per_element


def mla_bytes_per_token(layers: int, latent_dim: int, rope_dim: int, bytes_per_element: float = 2.0) -> float:
    """Bytes that multi-head latent attention stores for each token, on every tensor-parallel rank: ``L (c + r) w``.

    One latent vector replaces the keys and the values of all heads, and a short key that carries the rotary position is
    stored beside it. Neither has heads that could be split.

    Args:
        layers: L, transformer blocks; at least 1.
        latent_dim: c, elements of the latent; at least 1.
        rope_dim: r, elements of the rotary key; not negative.
        bytes_per_element: w; positive.

    Source: DeepSeek-AI (2024), arXiv:2405.04434, section 2.1.
    """
    checks.count(layers=layers, latent_dim=latent_dim)
    checks.count(0, rope_dim=rope_dim)
    checks.positive(bytes_per_element=bytes_per_element)
    return float(layers * (latent_dim + rope_dim) * bytes_per_element)


def kv_capacity_tokens(
    memory_per_gpu: float,
    gpus: int,
    weight_bytes: float,
    kv_bytes_per_token: float,
    usable: float = 0.9,
    overhead_per_gpu: float = 0.0,
) -> int:
    """Tokens whose keys and values fit beside the weights: ``floor((G (M u - o) - W) / kv)``, never below 0.

    Args:
        memory_per_gpu: M, bytes; positive.
        gpus: G, which together hold the model; at least 1.
        weight_bytes: W, of the whole model, bytes; not negative.
        kv_bytes_per_token: summed over the GPUs, bytes; positive.
        usable: u, share of the memory that the server may take; above 0 and at most 1.
        overhead_per_gpu: o, bytes of each GPU for activations and buffers; not negative.

    Source: Kwon et al. (2023), arXiv:2309.06180, section 2 (the memory that weights leave free).
    """
    checks.count(gpus=gpus)
    checks.positive(memory_per_gpu=memory_per_gpu, kv_bytes_per_token=kv_bytes_per_token, usable=usable)
    checks.between(0, 1, usable=usable)
    checks.amount(weight_bytes=weight_bytes, overhead_per_gpu=overhead_per_gpu)
    room = gpus * (memory_per_gpu * usable - overhead_per_gpu) - weight_bytes
    return max(0, math.floor(room / kv_bytes_per_token))


def max_concurrent_requests(capacity_tokens: int, context: int, block_size: int = 1) -> int:
    """Requests of one length that fit at the same time, when each takes whole blocks.

    Args:
        capacity_tokens: tokens of the pool, of which only whole blocks count; not negative.
        context: tokens of each request; at least 1.
        block_size: tokens of a block; at least 1.

    Source: Kwon et al. (2023), arXiv:2309.06180, section 4.
    """
    checks.count(0, capacity_tokens=capacity_tokens)
    checks.count(context=context, block_size=block_size)
    return (capacity_tokens // block_size) // -(-context // block_size)


def paged_waste(lengths: Sequence[int], block_size: int) -> tuple[int, float]:
    """The token slots that sequences leave empty in their last blocks.

    Args:
        lengths: tokens of each sequence; not negative. A sequence of 0 tokens takes no block.
        block_size: tokens of a block; at least 1.

    Returns:
        ``(slots, share)``: the empty slots, and their share of the slots of all blocks taken; ``(0, 0.0)`` where no
        block is taken.

    Source: Kwon et al. (2023), arXiv:2309.06180, sections 3.1 and 4.1.
    """
    checks.count(0, lengths=lengths)
    checks.count(block_size=block_size)
    taken = sum(-(-length // block_size) * block_size for length in lengths)
    wasted = taken - sum(lengths)
    return wasted, wasted / taken if taken else 0.0


def prefix_sharing_saving(requests: int, prefix: int, unique: int, block_size: int = 1) -> float:
    """The share of KV memory that is saved when a common prefix is stored once.

    Only whole blocks are shared, ``s = floor(prefix / b) b`` tokens. Without sharing each request takes the blocks of
    ``prefix + unique`` tokens; with it, the ``s`` tokens are stored once, and each request takes blocks for the rest.

    Args:
        requests: how many run at the same time; at least 1.
        prefix: tokens with which all of them begin; not negative.
        unique: further tokens of each; not negative.
        block_size: tokens of a block; at least 1.

    Returns:
        From 0 to below 1; 0.0 where there are no tokens at all.

    Source: Zheng et al. (2023), arXiv:2312.07104, section 3; Kwon et al. (2023), arXiv:2309.06180, section 4.4.
    """
    checks.count(requests=requests, block_size=block_size)
    checks.count(0, prefix=prefix, unique=unique)
    shared = prefix // block_size * block_size
    alone = requests * -(-(prefix + unique) // block_size) * block_size
    rest = requests * -(-(prefix + unique - shared) // block_size) * block_size
    return (alone - shared - rest) / alone if alone else 0.0


def debug_units(gpu_gb: float, weights_gb: float, kv_bytes: float, context: int) -> int:
    """Requests whose keys and values fit beside the weights on one GPU.

    Args:
        gpu_gb: memory of the GPU, GB of 1e9 bytes; not negative.
        weights_gb: weights on it, GB of 1e9 bytes; not negative.
        kv_bytes: bytes of keys and values of one token; positive.
        context: tokens of a request; at least 1.

    Returns:
        A whole number of requests, rounded down; 0 where the weights take all memory.
    """
    checks.amount(gpu_gb=gpu_gb, weights_gb=weights_gb)
    checks.positive(kv_bytes=kv_bytes)
    checks.count(context=context)
    free = max(0.0, gpu_gb - weights_gb) * 1e9
    return int(free / (kv_bytes * context))
