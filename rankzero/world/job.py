"""What the processes of a run tell each other: the caller's job, the ranks' reports, and the outcome.

Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

OUTPUT_LIMIT = 2**20  # bytes of printed text kept for each rank
START_LIMIT = 120.0  # seconds that ranks may take to start and join the group

Backend = Literal["gloo", "nccl"]

#: How a run ended. ``stuck``: nothing moves any more, because the ranks wait for each other or one of them sleeps past
#: the time limit. ``not joined``: some rank did not join the group in time.
Ending = Literal["finished", "failed", "stuck", "timed out", "not joined"]

#: The fields of a :class:`rankzero.events.Event`, in order.
EventFields = tuple[int, str, tuple[int, ...], int, int, float, float, int | None, str]


class Job(NamedTuple):
    """What the caller asks for: the pickled call, and the environment it runs in."""

    call: bytes
    ranks: int
    timeout: float
    backend: Backend | None
    folder: str
    path: list[str]
    arguments: list[str]
    environment: dict[str, str]
    withheld: int | None = None  # a rank that is not started


@dataclass
class RankReport:
    """What a rank reports when its function has returned or raised.

    Attributes:
        state: whether the function returned (``finished``) or raised.
        value: what it returned, pickled.
        error: the exception's type and message, as Python prints them.
        places: the lines of the reader's code that the exception went through: file, line and function.
        lost: the operation in which the connection to another rank broke; empty if none did.
        refused: the message of an error in the caller's arguments; empty if there is none.
        time: ``time.monotonic()`` when the function ended.
        events: the operations that the rank called.
    """

    state: Literal["finished", "raised"]
    value: bytes = b""
    error: str = ""
    places: list[tuple[str, int, str]] = field(default_factory=list)
    lost: str = ""
    refused: str = ""
    time: float = 0.0
    events: list[EventFields] = field(default_factory=list)


@dataclass
class RankOutcome:
    """What the supervisor knows about one rank when the run is over.

    Attributes:
        report: the rank's own report; None if it sent none.
        waiting: the operation it was in, as :mod:`rankzero.world.call_log` writes it.
        stack: its stack, as :mod:`faulthandler` writes it.
        status: how it died, if it died by itself: the signal's number, or 256 plus the exit status.
        cause: why it died, as a clause, where something else than its status tells.
        output: the beginning of what it printed.
        dropped: the number of bytes it printed after that.
        absent: whether it was never started.
    """

    report: RankReport | None = None
    waiting: str = ""
    stack: str = ""
    status: int | None = None
    cause: str = ""
    output: bytes = b""
    dropped: int = 0
    absent: bool = False


class Outcome(NamedTuple):
    """How a run ended, the outcome of each rank, and the seconds from the start to the last report."""

    ending: Ending
    ranks: list[RankOutcome]
    seconds: float
