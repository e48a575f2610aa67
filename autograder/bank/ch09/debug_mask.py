"""Chapter 9: ``debug_mask``, attention over a cache."""

from __future__ import annotations

from random import Random

from autograder.bank.ch09.shared import MASKED, drawn
from autograder.items import Case, Debug, Group, Right, Slip


def _last(rng: Random, new: int, total: int, heads: int = 2, width: int = 5) -> Case:
    return Case((drawn(rng, heads, new, width), *(drawn(rng, heads, total, width) for _ in "kv")))


def _last_chunk(rng: Random) -> Case:
    new = rng.randint(2, 7)
    return _last(rng, new, new + rng.randint(2, 13), rng.randint(1, 3))


def wrong_mask(query, key, value):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)


def chunk_of_the_library(query, key, value):
    import torch

    mask = torch.ones(query.shape[1], key.shape[1], dtype=torch.bool).tril(key.shape[1] - query.shape[1])
    return torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


EXERCISE = Debug(
    "09 cached_attention.debug_mask",
    section="9.2",
    topic="attention over a cache",
    grade="tensor",
    wrong=wrong_mask,
    cases=(_last(Random("seven"), 7, 20, 1, 2), _last(Random("whole"), 3, 3, 1, 2)),
    groups=(
        Group("chunks after others", _last_chunk, 5, "Query i is at position S - T + i and sees the keys up to there."),
        Group("the whole prompt", lambda rng: _last(rng, size := rng.randint(2, 8), size), 2, "T may be S."),
    ),
    slips=(
        Slip("The mask is aligned to the first key: query i is at position S - T + i.", wrong_mask),
        Slip("That shows the future and hides the past: keep the lower triangle.", edit=(".tril(", ".triu(")),
        Slip("Without a mask a token sees later ones.", edit=(MASKED, "")),
        Slip(
            "Each query sees one token too many: the diagonal is S - T.",
            edit=(".tril(total - new)", ".tril(total - new + 1)"),
        ),
    ),
    rights=(
        Right("the library's attention with a mask", program=chunk_of_the_library),
        Right(
            "scaled before the product",
            edit=(
                "query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])",
                "(query * query.shape[-1] ** -0.5) @ key.transpose(1, 2)",
            ),
        ),
    ),
)
