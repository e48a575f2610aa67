"""A class: its submissions asked side by side, marked as they come in, and kept at once.

The workers run :func:`autograder.asking.ask_one`, by way of any ``concurrent.futures`` executor; marking stays in the
main thread of the grader, which alone holds the expected values.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder import asking, collecting, judge, report, submission
from autograder.answers import Answers, OtherVectors
from autograder.asking import Spec, about, ask_one, tools
from autograder.collecting import Handed
from autograder.exam import CannotJudge, Exam, Paper
from autograder.judge import Grading, Mark
from autograder.sandbox import SandboxRefused

if TYPE_CHECKING:
    from autograder.keeping import Folder

#: How a reason begins that is the grader's own fault.
FAULT = "the grader failed"
#: Submissions that wait in an executor, for each of its workers: enough that none is idle while one is marked.
AHEAD = 2
#: Most marks that are remembered for equal answers.
REMEMBERED = 4096


class OtherGrader(Exception):
    """A worker runs another grader than this one; the message is a sentence."""


@dataclass(frozen=True)
class Graded:
    """One submission of a class, graded.

    ``fault``: the grader failed on it; no fault of the submission. ``trouble``: how, for the instructor alone: the text
    of an exception could hold a case.
    """

    handed: Handed
    grading: Grading
    fault: bool = False
    trouble: str = ""


class Marker:
    """Marks the answers of a class, as plain data; runs no submission's code.

    Equal answers to the same cases are marked once: most of a class answer alike, and it saves half of the time.
    """

    def __init__(self, spec: Spec, exam: Exam) -> None:
        self.spec, self.exam = spec, exam
        self._questions = Exam((), spec.key, exam.questions)
        self._marks: dict[tuple[str, str, bytes], Mark] = {}

    def graded(self, handed: Handed, answers: Mapping[str, Any]) -> Graded:
        """The row of answers that :func:`ask_one` or a folder gave.

        Raises:
            OtherVectors: they are answers to other cases.
        """
        if answers["reason"].startswith(FAULT):
            return failed(handed, answers["reason"])
        exam = self.spec.exam_for(self.exam, answers["sha256"])
        try:
            papers = [] if answers["reason"] else [exam.paper(item) for item in exam.items]
        except CannotJudge:
            return Graded(handed, judge.grade(Answers.from_json(answers), exam))
        rest = judge.grade(Answers.from_json({**answers, "outcomes": {}, "public": {}}), self._questions)
        return Graded(handed, replace(rest, marks=tuple(self._mark(paper, answers, exam) for paper in papers)))

    def _mark(self, paper: Paper, answers: Mapping[str, Any], exam: Exam) -> Mark:
        name = paper.item.id
        parts = {part: {name: answers[part][name]} for part in ("outcomes", "public") if name in answers.get(part, {})}
        digest = hashlib.sha256(json.dumps(parts).encode()).digest()
        key = (name, answers["vectors"].get(name, ""), digest)
        if key not in self._marks:
            own = Answers.from_json({**answers, "outcomes": {}, "public": {}, **parts, "typed": {}})
            if len(self._marks) >= REMEMBERED:
                self._marks.clear()
            self._marks[key] = judge.mark(paper, own.to(paper), exam.items, own.public.get(name, ()))
        return self._marks[key]


def failed(handed: Handed, reason: str, error: BaseException | None = None) -> Graded:
    """The row of a submission on which the grader itself failed."""
    trouble = " ".join(str(error).split())[:300] if error else ""
    return Graded(handed, judge.refused(handed.name, reason), fault=True, trouble=trouble)


def reason_of(error: BaseException) -> str:
    """The grader's own failure, in one line for everyone."""
    return f"{FAULT}, this is not the submission's fault ({type(error).__name__})"


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_shard(handed: Handed, number: int, of: int) -> bool:
    """Whether a submission belongs to shard ``number`` (from 1) of ``of``: by a hash of its id and nothing else."""
    return int(hashlib.sha256(handed.id.encode("utf-8", "surrogateescape")).hexdigest(), 16) % of == number - 1


def unchanged(kept: Graded, handed: Handed) -> bool:
    """Whether what is handed in is what was graded, in full. One that cannot be read is known by the reason."""
    if kept.fault or (kept.grading.reason and kept.grading.marks):
        return False
    try:
        return collecting.load(handed).sha256 == kept.grading.sha256
    except submission.Unreadable as error:
        return (kept.grading.sha256, kept.grading.reason) == ("", str(error))


def lean(graded: Graded, seen: dict[Any, Any]) -> Graded:
    """The same, sharing with ``seen`` whatever it has in common with other rows: a class has few different marks."""
    marks = []
    for mark in graded.grading.marks:
        key = (mark.item.id, mark.state, mark.shares, mark.public, mark.hidden, mark.slip)
        marks.append(seen.setdefault(key, mark))
    return replace(graded, grading=replace(graded.grading, marks=tuple(marks)))


def stamps_of(spec: Spec, exam: Exam, stamp: Mapping[str, str]) -> dict[str, Any]:
    """What a class says of its grading. The key is not among it."""
    return {
        "items": list(spec.items),
        "questions": list(spec.questions),
        "points": {item.id: item.points for item in exam.items},
        "key_hash": exam.key_hash,
        "vectors": exam.vectors_hash,
        "per_submission": spec.per_submission,
        **stamp,
    }


class Watch:
    """Is told how far a class has come; this one says nothing."""

    def now(self, done: int, total: int, running: Mapping[str, float]) -> None:
        """``running``: seconds since each submission in work was handed to the workers, by id."""


def grade_class(
    handed: Sequence[Handed],
    spec: Spec,
    folder: Folder,
    executor: concurrent.futures.Executor | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
) -> list[Graded]:
    """Grade what ``folder`` does not hold yet; all rows of the class, in the order of ``handed``.

    Args:
        handed: the class.
        spec: what is asked.
        folder: where each submission is kept as soon as it is marked.
        executor: who asks; threads of this process when left out.
        workers: how many are asked at the same time; the usable cores when left out.
        watch: is told how far it is.

    Raises:
        SandboxRefused, OtherGrader: a worker cannot do what is asked; nothing was run.
        KeyboardInterrupt: it was stopped; what is finished is kept.
    """
    workers = workers or cores()
    exam, _ = tools(spec) if executor is None else (spec.exam(), None)
    asking.go()
    with contextlib.ExitStack() as stack:
        stack.enter_context(exam)
        if executor is None:
            executor = stack.enter_context(concurrent.futures.ThreadPoolExecutor(workers, "asking"))
        stamp = executor.submit(about, spec).result()
        if stamp["grader"] != report.version():
            raise OtherGrader(f"a worker runs grader {stamp['grader']}, this one is {report.version()}")
        for item in exam.items:  # every expected value, before anybody's code runs
            with contextlib.suppress(CannotJudge):
                exam.paper(item)
        folder.begin(stamps_of(spec, exam, stamp), spec.key)
        return _Run(spec, exam, folder, executor, workers * AHEAD, watch or Watch()).all(handed)


class _Run:
    """One grading of a class: what is in work, and what is done."""

    def __init__(
        self, spec: Spec, exam: Exam, folder: Folder, executor: concurrent.futures.Executor, ahead: int, watch: Watch
    ) -> None:
        self.spec, self.folder, self.executor = spec, folder, executor
        self.marker = Marker(spec, exam)
        self.ahead, self.watch = ahead, watch
        self.rows: dict[str, Graded] = {}
        self.work: dict[concurrent.futures.Future[dict[str, Any]], tuple[Handed, float]] = {}
        self.seen: dict[Any, Any] = {}

    def all(self, handed: Sequence[Handed]) -> list[Graded]:
        """Every row, by the order of ``handed``."""
        try:
            waiting = self._unfinished(handed)
            self.folder.expect(waiting)
            waiting.reverse()
            while waiting or self.work:
                while waiting and len(self.work) < self.ahead:
                    one = waiting.pop()
                    self.work[self.executor.submit(ask_one, self.spec, one)] = (one, time.monotonic())
                self._wait(len(handed))
        except BaseException:
            self._stop()
            raise
        rows = [self.rows[one.id] for one in handed]
        self.folder.finish(rows)
        return rows

    def _unfinished(self, handed: Sequence[Handed]) -> list[Handed]:
        """What is not graded yet; the rows of the others are taken over."""
        kept = self.folder.rows()
        for one in handed:
            if one.id in kept and unchanged(kept[one.id], one):
                self.rows[one.id] = lean(replace(kept[one.id], handed=one), self.seen)
        return [one for one in handed if one.id not in self.rows]

    def _wait(self, total: int) -> None:
        """Mark and keep what has come in; at least one, unless a second passes."""
        done, _ = concurrent.futures.wait(self.work, 1.0, concurrent.futures.FIRST_COMPLETED)
        for future in done:
            one, _ = self.work.pop(future)
            self.rows[one.id] = lean(marked(self.marker, self.folder, one, future.result), self.seen)
        now = time.monotonic()
        self.watch.now(len(self.rows), total, {one.id: now - since for one, since in self.work.values()})

    def _stop(self) -> None:
        """End every child of this process, and give up what is in work."""
        for future in self.work:
            future.cancel()
        here = isinstance(self.executor, concurrent.futures.ThreadPoolExecutor)
        left = set(self.work) if here else set()
        while left:
            asking.stop()
            left = concurrent.futures.wait(left, 0.1).not_done


def marked(marker: Marker, folder: Folder, one: Handed, answers_of: Callable[[], Mapping[str, Any]]) -> Graded:
    """The row of one submission, kept. What goes wrong in the grader costs this row alone."""
    answers: Mapping[str, Any] = {}
    try:
        answers = answers_of()
        graded = marker.graded(one, answers)
        texts = folder.texts(graded, answers)
    except SandboxRefused:
        raise  # it would meet every submission
    except Exception as error:
        graded = failed(one, reason_of(error), error)
        texts = folder.texts(graded, answers or unanswered(graded))
    folder.put(one.id, texts)
    return graded


def unanswered(graded: Graded) -> dict[str, Any]:
    """What is kept as the answers of a submission that could not be asked."""
    return Answers(graded.grading.name, reason=graded.grading.reason).to_json()


def remark(old: Folder, spec: Spec, folder: Folder) -> list[Graded]:
    """Mark the stored answers of ``old``, which is verified, anew into ``folder``; runs no submission's code.

    Raises:
        OtherVectors: answers are to other cases than those of ``spec``; then nothing is written.
    """
    seen: dict[Any, Any] = {}
    rows: list[Graded] = []
    handed = [row.handed for row in old.rows().values()]
    with spec.exam() as exam:
        _refuse_others(old, handed, spec, exam)
        where = {name: old.stamps[name] for name in ("sandbox", "interpreter")}
        folder.begin(stamps_of(spec, exam, {**where, "grader": report.version()}), spec.key)
        folder.expect(handed)
        marker = Marker(spec, exam)
        for one in handed:
            rows.append(lean(marked(marker, folder, one, functools.partial(old.answers, one.id)), seen))
        folder.finish(rows)
    return rows


def _refuse_others(old: Folder, handed: Sequence[Handed], spec: Spec, exam: Exam) -> None:
    """Name the submissions that were asked something else than ``spec`` asks."""
    others = []
    for one in handed:
        answers = old.answers(one.id)
        own = spec.exam_for(exam, answers["sha256"]) if answers["vectors"] else exam
        asked = {item.id: own.sheet(item).hash for item in own.items}
        others += [one.id] if answers["vectors"] not in ({}, asked) else []
    if others:
        names = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        raise OtherVectors(f"these were asked other inputs than this key and bank give, grade them again: {names}")
