"""Chapter 8: ``static_batching``, batching policies."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07.draws import one_of_each
from autograder.bank.ch08.shared import draw_lengths, queue
from autograder.items import Build, Case, Group, Promise, Slip


def _edges(rng: Random) -> list[Case]:
    few = draw_lengths(rng, 2, 4)
    return [Case(([], rng.randint(1, 8))), Case((few, 8)), Case((few, len(few))), Case((draw_lengths(rng, 3, 6), 1))]


EXERCISE = Build(
    "08 serving.static_batching",
    section="8.14",
    topic="batching policies",
    bonus=True,
    cases=(Case(([3, 1, 2, 5, 4], 2)), Case(([2, 2, 7], 3)), Case(([], 4)), Case(([5, 1], 1))),
    groups=(
        Group("queues", queue, 6, "Consecutive groups start together, and all are released when the longest ends."),
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
    promises=(
        Promise(
            "all of a group are released when its longest ends",
            edit=(
                "spans += [(now, now + max(group))] * len(group)",
                "spans += [(now, now + length) for length in group]",
            ),
        ),
        Promise(
            "Consecutive groups", edit=("for first in range(", "lengths = sorted(lengths)\n    for first in range(")
        ),
    ),
)
