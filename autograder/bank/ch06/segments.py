"""Chapter 6: segments between checkpoints, and a padded vocabulary: closed forms."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Slip


def _segments(rng: Random) -> Case:
    """A checkpoint costs from a hundredth of a layer to ten layers."""
    layer = rng.randint(100, 10**9)
    return Case((rng.randint(20, 126), layer, max(1, int(layer * 10 ** rng.uniform(-2, 1)))))


def _segments_of_each(rng: Random) -> list[Case]:
    return [Case((layers, 100 * size, size * part)) for layers, size, part in ((96, 7, 5), (61, 3, 900), (45, 2, 300))]


def _equal_peaks(rng: Random) -> Case:
    """Two segment lengths with the same peak: 7 layers, k = 2 and 3 for a = 1, c = 1."""
    size = rng.randint(1, 1000)
    return Case(rng.choice(((7, size, size), (12, size, size), (20, size, size), (2, size, size))))


def _odd_segments(rng: Random) -> Case:
    size = rng.randint(1, 1000)
    return Case(rng.choice(((1, size, 3), (10, size, 0), (10, 0, size), (12, size, 100 * size), (5, 0.5, 0.25))))


SEGMENT = Build(
    id="06-best-segment",
    module="activations",
    function="best_segment",
    grade="call",
    section="6.19",
    bonus=True,
    topic="recomputation",
    cases=(
        Case((64, 1, 1)),
        Case((100, 1, 1)),  # Chen et al. (2016): the square root of the layers
        Case((96, 2_868_903_936, 50_331_648)),  # GPT-3
        Case((80, 34 * 4096 * 8192, 2 * 4096 * 8192)),
        Case((1, 5, 1)),
        Case((7, 3, 2)),
        Case((10, 1, 0)),
        Case((12, 1, 100)),
    ),
    groups=(
        Group(
            "checkpoints of any size",
            _segments,
            8,
            "The best length depends on the size of a checkpoint relative to a layer.",
            _segments_of_each,
        ),
        Group(
            "equal peaks",
            _equal_peaks,
            4,
            "If two peaks are equal, return the shorter segment.",
            lambda rng: [Case((7, s, s)) for s in (1, rng.randint(2, 99))],
        ),
        Group("ends", _odd_segments, 5, "There may be one layer; sizes may be 0 or fractions."),
    ),
    slips=(
        Slip(
            "The square root of the number of layers is best only if a checkpoint is as large as a layer.",
            edits=(
                ("checks.count(layers=layers)", "import math\n    k = round(math.sqrt(layers))"),
                ("segment, float(peak)", "(k, -(-layers // k) * checkpoint_bytes + k * layer_bytes)"),
            ),
        ),
        Slip("The layers left over need a checkpoint, too: round up.", edit=("-(-layers // k)", "layers // k")),
        Slip(
            "While a segment runs backward, its own activations are alive, too.",
            edit=("-(-layers // k) * checkpoint_bytes + k * layer_bytes", "-(-layers // k) * checkpoint_bytes"),
        ),
        Slip(
            "All checkpoints are kept until the backward pass reaches them.",
            edit=("segment, float(peak)", "(1, float(layer_bytes + checkpoint_bytes))"),
        ),
        Slip(
            "If two peaks are equal, return the shorter segment.",
            edit=("min(peaks)", "min(peaks, key=lambda one: (one[0], -one[1]))"),
        ),
    ),
)


def _vocabulary(rng: Random) -> Case:
    return Case(
        (rng.choice((50_257, 128_256, 32_000, 151_643, rng.randint(1000, 300_000))), rng.choice((2, 3, 4, 8, 16)))
    )


def _exact_vocabulary(rng: Random) -> Case:
    ranks = rng.choice((2, 4, 8))
    return Case((128 * ranks * rng.randint(1, 99), ranks))


def _other_multiple(rng: Random) -> Case:
    return Case((rng.randint(1, 60_000), rng.choice((1, 2, 6, 8)), rng.choice((1, 8, 64, 100))))


PADDED = Build(
    id="06-padded-vocabulary",
    module="activations",
    function="padded_vocabulary",
    grade="call",
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


ITEMS = (SEGMENT, PADDED)
