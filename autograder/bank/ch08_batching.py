"""Chapter 08: who runs when, in static and in continuous batches."""

from __future__ import annotations

from random import Random

from autograder.bank.ch08_words import UNCHECKED
from autograder.items import Build, Case, Group, Slip, invalid

# --- static_batching


def slip_early_release(lengths, slots):
    if slots < 1 or any(length < 1 for length in lengths):
        raise ValueError("out of range")
    spans, now = [], 0
    for first in range(0, len(lengths), slots):
        group = lengths[first : first + slots]
        spans += [(now, now + length) for length in group]
        now += max(group)
    return spans


def slip_refilled(lengths, slots):
    if slots < 1 or any(length < 1 for length in lengths):
        raise ValueError("out of range")
    spans, free = [], [0] * slots
    for length in lengths:
        place = free.index(min(free))
        spans.append((free[place], free[place] + length))
        free[place] += length
    return spans


def slip_sorted_groups(lengths, slots):
    if slots < 1 or any(length < 1 for length in lengths):
        raise ValueError("out of range")
    spans, now = [(0, 0)] * len(lengths), 0
    order = sorted(range(len(lengths)), key=lambda index: lengths[index])
    for first in range(0, len(order), slots):
        group = order[first : first + slots]
        for index in group:
            spans[index] = (now, now + max(lengths[one] for one in group))
        now += max(lengths[one] for one in group)
    return spans


def slip_gap_between(lengths, slots):
    if slots < 1 or any(length < 1 for length in lengths):
        raise ValueError("out of range")
    spans, now = [], 0
    for first in range(0, len(lengths), slots):
        group = lengths[first : first + slots]
        spans += [(now, now + max(group))] * len(group)
        now += max(group) + 1
    return spans


def slip_last_one_counts(lengths, slots):
    if slots < 1 or any(length < 1 for length in lengths):
        raise ValueError("out of range")
    spans, now = [], 0
    for first in range(0, len(lengths), slots):
        group = lengths[first : first + slots]
        spans += [(now, now + group[-1])] * len(group)
        now += group[-1]
    return spans


def slip_any_static(lengths, slots):
    slots = max(1, slots)
    spans, now = [], 0
    for first in range(0, len(lengths), slots):
        group = lengths[first : first + slots]
        spans += [(now, now + max(group))] * len(group)
        now += max(group)
    return spans


def _lengths(rng: Random, least: int = 6, most: int = 40) -> list[int]:
    return [rng.choice((rng.randint(1, 9), rng.randint(1, 60))) for _ in range(rng.randint(least, most))]


def _queue(rng: Random) -> Case:
    return Case((_lengths(rng), rng.randint(2, 5)))


def _edges(rng: Random) -> list[Case]:
    few = _lengths(rng, 2, 4)
    return [Case(([], rng.randint(1, 8))), Case((few, 8)), Case((few, len(few))), Case((_lengths(rng, 3, 6), 1))]


def _bad(rng: Random) -> list[Case]:
    lengths = _lengths(rng, 3, 6)
    return [
        invalid(lengths, 0),
        invalid([*lengths, 0], 2),
        invalid([-rng.randint(1, 5), *lengths], 2),
        invalid(lengths, -2),
    ]


STATIC = Build(
    id="08-static-batching",
    module="serving",
    function="static_batching",
    grade="call",
    section="8.7",
    topic="batching policies",
    cases=(Case(([3, 1, 2, 5, 4], 2)), Case(([2, 2, 7], 3)), Case(([], 4)), Case(([5, 1], 1)), invalid([3, 0], 2)),
    groups=(
        Group("queues", _queue, 6, "Consecutive groups start together, and all are released when the longest ends."),
        Group("edges", lambda rng: rng.choice(_edges(rng)), 4, "One slot, as many slots as requests, more.", _edges),
        Group("bad input", lambda rng: rng.choice(_bad(rng)), 4, "Bad input must raise ValueError.", _bad),
    ),
    slips=(
        Slip("In a static batch nobody is released before the longest ends.", slip_early_release),
        Slip("That refills a freed slot at once: it is the continuous policy.", slip_refilled),
        Slip("Requests run in the order in which they came; yours sorts them by length.", slip_sorted_groups),
        Slip("The next batch starts in the step in which the last one ended.", slip_gap_between),
        Slip("The batch ends with its longest request, not with its last one.", slip_last_one_counts),
        Slip(UNCHECKED.format("no slot, or lengths below 1"), slip_any_static),
    ),
)

# --- continuous_batching


def slip_idle_step(lengths, slots, arrivals=None):
    arrivals = [0] * len(lengths) if arrivals is None else arrivals
    if slots < 1 or any(n < 1 for n in lengths) or len(arrivals) != len(lengths) or any(a < 0 for a in arrivals):
        raise ValueError("out of range")
    free, spans = [0] * slots, [(0, 0)] * len(lengths)
    for index in sorted(range(len(lengths)), key=lambda index: (arrivals[index], index)):
        place = free.index(min(free))
        start = max(free[place], arrivals[index])
        spans[index] = (start, start + lengths[index])
        free[place] = start + lengths[index] + 1
    return spans


def slip_ignores_arrivals(lengths, slots, arrivals=None):
    arrivals = [0] * len(lengths) if arrivals is None else arrivals
    if slots < 1 or any(n < 1 for n in lengths) or len(arrivals) != len(lengths) or any(a < 0 for a in arrivals):
        raise ValueError("out of range")
    free, spans = [0] * slots, []
    for length in lengths:
        place = free.index(min(free))
        spans.append((free[place], free[place] + length))
        free[place] += length
    return spans


def slip_input_order(lengths, slots, arrivals=None):
    arrivals = [0] * len(lengths) if arrivals is None else arrivals
    if slots < 1 or any(n < 1 for n in lengths) or len(arrivals) != len(lengths) or any(a < 0 for a in arrivals):
        raise ValueError("out of range")
    free, spans = [0] * slots, []
    for length, arrival in zip(lengths, arrivals, strict=True):
        place = free.index(min(free))
        start = max(free[place], arrival)
        spans.append((start, start + length))
        free[place] = start + length
    return spans


def slip_shortest_first(lengths, slots, arrivals=None):
    arrivals = [0] * len(lengths) if arrivals is None else arrivals
    if slots < 1 or any(n < 1 for n in lengths) or len(arrivals) != len(lengths) or any(a < 0 for a in arrivals):
        raise ValueError("out of range")
    free, spans = [0] * slots, [(0, 0)] * len(lengths)
    for index in sorted(range(len(lengths)), key=lambda index: (arrivals[index], lengths[index], index)):
        place = free.index(min(free))
        start = max(free[place], arrivals[index])
        spans[index] = (start, start + lengths[index])
        free[place] = start + lengths[index]
    return spans


def slip_whole_batches(lengths, slots, arrivals=None):
    arrivals = [0] * len(lengths) if arrivals is None else arrivals
    if slots < 1 or any(n < 1 for n in lengths) or len(arrivals) != len(lengths) or any(a < 0 for a in arrivals):
        raise ValueError("out of range")
    order = sorted(range(len(lengths)), key=lambda index: (arrivals[index], index))
    spans, now = [(0, 0)] * len(lengths), 0
    for first in range(0, len(order), slots):
        group = order[first : first + slots]
        now = max(now, max(arrivals[index] for index in group))
        for index in group:
            spans[index] = (now, now + lengths[index])
        now += max(lengths[index] for index in group)
    return spans


def slip_round_robin(lengths, slots, arrivals=None):
    arrivals = [0] * len(lengths) if arrivals is None else arrivals
    if slots < 1 or any(n < 1 for n in lengths) or len(arrivals) != len(lengths) or any(a < 0 for a in arrivals):
        raise ValueError("out of range")
    free, spans = [0] * slots, [(0, 0)] * len(lengths)
    for turn, index in enumerate(sorted(range(len(lengths)), key=lambda index: (arrivals[index], index))):
        start = max(free[turn % slots], arrivals[index])
        spans[index] = (start, start + lengths[index])
        free[turn % slots] = start + lengths[index]
    return spans


def slip_any_continuous(lengths, slots, arrivals=None):
    arrivals = [0] * len(lengths) if arrivals is None else arrivals
    free, spans = [0] * max(1, slots), [(0, 0)] * len(lengths)
    for index, arrival in sorted(enumerate(arrivals), key=lambda pair: (pair[1], pair[0])):
        if index < len(lengths):
            place = free.index(min(free))
            start = max(free[place], arrival)
            spans[index] = (start, start + lengths[index])
            free[place] = start + lengths[index]
    return spans


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


def _bad_arriving(rng: Random) -> list[Case]:
    lengths = _lengths(rng, 3, 6)
    zeros = [0] * len(lengths)
    return [
        *_bad(rng),
        invalid(lengths, 2, [*zeros, 0]),
        invalid(lengths, 2, zeros[1:]),
        invalid(lengths, 2, [*zeros[1:], -1]),
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
        invalid([1, 2], 2, [0]),
    ),
    groups=(
        Group("queues", _queue, 5, "A slot freed at step t may start a request at t; the first in line takes it."),
        Group("arrivals", _arriving, 6, "Nobody starts before arriving; who came first is served first."),
        Group(
            "edges", lambda rng: rng.choice(_late(rng)), 4, "Late arrivals, one slot, more slots than requests.", _late
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_arriving(rng)),
            7,
            "Bad input must raise ValueError, arrivals of another number too.",
            _bad_arriving,
        ),
    ),
    slips=(
        Slip(
            "A freed slot idles for a step: it may start a request in the step in which it was freed.", slip_idle_step
        ),
        Slip("A request cannot start before it arrives.", slip_ignores_arrivals),
        Slip("First come, first served: go by arrival, then by index, not by index alone.", slip_input_order),
        Slip("Among those that came together the first is served first, not the shortest.", slip_shortest_first),
        Slip("That waits for a whole batch: a freed slot is refilled at once.", slip_whole_batches),
        Slip("The next request takes the slot that is free first, not the next slot in turn.", slip_round_robin),
        Slip(UNCHECKED.format("no slot, lengths below 1, other arrivals"), slip_any_continuous),
    ),
)

ITEMS: tuple[Build, ...] = (STATIC, CONTINUOUS)
