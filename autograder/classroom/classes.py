"""Grades a class: workers run the submissions in parallel; answers are marked and stored as they arrive.

A worker runs ``worker.ask_one``, on any ``concurrent.futures`` executor. Marking happens in the grader's main thread,
the only one that holds the expected values.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder import submission
from autograder.classroom import collecting, worker
from autograder.classroom.collecting import Handed
from autograder.classroom.graded import Graded, lean
from autograder.classroom.storage import Folder
from autograder.classroom.worker import Spec, about, ask_one, tools
from autograder.marking import judge, marks, report
from autograder.marking.answers import Answers, OtherVectors
from autograder.marking.marks import Mark
from autograder.marking.papers import CannotJudge, Paper
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import SandboxRefused

#: A reason that begins like this is the grader's own fault.
FAULT = "the grader failed"
#: Submissions queued per worker: enough to keep every worker busy while the main thread marks.
AHEAD = 2
#: How many marks are cached, for answers that are equal.
REMEMBERED = 4096


class OtherPoints(Exception):
    """Marks of an earlier grading are worth something else now; the message is a sentence."""


class OtherGrader(Exception):
    """A worker runs a different version of the grader; the message is a sentence."""


class Marker:
    """Marks the answers of a class, which are plain data; no submission's code runs here.

    Equal answers to the same cases are marked once. Most of a class gives the same answers, so this halves the time.
    """

    def __init__(self, spec: Spec, exam: Exam) -> None:
        self.spec, self.exam = spec, exam
        self._questions = Exam((), spec.key, exam.questions)
        self._marks: dict[tuple[str, str, bytes], Mark] = {}

    def graded(self, handed: Handed, answers: Mapping[str, Any]) -> Graded:
        """The graded submission, from answers that :func:`ask_one` returned or a folder stored.

        Raises:
            OtherVectors: the answers are to other cases.
        """
        if answers["reason"].startswith(FAULT):
            return failed(handed, answers["reason"])
        exam = self.spec.exam_for(self.exam, answers["sha256"])
        try:
            if not answers["reason"]:
                exam.prepare()
            papers = [] if answers["reason"] else [exam.paper(item) for item in exam.items]
        except CannotJudge:
            return Graded(handed, judging.grade(Answers.from_json(answers), exam))
        rest = judging.grade(Answers.from_json({**answers, "outcomes": {}, "public": {}}), self._questions)
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


class Keeper(Marker):
    """Marks some items of some learners, and takes all other marks over from an earlier grading."""

    def __init__(
        self, spec: Spec, exam: Exam, kept: Mapping[str, Graded], items: Collection[str], learners: Collection[str]
    ) -> None:
        super().__init__(spec, exam)
        self.kept, self.items, self.learners = kept, items, learners

    def graded(self, handed: Handed, answers: Mapping[str, Any]) -> Graded:
        """The graded submission; see :class:`Marker`."""
        before = self.kept[handed.id]
        if self.learners and handed.id not in self.learners:
            return before
        graded = super().graded(handed, answers)
        if not self.items or not before.grading.marks:
            return graded
        old, now = before.grading, graded.grading
        new = {mark.item.id: mark for mark in now.marks if mark.item.id in self.items}
        reason = now.reason if any(name in old.reason + now.reason for name in self.items) else old.reason
        marks = tuple(new.get(mark.item.id, mark) for mark in old.marks)
        return replace(graded, grading=replace(old, marks=marks, reason=reason))


def failed(handed: Handed, reason: str, error: BaseException | None = None) -> Graded:
    """The row of a submission on which the grader itself failed."""
    trouble = " ".join(str(error).split())[:300] if error else ""
    return Graded(handed, marks.refused(handed.name, reason), fault=True, trouble=trouble)


def reason_of(error: BaseException) -> str:
    """The grader's own failure, in one line that anybody may read."""
    return f"{FAULT}, this is not the submission's fault ({type(error).__name__})"


def cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_shard(handed: Handed, number: int, of: int) -> bool:
    """Whether a submission belongs to shard ``number`` (from 1) of ``of``; only a hash of its id decides."""
    return int(hashlib.sha256(handed.id.encode("utf-8", "surrogateescape")).hexdigest(), 16) % of == number - 1


def unchanged(kept: Graded, handed: Handed) -> bool:
    """Whether ``handed`` is what was graded, completely. An unreadable submission is recognized by its reason."""
    if kept.fault or (kept.grading.reason and kept.grading.marks):
        return False
    try:
        return collecting.load(handed).sha256 == kept.grading.sha256
    except submission.Unreadable as error:
        return (kept.grading.sha256, kept.grading.reason) == ("", str(error))


def stamps_of(spec: Spec, exam: Exam, stamp: Mapping[str, str]) -> dict[str, Any]:
    """What is recorded about the grading of a class. The key is not part of it."""
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
    """Receives the progress of a class; this base class ignores it."""

    def now(self, done: int, total: int, running: Mapping[str, float]) -> None:
        """``running`` maps the id of each submission in progress to the seconds since it was sent to the workers."""


def grade_class(
    handed: Sequence[Handed],
    spec: Spec,
    folder: Folder,
    executor: concurrent.futures.Executor | None = None,
    workers: int | None = None,
    watch: Watch | None = None,
    again: Collection[str] = (),
) -> list[Graded]:
    """Grade every submission that ``folder`` does not hold yet.

    Args:
        handed: the class.
        spec: what is asked.
        folder: where each submission is stored as soon as it is marked.
        executor: runs the submissions; a pool of threads in this process by default.
        workers: how many submissions run at the same time; the usable cores by default.
        watch: receives the progress.
        again: ids of submissions that are graded again, although the folder holds them.

    Returns:
        The rows of the whole class, in the order of ``handed``.

    Raises:
        SandboxRefused, OtherGrader: a worker cannot do what is asked; nothing was run.
        KeyboardInterrupt: the grading was stopped; what is finished is kept.
        NotStored: the folder cannot be written any more; what is finished is kept.
    """
    workers = workers or cores()
    exam, _ = tools(spec) if executor is None else (spec.exam(), None)
    worker.go()
    with contextlib.ExitStack() as stack:
        stack.enter_context(exam)
        if executor is None:
            executor = stack.enter_context(concurrent.futures.ThreadPoolExecutor(workers, "asking"))
        stamp = executor.submit(about, spec).result()
        if stamp["grader"] != report.version():
            raise OtherGrader(f"a worker runs grader {stamp['grader']}, but this is grader {report.version()}")
        exam.prepare()
        for item in exam.items:  # compute every expected value before any submission's code runs
            with contextlib.suppress(CannotJudge):
                exam.paper(item)
        stack.callback(folder.close)
        folder.begin(stamps_of(spec, exam, stamp), spec.key)
        return _Run(spec, exam, folder, executor, workers * AHEAD, watch or Watch()).all(handed, again)


class _Run:
    """One grading of a class: what is in progress, and what is done."""

    def __init__(
        self, spec: Spec, exam: Exam, folder: Folder, executor: concurrent.futures.Executor, ahead: int, watch: Watch
    ) -> None:
        self.spec, self.folder, self.executor = spec, folder, executor
        self.marker = Marker(spec, exam)
        self.ahead, self.watch = ahead, watch
        self.rows: dict[str, Graded] = {}
        self.work: dict[concurrent.futures.Future[dict[str, Any]], tuple[Handed, float]] = {}
        self.seen: dict[Any, Any] = {}

    def all(self, handed: Sequence[Handed], again: Collection[str] = ()) -> list[Graded]:
        """Every row, in the order of ``handed``."""
        try:
            waiting = self._unfinished(handed, again)
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

    def _unfinished(self, handed: Sequence[Handed], again: Collection[str]) -> list[Handed]:
        """The submissions still to be graded; the rows of all others are taken from the folder."""
        kept = self.folder.rows()
        for one in handed:
            if one.id in kept and one.id not in again and unchanged(kept[one.id], one):
                self.rows[one.id] = lean(replace(kept[one.id], handed=one), self.seen)
        return [one for one in handed if one.id not in self.rows]

    def _wait(self, total: int) -> None:
        """Wait for an answer, for at most a second; mark and store all that have arrived."""
        done, _ = concurrent.futures.wait(self.work, 1.0, concurrent.futures.FIRST_COMPLETED)
        for future in done:
            one, _ = self.work.pop(future)
            self.rows[one.id] = lean(marked(self.marker, self.folder, one, future.result), self.seen)
        now = time.monotonic()
        self.watch.now(len(self.rows), total, {one.id: now - since for one, since in self.work.values()})

    def _stop(self) -> None:
        """Kill every child of this process and abandon what is in progress."""
        for future in self.work:
            future.cancel()
        here = isinstance(self.executor, concurrent.futures.ThreadPoolExecutor)
        left = set(self.work) if here else set()
        while left:
            worker.stop()
            left = concurrent.futures.wait(left, 0.1).not_done


def marked(marker: Marker, folder: Folder, handed: Handed, answers_of: Callable[[], Mapping[str, Any]]) -> Graded:
    """Mark and store one submission; returns its row. A failure of the grader affects this row only.

    Raises:
        NotStored: the folder cannot be written, which would affect every other row as well.
    """
    answers: Mapping[str, Any] = {}
    try:
        answers = answers_of()
        graded = marker.graded(handed, answers)
        texts = folder.texts(graded, answers)
    except SandboxRefused:
        raise  # every other submission would fail in the same way
    except Exception as error:
        graded = failed(handed, reason_of(error), error)
        texts = folder.texts(graded, answers or unanswered(graded))
    folder.put(handed.id, texts)
    return graded


def unanswered(graded: Graded) -> dict[str, Any]:
    """What is stored as the answers of a submission that could not be run."""
    return Answers(graded.grading.name, reason=graded.grading.reason).to_json()


def _refuse_points(old: Folder, exam: Exam, items: Collection[str], learners: Collection[str]) -> None:
    """Raise :class:`OtherPoints` if the points of a mark that is taken over have changed."""
    for item in exam.items:
        was = old.stamps["points"][item.id]
        if item.points != was and (learners or item.id not in items):
            again = "for all learners" if learners else "too"
            raise OtherPoints(
                f"{item.id} was worth {was:g} points and is now worth {item.points:g}, and marks of it are taken over: "
                f"mark it again {again}"
            )


def remark(
    old: Folder, spec: Spec, folder: Folder, items: Collection[str] = (), learners: Collection[str] = ()
) -> list[Graded]:
    """Mark the stored answers of ``old`` again, into ``folder``; no submission's code runs.

    Args:
        old: a class that has been verified (:meth:`Folder.verify`).
        spec: what is asked.
        folder: where the new grading goes.
        items: ids of the items that are marked again, and ``learners`` of those for whom; the marks of all others are
            taken over. Empty: all.

    Raises:
        OtherVectors: some answers are to cases other than those of ``spec``; nothing is written then.
        OtherPoints: marks that would be taken over are worth something else now; nothing is written then.
    """
    seen: dict[Any, Any] = {}
    rows: list[Graded] = []
    kept = old.rows()
    handed = [row.handed for row in kept.values()]
    with contextlib.closing(folder), spec.exam() as exam:
        _refuse_others(old, handed, spec, exam)
        if items or learners:
            _refuse_points(old, exam, items, learners)
        where = {name: old.stamps[name] for name in ("sandbox", "interpreter")}
        folder.begin(stamps_of(spec, exam, {**where, "grader": report.version()}), spec.key)
        folder.expect(handed)
        marker = Keeper(spec, exam, kept, items, learners) if items or learners else Marker(spec, exam)
        for one in handed:
            rows.append(lean(marked(marker, folder, one, functools.partial(old.answers, one.id)), seen))
        folder.finish(rows)
    return rows


def _refuse_others(old: Folder, handed: Sequence[Handed], spec: Spec, exam: Exam) -> None:
    """Raise :class:`OtherVectors`, naming the submissions that were given inputs other than those of ``spec``."""
    others = []
    for one in handed:
        answers = old.answers(one.id)
        own = spec.exam_for(exam, answers["sha256"]) if answers["vectors"] else exam
        asked = {item.id: own.sheet(item).hash for item in own.items}
        others += [one.id] if answers["vectors"] not in ({}, asked) else []
    if others:
        names = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        raise OtherVectors(f"these were given inputs that this key and bank do not give, grade them again: {names}")
