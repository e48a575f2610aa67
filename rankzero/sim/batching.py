"""A simulator of batching: when each request runs, under two policies.

Time is counted in steps of the model. A step gives every running request one token, so the length of a request is the
number of steps that it needs. Steps begin at whole numbers: a request that arrives in the middle of a step can start
with the next one. :func:`static` and :func:`continuous` do not simulate every step but jump from one start to the next,
so their cost grows with the number of requests and not with their lengths. :func:`step_by_step` simulates both policies
step by step; it is slow, and serves as a reference in tests.

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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapreplace
from itertools import accumulate
from random import Random
from typing import Literal

from rankzero import checks

#: The step in which a request starts, and the first step after its end.
Span = tuple[int, int]

#: The times at which a number changes, each with the new value, in order of time.
Changes = list[tuple[float, int]]

Policy = Literal["static", "continuous"]
Part = Literal["queue", "slots", "both"]


@dataclass(frozen=True)
class Run:
    """The result of a simulation. All fields but ``slots`` have one entry for each request, in the order given.

    Attributes:
        slots: number of slots in the batch.
        lengths: number of steps that each request needs.
        arrivals: when it arrived, in steps.
        starts: the step in which it starts.
        finishes: when its answer is returned and its slot becomes free, in steps.
        places: the slot it ran in.
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
        """Slot-steps that produced a token."""
        return sum(self.lengths)

    @property
    def makespan(self) -> int:
        """The last finish."""
        return max(self.finishes, default=0)

    @cached_property
    def steps(self) -> int:
        """Number of steps in which the model runs; while no request is running there are none."""
        run = end = 0
        for start, finish in sorted(self.spans):
            run += max(0, finish - max(start, end))
            end = max(end, finish)
        return run

    @property
    def idle(self) -> int:
        """Slot-steps without a token, out of ``steps * slots``, whatever the policy."""
        return self.steps * self.slots - self.tokens

    @property
    def idle_share(self) -> float:
        """Idle slot-steps divided by all slot-steps."""
        return self.idle / (self.steps * self.slots) if self.steps else 0.0

    @property
    def occupancy(self) -> float:
        """Slot-steps with a token divided by all slot-steps."""
        return 1.0 - self.idle_share if self.steps else 0.0

    @cached_property
    def latencies(self) -> tuple[float, ...]:
        """Steps from the arrival to the finish of each request."""
        return tuple(finish - arrival for arrival, finish in zip(self.arrivals, self.finishes, strict=True))

    @property
    def mean_latency(self) -> float:
        """Mean latency, in steps; equal to the mean finish if all requests arrive at 0."""
        return statistics.fmean(self.latencies) if self.latencies else 0.0

    @property
    def mean_finish(self) -> float:
        """Mean finish, in steps."""
        return statistics.fmean(self.finishes) if self.finishes else 0.0

    @property
    def p99_finish(self) -> float:
        """The 99th percentile of the finishes, in steps."""
        return percentile(self.finishes, 0.99)

    def percentile_latency(self, share: float) -> float:
        """The latency that ``share`` of the requests do not exceed, in steps."""
        return percentile(self.latencies, share)

    def row(self) -> dict[str, float]:
        """The main results as a row of a table."""
        return {
            "steps": self.steps,
            "occupancy": self.occupancy,
            "idle slot-steps": self.idle,
            "mean finish": self.mean_finish,
            "p99 finish": self.p99_finish,
        }


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least ``share`` of the values do not exceed (nearest rank); 0 if there are none."""
    checks.require(0 < share <= 1, "be above 0 and at most 1", share=share)
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)] if ordered else 0.0


# Policies


def static(lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None = None) -> Run:
    """Static batching: the requests of a batch start together and are returned together, when the longest is done.

    Each batch takes the next ``slots`` requests by arrival, then in the order given, and waits for the last of them to
    arrive.

    Args:
        lengths: steps of each request; at least 1.
        slots: slots in the batch; at least 1.
        arrivals: when each request arrives, in steps; None means that all arrive at 0.
    """
    arrived, order = _queue(lengths, slots, arrivals)
    starts, finishes, places = ([0] * len(lengths) for _ in range(3))
    free = 0
    for first in range(0, len(order), slots):
        batch = order[first : first + slots]
        start = max(free, math.ceil(arrived[batch[-1]]))
        free = start + max(lengths[request] for request in batch)
        for index, request in enumerate(batch):
            starts[request], finishes[request], places[request] = start, free, index
    return Run(slots, tuple(lengths), arrived, tuple(starts), tuple(finishes), tuple(places))


def continuous(lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None = None) -> Run:
    """Continuous batching, first come, first served: a slot that becomes free takes the next request at the next step.

    Requests enter by arrival, then in the order given, into the slot that is free first.

    Args:
        lengths: steps of each request; at least 1.
        slots: slots in the batch; at least 1.
        arrivals: when each request arrives, in steps; None means that all arrive at 0.

    Source: Yu et al. (2022), Orca; the same schedule for jobs, Graham (1969), doi:10.1137/0117039.
    """
    arrived, order = _queue(lengths, slots, arrivals)
    starts, finishes, places = ([0] * len(lengths) for _ in range(3))
    free = [(0, index) for index in range(min(slots, len(lengths)))]
    for request in order:
        since, place = free[0]
        start = max(since, math.ceil(arrived[request]))
        finish = start + lengths[request]
        heapreplace(free, (finish, place))
        starts[request], finishes[request], places[request] = start, finish, place
    return Run(slots, tuple(lengths), arrived, tuple(starts), tuple(finishes), tuple(places))


def _queue(lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None) -> tuple[tuple[float, ...], list[int]]:
    """The arrivals, and the requests in the order in which they are served; checks all arguments."""
    checks.count(slots=slots, lengths=min(lengths, default=1))
    arrived: tuple[float, ...] = (0,) * len(lengths) if arrivals is None else tuple(arrivals)
    checks.require(len(arrived) == len(lengths), f"have one entry for each of {len(lengths)} lengths", arrivals=arrived)
    checks.require(all(0 <= time < math.inf for time in arrived), "be finite and not negative", arrivals=arrived)
    return arrived, sorted(range(len(arrived)), key=arrived.__getitem__)


def step_by_step(
    lengths: Sequence[int], slots: int, arrivals: Sequence[float] | None = None, policy: Policy = "continuous"
) -> list[Span]:
    """Start and finish of each request, simulated step by step: a slow reference for tests.

    Args:
        lengths: steps of each request; at least 1.
        slots: slots in the batch; at least 1.
        arrivals: when each request arrives, in steps; None means that all arrive at 0.
        policy: ``static`` or ``continuous``.
    """
    arrived, waiting = _queue(lengths, slots, arrivals)
    left: dict[int, int] = {}  # running requests, with the number of tokens they still need
    spans = [(0, 0)] * len(lengths)
    step = 0
    while waiting or left:
        if policy == "continuous" or not left:
            for request in _admitted(waiting, arrived, step, slots - len(left), as_batch=policy == "static"):
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


def _admitted(waiting: Sequence[int], arrived: Sequence[float], step: int, room: int, as_batch: bool) -> list[int]:
    """The requests that start now; ``as_batch``: all of the next ``room`` requests or none of them."""
    next_ones = waiting[:room]
    here = [request for request in next_ones if arrived[request] <= step]
    return [] if as_batch and len(here) < len(next_ones) else here


#: Both policies by name.
POLICIES: dict[Policy, Callable[..., Run]] = {"static": static, "continuous": continuous}


# Arrivals, and the number of requests in the system


def poisson_arrivals(rate: float, count: int, rng: Random) -> list[float]:
    """Independent arrivals: a Poisson process, whose gaps are exponentially distributed.

    Args:
        rate: mean number of arrivals per step; positive.
        count: number of arrivals; not negative.
        rng: source of randomness.
    """
    checks.positive(rate=rate)
    checks.count(0, count=count)
    return list(accumulate(rng.expovariate(rate) for _ in range(count)))


def load(lengths: Sequence[int], slots: int, rate: float) -> float:
    """Offered load: the work of ``rate`` requests per step with these lengths, divided by ``slots``; stable below 1."""
    return rate * statistics.fmean(lengths) / slots


def changes(run: Run, part: Part = "both") -> Changes:
    """The number of requests in a part of the system, at every time it changes.

    Args:
        run: a run.
        part: the ``queue`` (arrival to start), the ``slots`` (start to finish), or ``both``.
    """
    entries, exits = _entries_and_exits(run, part)
    moves = sorted([(time, 1) for time in entries] + [(time, -1) for time in exits])
    counts = accumulate(move for _, move in moves)
    last = dict(zip((time for time, _ in moves), counts, strict=True))  # the last count at each time
    return list(_changed(last.items()))


def _changed(counts: Iterable[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """The counts that differ from the count before them."""
    before = 0
    for time, count in counts:
        if count != before:
            yield time, count
        before = count


def _entries_and_exits(run: Run, part: Part) -> tuple[Sequence[float], Sequence[float]]:
    """When each request enters and leaves a part of the system."""
    times: dict[Part, tuple[Sequence[float], Sequence[float]]] = {
        "queue": (run.arrivals, run.starts),
        "slots": (run.starts, run.finishes),
        "both": (run.arrivals, run.finishes),
    }
    checks.one_of(times, part=part)
    return times[part]


def time_average(counts: Changes, since: float, until: float) -> float:
    """Time average, from ``since`` to ``until``, of a number that is 0 before its first change."""
    checks.require(since < until, f"be after since = {since}", until=until)
    area, time, count = 0.0, since, 0
    for when, new in counts:
        area += count * max(0.0, min(when, until) - time)
        time, count = max(time, min(when, until)), new
    return (area + count * (until - time)) / (until - since)


@dataclass(frozen=True)
class Little:
    """The three quantities of Little's law, each measured independently.

    Attributes:
        inside: time average of the number of requests inside.
        rate: arrivals per step.
        time: mean time that a request spends inside, in steps.
    """

    inside: float
    rate: float
    time: float

    @property
    def error(self) -> float:
        """Relative difference between ``rate * time`` and ``inside``."""
        return self.rate * self.time / self.inside - 1.0 if self.inside else 0.0


def little(run: Run, part: Part = "both") -> Little:
    """Little's law in a run, observed from 0 to the last arrival.

    The number inside is averaged over that time, the time inside over all requests. The law holds up to the requests
    that are still inside at the end.

    Raises:
        ValueError: there is no request, or all arrive at 0, so that the rate is undefined.

    Source: Little (1961), doi:10.1287/opre.9.3.383.
    """
    until = max(run.arrivals, default=0)
    if not until > 0:
        raise ValueError("run must have requests that come after 0: there is no rate")
    entries, exits = _entries_and_exits(run, part)
    stays = [left - entered for entered, left in zip(entries, exits, strict=True)]
    return Little(time_average(changes(run, part), 0.0, until), len(stays) / until, statistics.fmean(stays))
