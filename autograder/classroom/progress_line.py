"""Shows the progress of a class: one line that is rewritten on a terminal, or a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TextIO

from autograder.classroom.classes import Watch
from autograder.screen import fit

#: Seconds after which a running submission counts as slow; seconds between updates on a terminal, and elsewhere.
SLOW, LIVE, PLAIN = 5.0, 0.2, 15.0
#: How many slow submissions are named at most.
NAMED = 3


class Progress(Watch):
    """Writes the progress to ``stream``; ``clock`` returns seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self.stream, self.clock = stream, clock
        self.live = stream.isatty()
        self._began = self._said = clock()
        self._first: int | None = None
        self._width = 0

    def now(self, done: int, total: int, running: Mapping[str, float]) -> None:
        """Print the progress, unless it was printed a moment ago; the end is always printed."""
        if self._first is None:  # submissions of an earlier run do not count toward the rate
            self._first = done - 1 if done else 0
        moment = self.clock()
        if done < total and moment - self._said < (LIVE if self.live else PLAIN):
            return
        self._said = moment
        self._say(line(done, total, done - self._first, moment - self._began, running), done == total)

    def _say(self, text: str, last: bool) -> None:
        text = fit(text, self.stream)
        if not self.live:
            print(text, file=self.stream, flush=True)
            return
        print("\r" + text.ljust(self._width), end="\n" if last else "", file=self.stream, flush=True)
        self._width = len(text)


def line(done: int, total: int, new: int, seconds: float, running: Mapping[str, float]) -> str:
    """``"120 of 500 graded, 41.2 a second, about 9 s left; slow: anna (12 s)"``."""
    rate = new / seconds if seconds > 0 else 0.0
    text = f"{done} of {total} graded"
    if rate:
        text += f", {rate:.3g} a second"
        text += f", about {duration((total - done) / rate)} left" if done < total else f", {duration(seconds)}"
    slow = sorted(((age, name) for name, age in running.items() if age > SLOW), reverse=True)[:NAMED]
    return text + ("; slow: " + ", ".join(f"{name} ({age:.0f} s)" for age, name in slow) if slow else "")


def duration(seconds: float) -> str:
    """``"9 s"``, ``"3 min"``, ``"1.5 h"``."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
