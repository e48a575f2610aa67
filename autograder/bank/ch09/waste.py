"""Chapter 09: what blocks waste, and what a common prefix saves."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip


def _sequences(rng: Random) -> Case:
    """Lengths of all sizes; one fills its blocks exactly."""
    block = rng.choice((4, 8, 16, 32, 64, 128, 256))
    lengths = [rng.randint(0, 6) * block + rng.randint(1, block - 1) for _ in range(rng.randint(3, 10))]
    lengths.insert(rng.randrange(len(lengths)), rng.randint(1, 6) * block)
    return Case((lengths, block))


def _empty(rng: Random) -> list[Case]:
    block = rng.randint(2, 64)
    return [
        Case(([], block)),
        Case(([0, 0], block)),
        Case(([rng.randint(1, 9) * block], block)),
        Case(([rng.randint(1, 99) for _ in range(5)], 1)),
        Case(([0, rng.randint(1, block - 1) if block > 1 else 1], block)),
    ]


PAGED_WASTE = Build(
    id="09-paged-waste",
    module="kv_cache",
    function="paged_waste",
    grade="call",
    section="9.5",
    topic="fragmentation",
    cases=(
        Case(([1000, 2000, 1000], 16)),  # under the 4 % that Kwon et al. (2023) measured after paging
        Case(([1, 17, 33, 100], 16)),
        Case(([1000, 2000, 1000], 256)),
        Case(([16], 16)),
        Case(([], 16)),
    ),
    groups=(
        Group("sequences", _sequences, 8, "Round each sequence up to whole blocks; the share is of what was taken."),
        Group("empty and full", lambda rng: rng.choice(_empty(rng)), 5, "A sequence of 0 takes no block.", _empty),
    ),
    slips=(
        Slip(
            "That is the share of the used slots: divide by all that were taken.",
            edits=(
                ("taken - sum(lengths)", "sum(lengths)"),
                (
                    "wasted, wasted / taken if taken else 0.0",
                    "(taken - wasted, (taken - wasted) / wasted if wasted else 0.0)",
                ),
            ),
        ),
        Slip(
            "A sequence that fills its blocks takes no block more.",
            edit=("-(-length // block_size)", "(length // block_size + 1)"),
        ),
        Slip(
            "Sequences do not share their last blocks: round each one up.",
            edits=(
                ("taken - sum(lengths)", "sum(lengths)"),
                (
                    "return wasted, wasted / taken if taken else 0.0",
                    (
                        "taken = -(-wasted // block_size) * block_size\n"
                        "    return taken - wasted, (taken - wasted) / taken if taken else 0.0"
                    ),
                ),
            ),
        ),
        Slip("A share is a fraction, not percent.", edit=("wasted / taken", "100 * wasted / taken")),
        Slip(
            "The mean of the shares is not the share: long sequences take more.",
            edit=(
                "    return wasted, wasted / taken if taken else 0.0",
                (
                    "    shares = [1 - length / (-(-length // block_size) * block_size) for length in "
                    "lengths if length]\n"
                    "    return wasted, sum(shares) / len(shares) if shares else 0.0"
                ),
            ),
        ),
    ),
)


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


PREFIX_SAVING = Build(
    id="09-prefix-sharing-saving",
    module="kv_cache",
    function="prefix_sharing_saving",
    grade="call",
    section="9.7",
    topic="prefix reuse",
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
        Group(
            "ends",
            lambda rng: rng.choice(_edges(rng)),
            6,
            "One request saves nothing, nor does a prefix shorter than a block.",
            _edges,
        ),
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
)

ITEMS = (PAGED_WASTE, PREFIX_SAVING)
