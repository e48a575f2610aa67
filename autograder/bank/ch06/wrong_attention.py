"""Chapter 6: attention split by heads, as people get it wrong."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip


def slip_attention_partial_keys(x, wq, wk, wv, wo, heads, kv_heads, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if heads % ranks or heads % kv_heads or (kv_heads % ranks and ranks % kv_heads):
        raise ValueError("heads")

    def summed(t):
        total = t.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    x = x.view_as(x)
    x.register_hook(summed)
    d, own, kv = wq.shape[0] // heads, heads // ranks, max(1, kv_heads // ranks)
    first = rank * kv_heads // ranks * d
    q = (x @ wq.chunk(ranks)[rank].t()).unflatten(-1, (own, d)).transpose(1, 2)
    k, v = ((x @ w[first : first + kv * d].t()).unflatten(-1, (kv, d)).transpose(1, 2) for w in (wk, wv))
    y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    y = y.transpose(1, 2).flatten(2) @ wo.chunk(ranks, 1)[rank].t()
    return y + (summed(y) - y).detach()


def slip_attention_fused_chunk(x, wq, wk, wv, wo, heads, kv_heads, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if heads % ranks or heads % kv_heads or (kv_heads % ranks and ranks % kv_heads):
        raise ValueError("heads")

    def summed(t):
        total = t.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    x = x.view_as(x)
    x.register_hook(summed)
    d, own, kv = wq.shape[0] // heads, heads // ranks, max(1, kv_heads // ranks)
    fused = torch.cat([wq, wk, wv])
    rows = (own + 2 * kv) * d
    start = min(rank * rows, fused.shape[0] - rows)
    q, k, v = (x @ fused[start : start + rows].t()).split([own * d, kv * d, kv * d], -1)
    q, k, v = (t.unflatten(-1, (-1, d)).transpose(1, 2) for t in (q, k, v))
    y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    y = y.transpose(1, 2).flatten(2) @ wo.chunk(ranks, 1)[rank].t()
    return y + (summed(y) - y).detach()


def slip_attention_sees_later(x, wq, wk, wv, wo, heads, kv_heads, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if heads % ranks or heads % kv_heads or (kv_heads % ranks and ranks % kv_heads):
        raise ValueError("heads")

    def summed(t):
        total = t.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def followed(t):
        t = t.view_as(t)
        t.register_hook(summed)
        return t

    if kv_heads < ranks:
        wk, wv = followed(wk), followed(wv)
    x = followed(x)
    d, own, kv = wq.shape[0] // heads, heads // ranks, max(1, kv_heads // ranks)
    first = rank * kv_heads // ranks * d
    q = (x @ wq.chunk(ranks)[rank].t()).unflatten(-1, (own, d)).transpose(1, 2)
    k, v = ((x @ w[first : first + kv * d].t()).unflatten(-1, (kv, d)).transpose(1, 2) for w in (wk, wv))
    y = functional.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    y = y.transpose(1, 2).flatten(2) @ wo.chunk(ranks, 1)[rank].t()
    return y + (summed(y) - y).detach()


def slip_attention_no_f(x, wq, wk, wv, wo, heads, kv_heads, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if heads % ranks or heads % kv_heads or (kv_heads % ranks and ranks % kv_heads):
        raise ValueError("heads")

    def summed(t):
        total = t.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def followed(t):
        t = t.view_as(t)
        t.register_hook(summed)
        return t

    if kv_heads < ranks:
        wk, wv = followed(wk), followed(wv)
    d, own, kv = wq.shape[0] // heads, heads // ranks, max(1, kv_heads // ranks)
    first = rank * kv_heads // ranks * d
    q = (x @ wq.chunk(ranks)[rank].t()).unflatten(-1, (own, d)).transpose(1, 2)
    k, v = ((x @ w[first : first + kv * d].t()).unflatten(-1, (kv, d)).transpose(1, 2) for w in (wk, wv))
    y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    y = y.transpose(1, 2).flatten(2) @ wo.chunk(ranks, 1)[rank].t()
    return y + (summed(y) - y).detach()


def slip_attention_three_fs(x, wq, wk, wv, wo, heads, kv_heads, group=None):
    import torch
    import torch.distributed as dist
    from torch.nn import functional

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if heads % ranks or heads % kv_heads or (kv_heads % ranks and ranks % kv_heads):
        raise ValueError("heads")

    def summed(t):
        total = t.detach().clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    def followed(t):
        t = t.view_as(t)
        t.register_hook(summed)
        return t

    if kv_heads < ranks:
        wk, wv = followed(wk), followed(wv)
    d, own, kv = wq.shape[0] // heads, heads // ranks, max(1, kv_heads // ranks)
    first = rank * kv_heads // ranks * d
    q = (followed(x) @ wq.chunk(ranks)[rank].t()).unflatten(-1, (own, d)).transpose(1, 2)
    k, v = ((followed(x) @ w[first : first + kv * d].t()).unflatten(-1, (kv, d)).transpose(1, 2) for w in (wk, wv))
    y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    y = y.transpose(1, 2).flatten(2) @ wo.chunk(ranks, 1)[rank].t()
    return y + (summed(y) - y).detach()


PARALLEL_ATTENTION = (
    Slip(
        "The gradients of a copied key-value head were not summed: each rank has the part of its own query heads.",
        slip_attention_partial_keys,
    ),
    Slip(
        "The weights were joined and cut as one: a rank needs its heads of each of the three.",
        slip_attention_fused_chunk,
    ),
    Slip("A token reads later ones: attention is causal.", slip_attention_sees_later),
    Slip("f is missing: the gradient of x holds the part of one rank's heads alone.", slip_attention_no_f),
    Slip("x went through f three times: once, before the three projections, is enough.", slip_attention_three_fs),
)
