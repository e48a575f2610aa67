"""Judges a submission: asks what stands on its papers, compares the answers, and says what was learned from them.

How points are earned: a group of hidden cases pays its share when all of its cases are right, and only when the
ordinary cases (the first group) are right too and some public case is. The public point needs every public case and at
least half of the ordinary hidden ones: a table of the public answers is not a function. Answers that change from call
to call earn nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder import compare, feedback, values, wording
from autograder.answers import Answers
from autograder.exam import CannotJudge, Exam, Paper
from autograder.items import Build, Case, Choice, Order, Question
from autograder.outcome import Outcome
from autograder.runner import Limits, Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission

#: Most failing public cases that a report spells out, for each item.
SHOWN = 3


@dataclass(frozen=True)
class Share:
    """The public cases of an item, or one group of hidden ones: how many are right, and what they earn."""

    name: str
    passed: int
    total: int
    score: float
    points: float


@dataclass(frozen=True)
class Mark:
    """What one build item came to.

    ``state`` is ``right``, ``partly``, ``wrong``, ``missing`` (no such function), ``unwritten`` (a stub) or
    ``unjudged`` (the grader could not judge it). ``public`` and ``hidden`` sentences are for the learner. ``slip`` is
    the sentence of the wrong program that explains the failures, empty when none does; it stands first in ``hidden``.
    """

    item: Build
    state: str
    shares: tuple[Share, ...]
    public: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    slip: str = ""

    @property
    def score(self) -> float:
        return round(sum(share.score for share in self.shares), 6)

    @property
    def points(self) -> float:
        return self.item.points


@dataclass(frozen=True)
class Answered:
    """What one question came to: ``state`` is ``right``, ``wrong`` or ``missing``."""

    item: Question | Choice | Order
    state: str
    sentences: tuple[str, ...] = ()

    points = 1.0

    @property
    def score(self) -> float:
        return self.points if self.state == "right" else 0.0


@dataclass(frozen=True)
class Grading:
    """A submission, judged. ``reason`` is empty when it could be: else it costs no attempt."""

    name: str
    sha256: str
    marks: tuple[Mark, ...]
    questions: tuple[Answered, ...] = ()
    problems: tuple[str, ...] = ()
    reason: str = ""
    seconds: float = 0.0

    @property
    def score(self) -> float:
        return round(sum(mark.score for mark in self.all), 6)

    @property
    def points(self) -> float:
        """The total without optional items."""
        optional = sum(mark.points for mark in self.marks if mark.item.bonus)
        return sum(mark.points for mark in self.all) - optional

    @property
    def all(self) -> tuple[Mark | Answered, ...]:
        return (*self.marks, *self.questions)


def judge(submission: Submission, exam: Exam, sandbox: Sandbox, limits: Limits | None = None) -> Grading:
    """Ask the submission everything on the exam's papers, and grade the answers."""
    for item in exam.items:  # every expected value, before any of the learner's code runs
        _paper(exam, item)
    return grade(ask(submission, exam, sandbox, limits), exam)


def ask(submission: Submission, exam: Exam, sandbox: Sandbox, limits: Limits | None = None) -> Answers:
    """What the submission answers; no expected value is needed. Never raises for what a submission does."""
    started = time.perf_counter()
    with Runner(submission, sandbox, limits or Limits.of(exam.items)) as runner:
        outcomes = {item.id: _ask(runner, submission, item, exam.sheet(item).cases) for item in exam.items}
        problems = (*submission.problems, *runner.problems)
    typed, refusals = _kept(submission.answers)
    return Answers(
        submission.name,
        submission.sha256,
        outcomes,
        typed,
        (*problems, *refusals),
        vectors={item.id: exam.sheet(item).hash for item in exam.items},
        sandbox=sandbox.line,
        seconds=time.perf_counter() - started,
    )


def _kept(typed: Mapping[str, tuple[Any, ...]]) -> tuple[dict[str, tuple[Any, ...]], list[str]]:
    """The typed answers that can be kept, and a sentence for each that cannot."""
    kept, refusals = {}, []
    for question, answer in typed.items():
        try:
            values.encode(answer)
            kept[question] = answer
        except values.Refused as refusal:
            refusals.append(f"the answer to {question[:60]!a} is {refusal}")
    return kept, refusals


def grade(answers: Answers, exam: Exam) -> Grading:
    """Grade what a submission has answered: none of its code runs.

    Raises:
        OtherVectors: the answers are to other cases than those of ``exam``.
    """
    if answers.reason:
        return replace(refused(answers.name, answers.reason), sha256=answers.sha256)
    papers = [_paper(exam, item) for item in exam.items]
    marks = tuple(paper if isinstance(paper, Mark) else mark(paper, answers.to(paper), exam.items) for paper in papers)
    questions = tuple(_answered(item, answers.typed.get(item.id)) for item in exam.questions)
    unjudged = [one.public[0] for one in marks if one.state == "unjudged"]
    reason = unjudged[0] if unjudged else ""
    return Grading(answers.name, answers.sha256, marks, questions, answers.problems, reason, answers.seconds)


def refused(name: str, reason: str) -> Grading:
    """The grading of something that cannot be graded: it says why, and costs no attempt."""
    return Grading(name, "", (), reason=reason)


def _paper(exam: Exam, item: Build) -> Paper | Mark:
    try:
        return exam.paper(item)
    except CannotJudge as error:
        return Mark(item, "unjudged", _shares(item, {}), (str(error),))


def _ask(runner: Runner, submission: Submission, item: Build, cases: Sequence[Case]) -> tuple[Outcome, ...]:
    """The submission's outcomes; a function whose name stands nowhere in it is not looked for in a child."""
    if not any(item.function in unit.source for unit in submission.units):
        return (Outcome("missing", detail=f"{item.function} is not in the submission"),) * len(cases)
    return tuple(runner.run(item, cases))


def mark(paper: Paper, outcomes: Sequence[Outcome], course: Sequence[Build] = ()) -> Mark:
    """The points and sentences for the outcomes of a paper."""
    faults = [
        compare.fault(paper.item, asked.case, asked.expected, _without_text(outcome), tell=asked.group is None)
        for asked, outcome in zip(paper.asked, outcomes, strict=True)
    ]
    known = _known(paper, outcomes, faults, course)
    if known:
        return known
    right = {place: faults[place] is None for place in paper.once}
    shares = _shares(paper.item, _counts(paper, right))
    if any((faults[first] is None) != (faults[second] is None) for first, second in paper.again):
        unpaid = tuple(Share(share.name, share.passed, share.total, 0.0, share.points) for share in shares)
        return Mark(paper.item, "wrong", unpaid, ("answers change from call to call",))
    score = sum(share.score for share in shares)
    state = "right" if all(right.values()) else "partly" if score > 0 else "wrong"
    slip, hidden = _hidden(paper, outcomes, faults)
    if shares[0].passed == shares[0].total and not shares[0].score:
        hidden.append("The public cases are right, but most other ordinary inputs are not, so they earn nothing yet.")
    return Mark(paper.item, state, shares, tuple(_public(paper, faults)), tuple(hidden), slip)


def _without_text(outcome: Outcome) -> Outcome:
    """A submission chooses the text of its exceptions, and it could tell a hidden input even in a public case.

    It also chooses the status with which it exits, and the tags of its messages.
    """
    if not outcome.detail:
        return outcome
    if outcome.kind == "raised":
        return replace(outcome, detail="")
    return replace(outcome, detail=re.sub(r" with status \d+|\btag=-?\d{3,}", _hushed, outcome.detail))


def _hushed(found: re.Match[str]) -> str:
    return "tag=..." if found[0].startswith("tag") else ""


def _known(
    paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None], course: Sequence[Build]
) -> Mark | None:
    """The mark of a function that is not there, not written, or lacks another item; None for any other."""
    nothing = _shares(paper.item, _counts(paper, {}))
    if all(outcome.kind in ("missing", "unloadable") for outcome in outcomes):
        return Mark(paper.item, "missing", nothing, (outcomes[0].detail or "is not in the submission",))
    public = [outcomes[place] for place in paper.once if paper.asked[place].group is None]
    needs = feedback.needed(paper.item, public, course)
    if needs:
        return Mark(paper.item, "wrong", nothing, (needs,))
    if all(fault == compare.UNWRITTEN for fault in faults):
        return Mark(paper.item, "unwritten", nothing, (compare.UNWRITTEN,))
    return None


def _counts(paper: Paper, right: dict[int, bool]) -> dict[str, tuple[int, int]]:
    """``(passed, total)`` of the public cases (under the empty name) and of each group."""
    counts: dict[str, tuple[int, int]] = {}
    for place in paper.once:
        group = paper.asked[place].group
        name = group.name if group else ""
        passed, total = counts.get(name, (0, 0))
        counts[name] = (passed + right.get(place, False), total + 1)
    return counts


def _shares(item: Build, counts: dict[str, tuple[int, int]]) -> tuple[Share, ...]:
    """What public cases and groups earn, by the rules at the top."""
    passed, total = counts.get("", (0, 0))
    groups = [(group.name, *counts.get(group.name, (0, 0))) for group in item.groups]
    _, ordinary, asked = groups[0] if groups else ("", 1, 1)
    worth = item.hidden_points / max(1, len(groups))
    public = item.public_points if total and passed == total and 2 * ordinary >= asked > 0 else 0.0
    shares = [Share("public cases", passed, total, public, item.public_points)]
    open_to_hidden = passed > 0 and ordinary == asked > 0
    for name, right, count in groups:
        shares.append(Share(name, right, count, worth if open_to_hidden and right == count > 0 else 0.0, worth))
    return tuple(shares)


def _public(paper: Paper, faults: Sequence[str | None]) -> list[str]:
    """The first failing public cases in the order of the page, as calls with what is wrong."""
    failing = [
        (paper.item.cases.index(paper.asked[place].case), place)
        for place in paper.once
        if paper.asked[place].group is None and faults[place]
    ]
    cases = paper.cases
    calls = [(wording.call(paper.item, cases[place]).replace("\n", "; "), place) for _, place in sorted(failing)]
    return [f"{call}: {faults[place]}" for call, place in calls[:SHOWN]]


def _hidden(paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None]) -> tuple[str, list[str]]:
    """The slip that explains the failures, and it with the hint of each failing group that it does not explain.

    Nothing in them was chosen by the learner's code.
    """
    failing = [place for place in paper.once if faults[place]]
    slip = feedback.named_slip(paper, outcomes, failing)
    explained = set(feedback.telling(paper, failing)) if slip else set()
    sentences = [slip.sentence] if slip else []
    failing = [place for place in failing if place not in explained]
    for group in paper.item.groups:
        places = [place for place in failing if paper.asked[place].group is group]
        if places:
            sentences.append(group.hint + _manner(outcomes[places[0]], faults[places[0]]))
    return slip.sentence if slip else "", sentences


def _manner(outcome: Outcome, sentence: str | None) -> str:
    """How a hidden case failed, when it was not by a wrong value."""
    return "" if outcome.kind == "value" and "return" not in (sentence or "") else f" ({sentence})"


def _answered(item: Question | Choice | Order, answers: tuple[Any, ...] | None) -> Answered:
    """The verdict on what was typed into ``predict``."""
    from autograder import predicting

    if not answers:
        return Answered(item, "missing", ("not answered",))
    try:
        verdict = predicting.judge(item, answers)
    except predicting.BadAnswer as error:
        return Answered(item, "wrong", (str(error),))
    sentences = tuple(f"{one.label}: {one.sentence}".removeprefix(": ") for one in verdict.marks if not one.right)
    return Answered(item, "right" if verdict.right else "wrong", sentences)
