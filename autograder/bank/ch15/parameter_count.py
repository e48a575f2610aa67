"""The capstone: ``parameter_count``, parameters."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Slip


def _sizes(rng: Random) -> tuple[int, ...]:
    """Grouped queries, and heads together wider or narrower than the hidden state."""
    kv_heads, head_dim = 2 ** rng.randint(0, 4), rng.choice((32, 64, 96, 128, 256))
    heads = kv_heads * 2 ** rng.randint(1, 4)
    hidden = heads * head_dim + rng.choice((-16, 64, 512))
    return rng.randint(2, 128), hidden, heads, kv_heads, head_dim, rng.randint(100, 60_000), rng.randint(100, 200_000)


def _counted(rng: Random) -> Case:
    return Case(_sizes(rng))


def _variant(rng: Random, gated: bool | None = None, tied: bool | None = None) -> Case:
    gated, tied = (rng.random() < 0.5 if flag is None else flag for flag in (gated, tied))
    return Case(_sizes(rng), {"gated": gated, "tied_embeddings": tied})


def _variants(rng: Random) -> list[Case]:
    return [_variant(rng, gated, tied) for gated in (True, False) for tied in (True, False)]


def _full_heads(rng: Random) -> Case:
    layers, hidden, heads, _, head_dim, ffn, vocab = _sizes(rng)
    return Case((layers, hidden, heads, heads, head_dim, ffn, vocab))


EXERCISE = Build(
    "cap flops.parameter_count",
    section="15.11",
    topic="parameters",
    bonus=True,
    cases=(
        Case((126, 16_384, 128, 8, 128, 53_248, 128_256)),  # Llama 3.1 405B
        Case((80, 8192, 64, 8, 128, 28_672, 128_256)),  # Llama 3 70B
        Case((32, 4096, 32, 8, 128, 14_336, 128_256)),  # Llama 3 8B
        Case((32, 4096, 32, 32, 128, 11_008, 32_000)),  # Llama 2 7B
        Case((16, 2048, 32, 8, 64, 8192, 128_256, True, True)),  # Llama 3.2 1B
        Case((2, 96, 4, 2, 32, 300, 1000, False)),
    ),
    groups=(
        Group(
            "shapes",
            _counted,
            6,
            "Queries are heads * head_dim wide, keys and values kv_heads * head_dim. A layer has two norms, and one "
            "follows the last layer: hidden weights each.",
        ),
        Group("variants", _variant, 8, "Without a gate there are two matrices; a tied head is not counted.", _variants),
        Group("full heads", _full_heads, 2, "As many key and value heads as query heads."),
    ),
    slips=(
        Slip(
            "Keys and values have kv_heads heads, not heads: grouped queries were ignored.",
            edit=("hidden * kv_heads * head_dim", "hidden * heads * head_dim"),
        ),
        Slip("A gated feed-forward block has three matrices.", edit=("(3 if gated else 2)", "2")),
        Slip("A tied head is the embedding: it is counted once.", edit=("(1 if tied_embeddings else 2)", "2")),
        Slip("The head has a matrix of its own unless it is tied.", edit=("(1 if tied_embeddings else 2)", "1")),
        Slip(
            "Queries and output are heads * head_dim wide, which need not be hidden.",
            edit=("2 * hidden * heads * head_dim", "2 * hidden**2"),
        ),
        Slip(
            "The norms are missing: two a layer and one at the end, hidden weights each.",
            edits=(("vocab * hidden + hidden", "vocab * hidden"), (" + 2 * hidden)", ")")),
        ),
        Slip(
            "The norm after the last layer is missing: it has hidden weights.",
            edit=("vocab * hidden + hidden", "vocab * hidden"),
        ),
        Slip("A layer has two norms, of hidden weights each: count both.", edit=(" + 2 * hidden)", " + hidden)")),
        Slip("The norms of the layers are missing: two in each, of hidden weights.", edit=(" + 2 * hidden)", ")")),
    ),
    promises=(
        Promise("otherwise two", edit=("(3 if gated else 2)", "3")),
        Promise("counted once", edit=("(1 if tied_embeddings else 2)", "2")),
        Promise(
            "need not be equal to it",
            edit=(
                "layers * (attention + feed_forward + 2 * hidden) + ends",
                (
                    "layers * (2 * hidden**2 + 2 * hidden * kv_heads * head_dim + feed_forward + 2 * "
                    "hidden) + (1 if tied_embeddings else 2) * vocab * hidden + hidden"
                ),
            ),
        ),
        Promise("a last norm", edit=(" * vocab * hidden + hidden\n", " * vocab * hidden\n")),
    ),
)
