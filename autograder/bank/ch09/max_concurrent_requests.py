"""Chapter 9: ``max_concurrent_requests``, capacity."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip


def _pool(rng: Random, block: int, whole: bool) -> Case:
    """A pool for some requests and a part of another."""
    need = rng.randint(2, 40)
    context = need * block if whole else need * block - rng.randint(1, block - 1)
    return Case(
        ((need * rng.randint(8, 60) + rng.randint(1, need - 1)) * block + rng.randint(0, block - 1), context, block)
    )


def _any_pool(rng: Random) -> Case:
    return _pool(rng, rng.choice((8, 16, 32, 64)), rng.random() < 0.3)


def _pools(rng: Random) -> list[Case]:
    """Contexts of a little more than whole blocks, so that blocks count; and of whole blocks."""
    short = [Case((rng.randint(60, 99) * 20 * block, 2 * block + 1, block)) for block in (16, 32, 64)]
    return [*short, *(_pool(rng, block, whole=True) for block in (8, 16, 32))]


def _ends(rng: Random) -> list[Case]:
    block, context = rng.randint(8, 64), rng.randint(20, 900)
    return [
        Case((0, context, block)),
        Case((block - 1, 1, block)),
        Case((context * rng.randint(2, 9), context)),
        Case((block, block, block)),
    ]


EXERCISE = Build(
    "09 kv_cache.max_concurrent_requests",
    section="9.14",
    topic="capacity",
    bonus=True,
    cases=(
        Case((1_464_843, 4096, 16)),
        Case((1_464_843, 131_072, 16)),
        Case((1_327_186, 32_768, 16)),
        Case((100, 17, 16)),
        Case((15, 1, 16)),
        Case((100, 17)),
    ),
    groups=(
        Group("pools", _any_pool, 12, "Whole blocks of the pool, over the blocks that one request takes.", _pools),
        listed("ends", _ends, "Less than a block holds nothing."),
    ),
    slips=(
        Slip(
            "The last request does not fit: round down.",
            edit=(
                "(capacity_tokens // block_size) // -(-context // block_size)",
                "-(-(capacity_tokens // block_size) // -(-context // block_size))",
            ),
        ),
        Slip(
            "A request takes whole blocks: its last one may be partly empty.",
            edit=("(capacity_tokens // block_size) // -(-context // block_size)", "capacity_tokens // context"),
        ),
        Slip(
            "The partly filled last block counts as well.",
            edit=("-(-context // block_size)", "max(1, context // block_size)"),
        ),
        Slip(
            "A request whose tokens fill its blocks takes no block more.",
            edit=("-(-context // block_size)", "(context // block_size + 1)"),
        ),
    ),
    promises=(
        Promise(
            "of which only whole blocks count",
            edit=("(capacity_tokens // block_size)", "-(-capacity_tokens // block_size)"),
        ),
        Promise("when each takes whole blocks", edit=("// -(-context // block_size)", "* block_size // context")),
    ),
)
