"""Chapter 6: ``best_segment``, recomputation."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip


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


EXERCISE = Build(
    "06 activations.best_segment",
    section="6.19",
    topic="recomputation",
    bonus=True,
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
    rights=(
        Right(
            "a loop that keeps the best",
            edit=(
                "    peak, segment = min(peaks)\n",
                "    peak, segment = float('inf'), 0\n    for found, k in peaks:\n"
                "        if found < peak:\n            peak, segment = found, k\n",
            ),
        ),
        Right(
            "the layers first",
            edit=(
                "(-(-layers // k) * checkpoint_bytes + k * layer_bytes, k)",
                "(layer_bytes * k + checkpoint_bytes * ((layers + k - 1) // k), k)",
            ),
        ),
    ),
    promises=(
        Promise(
            "the fewest of several that are equally good",
            edit=("min(peaks)", "min(peaks, key=lambda pair: (pair[0], -pair[1]))"),
        ),
    ),
)
