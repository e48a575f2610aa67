"""A log of what happened when: an event for each stage of each request, and a record of each step.

The stages of a request, in order: ``api`` (read and check), ``tokenizer``, ``queue`` (until it first runs, and again
after a preemption), then in every step ``scheduler``, ``runner`` (the forward pass and one sampled token) and
``detokenizer``; ``stream`` is the time from when a piece of text is ready until it has been sent to the client.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TextIO

Stage = Literal["api", "tokenizer", "queue", "scheduler", "runner", "detokenizer", "stream"]

#: How many events and how many steps a log keeps; it drops the oldest.
MAX_ENTRIES = 200_000


class Event(NamedTuple):
    """One stage of one request.

    Attributes:
        name: the stage.
        request: the request's name.
        start, end: seconds since the engine was created.
    """

    name: Stage
    request: str
    start: float
    end: float


@dataclass(frozen=True)
class Step:
    """One step of the engine.

    Attributes:
        number: 0, 1, 2, ...
        start, end: seconds since the engine was created.
        scheduled: the scheduled requests in the scheduler's order, each with its number of tokens.
        prefill: how many of these tokens belong to prompts or are computed again after a preemption.
        decode: how many do not: one for each request that is decoding.
        computed: tokens that went through the model; fewer than scheduled if prefixes were cached.
        preempted: requests that lost their blocks in this step.
        blocks: blocks that requests hold after the step, not counting those that only the prefix cache holds.
    """

    number: int
    start: float
    end: float
    scheduled: tuple[tuple[str, int], ...]
    prefill: int
    decode: int
    computed: int
    preempted: tuple[str, ...]
    blocks: int


class Log:
    """Events and steps of one engine; several threads may write at the same time.

    Args:
        file: also receives every event, as a line of JSON.
        clock: returns seconds; the log counts from the clock's first value.
    """

    def __init__(self, file: TextIO | None = None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.events: deque[Event] = deque(maxlen=MAX_ENTRIES)
        self.steps: deque[Step] = deque(maxlen=MAX_ENTRIES)
        self._file, self._clock, self._zero = file, clock, clock()
        self._writing = threading.Lock()

    def now(self) -> float:
        """Seconds since the log was created."""
        return self._clock() - self._zero

    def add(self, name: Stage, request: str, start: float, end: float | None = None) -> None:
        """Record a stage of a request; with ``end`` None it ends now."""
        event = Event(name, request, start, self.now() if end is None else end)
        self.events.append(event)
        if self._file is not None:
            with self._writing:
                self._file.write(json.dumps(event._asdict()) + "\n")

    def flush(self) -> None:
        """Write buffered events to the file."""
        if self._file is not None:
            with self._writing:
                self._file.flush()
