"""Chapter 07: what a run must keep to besides its values: messages of a pipeline, bytes of gradients and of tokens.

A rule sees the case, each rank's value and the events of all ranks; it returns a sentence or None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from autograder.items import Case, Stage
from rankzero.events import Event

#: Operations in which rows travel to one rank alone.
DIRECT = ("all_to_all", "send", "recv", "barrier")


def one_message_each_way(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every boundary is crossed twice for each micro-batch, by messages alone, in the order of each rank's list."""
    return _messages(case, events, sum("F" in op for op in case.args[0][1])) or _ahead(case, events)


def _ahead(case: Case, events: Sequence[Event]) -> str | None:
    """Before it has a gradient, a rank has sent no more activations than forward passes come before in its list.

    Whatever it says about its graphs, a rank whose messages run ahead of its list is seen.
    """
    for rank, (_, order, *_) in enumerate(case.args[:-1]):
        came = sorted(event.end for event in events if _between(event, rank, "recv"))
        sent = [event.start for event in events if _between(event, rank, "send")]
        due = [sum("F" in op for op in order[:place]) for place, op in enumerate(order) if "B" in op]
        for number, (when, most) in enumerate(zip(came, due, strict=False), start=1):
            before = sum(start < when for start in sent)
            if before > most:
                had = f"rank {rank} had sent {before} activations when gradient {number} came"
                return f"{had}: in its list there are {most}"
    return None


def pipelined_messages(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """The same for the loop to fix, whose cases name the number of micro-batches, in the order of 1F1B."""
    microbatches = case.args[0][3]
    return _messages(case, events, microbatches) or _warm_ups(len(case.args), microbatches, events)


def _warm_ups(ranks: int, microbatches: int, events: Sequence[Event]) -> str | None:
    """A rank asks for its first gradient after its warm-up and one forward pass more, or earlier."""
    for rank in range(ranks - 1):
        asked = min((event.start for event in events if _between(event, rank, "recv")), default=0.0)
        sent = sum(_between(event, rank, "send") and event.start < asked for event in events)
        if sent > min(microbatches, ranks - rank):
            first = min(microbatches, ranks - rank)
            return f"rank {rank} sent {sent} activations before it asked for a gradient: in the order of 1F1B, {first}"
    return None


def _between(event: Event, rank: int, operation: str) -> bool:
    """Whether it is a message of ``rank`` from or to the rank after it."""
    return event.rank == rank and event.operation == operation and event.peers == (rank + 1,)


def _messages(case: Case, events: Sequence[Event], microbatches: int) -> str | None:
    other = next((event for event in events if event.operation not in ("send", "recv")), None)
    if other is not None:
        return f"rank {other.rank} called {other.operation}: a pipeline needs messages between neighbors only"
    ranks, sent = len(case.args), sum(event.operation == "send" for event in events)
    right = 2 * (ranks - 1) * microbatches
    if sent == right:
        return None
    return (
        f"{sent} messages were sent; {microbatches} micro-batches cross {ranks - 1} boundaries twice, {right} messages"
    )


def reduced_once(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """No rank reduces more bytes than its stage's gradients have."""
    for rank, (stage, inputs, *_) in enumerate(case.args):
        reduced = sum(e.sent for e in events if e.rank == rank and e.operation not in ("send", "recv", "barrier"))
        size = gradient_bytes(stage)
        if reduced > size:
            times = f"{reduced / size:g} times" if len(inputs) > 1 else "more than once"
            return f"rank {rank} reduced its gradients {times}: they need to travel once, after the last backward pass"
    return None


def sync_needs(case: Case) -> list[int]:
    """Bytes that come to each rank: its stage's gradients, and an activation or its gradient per micro-batch."""
    needs = []
    for stage, inputs, _, shape in case.args:
        needs.append(gradient_bytes(stage) + len(inputs) * 4 * math.prod(shape))
    return needs


def gradient_bytes(stage: Stage) -> int:
    """Bytes of all parameters of a stage."""
    return sum(len(own.data) for _, *tensors in stage.layers for own in tensors if own is not None)


def rows_to_their_experts(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Rows go to the rank of their expert and to nobody else; counts may be told to everyone."""
    ranks, experts = len(case.args), case.args[0][4]
    told = 8 * experts * ranks * ranks  # what counts, of int64, can come to
    for event in events:
        if event.operation not in DIRECT and event.received > told:
            return f"rank {event.rank} called {event.operation}: send a row only to the rank of its expert"
    for rank, (x, _, chosen, *_) in enumerate(case.args):
        row = 8 * x.shape[1]
        out = chosen.shape[0] * chosen.shape[1]
        back = _rows_for(case, rank)
        sent = sum(event.sent for event in events if event.rank == rank)
        limit = 2 * (out + back) * row + 4 * told
        if sent > limit:
            return f"rank {rank} handed in {sent:,} bytes; its rows, out and back, and their gradients are {limit:,}"
    return None


def least_rows(case: Case) -> list[int]:
    """Bytes of rows that each rank lacks: tokens of others for its experts, and its own tokens' results elsewhere.

    A token goes to a rank once, even to several experts of it, and comes back from it once.
    """
    ranks, share = len(case.args), case.args[0][4] // len(case.args)
    row = 8 * case.args[0][0].shape[1]
    needs = [0] * ranks
    for owner, (_, _, chosen, *_) in enumerate(case.args):
        width = chosen.shape[1]
        places = [int(expert) // share for expert in chosen.tolist()]
        visits = {(place // width, rank) for place, rank in enumerate(places) if rank != owner}
        needs[owner] += row * len(visits)
        for _, rank in visits:
            needs[rank] += row
    return needs


def _rows_for(case: Case, rank: int) -> int:
    """Assignments, of all ranks, to the experts of one."""
    share = case.args[0][4] // len(case.args)
    return sum(int(e) // share == rank for args in case.args for e in args[2].tolist())
