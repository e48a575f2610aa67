"""Chapter 9: ``cached_attention``, attention over a cache."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch09.shared import MASKED, drawn
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _after(rng: Random, past: int, new: int, heads: int = 2, width: int = 5) -> Case:
    shapes = ((heads, new, width),) * 3 + ((heads, past, width),) * 2
    return Case(tuple(drawn(rng, *shape) for shape in shapes))


def _chunk(rng: Random) -> Case:
    return _after(rng, rng.randint(2, 12), rng.randint(2, 6), rng.randint(1, 4), rng.choice((3, 5, 6)))


_SCALED = " / math.sqrt(query.shape[-1])"


def attention_token_by_token(query, key, value, past_key, past_value):
    """Each new token for itself, over what it sees."""
    import torch

    keys, values = torch.cat([past_key, key], dim=1), torch.cat([past_value, value], dim=1)
    rows = []
    for index in range(query.shape[1]):
        seen = past_key.shape[1] + index + 1
        scores = (keys[:, :seen] * query[:, index : index + 1]).sum(-1) / math.sqrt(query.shape[-1])
        weights = (scores - scores.amax(-1, keepdim=True)).exp()
        rows.append((weights.unsqueeze(-1) * values[:, :seen]).sum(1) / weights.sum(-1, keepdim=True))
    return torch.stack(rows, dim=1), keys, values


def attention_of_the_library(query, key, value, past_key, past_value):
    import torch

    keys, values = torch.cat([past_key, key], dim=1), torch.cat([past_value, value], dim=1)
    positions = torch.arange(past_key.shape[1], keys.shape[1]).unsqueeze(1)
    mask = torch.arange(keys.shape[1]) <= positions
    return torch.nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


EXERCISE = Build(
    "09 cached_attention.cached_attention",
    section="9.12",
    topic="attention over a cache",
    bonus=True,
    grade="tensor",
    cases=(
        _after(Random("after 2"), 2, 2, 1, 3),
        _after(Random("after 0"), 0, 3, 1, 2),
        _after(Random("one"), 4, 1, 2, 3),
    ),
    groups=(
        Group("chunks after a cache", _chunk, 5, "New token i sees the P cached ones and the new ones up to itself."),
        Group(
            "nothing cached", lambda rng: _after(rng, 0, rng.randint(2, 6)), 2, "P may be 0: plain causal attention."
        ),
        Group("one new token", lambda rng: _after(rng, rng.randint(2, 12), 1), 2, "T may be 1: it sees everything."),
    ),
    slips=(
        Slip(
            "The mask is aligned to the first key, as is_causal=True does it: the new tokens are at the end.",
            edit=("tril(past)", "tril()"),
        ),
        Slip("A new token sees later ones: several new tokens need a mask.", edit=(MASKED, "")),
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
    ),
    rights=(
        Right("token by token", program=attention_token_by_token),
        Right("the library's attention with a mask", program=attention_of_the_library),
    ),
    promises=(
        Promise("Causal attention of T new tokens", edit=(".tril(past)", ".tril(past + new)")),
        Promise(
            "it sees the cached tokens, itself and the new tokens before it.",
            edit=(".tril(past)", ".tril(past - 1)"),
        ),
        Promise("New token i is at position P + i", edit=(".tril(past)", ".tril()")),
        Promise("Args: query, key, value: of the new tokens", why="what it is called with"),
        Promise("divided by the square root of d", edit=(" / math.sqrt(query.shape[-1])", " / query.shape[-1]")),
        Promise(
            "the keys and values of all tokens", edit=("@ values, keys, values", "@ values, keys[:, past:], values")
        ),
    ),
)
