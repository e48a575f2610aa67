"""Chapter 10: which captured size a batch is padded to, and what the padding wastes."""

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Group, Iterator, Slip

POWERS = [2**power for power in range(9)]
#: What vLLM captures by default, up to 256 and up to 512.
PUBLISHED = [1, 2, 4, *range(8, 256, 8), 256]
LONGER = [*PUBLISHED, *range(272, 513, 16)]


def _sizes(rng: Random, most: int = 300) -> list[int]:
    return sorted(rng.sample(range(2, most), rng.randint(4, 12)))


def _between(rng: Random) -> Case:
    """A batch a little above one of the sizes, or well between two."""
    sizes = _sizes(rng)
    place = rng.randrange(len(sizes) - 1)
    low, high = sizes[place], sizes[place + 1]
    return Case((rng.choice((min(low + 1, high), (low + high) // 2 + 1)), sizes))


def _captured(rng: Random) -> Case:
    sizes = _sizes(rng)
    return Case((rng.choice(sizes[:-1]), sizes))


def _shuffled(rng: Random) -> Case:
    sizes = _sizes(rng)
    batch = rng.randint(1, sizes[1])
    return Case((batch, sizes[::-1] if rng.random() < 0.5 else rng.sample(sizes, len(sizes))))


def _too_large(rng: Random) -> Case:
    sizes = _sizes(rng)
    return Case((sizes[-1] + rng.randint(1, 90), sizes))


SIZE = Build(
    id="10-capture-size",
    module="scheduling",
    function="capture_size",
    grade="call",
    section="10.3",
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
)


def _traffic(rng: Random, most: int) -> tuple[int, ...]:
    return tuple(rng.randint(1, most) for _ in range(rng.randint(3, 40)))


def _padded(rng: Random) -> Case:
    sizes = _sizes(rng)
    return Case((list(_traffic(rng, sizes[-1])), rng.sample(sizes, len(sizes))))


def _some_eager(rng: Random) -> Case:
    sizes = _sizes(rng, 100)
    return Case(([*_traffic(rng, sizes[-1]), *(sizes[-1] + rng.randint(1, 90) for _ in range(4))], sizes))


def _nothing(rng: Random) -> Case:
    sizes = _sizes(rng)
    return Case(([sizes[-1] + rng.randint(1, 50)] * rng.randint(1, 5), sizes))


def _nothing_corners(rng: Random) -> list[Case]:
    sizes = _sizes(rng)
    return [Case(([], sizes)), Case(([*sizes, *sizes[:2]], sizes)), Case((list(_traffic(rng, 50)), []))]


def _once(rng: Random) -> Case:
    sizes = _sizes(rng)
    return Case((Iterator(_traffic(rng, sizes[-1])), sizes))


WASTE = Build(
    id="10-padding-waste",
    module="scheduling",
    function="padding_waste",
    grade="call",
    section="10.3",
    topic="captured sizes",
    cases=(
        Case(([5, 9, 17, 33], POWERS)),
        Case(([5, 9, 17, 33], PUBLISHED)),
        Case((list(range(1, 257)), POWERS)),
        Case((Iterator(tuple(range(1, 257))), PUBLISHED)),  # vLLM's default list
        Case(([3, 300], POWERS)),
        Case(([300], POWERS)),
        Case(([], POWERS)),
    ),
    groups=(
        Group("traffic", _padded, 6, "Add up the padded rows, add up all rows of the graphs, then divide."),
        Group("some without a graph", _some_eager, 5, "A batch that runs without a graph is in neither sum."),
        Group(
            "nothing padded",
            _nothing,
            5,
            "Where nothing is padded, or nothing runs in a graph, the waste is 0.",
            _nothing_corners,
        ),
        Group("batches that come once", _once, 2, "`batches` may be an iterator: walk through it once."),
    ),
    slips=(
        Slip(
            "A mean of shares weighs a batch of 3 like one of 200: divide sum by sum.",
            edit=(
                "            padded += size - batch\n            run += size",
                "            padded += (size - batch) / size\n            run += 1",
            ),
        ),
        Slip(
            "That is the share of useful rows; the waste is the rest.",
            edit=("padded += size - batch", "padded += batch"),
        ),
        Slip(
            "A batch that has no graph is padded nowhere: leave it out of both sums.",
            edit=("capture_size(batch, sizes)", "min((size for size in sizes if size >= batch), default=batch)"),
        ),
        Slip(
            "That is padded over useful rows; the share is of all rows that run.", edit=("run += size", "run += batch")
        ),
    ),
)

ITEMS = (SIZE, WASTE)
