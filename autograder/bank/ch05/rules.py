"""Chapter 5: what the ranks may call, and how many bytes they may hand in. A single rank may call anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograder.items import Case
from rankzero.events import Event

Values = Sequence[Any]
Events = Sequence[Event]


def gradients_once(case: Case, values: Values, events: Events) -> str | None:
    """As many all-reduces as the function reports, at most two more for small values, and each distinct gradient once.

    The facts are the counts of rows and, for each parameter, on how many ranks it has a gradient.
    """
    if len(case.args) == 1:
        return None
    frozen = case.kwargs.get("frozen", ())
    size = {"float64": 8, "float32": 4, "bfloat16": 2}[case.kwargs.get("dtype", "float64")]
    for rank, (gradients, *_) in enumerate(case.args):
        elements = sum(math.prod(g.shape) for place, g in enumerate(gradients) if place not in frozen)
        mine = [event for event in events if event.rank == rank]
        other = next((event.operation for event in mine if event.operation != "all_reduce"), None)
        if other:
            return f"rank {rank} called {other}: gradients and counts are all-reduced"
        told = values[rank]["reductions"]
        if not told <= len(mine) <= told + 2:
            return (
                f"rank {rank} called {len(mine)} all-reduces and told of {told}; "
                "one or two more tell how many rows there are and which gradients are None"
            )
        sent, most = sum(event.sent for event in mine), elements * size + 16 * (len(mine) + len(gradients) + 1)
        if sent > most:
            return f"rank {rank} handed in {sent:,} bytes; each distinct gradient once is {elements * size:,} bytes"
    return None


def one_exchange(case: Case, _values: Values, events: Events) -> str | None:
    """In each step one reduce-scatter of the gradients and one all-gather of the weights, in fp32 at most."""
    ranks = len(case.args)
    if ranks == 1:
        return None
    shapes, steps = case.args[0][:2]
    frozen = case.kwargs.get("frozen", ())
    slice_bytes = 4 * -(-sum(math.prod(s) for place, s in enumerate(shapes) if place not in frozen) // ranks)
    allowed = {"reduce_scatter": ranks * slice_bytes, "all_gather": slice_bytes}
    return _exactly(ranks, steps, allowed, events, "a step scatters gradients and gathers weights, once each")


def one_way_each(case: Case, _values: Values, events: Events) -> str | None:
    """One all-gather of the slices forward, one reduce-scatter of the whole gradient backward."""
    ranks = len(case.args)
    if ranks == 1:
        return None
    slice_bytes = len(case.args[0][0].data)
    allowed = {"all_gather": slice_bytes, "reduce_scatter": ranks * slice_bytes}
    return _exactly(ranks, 1, allowed, events, "gather the slices forward, reduce-scatter their gradients backward")


def one_reduction(case: Case, _values: Values, events: Events) -> str | None:
    """One reduce-scatter of the whole gradient, padded."""
    ranks = len(case.args)
    if ranks == 1:
        return None
    gradient = case.args[0][0]
    element = len(gradient.data) // math.prod(gradient.shape)
    allowed = {"reduce_scatter": ranks * element * -(-math.prod(gradient.shape) // ranks)}
    return _exactly(ranks, 1, allowed, events, "the gradient goes through one reduce-scatter")


def _exactly(ranks: int, times: int, allowed: dict[str, int], events: Events, why: str) -> str | None:
    """On every rank these operations, each ``times`` times, of at most so many bytes."""
    for rank in range(ranks):
        mine = [event for event in events if event.rank == rank]
        for event in mine:
            if event.sent > allowed.get(event.operation, -1):
                return f"rank {rank} handed {event.sent:,} bytes to {event.operation}: {why}"
        for name in allowed:
            count = sum(event.operation == name for event in mine)
            if count != times:
                return f"rank {rank} called {name} {count} times instead of {times}: {why}"
    return None
