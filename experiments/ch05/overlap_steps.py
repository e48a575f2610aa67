"""Buckets that fill, and the two streams of a backward pass: what two steppers draw. Standard library only.

>>> [transfer.end for transfer in transfers()]
[5.0, 8.0, 14.0, 16.0]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Arrow, Box, Label, Mark, Scene
from solutions.ch05.buckets import assign_buckets, exposed_communication

#: Gradients of seven layers in the order in which they become ready, MB, and the buckets' caps.
SIZES, CAPS = (6, 3, 8, 4, 2, 9, 1), (4, 10)
#: A model of four layers: milliseconds of computation and of communication for the gradients of each.
COMPUTE, SEND = (3, 3, 3, 3), (2, 2, 5, 2)


# Buckets


def bucket_scene(step: int) -> Scene:
    """The picture after ``step + 1`` buckets have been sent: gradients in a row, and below them the buckets."""
    sent = step + 1
    buckets = assign_buckets(SIZES, CAPS)
    across, width = 40, 34
    marks: list[Mark] = [
        Label(4, 13, "layer", "start", 11, quiet=True),
        Label(4, 34, "MB", "start", quiet=True),
        Label(4, 92, "bucket", "start", quiet=True),
    ]
    for index, size in enumerate(SIZES):
        bucket = next(number for number, members in enumerate(buckets) if index in members)
        ready, x = bucket < sent, 52 + across * index
        marks.append(Label(x + width / 2, 13, f"{len(SIZES) - index}", size=11, quiet=True))
        marks.append(Box(x, 18, width, 24, f"{size}", fill=0.7 * ready, strong=bucket == sent - 1))
        if ready:
            marks.append(Arrow(x + width / 2, 46, x + width / 2, 66))
    for number, members in enumerate(buckets[:sent]):
        x, held = 52 + across * members[0], sum(SIZES[index] for index in members)
        last = number == sent - 1
        box = (x, 70, across * len(members) - 6, 36, f"{held}", f"no. {number}")
        marks.append(Box(*box, tone="right", fill=0.7, strong=last))
    return Scene(52 + across * len(SIZES), 112, tuple(marks), _bucket_says(sent), _bucket_holds(sent))


def _bucket_says(sent: int) -> str:
    buckets = assign_buckets(SIZES, CAPS)
    sizes = [SIZES[index] for index in buckets[sent - 1]]
    held, cap = sum(sizes), CAPS[min(sent - 1, len(CAPS) - 1)]
    added = f"{' + '.join(map(str, sizes))} = {held}" if len(sizes) > 1 else f"{held}"
    if sent == 1:
        return (
            f"The last layer's gradient is ready first. Bucket 0 holds {added} MB, at least {cap}. It is full, and its "
            "all-reduce starts at once."
        )
    if held >= cap:
        return f"Bucket {sent - 1} holds {added} MB, at least {cap}. It is full, and its all-reduce starts at once."
    return f"The backward pass has ended. Bucket {sent - 1} is not full, with {held} MB, and is sent anyway."


def _bucket_holds(sent: int) -> str:
    buckets = [
        "layers " + ", ".join(f"{len(SIZES) - place}" for place in bucket) for bucket in assign_buckets(SIZES, CAPS)
    ]
    return f"Gradients of {', '.join(map(str, SIZES))} MB. Sent so far: {'; '.join(buckets[:sent])}."


# Streams


@dataclass(frozen=True)
class Transfer:
    """A bucket on the stream of communication.

    Attributes:
        ready: when its gradients are computed, ms.
        start: when it is sent: ready, and the bucket before it done.
        end: when it has been sent.
    """

    ready: float
    start: float
    end: float


def transfers(compute: Sequence[float] = COMPUTE, send: Sequence[float] = SEND) -> list[Transfer]:
    """When each bucket is ready, starts and ends."""
    found: list[Transfer] = []
    ready = free = 0.0
    for computing, sending in zip(compute, send, strict=True):
        ready += computing
        start = max(ready, free)
        free = start + sending
        found.append(Transfer(ready, start, free))
    return found


def stream_scene(step: int) -> Scene:
    """The picture after ``step + 1`` buckets have been sent: time runs to the right, one row for each stream."""
    sent = step + 1
    found, scale, left = transfers(), 17, 66
    marks: list[Mark] = [
        Label(4, 40, "compute", "start", quiet=True),
        Label(4, 76, "send", "start", quiet=True),
    ]
    for time in range(0, int(found[-1].end) + 1, 2):
        marks.append(Label(left + scale * time, 14, f"{time}", size=11, quiet=True))
    before = 0.0
    for index, one in enumerate(found):
        new = index == sent - 1
        box = (left + scale * before, 22, scale * (one.ready - before) - 2, 26, f"{index}")
        marks.append(Box(*box, fill=0.7 * (index < sent), strong=new))
        if index < sent:
            box = (left + scale * one.start, 58, scale * (one.end - one.start) - 2, 26, f"{index}")
            marks.append(Box(*box, tone="right", fill=0.7, strong=new))
        before = one.ready
    return Scene(left + scale * found[-1].end + 12, 92, tuple(marks), _stream_says(sent), _stream_holds(sent))


def _stream_says(sent: int) -> str:
    found = transfers()
    one, number = found[sent - 1], sent - 1
    waits = f", waits for bucket {number - 1}," if one.start > one.ready else ""
    said = f"Bucket {number} is ready at {one.ready:g} ms{waits} and is sent from {one.start:g} to {one.end:g} ms."
    if sent < len(found):
        return said
    exposed = exposed_communication(COMPUTE, SEND)
    return f"{said} The backward pass ended at {found[-1].ready:g} ms: {exposed:g} ms of communication is exposed."


def _stream_holds(sent: int) -> str:
    parts = [
        f"bucket {number} from {transfer.start:g} to {transfer.end:g} ms"
        for number, transfer in enumerate(transfers()[:sent])
    ]
    return f"Computing from 0 to {sum(COMPUTE)} ms, in four parts. Sending: {'; '.join(parts)}."
