"""Judges a submission: runs the cases of an exam, and grades the answers.

A program that has seen a hidden input could reveal it through anything it does later. So the public cases of all items
are run first, and what the report says about them, and about parts that cannot be run, comes only from those answers.
Then all cases are run in the key's order, and that decides the points.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.items import AnyQuestion, Build, Case
from autograder.marking import questions, values
from autograder.marking.answers import Answers
from autograder.marking.judge import mark, shares_of
from autograder.marking.marks import Answered, Grading, Mark, refused
from autograder.marking.outcome import Outcome
from autograder.marking.papers import CannotJudge, Paper
from autograder.running.exam import Exam
from autograder.running.limits import Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, another

#: About an answer that is there, and is no number or text that can be read without running the program.
UNREAD = (
    "the answer could not be read: type a number or a text, a calculation with numbers, or a name that the line before "
    "gives one of these"
)


def judge(submission: Submission, exam: Exam, sandbox: Sandbox, limits: Limits | None = None) -> Grading:
    """Run all cases of the exam, and grade the answers."""
    exam.prepare()
    for item in exam.items:  # every expected value, before any of the learner's code runs
        _paper(exam, item)
    return grade(ask(submission, exam, sandbox, limits), exam)


def ask(submission: Submission, exam: Exam, sandbox: Sandbox, limits: Limits | None = None) -> Answers:
    """The submission's answers, without any expected value. Never raises because of what a submission does."""
    started = time.perf_counter()
    there = [item for item in exam.items if _is_named(submission, item)]
    with Runner(submission, Processes(sandbox), limits or Limits.of(exam.items), there) as runner:
        public = {item.id: _ask(runner, submission, item, item.cases, losses=1) for item in exam.items}
        problems = (*submission.problems, *runner.problems)
        if not problems and public and all(one.kind == "missing" for outcomes in public.values() for one in outcomes):
            problems = (another.sentence(submission),)
        runner.hide()
        outcomes = {item.id: _ask(runner, submission, item, exam.sheet(item).cases) for item in exam.items}
    typed, refusals = _kept(submission.answers)
    return Answers(
        submission.name,
        submission.sha256,
        outcomes,
        typed,
        (*problems, *refusals),
        public=public,
        vectors={item.id: exam.sheet(item).hash for item in exam.items},
        sandbox=sandbox.line,
        seconds=time.perf_counter() - started,
    )


def _kept(typed: Mapping[str, tuple[Any, ...]]) -> tuple[dict[str, tuple[Any, ...]], list[str]]:
    """The typed answers that can be stored, and a sentence for each that cannot."""
    kept, refusals = {}, []
    for question, answer in typed.items():
        try:
            values.encode(answer)
            kept[question] = answer
        except values.Refused as refusal:
            refusals.append(f"the answer to {question[:60]!a} is {refusal}")
    return kept, refusals


def grade(answers: Answers, exam: Exam) -> Grading:
    """Grade a submission's answers without running any of its code.

    Raises:
        OtherVectors: the answers belong to other cases than those of ``exam``.
    """
    if answers.reason:
        return replace(refused(answers.name, answers.reason), sha256=answers.sha256)
    papers = [_paper(exam, item) for item in exam.items]
    marks = tuple(
        paper
        if isinstance(paper, Mark)
        else mark(paper, answers.to(paper), exam.items, answers.public.get(paper.item.id, ()))
        for paper in papers
    )
    questions = tuple(_answered(item, answers.typed.get(item.id)) for item in exam.questions)
    unjudged = [one.public[0] for one in marks if one.state == "unjudged"]
    reason = unjudged[0] if unjudged else ""
    return Grading(answers.name, answers.sha256, marks, questions, answers.problems, reason, answers.seconds)


def _paper(exam: Exam, item: Build) -> Paper | Mark:
    try:
        return exam.paper(item)
    except CannotJudge as error:
        return Mark(item, "unjudged", shares_of(item, {}), (str(error),))


def _ask(
    runner: Runner, submission: Submission, item: Build, cases: Sequence[Case], losses: int | None = None
) -> tuple[Outcome, ...]:
    """The submission's outcomes; no child is started for a function whose name occurs nowhere in the source."""
    if not _is_named(submission, item):
        return (Outcome("missing", detail=f"{item.function} is not in the submission"),) * len(cases)
    return tuple(runner.run(item, cases, losses))


def _is_named(submission: Submission, item: Build) -> bool:
    return any(item.function in unit.source for unit in submission.units)


def _answered(item: AnyQuestion, answers: tuple[Any, ...] | None) -> Answered:
    """The verdict on what was typed into ``predict`` or ``design``."""
    if not answers:
        return Answered(item, "missing", ("not answered",))
    if any(answer is None for answer in answers):
        return Answered(item, "wrong", (UNREAD,))
    try:
        verdict = questions.judge(item, answers)
    except questions.BadAnswer as error:
        return Answered(item, "wrong", (str(error),))
    sentences = tuple(f"{one.label}: {one.sentence}".removeprefix(": ") for one in verdict.marks if not one.right)
    return Answered(item, "right" if verdict.right else "wrong", sentences)
