"""Chapter 8: ``continuous_batching``, batching policies."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.bank.ch08.shared import draw_lengths, queue
from autograder.items import Build, Case, Group, Promise, Slip


def _arriving(rng: Random) -> Case:
    lengths = draw_lengths(rng)
    return Case((lengths, rng.randint(2, 5), [rng.randint(0, 12 * len(lengths)) for _ in lengths]))


def _late(rng: Random) -> list[Case]:
    few = draw_lengths(rng, 3, 6)
    return [
        Case((few, 2, [rng.randint(100, 999) for _ in few])),
        Case((few, 8, [rng.randint(0, 9) for _ in few])),
        Case((few, 1, [rng.randint(0, 5)] * len(few))),
        Case(([], 3, [])),
    ]


EXERCISE = Build(
    "08 serving.continuous_batching",
    section="8.5",
    topic="batching policies",
    cases=(
        Case(([3, 1, 2, 5, 4], 2)),
        Case(([1] * 6 + [3], 3)),
        Case(([4, 2, 3], 2, [5, 0, 0])),
        Case(([4, 2, 3], 2, [0, 0, 10])),
        Case(([], 3)),
    ),
    groups=(
        Group("queues", queue, 5, "A slot freed at step t may start a request at t; the first in line takes it."),
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
    promises=(
        Promise("equal arrivals by index", edit=("(arrivals[index], index)", "(arrivals[index], -index)")),
        Promise("First come, first served", edit=("(arrivals[index], index)", "index")),
        Promise(
            "A slot freed at step t may start a request at t.",
            edit=(
                "heapq.heapreplace(free, start + lengths[index])",
                "heapq.heapreplace(free, start + lengths[index] + 1)",
            ),
        ),
        Promise(
            "step before which a request cannot start",
            edit=("start = max(free[0], arrivals[index])", "start = free[0]"),
        ),
    ),
)
