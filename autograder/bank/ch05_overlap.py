"""Chapter 5: the exercise about overlap: how much communication is left when the backward pass has ended."""

from __future__ import annotations

from math import nan
from random import Random

from autograder.items import Build, Case, Group, Slip, invalid
from rankzero.units import ms


def slip_total_difference(compute, communication):
    if len(compute) != len(communication) or not all(0 <= t < 1e300 for t in (*compute, *communication)):
        raise ValueError("out of range")
    return max(0.0, float(sum(communication) - sum(compute)))


def slip_last_bucket(compute, communication):
    if len(compute) != len(communication) or not all(0 <= t < 1e300 for t in (*compute, *communication)):
        raise ValueError("out of range")
    return float(communication[-1]) if communication else 0.0


def slip_forward_order(compute, communication):
    if len(compute) != len(communication) or not all(0 <= t < 1e300 for t in (*compute, *communication)):
        raise ValueError("out of range")
    ready = free = 0.0
    for computing, sending in zip(compute[::-1], communication[::-1], strict=False):
        ready += computing
        free = max(ready, free) + sending
    return max(0.0, free - ready)


def slip_no_queue(compute, communication):
    if len(compute) != len(communication) or not all(0 <= t < 1e300 for t in (*compute, *communication)):
        raise ValueError("out of range")
    ready, ends = 0.0, [0.0]
    for computing, sending in zip(compute, communication, strict=False):
        ready += computing
        ends.append(ready + sending)
    return max(0.0, max(ends) - ready)


def slip_no_overlap(compute, communication):
    if len(compute) != len(communication) or not all(0 <= t < 1e300 for t in (*compute, *communication)):
        raise ValueError("out of range")
    return float(sum(communication))


def slip_ready_before(compute, communication):
    if len(compute) != len(communication) or not all(0 <= t < 1e300 for t in (*compute, *communication)):
        raise ValueError("out of range")
    ready = free = 0.0
    for computing, sending in zip(compute, communication, strict=False):
        free = max(ready, free) + sending
        ready += computing
    return max(0.0, free - ready)


def slip_exposed_unchecked(compute, communication):
    ready = free = 0.0
    for computing, sending in zip(compute, communication, strict=False):
        ready += computing
        free = max(ready, free) + sending
    return max(0.0, free - ready)


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


def _bad_stream(rng: Random) -> list[Case]:
    good = _times(rng, 4, 9)
    return [
        invalid(good, good[:3]),
        invalid(good[:3], good),
        invalid([], good),
        invalid([*good, -0.5], [*good, 0.0]),
        invalid([*good, 0.0], [*good, -0.5]),
        invalid([nan], [0.0]),
    ]


EXPOSED = Build(
    id="05-exposed-communication",
    module="buckets",
    function="exposed_communication",
    grade="call",
    cases=(
        Case(([5 * ms] * 40, [1.5 * ms] * 40)),
        Case(([5 * ms] * 40, [7 * ms] * 40)),
        Case(([1, 2, 3], [4, 0, 1])),
        Case(([1, 1, 1, 1], [4, 0, 0, 0])),
        Case(([1, 1, 1, 1], [0, 0, 0, 4])),
        Case(([0.01, 0.02, 0.005], [0.03, 0.001, 0.004])),
        Case(([0.2], [0.06])),
        Case(([], [])),
        invalid([1, 2], [1]),
    ),
    groups=(
        Group(
            "one stream",
            _stream,
            8,
            "Walk through the buckets: each starts when it is ready and the one before it has ended.",
        ),
        Group("layers alike", _uniform, 5, "With equal layers one bucket is left, or a queue that grows."),
        Group("all hidden but the last", _hidden_quite, 4, "What ends before the backward pass is not exposed."),
        Group("zeros", _with_zeros, 5, "Times may be 0.", lambda _rng: [Case(([0], [0])), Case(([0, 0], [1, 2]))]),
        Group(
            "bad input", lambda rng: rng.choice(_bad_stream(rng)), 6, "Bad input must raise ValueError.", _bad_stream
        ),
    ),
    slips=(
        Slip(
            "The sums were compared: a bucket cannot start before it is ready, however idle the stream was.",
            slip_total_difference,
        ),
        Slip("Only the last bucket was counted: others may still wait in the queue before it.", slip_last_bucket),
        Slip("The lists stand in the order of the backward pass: do not turn them round.", slip_forward_order),
        Slip("There is one stream: a bucket waits until the one before it has ended.", slip_no_queue),
        Slip("Communication runs while later gradients are computed; yours starts after them.", slip_no_overlap),
        Slip("A bucket is ready when its computing has ended, not when it begins.", slip_ready_before),
        Slip("Impossible arguments were accepted: lists of different length, negative times.", slip_exposed_unchecked),
    ),
    section="5.3",
    topic="overlap",
)

ITEMS = (EXPOSED,)
