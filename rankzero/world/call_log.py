"""The calls of one rank: what it called, from where, and what it is waiting for now.

A :class:`CallLog` belongs to one process. It records every operation in order. The operation that the rank is waiting
in also goes into the rank's *slot*, a piece of shared memory that the supervisor can read when the rank no longer
responds. The first byte of a slot is 0 when the slot is empty, ``!`` when the rank waits in the operation, and ``?``
when PyTorch's C++ code may be waiting for it: it is if the rank's stack ends inside PyTorch. The last bytes, ``TAIL``,
count the calls that were shown and say what can end the wait.
"""

from __future__ import annotations

import contextlib
import math
import struct
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Literal

from rankzero.world import source_locations
from rankzero.world.job import EventFields

#: Whether the rank waits in the operation of its slot (``!``), or may be waiting for it in C++ (``?``).
Sign = Literal["!", "?"]

#: The end of a slot: the number of calls shown so far, and what can end the wait.
TAIL = struct.Struct("!QB")
#: What can end a wait: perhaps something in this process, only another rank, or only another rank that writes to the
#: store, which this one reads again and again.
PERHAPS_ITSELF, ANOTHER_RANK, A_KEY = 0, 1, 2

# Where DistributedDataParallel communicates for its own purposes: it compares the parameters' shapes when it is built,
# and synchronizes the order of its buckets after the first iteration.
DDP_INTERNALS = {"_verify_param_shape_across_processes", "DistributedDataParallel._pre_forward"}


@dataclass(eq=False)
class Call:
    """One operation in progress, with the fields of :class:`rankzero.events.Event`; times are ``time.monotonic()``."""

    operation: str
    label: str  # the call as in the reader's code: isend(dst=1)
    peers: tuple[int, ...]
    sent: int
    received: int
    root: int | None
    where: str
    start: float
    end: float | None = None

    def __str__(self) -> str:
        return f"{self.label} at {self.where}" if self.where else self.label


class CallLog:
    """The operations of one rank, and the one it is waiting for now.

    ``limit`` is the time limit of the run in seconds: a wait with a shorter one of its own may end by itself.
    """

    def __init__(self, rank: int, slot: memoryview, limit: float = math.inf) -> None:
        self.rank, self.slot, self.start, self.limit = rank, slot, 0.0, limit
        self.count = 0  # calls shown
        self.calls: list[Call] = []
        self.object_call: Call | None = None  # the object collective in progress, if any
        self.shown: Call | None = None  # the call in the slot
        self.broken: tuple[BaseException, str] | None = None  # the last exception out of an operation, and the call

    def add(self, call: Call) -> None:
        """Record a call. If it is one step of an object collective, only copy its peers and root to the collective."""
        if self.object_call is None:
            self.calls.append(call)
            return
        self.object_call.peers = call.peers
        self.object_call.root = self.object_call.root if call.root is None else call.root

    def events(self) -> list[EventFields]:
        """The fields of the events, in the order of the calls; an operation that was never waited for ends now."""
        now = time.monotonic()
        return [self._event(call, now) for call in self.calls]

    def _event(self, call: Call, now: float) -> EventFields:
        start, end = call.start - self.start, (call.end or now) - self.start
        return (self.rank, call.operation, call.peers, call.sent, call.received, start, end, call.root, call.where)

    @contextlib.contextmanager
    def waiting(self, call: Call, seconds: float = math.inf, ended_by: int = ANOTHER_RANK) -> Iterator[None]:
        """Show ``call`` in the slot, as the operation that the rank waits in, until the block ends.

        The wait gives up after ``seconds``, and nothing but ``ended_by`` ends it before.
        """
        self.show(call, "!", seconds, ended_by)
        try:
            yield
        except BaseException as error:
            self.broken = (error, str(call))
            raise
        finally:
            self.hide(call)

    def show(self, call: Call, sign: Sign, seconds: float = math.inf, ended_by: int = ANOTHER_RANK) -> None:
        """Write a call into the slot; the rank waits for it for at most ``seconds``."""
        text = str(call).encode()[: len(self.slot) - TAIL.size - 2]
        self.slot[0] = 0
        self.slot[1 : len(text) + 2] = text + b"\0"
        self._count(ended_by if seconds >= self.limit else PERHAPS_ITSELF)
        self.slot[0] = ord(sign)
        self.shown = call

    def finish(self) -> None:
        """Say in the slot that the rank's function has ended, and whether anything still runs in the process."""
        self.slot[0] = 0
        self._count(ANOTHER_RANK)

    def _count(self, ended_by: int) -> None:
        self.count += 1
        TAIL.pack_into(self.slot, len(self.slot) - TAIL.size, self.count, ended_by if _alone() else PERHAPS_ITSELF)

    def hide(self, call: Call) -> None:
        """Empty the slot if it shows this call."""
        if self.shown is call:
            self.slot[0] = 0


def _alone() -> bool:
    """Whether this thread is the only one that runs Python, and no GPU works for the process."""
    cuda = sys.modules.get("torch.cuda")
    on_gpu = cuda is not None and cuda.is_initialized()
    return not on_gpu and len(sys._current_frames()) == 1 == threading.active_count()


@dataclass(frozen=True)
class Caller:
    """What the stack says about a call.

    Attributes:
        name: the public function that was called; empty if there is none.
        where: the reader's line; empty if there is none.
        internal: whether DistributedDataParallel made the call for its own purposes.
    """

    name: str
    where: str
    internal: bool


def caller(frame: FrameType | None, library_file: str) -> Caller:
    """Read the stack outward from ``frame`` to the reader's own code.

    The public function is the outermost function of ``library_file`` on the way. ``batch_isend_irecv`` does not count,
    because the reader wrote the operations that it is given.
    """
    while frame is not None and frame.f_code.co_filename.startswith(source_locations.OURS):
        frame = frame.f_back
    internal = frame is not None and frame.f_code.co_qualname in DDP_INTERNALS
    name = ""
    while frame is not None and not source_locations.is_user_code(frame.f_code.co_filename):
        function = frame.f_code.co_name
        if frame.f_code.co_filename == library_file and function[0] != "_" and function != "batch_isend_irecv":
            name = function
        frame = frame.f_back
    if frame is None:  # one of PyTorch's threads, as in a backward pass on a GPU: take the main thread's line
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
    place = source_locations.of_frame(frame)
    return Caller(name, str(place) if place else "", internal)
