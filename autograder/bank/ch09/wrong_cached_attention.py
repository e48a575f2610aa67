"""Wrong programs for attention over cached keys and values: what people write. All but one edit the reference."""

from autograder.items import Slip

_SCALED = " / math.sqrt(query.shape[-1])"
_MASKED = ".masked_fill(~visible, -torch.inf)"

CACHED = (
    Slip(
        "The mask is aligned to the first key, as is_causal=True does it: the new tokens are at the end.",
        edit=("tril(past)", "tril()"),
    ),
    Slip("A new token sees later ones: several new tokens need a mask.", edit=(_MASKED, "")),
    Slip(
        "Scores are divided by the square root of d, not of the number of tokens.",
        edit=(_SCALED, " / math.sqrt(new)"),
    ),
    Slip("Scores are divided by the square root of d.", edit=(_SCALED, "")),
    Slip(
        "The cache that comes back lacks the new tokens.",
        edit=("@ values, keys, values", "@ values, past_key, past_value"),
    ),
    Slip(
        "New keys and values come after the cached ones.",
        edits=(("[past_key, key]", "[key, past_key]"), ("[past_value, value]", "[value, past_value]")),
    ),
    Slip(
        "A token attends to itself, too.",
        edits=((".tril(past)", ".tril(past - 1)"), ("    scores =", "    visible[0, 0] = True\n    scores =")),
    ),
)


def wrong_mask(query, key, value):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)


MASK = (
    Slip("The mask is aligned to the first key: query i is at position S - T + i.", wrong_mask),
    Slip("That shows the future and hides the past: keep the lower triangle.", edit=(".tril(", ".triu(")),
    Slip("Without a mask a token sees later ones.", edit=(_MASKED, "")),
    Slip(
        "Each query sees one token too many: the diagonal is S - T.",
        edit=(".tril(total - new)", ".tril(total - new + 1)"),
    ),
)

PAGED = (
    Slip("The places after the last token were read: only length tokens are there.", edit=("[:length]", "")),
    Slip(
        "The table says in which order the blocks follow: not as they lie in the pool.",
        edit=("pool[list(table)]", "pool[sorted(table)]"),
    ),
    Slip(
        "Neighbouring query heads share a key-value head: h // (heads // kv_heads).",
        edit=("held.repeat_interleave(shared, dim=1)", "held.repeat(1, shared, 1)"),
    ),
    Slip(
        "A weight of 0 times NaN is NaN: leave the places after the last token out.",
        edits=(("[:length]", ""), ("    return (scores", "    scores[:, length:] = -torch.inf\n    return (scores")),
    ),
    Slip("Scores are divided by the square root of d.", edit=(" / math.sqrt(width)", "")),
)
