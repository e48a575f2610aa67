"""Runs one submission of a class and collects its answers: the parallel part of grading, in threads or on machines.

It needs no expected values. Arguments and results can be pickled, so any ``concurrent.futures`` executor can run it.
Each process creates its exam and its sandbox once.
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

from autograder import bank, submission
from autograder.classroom import collecting
from autograder.classroom.collecting import Handed
from autograder.marking import report
from autograder.marking.answers import Answers
from autograder.running import judging, process
from autograder.running.exam import Exam
from autograder.running.limits import Limits
from autograder.sandbox import Launch, Level, Sandbox


class Stopped(Exception):
    """The grading of a class is being stopped, so no further child may start."""


@dataclass(frozen=True)
class Spec:
    """What a worker must know to run a submission, including the key from which the inputs are drawn.

    Attributes:
        items: ids of the items that are asked.
        key: the secret key.
        questions: ids of the questions that count.
        points: pairs of an item's id and the points it is worth, for items that differ from the bank.
        level: level of the sandbox: ``required``, ``best`` or ``none``.
        limits: limits of time; the exam's own by default.
        per_submission: whether every submission is given its own inputs.
    """

    items: tuple[str, ...]
    key: bytes = field(repr=False)
    questions: tuple[str, ...] = ()
    points: tuple[tuple[str, float], ...] = ()
    level: Level = "required"
    limits: Limits | None = None
    per_submission: bool = False

    def exam(self) -> Exam:
        """The exam: the items of the bank with these points, and the key."""
        worth = dict(self.points)
        builds: Iterable[Any] = map(bank.find, self.items)
        items = [replace(item, points=worth[item.id]) if item.id in worth else item for item in builds]
        return Exam(items, self.key, [bank.find(name) for name in self.questions])  # type: ignore[misc]

    def exam_for(self, exam: Exam, sha256: str) -> Exam:
        """The exam of one submission: ``exam`` itself, unless every submission has its own inputs."""
        return exam.for_submission(sha256) if self.per_submission else exam


class _Stoppable(Sandbox):
    """A sandbox that launches nothing once the class is being stopped."""

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
    """The exam and the sandbox of this process, created on the first call.

    Raises:
        SandboxRefused: isolation is required, and this machine cannot provide it.
    """
    with _MAKING:
        return _made(spec)


def about(spec: Spec) -> dict[str, str]:
    """What a worker reports about itself: its sandbox, grader version and interpreter."""
    _, sandbox = tools(spec)
    python = f"{sys.implementation.name} {sys.version.split()[0]}"
    return {"sandbox": sandbox.line, "grader": report.version(), "interpreter": python}


def ask_one(spec: Spec, handed: Handed) -> dict[str, Any]:
    """The answers of one submission, as plain data (:meth:`Answers.to_json`). No submission can make it raise."""
    exam, sandbox = tools(spec)
    try:
        loaded = collecting.load(handed)
    except submission.Unreadable as error:
        return Answers(handed.name, reason=str(error), sandbox=sandbox.line).to_json()
    return judging.ask(loaded, spec.exam_for(exam, loaded.sha256), sandbox, spec.limits).to_json()


def go() -> None:
    """Allow children to start."""
    _STOPPING.clear()


def stop() -> None:
    """Kill every child of this process and let no other start. Call it again until the workers have ended."""
    _STOPPING.set()
    for child in list(process.ALIVE):
        for end in (os.killpg, os.kill):
            with contextlib.suppress(OSError):
                end(child.pid, signal.SIGKILL)
