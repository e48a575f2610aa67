"""Judges a submission: asks what stands on its papers, compares the answers, and says what was learned from them.

A program that has seen a hidden input could tell it by anything that it does later. So the public cases of all items
are asked first; what the report says about them, and about parts that cannot be run, comes from those answers alone.
Then everything is asked, in the key's order, and that decides the points. Of the hidden cases the report says how many
are right, and gives sentences of the bank and of a small fixed set.

How points are earned: a group of hidden cases pays its share when all of its cases are right, and only when the
ordinary cases (the first group) are right too and some public case is. The public point needs every public case and at
least half of the ordinary hidden ones, and more of them than a table of the public answers and one answer for all other
inputs get right: that is not a function. Answers that change from call to call earn nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder import compare, feedback, runner, values, wording
from autograder.answers import Answers
from autograder.exam import CannotJudge, Exam, Paper
from autograder.items import Build, Case, Choice, Order, Question
from autograder.outcome import Outcome
from autograder.requests import prepared
from autograder.runner import Limits, Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission

#: Most failing public cases that a report spells out, for each item.
SHOWN = 3
#: Ends of a function that is not there.
ABSENT = ("missing", "unloadable")
#: What a report says of hidden cases that ended in no answer, by the kind of their end.
MANNERS = {
    "refused": "returned something that is not a plain value",
    "deadlock": "deadlock: the ranks wait for each other",
    "timeout": "no answer in time",
    "died": "the process died",
    **dict.fromkeys(ABSENT, "could not be loaded"),
}
#: What is added where some cases were not tried because of others.
BEFORE = ", here or before"
#: The same where the runner says it more exactly: what it says depends on nothing but the limits.
FIXED = frozenset({runner.NO_TIME, runner.TOO_MUCH})
#: What may be said of a value that a hidden case returned.
RETURNED = frozenset(
    {
        "returned nan",
        "returned another number of elements",
        "returned None where there is an answer; did you print instead of return?",
    }
)


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
    there = [item for item in exam.items if _is_named(submission, item)]
    with Runner(submission, sandbox, limits or Limits.of(exam.items), there) as runner:
        public = {item.id: _ask(runner, submission, item, item.cases, losses=1) for item in exam.items}
        problems = (*submission.problems, *runner.problems)
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


def refused(name: str, reason: str) -> Grading:
    """The grading of something that cannot be graded: it says why, and costs no attempt."""
    return Grading(name, "", (), reason=reason)


def _paper(exam: Exam, item: Build) -> Paper | Mark:
    try:
        return exam.paper(item)
    except CannotJudge as error:
        return Mark(item, "unjudged", _shares(item, {}), (str(error),))


def _ask(
    runner: Runner, submission: Submission, item: Build, cases: Sequence[Case], losses: int | None = None
) -> tuple[Outcome, ...]:
    """The submission's outcomes; a function whose name stands nowhere in it is not looked for in a child."""
    if not _is_named(submission, item):
        return (Outcome("missing", detail=f"{item.function} is not in the submission"),) * len(cases)
    return tuple(runner.run(item, cases, losses))


def _is_named(submission: Submission, item: Build) -> bool:
    return any(item.function in unit.source for unit in submission.units)


def mark(
    paper: Paper, outcomes: Sequence[Outcome], course: Sequence[Build] = (), public: Sequence[Outcome] = ()
) -> Mark:
    """The points and sentences for the outcomes of a paper.

    ``public``: those of the public cases, in the order of the page, from before any hidden input was seen. Without them
    the outcomes of the paper stand for them, as is right for a program that is trusted.
    """
    faults = [paper.fault(place, _without_text(outcome)) for place, outcome in enumerate(outcomes)]
    first = _first(paper, outcomes, faults, public)
    known = _known(paper, outcomes, faults, course, first)
    if known:
        return known
    right = {place: faults[place] is None for place in paper.once}
    shares = _shares(paper.item, _counts(paper, right), lambda: _guessed(paper))
    if _changes(paper, outcomes, faults, first):
        unpaid = tuple(Share(share.name, share.passed, share.total, 0.0, share.points) for share in shares)
        return Mark(paper.item, "wrong", unpaid, ("answers change from call to call",))
    score = sum(share.score for share in shares)
    state = "right" if all(right.values()) else "partly" if score > 0 else "wrong"
    slip, hidden = _hidden(paper, outcomes, faults)
    if shares[0].passed == shares[0].total and not shares[0].score:
        hidden.append("The public cases are right, but too many other ordinary inputs are not: they earn nothing yet.")
    return Mark(paper.item, state, shares, tuple(_public(paper, first)), tuple(hidden), slip)


@dataclass(frozen=True)
class _First:
    """How the public case at ``place`` ended before any hidden input was seen, and what is wrong with that."""

    place: int
    outcome: Outcome
    fault: str | None


def _first(
    paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None], public: Sequence[Outcome]
) -> list[_First]:
    """The public cases, in the order of the page. Equal cases may differ in the order of a dictionary."""
    item = paper.item
    numbers = {prepared(item, case): number for number, case in reversed(list(enumerate(item.cases)))}
    asked = ((paper.asked[place].case, place) for place in paper.once if paper.asked[place].group is None)
    places = sorted((numbers[prepared(item, case)], place) for case, place in asked)
    if len(public) != len(item.cases):
        return [_First(place, _without_text(outcomes[place]), faults[place]) for _, place in places]
    return [_First(place, public[number], paper.fault(place, public[number])) for number, place in places]


def _tried(outcome: Outcome) -> bool:
    """Whether the program was asked at all; after some cases without an answer the others are not tried."""
    return not outcome.detail.startswith("not tried")


def _changes(paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None], first: Sequence[_First]) -> bool:
    """Whether a case that was asked twice was answered rightly once. No answer the first time may be a busy machine."""
    twice = [(faults[one], faults[two]) for one, two in paper.again if _tried(outcomes[one]) and _tried(outcomes[two])]
    twice += [
        (one.fault, faults[one.place])
        for one in first
        if {one.outcome.kind, outcomes[one.place].kind} <= {"value", "raised", "refused"}
    ]
    return any((before is None) != (after is None) for before, after in twice)


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
    paper: Paper,
    outcomes: Sequence[Outcome],
    faults: Sequence[str | None],
    course: Sequence[Build],
    first: Sequence[_First],
) -> Mark | None:
    """The mark of a function that is not there, not written, or lacks another item; None for any other."""
    nothing = _shares(paper.item, _counts(paper, {}))
    if all(outcome.kind in ABSENT for outcome in outcomes):
        said = next((one.outcome.detail for one in first if one.outcome.kind in ABSENT), "")
        return Mark(paper.item, "missing", nothing, (said or "is not in the submission",))
    needs = feedback.needed(paper.item, [one.outcome for one in first], course)
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


def _guessed(paper: Paper) -> int:
    """How many ordinary cases a table of the public answers gets right, with one answer for all other inputs."""
    asked = [paper.asked[place] for place in paper.once]
    public = [one.case for one in asked if one.group is None]
    ordinary = [one for one in asked if one.group is not None and one.group.name == paper.item.groups[0].name]
    rest = [_answer(one.expected) for one in ordinary if one.case not in public]
    return len(ordinary) - len(rest) + max(map(rest.count, rest), default=0)


def _answer(expected: Outcome) -> tuple[Any, ...]:
    return expected.kind, expected.error, expected.value


def _shares(
    item: Build, counts: dict[str, tuple[int, int]], guessed: Callable[[], int] = lambda: 0
) -> tuple[Share, ...]:
    """What public cases and groups earn, by the rules at the top; ``guessed`` is of the ordinary cases."""
    passed, total = counts.get("", (0, 0))
    groups = [(group.name, *counts.get(group.name, (0, 0))) for group in item.groups]
    _, ordinary, asked = groups[0] if groups else ("", 1, 1)
    worth = item.hidden_points / max(1, len(groups))
    known = total and passed == total and 2 * ordinary >= asked > 0 and (ordinary == asked or ordinary > guessed())
    public = item.public_points if known else 0.0
    shares = [Share("public cases", passed, total, public, item.public_points)]
    open_to_hidden = passed > 0 and ordinary == asked > 0
    for name, right, count in groups:
        shares.append(Share(name, right, count, worth if open_to_hidden and right == count > 0 else 0.0, worth))
    return tuple(shares)


def _public(paper: Paper, first: Sequence[_First]) -> list[str]:
    """The first failing public cases in the order of the page, as calls with what is wrong."""
    failing = [one for one in first if one.fault][:SHOWN]
    calls = [wording.call(paper.item, paper.asked[one.place].case).replace("\n", "; ") for one in failing]
    return [f"{call}: {one.fault}" for call, one in zip(calls, failing, strict=True)]


def _hidden(paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None]) -> tuple[str, list[str]]:
    """The slip that explains the failures, and it with the hint of each failing group that it does not explain.

    Nothing in them was chosen by the learner's code.
    """
    failing = [place for place in paper.once if faults[place]]
    slip = feedback.named_slip(paper, outcomes, failing)
    explained = set(feedback.telling(paper, failing)) if slip else set()
    sentences = [slip.sentence] if slip else []

    def refused(place: int) -> bool:
        return feedback.refused_rightly(paper, place, outcomes[place])

    failing = [place for place in failing if place not in explained]
    before = "" if all(map(_tried, outcomes)) else BEFORE
    for group in paper.item.groups:
        places = [place for place in failing if paper.asked[place].group is group]
        if sentences and group.name == "bad input" and all(map(refused, places)):
            continue  # its cases fail at calls that are told of already
        if places:
            asked = paper.asked[places[0]]
            manner = _manner(asked.expected, outcomes[places[0]], faults[places[0]] or "", before)
            sentences.append(group.hint + (_accepted(paper, outcomes, places) or manner))
    return slip.sentence if slip else "", sentences


def _accepted(paper: Paper, outcomes: Sequence[Outcome], places: Sequence[int]) -> str:
    """What a program failed to refuse, in brackets: the reference's rules, which hold nothing of the cases."""
    rules = feedback.accepted(paper, outcomes, places)
    if not rules:
        return ""
    error = next(paper.asked[place].expected.error for place in places if paper.asked[place].expected.kind == "raised")
    return f" (returned a value where {', and where '.join(rules[:SHOWN])}; raise {error})"


def _manner(expected: Outcome, outcome: Outcome, sentence: str, before: str = "") -> str:
    """How a hidden case failed, when it was not by a wrong value: one of a few sentences, in brackets.

    Which line raised what, who died how, and what exactly was returned are the submission's choice, by which it could
    tell what it was asked. They are not said; nor is it which case was the last that was tried.
    """
    if outcome.kind == "value":
        said = _returned(expected, outcome, sentence)
    elif outcome.kind == "raised" and sentence != compare.UNWRITTEN:
        said = f"raised another exception; raise {expected.error}" if expected.error else "raised an exception"
    else:
        detail = re.sub(r"^rank \d+: ", "", outcome.detail)
        said = detail if detail in FIXED else MANNERS.get(outcome.kind, sentence) + before
    return f" ({said})" if said else ""


def _returned(expected: Outcome, outcome: Outcome, sentence: str) -> str:
    """What is said of a value that a hidden case returned; nothing when it is of the right kind."""
    if expected.kind == "raised":
        return f"returned a value; raise {expected.error}"
    if sentence in RETURNED:
        return sentence
    wanted = sentence.rpartition("; return ")[2] if sentence.startswith("returned ") else ""
    if wanted:
        return f"returned a value of another type; return {wanted}"
    call = re.match(r"answer \d+, of (?:\w*\.)?(\w+), (.*); raise (\w+)", sentence)
    if not call:
        return ""
    return f"{call[1]} {call[2] if call[2] == 'returned a value' else 'raised another exception'}; raise {call[3]}"


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
