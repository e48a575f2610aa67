"""Runs trusted programs: references and slips for the grader, a learner's own function for ``check``.

``call`` and ``calls`` items run in this process, ``tensor`` and ``world`` items in real worlds of processes, so that
the grader never imports torch. Where no process can be forked, ``tensor`` items run in this process too. Every value
passes the same checks of exact types as a reply from the sandbox.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from autograder.child import wire
from autograder.items import Build, Case
from autograder.marking import monitored_deadline, probing, stochastic, values
from autograder.marking.outcome import LOSSES, Outcome
from autograder.marking.plain import after, line_of, plain


class Late(BaseException):
    """A call took too long. It is not an Exception, so that a learner's ``except Exception`` does not swallow it."""


def run(item: Build, program: Callable[..., Any], cases: Sequence[Case], timeout: float = 10.0) -> list[Outcome]:
    """The outcome of ``program`` for each case; ``timeout`` is the limit for one case in seconds."""
    if item.grade in ("tensor", "world"):
        from autograder.marking import trusted_worlds

        if item.grade == "tensor" and not hasattr(os, "fork"):  # native Windows
            return [_limited(functools.partial(trusted_worlds.here, item, program, case), timeout) for case in cases]
        return trusted_worlds.run(item, program, cases, timeout)
    program = probing.driven(item, program)
    outcomes: list[Outcome] = []
    for case in cases:
        late = [outcome for outcome in outcomes if outcome.kind == "timeout"]
        untried = Outcome("timeout", detail=f"not tried: before, {late[0].detail}") if len(late) >= LOSSES else None
        outcomes.append(untried or _case(item, program, case, timeout))
    return outcomes


def _limited(ask: Callable[[], Outcome], timeout: float) -> Outcome:
    try:
        with deadline(timeout):
            return ask()
    except Late:
        return Outcome("timeout", detail=f"no answer within {timeout:g} s")


def _case(item: Build, program: Callable[..., Any], case: Case, timeout: float) -> Outcome:
    """The outcome of one case, run once for each process of the item, with the grader's conclusion."""
    parts = [attempt(program, asked, timeout) for asked in probing.for_processes(item, case)]
    return probing.with_conclusion(item, case, probing.joined(item, parts))


def moved(item: Build, cases: Sequence[Case], timeout: float = 10.0) -> list[list[Outcome]]:
    """For each way to round in ``stochastic``, the reference's outcome for each case."""
    if item.grade in ("tensor", "world"):
        from autograder.marking import trusted_worlds

        return trusted_worlds.moved(item, cases, timeout)
    program = stochastic.program(item.solution())
    return [_rounded(item, program, cases, timeout, rounding) for rounding in stochastic.RUNS]


def _rounded(
    item: Build, program: Callable[..., Any], cases: Sequence[Case], timeout: float, rounding: stochastic.Rounding
) -> list[Outcome]:
    outcomes = []
    for case in cases:
        stochastic.use(rounding)
        try:
            outcomes += run(item, program, [case], timeout)
        finally:
            stochastic.use(None)
    return outcomes


def attempt(program: Callable[..., Any], case: Case, timeout: float = 10.0) -> Outcome:
    """One case in this process."""
    args = values.fresh(list(case.args))
    kwargs = values.fresh(dict(case.kwargs))
    try:
        with deadline(timeout):
            value = _drive(program, case) if isinstance(program, type) else plain(program(*args, **kwargs))
    except Late:
        return Outcome("timeout", detail=f"no answer within {timeout:g} s")
    except wire.Refused as refusal:
        return Outcome("refused", detail=f"returned {refusal}")
    except KeyboardInterrupt:  # whoever waits for the result has had enough
        raise
    except BaseException as error:  # SystemExit, too
        return Outcome("raised", error=type(error).__name__, line=line_of(error), detail=str(error))
    return Outcome("value", value, arguments=after(case.args, args))


def _drive(program: Callable[..., Any], case: Case) -> list[Any]:
    """The answers of objects to the calls of a case, with ``("raises", class name)`` for a call that raised."""

    def make() -> Any:
        return program(*values.fresh(list(case.args)), **values.fresh(dict(case.kwargs)))

    answers: list[Any] = []
    objects = {"": make()}
    for index, (full_name, arguments) in enumerate(case.calls):
        owner, _, name = full_name.rpartition(".")
        try:
            if owner not in objects and not owner.startswith("#"):
                objects[owner] = make()
            value = getattr(objects[owner], name)
            objects[f"#{index}"] = value = value if arguments is None else value(*values.fresh(list(arguments)))
            answers.append(plain(value))
        except wire.Refused:
            raise
        except Exception as error:
            answers.append(("raises", type(error).__name__))
    return answers


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise :class:`Late` in the block after ``seconds``, repeatedly until it ends. Works only in the main thread.

    A system without timers that signal, Windows, needs Python 3.12, and no debugger that watches the same events.
    """
    timed = hasattr(signal, "setitimer")
    if sys.platform == "emscripten" or (not timed and _unwatched()):  # the browser has no signals
        with monitored_deadline.deadline(seconds, Late):
            yield
        return
    if threading.current_thread() is not threading.main_thread() or not timed:
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _unwatched() -> bool:
    """Whether Python can watch this process's calls and loops, and nothing else does, such as a debugger."""
    monitoring: Any = getattr(sys, "monitoring", None)
    return monitoring is not None and monitoring.get_tool(monitoring.DEBUGGER_ID) is None
