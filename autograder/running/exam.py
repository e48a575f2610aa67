"""The papers of a grading: public and hidden cases, drawn and answered by the reference before a submission runs.

Everything depends only on the secret key and the item. Public and hidden cases are shuffled together by the key; then
one hidden and one public case are asked again, to detect answers that change.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import hmac
import os
import threading
from collections.abc import Sequence
from random import Random

from autograder.items import AnyQuestion, Build, Case, Group
from autograder.marking.outcome import Outcome
from autograder.marking.papers import (
    Asked,
    CannotJudge,
    ExamSheet,
    Paper,
    answered,
    answered_together,
    as_announced,
    run_slip_here,
    vectors_hash,
)
from autograder.running.process import Processes
from autograder.running.slip_runner import SlipRunner
from autograder.sandbox import Sandbox


class Exam:
    """Items and a secret key, which determine the papers of a grading. One exam serves all submissions of a class.

    ``questions`` count only if a grading includes them. ``slip_runner`` is that of another exam of the same items,
    which will also end its processes.
    """

    def __init__(
        self,
        items: Sequence[Build],
        key: bytes,
        questions: Sequence[AnyQuestion] = (),
        slip_runner: SlipRunner | None = None,
    ) -> None:
        self.items, self.key, self.questions = tuple(items), key, tuple(questions)
        self._sheets: dict[str, ExamSheet] = {}
        self._papers: dict[str, Paper] = {}
        self._slip_runner = slip_runner or SlipRunner(
            [item for item in items if item.grade in ("tensor", "world")], lambda: Processes(Sandbox.measure("none"))
        )
        self._lock = threading.Lock()

    def __enter__(self) -> Exam:
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes in which wrong programs ran."""
        self._slip_runner.close()

    @property
    def key_hash(self) -> str:
        """A hash that identifies the key without giving it away."""
        return hmac.new(self.key, b"rankzero key", hashlib.sha256).hexdigest()[:16]

    @functools.cached_property
    def vectors_hash(self) -> str:
        """A hash of everything that is asked."""
        return vectors_hash(self.sheet(item).hash for item in self.items)

    def for_submission(self, sha256: str) -> Exam:
        """An exam for one submission: its inputs depend on the key and on the hash of what was handed in.

        The same submission always gets the same cases; one that differs in a single byte gets others. The new exam
        shares the processes for wrong programs, and this exam ends them.
        """
        key = hmac.new(self.key, f"submission:{sha256}".encode(), hashlib.sha256).digest()
        return Exam(self.items, key, self.questions, self._slip_runner)

    def random(self, item: Build, purpose: str) -> Random:
        """A generator that depends only on the key, the item and the purpose."""
        return Random(hmac.new(self.key, f"{item.id}:{purpose}".encode(), hashlib.sha256).digest())

    def sheet(self, item: Build) -> ExamSheet:
        """What is asked about ``item``, drawn without running its reference."""
        with self._lock:
            if item.id not in self._sheets:
                self._sheets[item.id] = self._draw(item)
            return self._sheets[item.id]

    def paper(self, item: Build) -> Paper:
        """What is asked about ``item``, with the reference's answers.

        Raises:
            CannotJudge: the reference does not return or raise as the bank says.
        """
        sheet = self.sheet(item)
        with self._lock:
            if item.id not in self._papers:
                self._papers[item.id] = self._answer(sheet)
            return self._papers[item.id]

    def prepare(self) -> None:
        """Have the references of all items answer that run in worlds of processes: together they need a few worlds,
        where :meth:`paper` starts some for each item. What they cannot answer is left to that."""
        sheets = [self.sheet(item) for item in self.items if item.grade in ("tensor", "world")]
        if not sheets or not hasattr(os, "fork"):
            return
        with self._lock, contextlib.suppress(ImportError):
            sheets = [sheet for sheet in sheets if sheet.item.id not in self._papers]
            for sheet, outcomes in zip(sheets, answered_together(sheets), strict=True):
                with contextlib.suppress(CannotJudge):
                    expected = as_announced(sheet.item, [case for _, case in sheet.drawn], outcomes)
                    self._papers[sheet.item.id] = self._paper(sheet, expected)

    def _draw(self, item: Build) -> ExamSheet:
        hidden = item.hidden(self.random(item, "cases"))
        drawn: list[tuple[Group | None, Case]] = [(None, case) for case in item.cases]
        drawn += [(group, case) for group, cases in hidden for case in cases]
        order = self.random(item, "order")
        order.shuffle(drawn)
        return ExamSheet(item, tuple(drawn), _repetitions([group for group, _ in drawn], order))

    def _answer(self, sheet: ExamSheet) -> Paper:
        return self._paper(sheet, answered(sheet.item, [case for _, case in sheet.drawn]))

    def _paper(self, sheet: ExamSheet, expected: Sequence[Outcome]) -> Paper:
        asked = [Asked(case, group, right) for (group, case), right in zip(sheet.drawn, expected, strict=True)]
        pairs = tuple((first, len(asked) + number) for number, first in enumerate(sheet.again))
        run_slip = self._slip_runner.run if sheet.item.grade in ("tensor", "world") else run_slip_here
        asked += [asked[first] for first in sheet.again]
        return Paper(sheet.item, tuple(asked), pairs, sheet.hash, run_slip)


def _repetitions(groups: Sequence[Group | None], order: Random) -> tuple[int, ...]:
    """The places of the cases to ask again at the end: a hidden one, then a public one."""
    hidden = [index for index, group in enumerate(groups) if group is not None]
    public = [index for index, group in enumerate(groups) if group is None]
    return tuple(order.choice(places) for places in (hidden, public) if places)
