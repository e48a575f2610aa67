"""Chapter 9: ``paged_waste``, fragmentation."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


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


EXERCISE = Build(
    "09 kv_cache.paged_waste",
    section="9.15",
    topic="fragmentation",
    bonus=True,
    cases=(
        Case(([1000, 2000, 1000], 16)),  # under the 4 % that Kwon et al. (2023) measured after paging
        Case(([1, 17, 33, 100], 16)),
        Case(([1000, 2000, 1000], 256)),
        Case(([16], 16)),
        Case(([], 16)),
    ),
    groups=(
        Group("sequences", _sequences, 8, "Round each sequence up to whole blocks; the share is of what was taken."),
        listed("empty and full", _empty, "A sequence of 0 takes no block."),
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
    rights=(
        Right("what is not used", edit=("wasted / taken if taken", "1 - sum(lengths) / taken if taken")),
        Right(
            "slots in blocks",
            edit=("wasted / taken if taken", "wasted / block_size / (taken // block_size) if taken"),
        ),
    ),
    promises=(
        Promise(
            "The token slots that sequences leave empty in their last blocks.",
            edit=(
                "sum(-(-length // block_size) * block_size for length in lengths)",
                "-(-sum(lengths) // block_size) * block_size",
            ),
        ),
        Promise(
            "their share of the slots of all blocks taken",
            edit=("wasted / taken if taken", "wasted / (taken - wasted) if taken"),
        ),
        Promise(
            "A sequence of 0 tokens takes no block.",
            edit=("-(-length // block_size)", "-(-length // block_size or -1)"),
        ),
        Promise("``(0, 0.0)`` where no block is taken", edit=("if taken else 0.0", "if taken else 1.0")),
    ),
)
