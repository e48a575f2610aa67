"""Chapter 5: ``exposed_communication``, overlap."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import ms


def _times(rng: Random, count: int, most: int) -> list[float]:
    """Multiples of 1/1024 s, so that no sum is rounded."""
    return [rng.randint(1, most) / 1024 for _ in range(count)]


def _stream(rng: Random, most: int = 20) -> Case:
    """About as much communication as computing, with a tail of several buckets."""
    count = rng.randint(6, most)
    start = Case((_times(rng, count, 40), _times(rng, count, 40)))
    compute, communication = start.args
    return Case((compute, [*communication[:-2], rng.randint(50, 90) / 1024, rng.randint(1, 9) / 1024]))


def _uniform(rng: Random) -> Case:
    layers, computing = rng.randint(2, 200), rng.randint(2, 40)
    sending = rng.choice((rng.randint(1, computing), computing + rng.randint(1, 20)))
    return Case(([computing / 1024] * layers, [sending / 1024] * layers))


def _hidden_quite(rng: Random) -> Case:
    """Much computing at the end; the last bucket is empty or small."""
    count = rng.randint(3, 12)
    compute, communication = _times(rng, count, 9), _times(rng, count, 9)
    return Case(([*compute, 1.0], [*communication, rng.choice((0.0, 1 / 1024))]))


def _with_zeros(rng: Random) -> Case:
    count = rng.randint(1, 30)
    return Case(tuple([rng.choice((0, 0, 1, 5, 30)) / 256 for _ in range(count)] for _ in range(2)))


def waits_on_a_heap_of_ends(compute, communication):
    """The end of each transfer as a maximum over the buckets from which the stream never idles."""
    total = math.fsum(compute)
    ends = [math.fsum(compute[: first + 1]) + math.fsum(communication[first:]) - total for first in range(len(compute))]
    return max([0.0, *ends])


EXERCISE = Build(
    "05 buckets.exposed_communication",
    section="5.3",
    topic="overlap",
    cases=(
        Case(([5 * ms] * 40, [1.5 * ms] * 40)),
        Case(([5 * ms] * 40, [7 * ms] * 40)),
        Case(([1, 2, 3], [4, 0, 1])),
        Case(([1, 1, 1, 1], [4, 0, 0, 0])),
        Case(([1, 1, 1, 1], [0, 0, 0, 4])),
        Case(([0.01, 0.02, 0.005], [0.03, 0.001, 0.004])),
        Case(([0.2], [0.06])),
        Case(([], [])),
    ),
    groups=(
        Group(
            "one stream",
            _stream,
            8,
            "Walk through the buckets: each starts when it is ready and the one before it has ended.",
        ),
        Group("layers alike", _uniform, 5, "With equal layers, one bucket is exposed, or a queue that grows."),
        Group("all hidden but the last", _hidden_quite, 4, "What ends before the backward pass ends is not exposed."),
        Group("zeros", _with_zeros, 5, "Times may be 0.", lambda _rng: [Case(([0], [0])), Case(([0, 0], [1, 2]))]),
    ),
    slips=(
        Slip(
            "The sums were compared: a bucket cannot start before it is ready, however idle the stream was.",
            edit=("free - ready", "sum(communication) - sum(compute)"),
        ),
        Slip(
            "Only the last bucket was counted: others may still wait in the queue before it.",
            edit=("max(0.0, free - ready)", "float(communication[-1]) if communication else 0.0"),
        ),
        Slip(
            "The lists are in the order of the backward pass: do not reverse them.",
            edit=("zip(compute, communication, strict=True)", "zip(compute[::-1], communication[::-1], strict=False)"),
        ),
        Slip(
            "There is one stream: a bucket waits until the one before it has ended.",
            edit=("free = max(ready, free) + sending", "free = max(free, ready + sending)"),
        ),
        Slip(
            "Communication runs while later gradients are computed; yours starts after them.",
            edit=("max(0.0, free - ready)", "sum(communication)"),
        ),
        Slip(
            "A bucket is ready when its computation has ended, not when it begins.",
            edits=(
                ("ready += computing", ""),
                ("max(ready, free) + sending", "max(ready, free) + sending\n        ready += computing"),
            ),
        ),
    ),
    rights=(
        Right("from every bucket on without a pause", program=waits_on_a_heap_of_ends),
        Right(
            "idle time of the stream",
            edits=(
                ("    ready = free = 0.0\n", "    ready = free = idle = 0.0\n"),
                (
                    "        free = max(ready, free) + sending\n    return max(0.0, free - ready)\n",
                    "        idle += max(0.0, ready - free)\n        free = max(ready, free) + sending\n"
                    "    return max(0.0, idle + sum(communication) - sum(compute))\n",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "The buckets go over one stream, one after another",
            edit=("free = max(ready, free) + sending", "free = max(free, ready + sending)"),
        ),
        Promise("0 without buckets", edit=("    ready = free = 0.0\n", "    ready = free = 0.0 / len(compute)\n")),
    ),
)
