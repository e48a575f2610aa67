"""Chapter 9: ``kv_bytes_per_token``, bytes of a cached token."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip

WIDTHS = (64, 80, 96, 128, 192, 256)


def _split(rng: Random, kv_heads: int, ranks: int) -> Case:
    return Case((rng.randint(1, 160), kv_heads, rng.choice(WIDTHS), rng.choice((2, 1, 0.5)), ranks))


def _any_model(rng: Random) -> Case:
    heads = 2 ** rng.randint(0, 7)
    return _split(rng, heads, 2 ** rng.randint(0, min(4, heads.bit_length() - 1)))


def _models(rng: Random) -> list[Case]:
    """One rank, several ranks, and heads that are not a power of two."""
    return [
        Case((rng.randint(12, 126), rng.choice((8, 32, 64)), 128)),
        Case((rng.randint(12, 126), rng.choice((8, 32, 64)), 128, 1)),
        Case((rng.randint(12, 126), rng.choice((10, 12, 20, 40)), rng.choice(WIDTHS), 0.5)),
        _split(rng, 8, 4),
        _split(rng, 40, 8),
        _split(rng, 64, 8),
    ]


def _more_ranks(rng: Random) -> Case:
    heads = 2 ** rng.randint(0, 3)
    return _split(rng, heads, heads * 2 ** rng.randint(1, 3))


EXERCISE = Build(
    "09 kv_cache.kv_bytes_per_token",
    section="9.3",
    topic="bytes of a cached token",
    cases=(
        Case((80, 8, 128)),  # Llama 3 70B
        Case((40, 40, 128)),  # OPT-13B: 800 KB in Kwon et al. (2023)
        Case((80, 64, 128)),
        Case((80, 8, 128, 1)),
        Case((80, 8, 128, 2, 8)),
        Case((80, 8, 128, 2, 16)),
        Case((12, 12, 64)),
    ),
    groups=(
        Group("models", _any_model, 9, "Keys and values of all layers, heads and elements that a rank has.", _models),
        Group(
            "more ranks than heads",
            _more_ranks,
            4,
            "No rank has less than one head: with more ranks than heads, heads are copied.",
        ),
    ),
    slips=(
        Slip("Keys and values are both kept: the factor 2 is missing.", edit=("2.0 * layers", "layers")),
        Slip(
            "A rank has no part of a head: with more ranks than heads they are copied.",
            edit=(
                "2.0 * layers * max(1, kv_heads // tensor_parallel) * head_dim * bytes_per_element",
                "2 * layers * kv_heads * head_dim * bytes_per_element / tensor_parallel",
            ),
        ),
        Slip(
            "Tensor parallelism splits the heads: a rank has its share of them.",
            edit=("max(1, kv_heads // tensor_parallel)", "kv_heads"),
        ),
        Slip(
            "An element takes bytes_per_element; the 2 of the formula counts keys and values.",
            edit=(
                "2.0 * layers * max(1, kv_heads // tensor_parallel) * head_dim * bytes_per_element",
                "2.0 * layers * max(1, kv_heads // tensor_parallel) * head_dim * 2",
            ),
        ),
        Slip(
            "With more ranks than heads that is 0: each rank has one head.",
            edit=("max(1, kv_heads // tensor_parallel)", "(kv_heads // tensor_parallel)"),
        ),
    ),
    rights=(
        Right(
            "heads of all ranks, then a share",
            edit=(
                "2.0 * layers * max(1, kv_heads // tensor_parallel) * head_dim * bytes_per_element",
                "bytes_per_element * head_dim * kv_heads / min(kv_heads, tensor_parallel) * layers * 2",
            ),
        ),
        Right(
            "divided as floats",
            edit=("max(1, kv_heads // tensor_parallel)", "max(1.0, kv_heads / tensor_parallel)"),
        ),
    ),
    promises=(
        Promise(
            "with more ranks than heads, heads are copied.",
            edit=("max(1, kv_heads // tensor_parallel)", "kv_heads / tensor_parallel"),
        ),
        Promise(
            "Tensor parallelism splits the key-value heads until each rank has one",
            edit=("max(1, kv_heads // tensor_parallel)", "kv_heads"),
        ),
    ),
)
