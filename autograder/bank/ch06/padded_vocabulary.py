"""Chapter 6: ``padded_vocabulary``, a split vocabulary."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip


def _vocabulary(rng: Random) -> Case:
    return Case(
        (rng.choice((50_257, 128_256, 32_000, 151_643, rng.randint(1000, 300_000))), rng.choice((2, 3, 4, 8, 16)))
    )


def _exact_vocabulary(rng: Random) -> Case:
    ranks = rng.choice((2, 4, 8))
    return Case((128 * ranks * rng.randint(1, 99), ranks))


def _other_multiple(rng: Random) -> Case:
    return Case((rng.randint(1, 60_000), rng.choice((1, 2, 6, 8)), rng.choice((1, 8, 64, 100))))


EXERCISE = Build(
    "06 activations.padded_vocabulary",
    section="6.15",
    topic="a split vocabulary",
    bonus=True,
    cases=(
        Case((50_257, 8)),  # Megatron-LM's GPT-2: 51,200
        Case((128_256, 8)),
        Case((32_000, 8)),
        Case((50_257, 1)),
        Case((1, 1, 1)),
    ),
    groups=(
        Group("several ranks", _vocabulary, 6, "Every rank gets the same number of rows, a multiple of 128."),
        Group("nothing to add", _exact_vocabulary, 3, "A vocabulary that fits stays as it is."),
        Group("another multiple", _other_multiple, 4, "The multiple is an argument."),
    ),
    slips=(
        Slip(
            "It is a multiple of the ranks only: the rows of each rank must be a multiple of 128, too.",
            edit=("-(-vocab // block) * block", "-(-vocab // ranks) * ranks"),
        ),
        Slip(
            "The multiple applies to each rank: the whole must be a multiple of 128 t.",
            edit=("-(-vocab // block) * block", "-(-vocab // multiple) * multiple"),
        ),
        Slip(
            "A vocabulary that already fits got another block of rows.",
            edit=("-(-vocab // block) * block", "(vocab // block + 1) * multiple * ranks"),
        ),
        Slip(
            "It was rounded down, so tokens get lost.",
            edit=("-(-vocab // block) * block", "vocab // block * multiple * ranks"),
        ),
    ),
)
