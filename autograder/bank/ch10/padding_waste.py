"""Chapter 10: ``padding_waste``, captured sizes."""

from __future__ import annotations

from random import Random

from autograder.bank.ch10.shared import POWERS, PUBLISHED, draw_sizes
from autograder.items import Build, Case, Group, Iterator, Promise, Right, Slip


def _traffic(rng: Random, most: int) -> tuple[int, ...]:
    return tuple(rng.randint(1, most) for _ in range(rng.randint(3, 40)))


def _padded(rng: Random) -> Case:
    sizes = draw_sizes(rng)
    return Case((list(_traffic(rng, sizes[-1])), rng.sample(sizes, len(sizes))))


def _some_eager(rng: Random) -> Case:
    sizes = draw_sizes(rng, 100)
    return Case(([*_traffic(rng, sizes[-1]), *(sizes[-1] + rng.randint(1, 90) for _ in range(4))], sizes))


def _nothing(rng: Random) -> Case:
    sizes = draw_sizes(rng)
    return Case(([sizes[-1] + rng.randint(1, 50)] * rng.randint(1, 5), sizes))


def _nothing_corners(rng: Random) -> list[Case]:
    sizes = draw_sizes(rng)
    return [Case(([], sizes)), Case(([*sizes, *sizes[:2]], sizes)), Case((list(_traffic(rng, 50)), []))]


def _once(rng: Random) -> Case:
    sizes = draw_sizes(rng)
    return Case((Iterator(_traffic(rng, sizes[-1])), sizes))


def shares_of_sizes(batches, sizes):
    """Graph by graph: the share that each has of all rows, times what it wastes."""
    from solutions.ch10.scheduling import capture_size

    used = {}
    for batch in batches:
        size = capture_size(batch, sizes)
        if size:
            used.setdefault(size, []).append(batch)
    rows = sum(size * len(own) for size, own in used.items())
    return sum(size * len(own) / rows * (1 - sum(own) / len(own) / size) for size, own in used.items()) + 0.0


EXERCISE = Build(
    "10 scheduling.padding_waste",
    section="10.16",
    bonus=True,
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
    rights=(
        Right("what is not useful", edit=("padded / run if run", "1 - (run - padded) / run if run")),
        Right("the shares of the sizes", program=shares_of_sizes),
    ),
    promises=(
        Promise("Walked through once.", edit=("    padded = run = 0\n", "    padded = run = 0\n    sum(batches)\n")),
        Promise(
            "A batch that has no graph counts nowhere.",
            edit=("        if size is not None:\n", "        size = size or batch\n        if size is not None:\n"),
        ),
        Promise("0.0 when no batch has a graph", edit=("if run else 0.0", "if run else 1.0")),
        Promise("among all rows that run in graphs", edit=("padded / run", "padded / (run - padded)")),
    ),
)
