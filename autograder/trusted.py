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

from autograder import child_wire, probing, values
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
        outcomes.append(attempt(program, case, timeout) if len(late) < LOSSES else late[-1])
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
    for full_name, arguments in case.calls:
        owner, _, name = full_name.rpartition(".")
        try:
            if owner not in objects:
                objects[owner] = make()
            value = getattr(objects[owner], name)
            answers.append(plain(value if arguments is None else value(*values.fresh(list(arguments)))))
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
        return child_wire.tensor(value.dtype, value.shape, value.data)
    if torch is not None and isinstance(value, torch.Tensor):
        from autograder.child import tensor_parts

        return child_wire.tensor(*tensor_parts(torch, value))
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return child_wire.tensor(value.dtype.name, value.shape, value.tobytes())
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
