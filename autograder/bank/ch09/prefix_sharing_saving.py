"""Chapter 9: ``prefix_sharing_saving``, prefix reuse."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _fleet(rng: Random) -> Case:
    return Case((rng.randint(2, 200), rng.randint(50, 4000), rng.randint(10, 1000), rng.choice((1, 16, 64, 256))))


def _fleets(rng: Random) -> list[Case]:
    """Tokens alone; then blocks, whose last one in the prefix is partly filled and whose tails make one block more."""
    blocks = []
    for block in (16, 64, 256):
        prefix = block * rng.randint(2, 9) + block - rng.randint(1, 3)
        blocks.append(Case((rng.randint(2, 9), prefix, block * rng.randint(1, 3) - rng.randint(0, 1), block)))
    return [Case((rng.randint(2, 50), rng.randint(99, 900), rng.randint(9, 300))) for _ in range(2)] + blocks


def _edges(rng: Random) -> list[Case]:
    prefix, unique, block = rng.randint(100, 900), rng.randint(10, 300), rng.choice((16, 64))
    return [
        Case((1, prefix, unique, block)),
        Case((rng.randint(2, 9), 0, unique, block)),
        Case((rng.randint(2, 9), prefix, 0)),
        Case((rng.randint(2, 9), 0, 0, block)),
        Case((rng.randint(2, 9), block - 1, 5 * block, block)),
        Case((1_000_000, prefix, unique)),
    ]


EXERCISE = Build(
    "09 kv_cache.prefix_sharing_saving",
    section="9.18",
    topic="prefix reuse",
    bonus=True,
    cases=(
        Case((100, 500, 100)),
        Case((100, 1000, 50)),
        Case((3, 7, 96)),
        Case((100, 500, 100, 16)),
        Case((100, 500, 100, 256)),
        Case((1, 500, 100)),
        Case((5, 0, 0)),
    ),
    groups=(
        Group(
            "fleets", _fleet, 10, "Count what is stored: the shared blocks once, the rest for each request.", _fleets
        ),
        listed("ends", _edges, "One request saves nothing, nor does a prefix shorter than a block."),
    ),
    slips=(
        Slip(
            "The prefix is still stored once: of r copies, r - 1 are saved.",
            edits=(
                ("requests * -(-(prefix + unique) // block_size)", "-(-(prefix + unique) // block_size)"),
                ("alone - shared - rest", "shared"),
            ),
        ),
        Slip(
            "Memory is taken in whole blocks, and only whole blocks are shared.",
            edits=(
                ("requests * -(-(prefix + unique) // block_size) * block_size", "requests * (prefix + unique)"),
                ("alone - shared - rest", "(requests - 1) * prefix"),
            ),
        ),
        Slip(
            "The last block of the prefix, partly filled, is not shared: requests go on in it.",
            edits=(
                ("    shared = ", "    whole = -(-(prefix + unique) // block_size) * block_size\n    shared = "),
                ("prefix // block_size * block_size", "min(-(-prefix // block_size) * block_size, whole)"),
            ),
        ),
        Slip(
            "Only the whole blocks of the prefix are shared, not all of it.",
            edit=("alone - shared - rest", "alone - (prefix + requests * -(-unique // block_size) * block_size)"),
        ),
        Slip(
            "The saving is a share of what would be stored without sharing.",
            edit=(
                "return (alone - shared - rest) / alone if alone else 0.0",
                (
                    "left = shared + requests * -(-(prefix + unique - shared) // block_size) * "
                    "block_size\n"
                    "    return (alone - left) / left if left else 0.0"
                ),
            ),
        ),
        Slip(
            "What is left of the prefix after its whole blocks is stored for each request.",
            edit=("alone - shared - rest", "alone - (shared + requests * -(-unique // block_size) * block_size)"),
        ),
    ),
    rights=(
        Right("what is left, from 1", edit=("(alone - shared - rest) / alone", "1 - (shared + rest) / alone")),
        Right(
            "counted in blocks",
            edit=(
                "(alone - shared - rest) / alone",
                "((alone - rest) // block_size - shared // block_size) / (alone // block_size)",
            ),
        ),
    ),
    promises=(
        Promise("Only whole blocks are shared", edit=("prefix // block_size * block_size\n", "prefix\n")),
        Promise("0.0 where there are no tokens at all", edit=("if alone else 0.0", "if alone else 1.0")),
        Promise(
            "each request takes blocks for the rest",
            edit=("(prefix + unique - shared)", "unique"),
        ),
    ),
)
