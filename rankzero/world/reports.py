"""What happened to each rank, in words: the message of a :class:`WorldError`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

from rankzero.world import serialization, source_locations
from rankzero.world.job import Ending, RankOutcome, RankReport

LAST_LINES = 10  # lines of each rank's output that a notebook shows below the error

#: What a rank was doing when its world ended; a ``missing`` rank was never started.
State = Literal["finished", "raised", "waiting", "running", "died", "missing"]


@dataclass(frozen=True)
class Report:
    """What one rank was doing when its world ended.

    Attributes:
        rank: its rank.
        state: what it was doing, in one word.
        what: the same in a phrase: ``waits in send(dst=1) at line 4``.
        traceback: the lines of the reader's code that an exception went through, and the exception; empty unless the
            rank raised one.
    """

    rank: int
    state: State
    what: str
    traceback: str = ""


class WorldError(RuntimeError):
    """A world that did not finish.

    ``str(error)`` says what each rank was doing; ``error.reports`` has the same by rank, and ``error.lines`` what each
    rank had printed by then.
    """

    def __init__(self, sentence: str, reports: Sequence[Report] = (), lines: Sequence[tuple[str, ...]] = ()) -> None:
        super().__init__(sentence, reports, lines)
        self.sentence, self.reports, self.lines = sentence, tuple(reports), tuple(lines)

    def __str__(self) -> str:
        return self.sentence

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the message and the last printed lines, without the frames of this package."""
        rows = [f"{type(self).__name__}: {self}"]
        for rank, lines in enumerate(self.lines):
            rows += [f"\nRank {rank} had printed:", *lines[-LAST_LINES:]] if lines else []
        return rows


def interrupted(ranks: int) -> KeyboardInterrupt:
    """The exception for a run of ``ranks`` processes that was interrupted, after all of them have been killed.

    No code is at fault, so a notebook or a script that it ends shows only the message, without a traceback. It is a
    plain ``KeyboardInterrupt`` because only then does the shell learn that the script was interrupted.
    """
    error = KeyboardInterrupt(f"interrupted: the world's {ranks} rank{'s have' if ranks > 1 else ' has'} been stopped")
    error._render_traceback_ = lambda: [str(error)]  # type: ignore[attr-defined]
    if not isinstance(sys.excepthook, _InterruptHook):
        sys.excepthook = _InterruptHook(sys.excepthook)
    return error


class _InterruptHook:
    """An exception hook that prints our interrupts as one line and leaves other exceptions to the hook before it."""

    def __init__(self, before: Callable[..., Any]) -> None:
        self.before = before

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if kind is KeyboardInterrupt and hasattr(error, "_render_traceback_"):
            print(error, file=sys.stderr)
        else:
            self.before(kind, error, trace)


def explain(
    ending: Ending, found: list[RankOutcome], timeout: float | None, lines: Sequence[tuple[str, ...]] = ()
) -> WorldError:
    """The error for a run that did not finish.

    Args:
        ending: how it ended.
        found: the outcome of each rank.
        timeout: the run's time limit, seconds; None where the run did not wait for it.
        lines: what each rank printed.
    """
    first = _first_to_fail(found) if ending == "failed" else None
    reports = tuple(_report(rank, outcome, rank == first) for rank, outcome in enumerate(found))
    if first is not None:
        sentence = _sentence([reports[first], *(report for report in reports if report.rank != first)])
        traceback = reports[first].traceback
        return WorldError(f"{sentence}\n\nRank {first}: {traceback}" if traceback else sentence, reports, lines)
    if ending == "not joined":
        here = [report for report in reports if report.state != "missing"]
        absent = [report for report in reports if report.state == "missing"]
        joined = f"{len(here)} of {len(reports)} ranks joined, {_sentence(absent)}; " if absent else ""
        return WorldError(f"the ranks did not meet: {joined}{_sentence(here)}", reports, lines)
    unfinished = [report for report in reports if report.state != "finished"]
    if ending == "stuck" and unfinished and all(report.state == "waiting" for report in unfinished):
        return WorldError(f"deadlock: {_sentence(reports)}", reports, lines)
    after = "" if timeout is None else f" after {max(f'{timeout:.1f}', f'{timeout:g}', key=len)} s"
    return WorldError(f"timed out{after}: {_sentence(reports)}", reports, lines)


def returned(reports: Sequence[RankReport], lines: Sequence[tuple[str, ...]]) -> tuple[Any, ...]:
    """What the ranks returned, by rank.

    Raises:
        WorldError: a value cannot be made again in this process.
    """
    values = []
    for rank, report in enumerate(reports):
        try:
            values.append(serialization.unpack(report.value))
        except Exception as error:
            what = f"what rank {rank} returned cannot be made again here: {type(error).__name__}: {error}"
            raise WorldError(what, (), lines) from None
    return tuple(values)


def _sentence(reports: Iterable[Report]) -> str:
    return "; ".join(f"rank {report.rank} {report.what}" for report in reports)


def _report(rank: int, outcome: RankOutcome, first: bool) -> Report:
    """One rank in words; a lost connection excuses every rank but the ``first`` to fail."""
    if outcome.absent:
        return Report(rank, "missing", "is missing")
    if outcome.report is not None:
        return _reported(rank, outcome.report, first)
    place = source_locations.of_dump(outcome.stack)
    if outcome.status is not None:
        return Report(rank, "died", f"died: {outcome.cause or _cause(outcome.status)}{_at(place)}")
    in_backward = outcome.waiting.startswith("?") and source_locations.is_in_torch(outcome.stack)
    if outcome.waiting.startswith("!") or in_backward:
        return Report(rank, "waiting", f"waits in {_short(outcome.waiting[1:])}")
    return Report(rank, "running", f"is computing{_at(place)}")


def _reported(rank: int, report: RankReport, first: bool) -> Report:
    if report.state == "finished":
        return Report(rank, "finished", "has finished")
    if report.lost and not first:
        return Report(rank, "waiting", f"waits in {_short(report.lost)}")
    lines = [source_locations.Location(*place) for place in report.places]
    message = report.error.strip()
    named = (line for line in message.splitlines() if not line.startswith((" ", 'File "')))  # as a SyntaxError begins
    error = next(named, message)
    what = f"raised {error}{_at(lines[-1] if lines else None)}"
    return Report(rank, "raised", what, source_locations.as_traceback(lines, message))


def _first_to_fail(found: list[RankOutcome]) -> int:
    """The rank that caused the failure: one that died, else the one with the earliest exception of its own.

    An exception from a lost connection counts only if there is no other. If several ranks raised the same exception,
    it is the lowest rank, whichever was faster.
    """
    for rank, outcome in enumerate(found):
        if outcome.report is None and outcome.status is not None:
            return rank
    raised = {
        rank: outcome.report
        for rank, outcome in enumerate(found)
        if outcome.report and outcome.report.state == "raised"
    }
    own = {rank: report for rank, report in raised.items() if not report.lost} or raised
    earliest = min(own.values(), key=lambda report: report.time)
    return min(rank for rank, report in own.items() if report.error == earliest.error)


def _cause(status: int) -> str:
    """How a process died, in words, from the ``status`` of a :class:`rankzero.world.job.RankOutcome`."""
    if status >= 256:
        return f"it left with exit status {status - 256} before its function returned"
    names = {
        signal.SIGSEGV: "segmentation fault",
        signal.SIGABRT: "abort",
        signal.SIGKILL: "killed, out of memory perhaps",
    }
    try:
        number = signal.Signals(status)
    except ValueError:  # most real-time signals have no name
        return f"signal {status}"
    return f"{names.get(number, 'signal')} ({number.name})"


def _at(place: source_locations.Location | None) -> str:
    return f" at {_short(str(place))}" if place else ""


def _short(text: str) -> str:
    """``text`` without the word "cell": its reader is looking at the cell, so ``line 4`` is enough."""
    return text.replace(" at cell line ", " at line ").removeprefix("cell ")
