"""What happened when: an event for each stage of each request, and a record of each step.

The stages of a request, in order: ``api`` (read and check), ``tokenizer``, ``queue`` (until it first runs, and again
after a preemption), then in every step ``scheduler``, ``runner`` (the forward pass and one sampled token) and
``detokenizer``; ``stream`` is one piece of text on its way to the client.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TextIO

#: What a log keeps; the oldest entries go first.
MOST_ENTRIES = 200_000


class Event(NamedTuple):
    """One stage of one request.

    Attributes:
        name: of the stage.
        request: its name.
        start, end: seconds since the engine was made.
    """

    name: str
    request: str
    start: float
    end: float


@dataclass(frozen=True)
class Step:
    """One step of the engine.

    Attributes:
        number: 0, 1, 2, ...
        start, end: seconds since the engine was made.
        scheduled: requests and the tokens that the scheduler gave each, in its order.
        prefill: of these tokens, those of prompts (and those that a preempted request computes again).
        decode: the others: one for each request that had produced a token before.
        computed: tokens that went through the model; fewer than scheduled where a prefix was cached.
        preempted: requests that lost their blocks in this step.
        blocks: that hold tokens of requests after the step; those that only the prefix cache keeps do not count.
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
    """Events and steps of one engine; threads may write side by side.

    Args:
        file: gets every event as a line of JSON as well.
        clock: seconds; its value at the start is 0 in the log.
    """

    def __init__(self, file: TextIO | None = None, clock: Callable[[], float] = time.perf_counter) -> None:
        self.events: deque[Event] = deque(maxlen=MOST_ENTRIES)
        self.steps: deque[Step] = deque(maxlen=MOST_ENTRIES)
        self._file, self._clock, self._zero = file, clock, clock()
        self._writing = threading.Lock()

    def now(self) -> float:
        """Seconds since the log was made."""
        return self._clock() - self._zero

    def add(self, name: str, request: str, start: float, end: float | None = None) -> None:
        """Note a stage of a request; it ends now when ``end`` is None."""
        event = Event(name, request, start, self.now() if end is None else end)
        self.events.append(event)
        if self._file is not None:
            with self._writing:
                self._file.write(json.dumps(event._asdict()) + "\n")

    def flush(self) -> None:
        """Have the file hold every event so far."""
        if self._file is not None:
            with self._writing:
                self._file.flush()
