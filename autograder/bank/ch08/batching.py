"""Chapter 08: who runs when, in static and in continuous batches."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.items import Build, Case, Group, Slip

# --- static_batching


def _lengths(rng: Random, least: int = 6, most: int = 40) -> list[int]:
    return [rng.choice((rng.randint(1, 9), rng.randint(1, 60))) for _ in range(rng.randint(least, most))]


def _queue(rng: Random) -> Case:
    return Case((_lengths(rng), rng.randint(2, 5)))


def _edges(rng: Random) -> list[Case]:
    few = _lengths(rng, 2, 4)
    return [Case(([], rng.randint(1, 8))), Case((few, 8)), Case((few, len(few))), Case((_lengths(rng, 3, 6), 1))]


STATIC = Build(
    id="08-static-batching",
    module="serving",
    function="static_batching",
    grade="call",
    section="8.7",
    topic="batching policies",
    cases=(Case(([3, 1, 2, 5, 4], 2)), Case(([2, 2, 7], 3)), Case(([], 4)), Case(([5, 1], 1))),
    groups=(
        Group("queues", _queue, 6, "Consecutive groups start together, and all are released when the longest ends."),
        one_of_each("edges", _edges, "One slot, as many slots as requests, more."),
    ),
    slips=(
        Slip(
            "In a static batch nobody is released before the longest ends.",
            edit=("[(now, now + max(group))] * len(group)", "[(now, now + length) for length in group]"),
        ),
        Slip(
            "That refills a freed slot at once, which is the continuous policy.",
            edit=(
                "    now = 0\n"
                "    for first in range(0, len(lengths), slots):\n"
                "        group = lengths[first : first + slots]\n"
                "        spans += [(now, now + max(group))] * len(group)\n"
                "        now += max(group)\n",
                "    free = [0] * slots\n"
                "    for length in lengths:\n"
                "        start = min(free)\n"
                "        spans.append((start, start + length))\n"
                "        heapq.heapreplace(free, start + length)\n",
            ),
        ),
        Slip(
            "Requests run in the order in which they came; yours sorts them by length.",
            edits=(
                ("group = lengths[first", "group = sorted(lengths)[first"),
                (
                    "    return spans",
                    "    order = sorted(range(len(lengths)), key=lambda index: lengths[index])\n"
                    "    return [spans[order.index(index)] for index in range(len(lengths))]",
                ),
            ),
        ),
        Slip(
            "The next batch starts in the step in which the last one ended.",
            edit=("now += max(group)", "now += max(group) + 1"),
        ),
        Slip(
            "The batch ends with its longest request, not with its last one.",
            edits=(("now + max(group)", "now + group[-1]"), ("now += max(group)", "now += group[-1]")),
        ),
    ),
)

# --- continuous_batching


def _arriving(rng: Random) -> Case:
    lengths = _lengths(rng)
    return Case((lengths, rng.randint(2, 5), [rng.randint(0, 12 * len(lengths)) for _ in lengths]))


def _late(rng: Random) -> list[Case]:
    few = _lengths(rng, 3, 6)
    return [
        Case((few, 2, [rng.randint(100, 999) for _ in few])),
        Case((few, 8, [rng.randint(0, 9) for _ in few])),
        Case((few, 1, [rng.randint(0, 5)] * len(few))),
        Case(([], 3, [])),
    ]


CONTINUOUS = Build(
    id="08-continuous-batching",
    module="serving",
    function="continuous_batching",
    grade="call",
    section="8.7",
    topic="batching policies",
    cases=(
        Case(([3, 1, 2, 5, 4], 2)),
        Case(([1] * 6 + [3], 3)),
        Case(([4, 2, 3], 2, [5, 0, 0])),
        Case(([4, 2, 3], 2, [0, 0, 10])),
        Case(([], 3)),
    ),
    groups=(
        Group("queues", _queue, 5, "A slot freed at step t may start a request at t; the first in line takes it."),
        Group("arrivals", _arriving, 6, "Nobody starts before arriving; who came first is served first."),
        one_of_each("edges", _late, "Late arrivals, one slot, more slots than requests."),
    ),
    slips=(
        Slip(
            "A freed slot idles for a step: it may start a request in the step in which it was freed.",
            edit=("free, start + lengths[index])", "free, start + lengths[index] + 1)"),
        ),
        Slip(
            "A request cannot start before it arrives.",
            edits=(
                ("sorted(range(len(lengths)), key=lambda index: (arrivals[index], index))", "range(len(lengths))"),
                ("max(free[0], arrivals[index])", "free[0]"),
            ),
        ),
        Slip(
            "First come, first served: go by arrival, then by index, not by index alone.",
            edit=("sorted(range(len(lengths)), key=lambda index: (arrivals[index], index))", "range(len(lengths))"),
        ),
        Slip(
            "Of requests with equal arrivals, the first in the list is served first, not the shortest.",
            edit=("(arrivals[index], index)", "(arrivals[index], lengths[index], index)"),
        ),
        Slip(
            "That waits for a whole batch: a freed slot is refilled at once.",
            edit=(
                "    for index in sorted(range(len(lengths)), key=lambda index: (arrivals[index], index)):\n"
                "        start = max(free[0], arrivals[index])\n"
                "        spans[index] = (start, start + lengths[index])\n"
                "        heapq.heapreplace(free, start + lengths[index])\n",
                "    order, start = sorted(range(len(lengths)), key=lambda index: (arrivals[index], index)), 0\n"
                "    for first in range(0, len(order), slots):\n"
                "        group = order[first : first + slots]\n"
                "        start = max(start, *(arrivals[index] for index in group))\n"
                "        for index in group:\n"
                "            spans[index] = (start, start + lengths[index])\n"
                "        start += max(lengths[index] for index in group)\n",
            ),
        ),
        Slip(
            "The next request takes the slot that is free first, not the next slot in turn.",
            edits=(
                ("for index in sorted(", "for turn, index in enumerate(sorted("),
                ("(arrivals[index], index)):", "(arrivals[index], index))):"),
                ("max(free[0], arrivals[index])", "max(free[turn % slots], arrivals[index])"),
                ("heapq.heapreplace(free, start + lengths[index])", "free[turn % slots] = start + lengths[index]"),
            ),
        ),
    ),
)

ITEMS: tuple[Build, ...] = (STATIC, CONTINUOUS)
