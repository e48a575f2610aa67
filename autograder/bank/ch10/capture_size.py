"""Chapter 10: ``capture_size``, captured sizes."""

from __future__ import annotations

from random import Random

from autograder.bank.ch10.shared import POWERS, PUBLISHED, draw_sizes
from autograder.items import Build, Case, Group, Promise, Slip

LONGER = [*PUBLISHED, *range(272, 513, 16)]


def _between(rng: Random) -> Case:
    """A batch a little above one of the sizes, or well between two."""
    sizes = draw_sizes(rng)
    index = rng.randrange(len(sizes) - 1)
    low, high = sizes[index], sizes[index + 1]
    return Case((rng.choice((min(low + 1, high), (low + high) // 2 + 1)), sizes))


def _captured(rng: Random) -> Case:
    sizes = draw_sizes(rng)
    return Case((rng.choice(sizes[:-1]), sizes))


def _shuffled(rng: Random) -> Case:
    sizes = draw_sizes(rng)
    batch = rng.randint(1, sizes[1])
    return Case((batch, sizes[::-1] if rng.random() < 0.5 else rng.sample(sizes, len(sizes))))


def _too_large(rng: Random) -> Case:
    sizes = draw_sizes(rng)
    return Case((sizes[-1] + rng.randint(1, 90), sizes))


EXERCISE = Build(
    "10 scheduling.capture_size",
    section="10.16",
    bonus=True,
    topic="captured sizes",
    cases=(
        Case((5, POWERS)),
        Case((257, POWERS)),
        Case((33, PUBLISHED)),
        Case((300, LONGER)),  # vLLM's own table
        Case((8, POWERS)),
        Case((3, [16, 4, 8])),
        Case((1, [])),
    ),
    groups=(
        Group("between two sizes", _between, 7, "Pad up: a graph of a smaller size has no rows to spare."),
        Group("captured sizes", _captured, 4, "A size that is captured needs no padding."),
        Group("any order", _shuffled, 5, "The list need not be sorted."),
        Group("too large", _too_large, 3, "A batch that is larger than every graph runs without one."),
    ),
    slips=(
        Slip(
            "A batch is padded up to the next size; only beyond the largest it runs without a graph.",
            edit=("min((size for size in sizes if size >= batch), default=None)", "batch if batch in sizes else None"),
        ),
        Slip(
            "A smaller graph has no room for all rows: pad up, not down.",
            edits=(("return min", "return max"), ("size >= batch", "size <= batch")),
        ),
        Slip(
            "The nearest size may be too small for the batch: pad up.",
            edit=(
                "min((size for size in sizes if size >= batch), default=None)",
                "min(sizes, key=lambda size: (abs(size - batch), size)) if sizes and batch <= max(sizes) else None",
            ),
        ),
        Slip(
            "The list may be in any order: of the sizes that fit, take the smallest.",
            edit=(
                "min((size for size in sizes if size >= batch), default=None)",
                "next((size for size in sizes if size >= batch), None)",
            ),
        ),
        Slip("A size that equals the batch fits without padding.", edit=("size >= batch", "size > batch")),
        Slip(
            "No graph has room for a batch beyond the largest size: it runs eagerly, None.",
            edit=("default=None", "default=max(sizes, default=None)"),
        ),
    ),
    promises=(
        Promise("the smallest that is large enough", edit=("if size >= batch", "if size > batch")),
        Promise(
            "in any order",
            edit=(
                "min((size for size in sizes if size >= batch), default=None)",
                "next((size for size in sizes if size >= batch), None)",
            ),
        ),
        Promise(
            "None when the batch is larger than all of them",
            edit=("default=None", "default=max(sizes, default=None)"),
        ),
    ),
)
