"""Runs programs that are trusted: the reference and the slips for the grader, a learner's own function for ``check``.

``call`` and ``calls`` items run in this process, ``tensor`` and ``world`` items in real worlds of processes: torch
stays out of the grader. Every value passes the same gate of exact types as a reply of the sandbox.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from autograder import child_wire, probing, stochastic, values
from autograder.items import Build, Case, Stage, Tensor
from autograder.items import Iterator as OneShot
from autograder.outcome import Outcome

#: Arguments that a call is meant to change.
CHANGED = (OneShot, Stage)
#: After so many cases without an answer, the rest of a program's cases is not tried.
LOSSES = 2


class Late(BaseException):
    """A call took too long. No Exception, so that a learner's ``except Exception`` does not swallow it."""


def run(item: Build, program: Callable[..., Any], cases: Sequence[Case], timeout: float = 10.0) -> list[Outcome]:
    """What ``program`` makes of each case; ``timeout`` is in seconds for one case."""
    if item.grade in ("tensor", "world"):
        from autograder import trusted_worlds

        return trusted_worlds.run(item, program, cases, timeout)
    program = probing.driven(item, program)
    outcomes: list[Outcome] = []
    for case in cases:
        late = [outcome for outcome in outcomes if outcome.kind == "timeout"]
        untried = Outcome("timeout", detail=f"not tried: before, {late[0].detail}") if len(late) >= LOSSES else None
        outcomes.append(untried or _case(item, program, case, timeout))
    return outcomes


def _case(item: Build, program: Callable[..., Any], case: Case, timeout: float) -> Outcome:
    """One case, once for each process that the item asks about; its values stand for what the grader concludes."""
    parts = [attempt(program, asked, timeout) for asked in probing.asked(item, case)]
    return probing.concluded(item, case, probing.joined(item, parts))


def moved(item: Build, cases: Sequence[Case], timeout: float = 10.0) -> list[list[Outcome]]:
    """For each rounding of :mod:`autograder.stochastic`, what the reference makes of each case when it rounds so."""
    if item.grade in ("tensor", "world"):
        from autograder import trusted_worlds

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
    except child_wire.Refused as refusal:
        return Outcome("refused", detail=f"returned {refusal}")
    except Exception as error:
        return Outcome("raised", error=type(error).__name__, line=line_of(error), detail=str(error))
    return Outcome("value", value, arguments=after(case.args, args))


def _drive(program: Callable[..., Any], case: Case) -> list[Any]:
    """The answers of objects to the calls of a case; one that raised stands as ``("raises", class name)``."""

    def make() -> Any:
        return program(*values.fresh(list(case.args)), **values.fresh(dict(case.kwargs)))

    answers: list[Any] = []
    objects = {"": make()}
    for place, (full_name, arguments) in enumerate(case.calls):
        owner, _, name = full_name.rpartition(".")
        try:
            if owner not in objects and not owner.startswith("#"):
                objects[owner] = make()
            value = getattr(objects[owner], name)
            objects[f"#{place}"] = value = value if arguments is None else value(*values.fresh(list(arguments)))
            answers.append(plain(value))
        except child_wire.Refused:
            raise
        except Exception as error:
            answers.append(("raises", type(error).__name__))
    return answers


def after(sent: Sequence[Any], left: Sequence[Any]) -> tuple[Any, ...] | None:
    """The arguments as a call left them; a one-shot iterator and a stage, meant to be changed, as they were sent."""
    try:
        return tuple(old if isinstance(old, CHANGED) else plain(new) for old, new in zip(sent, left, strict=True))
    except child_wire.Refused:
        return None


def plain(value: Any) -> Any:
    """A copy of ``value`` made of plain types, tensors and arrays as :class:`Tensor`.

    Raises:
        child_wire.Refused: it holds anything else.
    """
    return values.decode(child_wire.encode(value, _special))


def _special(value: Any) -> Any:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if isinstance(value, Tensor):
        return values.encode(value)
    if torch is not None and isinstance(value, torch.Tensor):
        from autograder.child import tensor_parts

        return child_wire.tensor(*tensor_parts(torch, value))
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        from autograder.child import array_parts

        dtype, shape, data = array_parts(value)
        return child_wire.tensor(dtype, shape, data, "N")
    return None


def line_of(error: BaseException) -> int | None:
    """The innermost line of ``error`` in the file of the program that was called; a probe's own lines do not count."""
    step = error.__traceback__
    step = step.tb_next if step else None
    while step is not None and step.tb_next is not None and probing.is_probe(step.tb_frame.f_code.co_filename):
        step = step.tb_next
    file = step.tb_frame.f_code.co_filename if step else ""
    if probing.is_probe(file) or "site-packages" in file:
        return None  # the program had returned: what it gave could not be used
    line = None
    while step is not None:
        if step.tb_frame.f_code.co_filename == file:
            line = step.tb_lineno
        step = step.tb_next
    return line


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise :class:`Late` in the block after ``seconds``, and again until it ends. Works in the main thread alone."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
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
