"""The calls of one rank: what it called, from where, and what it waits for now.

A :class:`Log` belongs to one process. It keeps every operation in order, and in its *slot*, a piece of memory that the
warden can read when the rank no longer answers, the operation the rank waits in. The first byte of a slot is 0 when it
is empty, ``!`` when the rank waits there, ``?`` when the library's C++ may: it does if the stack rests in the library.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

from rankzero import places

# DistributedDataParallel talking about itself: shapes when it is made, the order of buckets after its first pass.
HOUSEKEEPING = {"_verify_param_shape_across_processes", "DistributedDataParallel._pre_forward"}


@dataclass(eq=False)
class Call:
    """One operation under way; the fields are those of :class:`rankzero.events.Event`, on the machine's clock."""

    operation: str
    label: str  # as the reader wrote it: isend(dst=1)
    peers: tuple[int, ...]
    sent: int
    received: int
    root: int | None
    where: str
    start: float
    end: float | None = None

    def __str__(self) -> str:
        return f"{self.label} at {self.where}" if self.where else self.label


class Log:
    """The operations of one rank, and the one it waits for now."""

    def __init__(self, rank: int, slot: memoryview) -> None:
        self.rank, self.slot, self.start = rank, slot, 0.0
        self.calls: list[Call] = []
        self.whole: Call | None = None  # the object collective under way, if any
        self.shown: Call | None = None  # what stands in the slot
        self.broken: tuple[BaseException, str] | None = None  # an exception that left an operation, and which

    def add(self, call: Call) -> None:
        """Keep a call; if it is part of an object collective, that one learns its peers and root instead."""
        if self.whole is None:
            self.calls.append(call)
            return
        self.whole.peers = call.peers
        self.whole.root = self.whole.root if call.root is None else call.root

    def events(self) -> list[tuple]:
        """The fields of the events, in the order of the calls; one that was never waited for ends now."""
        now = time.monotonic()
        return [self._event(call, now) for call in self.calls]

    def _event(self, call: Call, now: float) -> tuple:
        start, end = call.start - self.start, (call.end or now) - self.start
        return (self.rank, call.operation, call.peers, call.sent, call.received, start, end, call.root, call.where)

    @contextlib.contextmanager
    def waiting(self, call: Call) -> Iterator[None]:
        """While this lasts, the rank waits in ``call``, for everyone to read."""
        self.show(call, "!")
        try:
            yield
        except BaseException as error:
            self.broken = (error, str(call))
            raise
        finally:
            self.hide(call)

    def show(self, call: Call, sign: str) -> None:
        """Put a call into the slot."""
        text = str(call).encode()[: len(self.slot) - 2]
        self.slot[0] = 0
        self.slot[1 : len(text) + 2] = text + b"\0"
        self.slot[0] = ord(sign)
        self.shown = call

    def hide(self, call: Call) -> None:
        """Empty the slot, if this call stands in it."""
        if self.shown is call:
            self.slot[0] = 0


@dataclass(frozen=True)
class Caller:
    """What the stack says of a call: the public function, the reader's line, whether the library talks about itself."""

    name: str
    where: str
    housekeeping: bool


def caller(frame: FrameType | None, library_file: str) -> Caller:
    """Read the stack outwards from ``frame`` to the reader's own code.

    The public function is the outermost one of ``library_file`` on the way; ``batch_isend_irecv`` does not count, its
    operations are the reader's.
    """
    while frame is not None and frame.f_code.co_filename.startswith(places.OURS):
        frame = frame.f_back
    housekeeping = frame is not None and frame.f_code.co_qualname in HOUSEKEEPING
    name = ""
    while frame is not None and not places.is_readers(frame.f_code.co_filename):
        function = frame.f_code.co_name
        if frame.f_code.co_filename == library_file and function[0] != "_" and function != "batch_isend_irecv":
            name = function
        frame = frame.f_back
    if frame is None:  # a thread of the library, as in a backward pass on a GPU: the reader's line is the main thread's
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
    place = places.of_frame(frame)
    return Caller(name, str(place) if place else "", housekeeping)
