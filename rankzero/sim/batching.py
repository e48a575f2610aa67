"""Requests that share the slots of a batch: who runs when, under two policies.

Time is counted in steps of the model; a step gives every running request one token, so a request's length is the number
of steps that it needs. Steps begin at whole numbers: a request that comes in the middle of a step can start with the
next one. Nothing runs a step: :func:`static` and :func:`continuous` go from one start to the next, so what they cost
grows with the number of requests and not with their lengths. :func:`step_by_step` plays both policies step after step;
it is slow, and there to be compared with.

>>> run = continuous([3, 1, 2, 5, 4], slots=2)
>>> run.spans
((0, 3), (0, 1), (1, 3), (3, 8), (3, 7))
>>> run.steps, run.idle, round(run.occupancy, 4)
(8, 1, 0.9375)

Standard library only.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapreplace
from itertools import accumulate
from random import Random
from typing import Literal

#: Start step and finish step; the finish is the first step in which the request's answer is there.
Span = tuple[int, int]

#: Times at which a number changes, with its new value, in order of time.
Changes = list[tuple[float, int]]

Policy = Literal["static", "continuous"]
Part = Literal["queue", "slots", "both"]


@dataclass(frozen=True)
class Run:
    """What became of some requests. Every field has an entry for each request, in the order in which they were given.

    Attributes:
        slots: places of the batch.
        lengths: steps that each request needs.
        arrivals: when it came, steps.
        starts: the step in which it starts.
        finishes: when its answer is handed out and its slot is free again, steps.
        places: the slot in which it ran.
    """

    slots: int
    lengths: tuple[int, ...]
    arrivals: tuple[float, ...]
    starts: tuple[int, ...]
    finishes: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def spans(self) -> tuple[Span, ...]:
        """Start and finish of each request."""
        return tuple(zip(self.starts, self.finishes, strict=True))

    @property
    def tokens(self) -> int:
        """Slot-steps that gave a token."""
        return sum(self.lengths)

    @property
    def makespan(self) -> int:
        """The last finish."""
        return max(self.finishes, default=0)

    @cached_property
    def steps(self) -> int:
        """Steps in which the model runs. Where nothing runs, no step is taken."""
        run = end = 0
        for start, finish in sorted(self.spans):
            run += max(0, finish - max(start, end))
            end = max(end, finish)
        return run

    @property
    def idle(self) -> int:
        """Slot-steps that gave no token: of ``steps * slots``, the same rule for every policy."""
        return self.steps * self.slots - self.tokens

    @property
    def idle_share(self) -> float:
        """Idle slot-steps over all slot-steps."""
        return self.idle / (self.steps * self.slots) if self.steps else 0.0

    @property
    def occupancy(self) -> float:
        """Slot-steps that gave a token over all slot-steps."""
        return 1.0 - self.idle_share if self.steps else 0.0

    @cached_property
    def latencies(self) -> tuple[float, ...]:
        """Steps from the arrival to the finish of each request."""
        return tuple(finish - came for came, finish in zip(self.arrivals, self.finishes, strict=True))

    @property
    def mean_latency(self) -> float:
        """Mean of the latencies, steps; where all come at 0 it is the mean finish."""
        return statistics.fmean(self.latencies) if self.latencies else 0.0

    @property
    def mean_finish(self) -> float:
        """Mean finish, steps."""
        return statistics.fmean(self.finishes) if self.finishes else 0.0

    @property
    def p99_finish(self) -> float:
        """The finish by which 99 of 100 requests are done, steps."""
        return percentile(self.finishes, 0.99)

    def percentile_latency(self, share: float) -> float:
        """The latency that ``share`` of the requests do not exceed, steps."""
        return percentile(self.latencies, share)

    def row(self) -> dict[str, float]:
        """A line of a table."""
        return {
            "steps": self.steps,
            "occupancy": self.occupancy,
            "idle slot-steps": self.idle,
            "mean finish": self.mean_finish,
            "p99 finish": self.p99_finish,
        }


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest of the values that at least ``share`` of them do not exceed (nearest rank); 0 without values."""
    if not 0 < share <= 1:
        raise ValueError(f"share must be in (0, 1], got {share}")
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered) - 1e-9) - 1] if ordered else 0.0


# Policies


def static(lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None = None) -> Run:
    """Batches that start together and end together: a batch is released when its longest request is done.

    ``slots`` requests at a time, in order of arrival, then as given; a batch waits for its last request to come.

    Args:
        lengths: steps of each request; at least 1.
        slots: places of the batch; at least 1.
        arrivals: when each request comes, steps; all at 0 when left out.

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.
    """
    came, order = _queue(lengths, slots, arrivals)
    starts, finishes, places = ([0] * len(lengths) for _ in range(3))
    free = 0
    for first in range(0, len(order), slots):
        batch = order[first : first + slots]
        start = max(free, math.ceil(came[batch[-1]]))
        free = start + max(lengths[request] for request in batch)
        for place, request in enumerate(batch):
            starts[request], finishes[request], places[request] = start, free, place
    return Run(slots, tuple(lengths), came, tuple(starts), tuple(finishes), tuple(places))


def continuous(lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None = None) -> Run:
    """First come, first served, slot by slot: a slot that is freed takes the next request with the next step.

    Requests go, in order of arrival, then as given, into the slot that is free first.

    Args:
        lengths: steps of each request; at least 1.
        slots: places of the batch; at least 1.
        arrivals: when each request comes, steps; all at 0 when left out.

    Raises:
        ValueError: an argument is outside its range; the message names it and its value.

    Source: Yu et al. (2022), Orca; as scheduling of jobs, Graham (1969), doi:10.1137/0117039.
    """
    came, order = _queue(lengths, slots, arrivals)
    starts, finishes, places = ([0] * len(lengths) for _ in range(3))
    free = [(0, place) for place in range(min(slots, len(lengths)))]
    for request in order:
        since, place = free[0]
        start = max(since, math.ceil(came[request]))
        finish = start + lengths[request]
        heapreplace(free, (finish, place))
        starts[request], finishes[request], places[request] = start, finish, place
    return Run(slots, tuple(lengths), came, tuple(starts), tuple(finishes), tuple(places))


def _queue(lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None) -> tuple[tuple[float, ...], list[int]]:
    """The arrivals, and the requests in the order in which they are served."""
    if slots < 1:
        raise ValueError(f"slots must be at least 1, got {slots}")
    if min(lengths, default=1) < 1:
        raise ValueError(f"lengths must be at least 1, got {min(lengths)}")
    came: tuple[float, ...] = (0,) * len(lengths) if arrivals is None else tuple(arrivals)
    if len(came) != len(lengths):
        raise ValueError(f"arrivals must have one entry for each of {len(lengths)} lengths, got {len(came)}")
    bad = next((time for time in came if not 0 <= time < math.inf), None)
    if bad is not None:
        raise ValueError(f"arrivals must be finite and not negative, got {bad}")
    return came, sorted(range(len(came)), key=came.__getitem__)


def step_by_step(
    lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None = None, policy: Policy = "continuous"
) -> list[Span]:
    """The same policies, one step after the other: start and finish of each request. For tests: slow.

    Args:
        lengths: steps of each request; at least 1.
        slots: places of the batch; at least 1.
        arrivals: when each request comes, steps; all at 0 when left out.
        policy: ``static`` or ``continuous``.
    """
    came, waiting = _queue(lengths, slots, arrivals)
    left: dict[int, int] = {}  # running requests, with the tokens that they still need
    spans = [(0, 0)] * len(lengths)
    step = 0
    while waiting or left:
        if policy == "continuous" or not left:
            for request in _admitted(waiting, came, step, slots - len(left), whole=policy == "static"):
                waiting.remove(request)
                left[request] = lengths[request]
                spans[request] = (step, 0)
        step += 1
        left = {request: tokens - 1 for request, tokens in left.items()}
        done = [request for request, tokens in left.items() if tokens <= 0]
        if policy == "continuous" or len(done) == len(left):
            for request in done:
                spans[request] = (spans[request][0], step)
                del left[request]
    return spans


def _admitted(waiting: Sequence[int], came: Sequence[float], step: int, room: int, whole: bool) -> list[int]:
    """The requests that start now; ``whole``: only as a full batch, or as all that is still to come."""
    next_ones = waiting[:room]
    here = [request for request in next_ones if came[request] <= step]
    return [] if whole and len(here) < len(next_ones) else here


#: Both policies by name.
POLICIES = {"static": static, "continuous": continuous}


# Arrivals, and how many are inside


def poisson_arrivals(rate: float, count: int, rng: Random) -> list[float]:
    """Arrivals that know nothing of each other: the gaps between them are exponential.

    Args:
        rate: mean arrivals per step; positive.
        count: arrivals; not negative.
        rng: where chance comes from.

    Raises:
        ValueError: ``rate`` is not positive, or ``count`` is negative.
    """
    if not 0 < rate < math.inf:
        raise ValueError(f"rate must be positive, got {rate}")
    if count < 0:
        raise ValueError(f"count must not be negative, got {count}")
    return list(accumulate(rng.expovariate(rate) for _ in range(count)))


def load(lengths: Sequence[int], slots: int, rate: float) -> float:
    """Offered work over capacity: ``rate`` requests per step of these lengths on ``slots``; stable below 1."""
    return rate * statistics.fmean(lengths) / slots


def changes(run: Run, part: Part = "both") -> Changes:
    """How many requests are inside, each time that the number changes.

    Args:
        run: a run.
        part: inside what: the ``queue`` (arrival to start), the ``slots`` (start to finish), or ``both``.
    """
    came, gone = _doors(run, part)
    moves = sorted([(time, 1) for time in came] + [(time, -1) for time in gone])
    counts = accumulate(move for _, move in moves)
    last = dict(zip((time for time, _ in moves), counts, strict=True))  # of several at one time, the last one stays
    return list(_steps(last.items()))


def _steps(counts: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """Without the times at which nothing changes."""
    before = 0
    for time, count in counts:
        if count != before:
            yield time, count
        before = count


def _doors(run: Run, part: Part) -> tuple[Sequence[float], Sequence[float]]:
    doors: dict[str, tuple[Sequence[float], Sequence[float]]] = {
        "queue": (run.arrivals, run.starts),
        "slots": (run.starts, run.finishes),
        "both": (run.arrivals, run.finishes),
    }
    if part not in doors:
        raise ValueError(f"part must be 'queue', 'slots' or 'both', got {part!r}")
    return doors[part]


def time_average(counts: Changes, since: float, until: float) -> float:
    """Mean over time of a number that changes, from ``since`` to ``until``; it is 0 before its first change."""
    if not since < until:
        raise ValueError(f"until must be after since, {since}, got {until}")
    area, time, count = 0.0, since, 0
    for when, new in counts:
        area += count * max(0.0, min(when, until) - time)
        time, count = max(time, min(when, until)), new
    return (area + count * (until - time)) / (until - since)


@dataclass(frozen=True)
class Little:
    """The three numbers of Little's law, each measured in its own way.

    Attributes:
        inside: mean over time of the number inside.
        rate: arrivals per step.
        time: mean time inside, steps.
    """

    inside: float
    rate: float
    time: float

    @property
    def error(self) -> float:
        """How far ``rate * time`` lies from ``inside``, as a share of it."""
        return self.rate * self.time / self.inside - 1.0 if self.inside else 0.0


def little(run: Run, part: Part = "both") -> Little:
    """Little's law in a run, watched from 0 to the last arrival.

    The number inside is averaged over that time, the time inside over the requests. The two agree but for what is still
    inside at the end.

    Raises:
        ValueError: fewer than one request, or all came at 0: there is no rate.

    Source: Little (1961), doi:10.1287/opre.9.3.383.
    """
    until = max(run.arrivals, default=0)
    if not until > 0:
        raise ValueError("run must have requests that come after 0: there is no rate")
    came, gone = _doors(run, part)
    stays = [out - into for into, out in zip(came, gone, strict=True)]
    return Little(time_average(changes(run, part), 0.0, until), len(stays) / until, statistics.fmean(stays))
