"""What became of each rank, in words: the sentence of a :class:`WorldError`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from rankzero import places
from rankzero.warden import Found

LAST_LINES = 10  # of a rank's output, shown under its world's error in a notebook


@dataclass(frozen=True)
class Report:
    """What one rank did when its world ended.

    Attributes:
        rank: its number.
        state: ``finished``, ``raised``, ``waiting``, ``running``, ``died`` or ``missing``.
        what: the same in words: ``waits in send(dst=1) at line 4``.
        traceback: the rank's own lines that an exception went through, and the exception; empty in the other states.
    """

    rank: int
    state: str
    what: str
    traceback: str = ""


class WorldError(RuntimeError):
    """A world that did not finish.

    ``str(error)`` says what each rank was doing, ``error.reports`` holds it by rank, ``error.lines`` what each rank had
    printed by then.
    """

    def __init__(self, sentence: str, reports: Sequence[Report] = (), lines: Sequence[tuple[str, ...]] = ()) -> None:
        super().__init__(sentence, reports, lines)
        self.sentence, self.reports, self.lines = sentence, tuple(reports), tuple(lines)

    def __str__(self) -> str:
        return self.sentence

    def _render_traceback_(self) -> list[str]:
        """In a notebook: the sentence, and the last lines that were printed; our own frames help nobody."""
        rows = [f"{type(self).__name__}: {self}"]
        for rank, lines in enumerate(self.lines):
            rows += [f"\nRank {rank} had printed:", *lines[-LAST_LINES:]] if lines else []
        return rows


def interrupted(ranks: int) -> KeyboardInterrupt:
    """The exception for a run of ``ranks`` processes that was stopped by hand, when all of them have been ended.

    Nobody's code is at fault, so a notebook, and an interpreter that it ends, show its sentence without any frames. It
    is no class of its own: by a plain ``KeyboardInterrupt`` alone the shell learns that the script was interrupted.
    """
    error = KeyboardInterrupt(f"interrupted: the world's {ranks} rank{'s have' if ranks > 1 else ' has'} been ended")
    error._render_traceback_ = lambda: [str(error)]  # type: ignore[attr-defined]
    if not isinstance(sys.excepthook, _Hook):
        sys.excepthook = _Hook(sys.excepthook)
    return error


class _Hook:
    """What the interpreter does with an exception that nobody caught: an interrupt is a line, all others as before."""

    def __init__(self, before: Callable[..., Any]) -> None:
        self.before = before

    def __call__(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if kind is KeyboardInterrupt and hasattr(error, "_render_traceback_"):
            print(error, file=sys.stderr)
        else:
            self.before(kind, error, trace)


def explain(why: str, found: list[Found], timeout: float, lines: Sequence[tuple[str, ...]] = ()) -> WorldError:
    """The error for a run that was ``failed``, ``late`` or ``unborn``, from what the warden found of each rank."""
    first = _first(found) if why == "failed" else None
    reports = tuple(_report(rank, one, rank == first) for rank, one in enumerate(found))
    if first is not None:
        sentence = _sentence([reports[first], *(report for report in reports if report.rank != first)])
        traceback = reports[first].traceback
        return WorldError(f"{sentence}\n\nRank {first}: {traceback}" if traceback else sentence, reports, lines)
    if why == "unborn":
        here = [report for report in reports if report.state != "missing"]
        absent = [report for report in reports if report.state == "missing"]
        joined = f"{len(here)} of {len(reports)} ranks joined, {_sentence(absent)}; " if absent else ""
        return WorldError(f"the ranks did not meet: {joined}{_sentence(here)}", reports, lines)
    stuck = all(report.state == "waiting" for report in reports if report.state != "finished")
    return WorldError(
        f"{'deadlock' if stuck else 'timed out'} after {timeout:.1f} s: {_sentence(reports)}", reports, lines
    )


def _sentence(reports: Iterable[Report]) -> str:
    return "; ".join(f"rank {report.rank} {report.what}" for report in reports)


def _report(rank: int, found: Found, first: bool) -> Report:
    """One rank in words; the ``first`` to fail is not excused by a lost connection."""
    if found.absent:
        return Report(rank, "missing", "is missing")
    if found.report is not None:
        return _reported(rank, found.report, first)
    place = places.of_dump(found.stack)
    if found.status is not None:
        return Report(rank, "died", f"died: {_cause(found.status)}{_at(place)}")
    in_backward = found.waiting.startswith("?") and places.rests_in_library(found.stack)
    if found.waiting.startswith("!") or in_backward:
        return Report(rank, "waiting", f"waits in {_short(found.waiting[1:])}")
    return Report(rank, "running", f"is computing{_at(place)}")


def _reported(rank: int, report: dict[str, Any], first: bool) -> Report:
    if report["state"] == "finished":
        return Report(rank, "finished", "has finished")
    if report["lost"] and not first:
        return Report(rank, "waiting", f"waits in {_short(report['lost'])}")
    lines = [places.Place(*place) for place in report["places"]]
    message = report["error"].strip()
    what = f"raised {message.splitlines()[0]}{_at(lines[-1] if lines else None)}"
    return Report(rank, "raised", what, places.as_traceback(lines, message))


def _first(found: list[Found]) -> int:
    """The rank whose failure came first and was nobody else's: a death, else the earliest exception of its own.

    Of ranks that failed alike it is the lowest, whichever was faster.
    """
    for rank, one in enumerate(found):
        if one.report is None and one.status is not None:
            return rank
    raised = {rank: one.report for rank, one in enumerate(found) if one.report and one.report["state"] == "raised"}
    own = {rank: report for rank, report in raised.items() if not report["lost"]} or raised
    earliest = min(own.values(), key=lambda report: report["time"])
    return min(rank for rank, report in own.items() if report["error"] == earliest["error"])


def _cause(status: int) -> str:
    """How a process ended, in words; the numbers are those of :class:`rankzero.warden.Found`."""
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


def _at(place: places.Place | None) -> str:
    return f" at {_short(str(place))}" if place else ""


def _short(text: str) -> str:
    """In a sentence a line of the cell is a line: the reader looks at the cell."""
    return text.replace(" at cell line ", " at line ").removeprefix("cell ")
