"""Further right programs for the items of chapter 9."""

from __future__ import annotations

import math

import torch

from tools.luck import Right


def attention_token_by_token(query, key, value, past_key, past_value):
    """Each new token for itself, over what it sees."""
    keys, values = torch.cat([past_key, key], dim=1), torch.cat([past_value, value], dim=1)
    rows = []
    for place in range(query.shape[1]):
        seen = past_key.shape[1] + place + 1
        scores = (keys[:, :seen] * query[:, place : place + 1]).sum(-1) / math.sqrt(query.shape[-1])
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        rows.append((weights.unsqueeze(-1) * values[:, :seen]).sum(1) / weights.sum(-1, keepdim=True))
    return torch.stack(rows, dim=1), keys, values


def attention_of_the_library(query, key, value, past_key, past_value):
    keys, values = torch.cat([past_key, key], dim=1), torch.cat([past_value, value], dim=1)
    positions = torch.arange(past_key.shape[1], keys.shape[1]).unsqueeze(1)
    mask = torch.arange(keys.shape[1]) <= positions
    return torch.nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


def chunk_of_the_library(query, key, value):
    mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril(key.shape[1] - query.shape[1])
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def pool_walked_through(query, key_pool, value_pool, table, length):
    """Token by token with a running maximum, as a kernel does it."""
    heads, width = query.shape
    size, shared = key_pool.shape[1], heads // key_pool.shape[2]
    top = torch.full((heads, 1), -math.inf, dtype=query.dtype)
    mass, total = torch.zeros_like(top), torch.zeros_like(query)
    for place in range(length):
        key, value = (
            pool[table[place // size], place % size].repeat_interleave(shared, 0) for pool in (key_pool, value_pool)
        )
        score = (query * key).sum(-1, keepdim=True) * width**-0.5
        new = torch.maximum(top, score)
        mass = mass * (top - new).exp() + (score - new).exp()
        total = total * (top - new).exp() + (score - new).exp() * value
        top = new
    return total / mass


def pool_in_groups(query, key_pool, value_pool, table, length):
    """Query heads in groups, one for each key-value head."""
    keys, values = (torch.cat([pool[block] for block in table])[:length] for pool in (key_pool, value_pool))
    grouped = query.reshape(keys.shape[1], -1, query.shape[1]) / math.sqrt(query.shape[1])
    weights = torch.einsum("ngd,tnd->ngt", grouped, keys).softmax(-1)
    return torch.einsum("ngt,tnd->ngd", weights, values).reshape(query.shape)


def quantized_in_double(x, bits=8):
    scale = x.double().abs().max(-1, keepdim=True).values / (2 ** (bits - 1) - 1)
    scale[scale == 0] = 1
    return torch.round(x.double() / scale).to(torch.int8), scale.to(x.dtype)


def units_request_by_request(gpu_gb, weights_gb, kv_bytes, context):
    free, count = (gpu_gb - weights_gb) * 1e9, 0
    while kv_bytes * context * (count + 1) <= free:
        count += 1
    return count


RIGHT = {
    "09-cached-attention": (
        Right("token by token", program=attention_token_by_token),
        Right("the library's attention with a mask", program=attention_of_the_library),
    ),
    "09-debug-mask": (
        Right("the library's attention with a mask", program=chunk_of_the_library),
        Right(
            "scaled before the product",
            edits=(
                (
                    "query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])",
                    "(query * query.shape[-1] ** -0.5) @ key.transpose(1, 2)",
                ),
            ),
        ),
    ),
    "09-kv-bytes-per-token": (
        Right(
            "heads of all ranks, then a share",
            edits=(
                (
                    "2.0 * layers * max(1, kv_heads // tensor_parallel) * head_dim * bytes_per_element",
                    "bytes_per_element * head_dim * kv_heads / min(kv_heads, tensor_parallel) * layers * 2",
                ),
            ),
        ),
        Right(
            "divided as floats",
            edits=(("max(1, kv_heads // tensor_parallel)", "max(1.0, kv_heads / tensor_parallel)"),),
        ),
    ),
    "09-mla-bytes-per-token": (
        Right(
            "latents and keys for themselves",
            edits=(
                (
                    "float(layers * (latent_dim + rope_dim) * bytes_per_element)",
                    "layers * bytes_per_element * latent_dim + layers * bytes_per_element * rope_dim * 1.0",
                ),
            ),
        ),
        Right(
            "bytes of a layer first",
            edits=(
                (
                    "float(layers * (latent_dim + rope_dim) * bytes_per_element)",
                    "bytes_per_element * (latent_dim + rope_dim) * float(layers)",
                ),
            ),
        ),
    ),
    "09-kv-capacity-tokens": (
        Right(
            "each GPU's share of everything",
            edits=(
                (
                    "room = gpus * (memory_per_gpu * usable - overhead_per_gpu) - weight_bytes",
                    "room = (memory_per_gpu * usable - overhead_per_gpu - weight_bytes / gpus) * gpus",
                ),
            ),
        ),
        Right(
            "divided down",
            edits=(("max(0, math.floor(room / kv_bytes_per_token))", "int(max(0, room) // kv_bytes_per_token)"),),
        ),
    ),
    "09-debug-units": (
        Right("request by request", program=units_request_by_request),
        Right("tokens first", edits=(("int(free / (kv_bytes * context))", "int(free / kv_bytes / context)"),)),
    ),
    "09-paged-waste": (
        Right("what is not used", edits=(("wasted / taken if taken", "1 - sum(lengths) / taken if taken"),)),
        Right(
            "slots in blocks",
            edits=(("wasted / taken if taken", "wasted / block_size / (taken // block_size) if taken"),),
        ),
    ),
    "09-prefix-sharing-saving": (
        Right("what is left, from 1", edits=(("(alone - shared - rest) / alone", "1 - (shared + rest) / alone"),)),
        Right(
            "counted in blocks",
            edits=(
                (
                    "(alone - shared - rest) / alone",
                    "((alone - rest) // block_size - shared // block_size) / (alone // block_size)",
                ),
            ),
        ),
    ),
    "09-paged-attention": (
        Right("token by token, with a running maximum", program=pool_walked_through),
        Right("query heads in groups", program=pool_in_groups),
    ),
    "09-quantize-kv": (
        Right("double precision inside", program=quantized_in_double),
        Right("times the reciprocal", edits=(("(x / scale).round()", "(x * scale.reciprocal()).round()"),)),
    ),
    "09-dequantize-kv": (
        Right(
            "double precision inside",
            edits=(("q.to(scale.dtype) * scale", "(q.double() * scale.double()).to(scale.dtype)"),),
        ),
        Right("the library promotes", edits=(("q.to(scale.dtype) * scale", "scale * q"),)),
    ),
}
