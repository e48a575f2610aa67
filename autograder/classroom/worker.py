"""Asks one submission of a class: the part of grading that runs side by side, in threads or on other machines.

No expected value is needed for it. Arguments and results can be pickled, so that any ``concurrent.futures`` executor
can carry it out; each process makes its exam and its sandbox once.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from autograder import collecting, judge, process, report, submission
from autograder.answers import Answers
from autograder.collecting import Handed
from autograder.exam import Exam
from autograder.runner import Limits
from autograder.sandbox import Launch, Sandbox


class Stopped(Exception):
    """The grading of a class is being stopped: no child is started any more."""


@dataclass(frozen=True)
class Spec:
    """What a worker must know to ask a submission. It holds the key: the inputs are drawn with it.

    Attributes:
        items: ids of the items asked.
        key: the secret key.
        questions: ids of the questions that count.
        points: what items are worth, by id, where that is not what the bank says.
        level: of the sandbox: ``required``, ``best`` or ``none``.
        limits: of time; those of the exam when left out.
        per_submission: every submission is asked inputs of its own.
    """

    items: tuple[str, ...]
    key: bytes = field(repr=False)
    questions: tuple[str, ...] = ()
    points: tuple[tuple[str, float], ...] = ()
    level: str = "required"
    limits: Limits | None = None
    per_submission: bool = False

    def exam(self) -> Exam:
        """The items of the bank at these points, with the key."""
        from autograder import bank

        worth = dict(self.points)
        builds: Iterable[Any] = map(bank.find, self.items)
        items = [replace(item, points=worth[item.id]) if item.id in worth else item for item in builds]
        return Exam(items, self.key, [bank.find(name) for name in self.questions])  # type: ignore[misc]

    def exam_for(self, exam: Exam, sha256: str) -> Exam:
        """The exam of one submission: ``exam`` itself, unless every submission has inputs of its own."""
        return exam.for_submission(sha256) if self.per_submission else exam


class _Stoppable(Sandbox):
    """A sandbox that starts nothing once the class is being stopped."""

    def launch(self, *args: Any, **kwargs: Any) -> Launch:
        if _STOPPING.is_set():
            raise Stopped
        return super().launch(*args, **kwargs)


_STOPPING = threading.Event()
_MAKING = threading.Lock()


@functools.lru_cache(maxsize=2)
def _made(spec: Spec) -> tuple[Exam, Sandbox]:
    box = Sandbox.measure(spec.level)
    return spec.exam(), _Stoppable(**{part.name: getattr(box, part.name) for part in fields(box)})


def tools(spec: Spec) -> tuple[Exam, Sandbox]:
    """The exam and the sandbox of this process, made once.

    Raises:
        SandboxRefused: isolation is required, and this machine does not give it.
    """
    with _MAKING:
        return _made(spec)


def about(spec: Spec) -> dict[str, str]:
    """What a worker says of itself: its sandbox, its grader, its interpreter."""
    _, sandbox = tools(spec)
    python = f"{sys.implementation.name} {sys.version.split()[0]}"
    return {"sandbox": sandbox.line, "grader": report.version(), "interpreter": python}


def ask_one(spec: Spec, handed: Handed) -> dict[str, Any]:
    """What one submission answers, as plain data (:meth:`Answers.to_json`). Never raises for what a submission does."""
    exam, sandbox = tools(spec)
    try:
        loaded = collecting.load(handed)
    except submission.Unreadable as error:
        return Answers(handed.name, reason=str(error), sandbox=sandbox.line).to_json()
    return judge.ask(loaded, spec.exam_for(exam, loaded.sha256), sandbox, spec.limits).to_json()


def go() -> None:
    """Allow children to be started."""
    _STOPPING.clear()


def stop() -> None:
    """End every living child of this process; none is started any more. To be repeated until the workers have ended."""
    _STOPPING.set()
    for child in list(process.ALIVE):
        for end in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                end(child.pid, signal.SIGKILL)
