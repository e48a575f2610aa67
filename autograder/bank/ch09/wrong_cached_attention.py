"""Chapter 09: attention over cached keys and values, as people get it wrong. Each program is complete in itself."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from autograder.items import Slip

# --- cached_attention


def slip_flag(query, key, value, past_key, past_value):
    import torch
    from torch.nn import functional

    keys, values = torch.cat([past_key, key], 1), torch.cat([past_value, value], 1)
    return functional.scaled_dot_product_attention(query, keys, values, is_causal=True), keys, values


def slip_no_mask(query, key, value, past_key, past_value):
    import torch
    from torch.nn import functional

    keys, values = torch.cat([past_key, key], 1), torch.cat([past_value, value], 1)
    return functional.scaled_dot_product_attention(query, keys, values), keys, values


def slip_scaled_by_tokens(query, key, value, past_key, past_value):
    import math

    import torch

    keys, values = torch.cat([past_key, key], 1), torch.cat([past_value, value], 1)
    new, past = query.shape[1], past_key.shape[1]
    seen = torch.ones(new, past + new, dtype=torch.bool).tril(past)
    scores = query @ keys.transpose(1, 2) / math.sqrt(new)
    return scores.masked_fill(~seen, -torch.inf).softmax(-1) @ values, keys, values


def slip_not_scaled(query, key, value, past_key, past_value):
    import torch
    from torch.nn import functional

    keys, values = torch.cat([past_key, key], 1), torch.cat([past_value, value], 1)
    new, past = query.shape[1], past_key.shape[1]
    seen = torch.ones(new, past + new, dtype=torch.bool).tril(past)
    return functional.scaled_dot_product_attention(query, keys, values, attn_mask=seen, scale=1.0), keys, values


def slip_cache_not_grown(query, key, value, past_key, past_value):
    import torch
    from torch.nn import functional

    keys, values = torch.cat([past_key, key], 1), torch.cat([past_value, value], 1)
    new, past = query.shape[1], past_key.shape[1]
    seen = torch.ones(new, past + new, dtype=torch.bool).tril(past)
    return functional.scaled_dot_product_attention(query, keys, values, attn_mask=seen), past_key, past_value


def slip_new_first(query, key, value, past_key, past_value):
    import torch
    from torch.nn import functional

    keys, values = torch.cat([key, past_key], 1), torch.cat([value, past_value], 1)
    new, past = query.shape[1], past_key.shape[1]
    seen = torch.ones(new, past + new, dtype=torch.bool).tril(past)
    return functional.scaled_dot_product_attention(query, keys, values, attn_mask=seen), keys, values


def slip_not_itself(query, key, value, past_key, past_value):
    import torch
    from torch.nn import functional

    keys, values = torch.cat([past_key, key], 1), torch.cat([past_value, value], 1)
    new, past = query.shape[1], past_key.shape[1]
    seen = torch.ones(new, past + new, dtype=torch.bool).tril(past - 1)
    seen[0, 0] = True
    return functional.scaled_dot_product_attention(query, keys, values, attn_mask=seen), keys, values


CACHED = (
    Slip("The mask is aligned to the first key, as is_causal=True does it: the new tokens are at the end.", slip_flag),
    Slip("A new token sees later ones: several new tokens need a mask.", slip_no_mask),
    Slip("Scores are divided by the square root of d, not of the number of tokens.", slip_scaled_by_tokens),
    Slip("Scores are divided by the square root of d.", slip_not_scaled),
    Slip("The cache that comes back lacks the new tokens.", slip_cache_not_grown),
    Slip("New keys and values come after the cached ones.", slip_new_first),
    Slip("A token attends to itself, too.", slip_not_itself),
)

# --- debug_mask


def wrong_mask(query, key, value):
    from torch.nn import functional

    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def slip_upper(query, key, value):
    import torch
    from torch.nn import functional

    new, total = query.shape[1], key.shape[1]
    visible = torch.ones(new, total, dtype=torch.bool).triu(total - new)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)


def slip_sees_all(query, key, value):
    from torch.nn import functional

    return functional.scaled_dot_product_attention(query, key, value)


def slip_one_too_far(query, key, value):
    import torch
    from torch.nn import functional

    new, total = query.shape[1], key.shape[1]
    visible = torch.ones(new, total, dtype=torch.bool).tril(total - new + 1)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=visible)


MASK = (
    Slip("The mask is aligned to the first key: query i is at position S - T + i.", wrong_mask),
    Slip("That shows the future and hides the past: keep the lower triangle.", slip_upper),
    Slip("Without a mask a token sees later ones.", slip_sees_all),
    Slip("Each query sees one token too many: the diagonal is S - T.", slip_one_too_far),
)

# --- paged_attention


def slip_tail(query, key_pool, value_pool, table, length):
    import torch
    from torch.nn import functional

    count = -(-length // key_pool.shape[1])
    keys, values = (pool[list(table)[:count]].flatten(0, 1).transpose(0, 1) for pool in (key_pool, value_pool))
    share = query.shape[0] // keys.shape[0]
    keys, values = (torch.repeat_interleave(held, share, 0) for held in (keys, values))
    return functional.scaled_dot_product_attention(query[:, None], keys, values)[:, 0]


def slip_pool_order(query, key_pool, value_pool, table, length):
    import torch
    from torch.nn import functional

    keys, values = (pool[sorted(table)].flatten(0, 1)[:length].transpose(0, 1) for pool in (key_pool, value_pool))
    share = query.shape[0] // keys.shape[0]
    keys, values = (torch.repeat_interleave(held, share, 0) for held in (keys, values))
    return functional.scaled_dot_product_attention(query[:, None], keys, values)[:, 0]


def slip_heads_in_turn(query, key_pool, value_pool, table, length):
    from torch.nn import functional

    keys, values = (pool[list(table)].flatten(0, 1)[:length].transpose(0, 1) for pool in (key_pool, value_pool))
    turns = [head % keys.shape[0] for head in range(query.shape[0])]
    return functional.scaled_dot_product_attention(query[:, None], keys[turns], values[turns])[:, 0]


def slip_zero_times_nan(query, key_pool, value_pool, table, length):
    import math

    import torch

    keys, values = (pool[list(table)].flatten(0, 1).transpose(0, 1) for pool in (key_pool, value_pool))
    share = query.shape[0] // keys.shape[0]
    keys, values = (torch.repeat_interleave(held, share, 0) for held in (keys, values))
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(query.shape[1])
    scores[:, length:] = -torch.inf
    return (scores.softmax(-1).unsqueeze(1) @ values).squeeze(1)


def slip_no_scale(query, key_pool, value_pool, table, length):
    import torch
    from torch.nn import functional

    keys, values = (pool[list(table)].flatten(0, 1)[:length].transpose(0, 1) for pool in (key_pool, value_pool))
    share = query.shape[0] // keys.shape[0]
    keys, values = (torch.repeat_interleave(held, share, 0) for held in (keys, values))
    return functional.scaled_dot_product_attention(query[:, None], keys, values, scale=1.0)[:, 0]


PAGED = (
    Slip("The places after the last token were read: only length tokens are there.", slip_tail),
    Slip("The table says in which order the blocks follow: not as they lie in the pool.", slip_pool_order),
    Slip("Neighbouring query heads share a key-value head: h // (heads // kv_heads).", slip_heads_in_turn),
    Slip("A weight of 0 times NaN is NaN: leave the places after the last token out.", slip_zero_times_nan),
    Slip("Scores are divided by the square root of d.", slip_no_scale),
)
