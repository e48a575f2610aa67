"""Turns the outcomes of one item into points and sentences.

A program that has seen a hidden input could reveal it through anything it does later. What a mark says about public
cases therefore comes only from runs of those cases before any hidden one (:mod:`autograder.running.judging` sees to
that). Of the hidden cases a mark says how many are right, in sentences of the bank and of a small fixed set.

How points are earned: a group of hidden cases earns its share when all of its cases are right, and only if the ordinary
cases (the first group of its step; most exercises have one step) and some public case are right too. The public cases
earn theirs when all of them are right in which nothing has to raise, and at least half of the ordinary hidden ones, and
if those are more than a lookup table of the public answers with one default answer would get right: an error that is
forgotten costs its group and not the public cases too. Answers that change from call to call earn nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autograder.items import Build
from autograder.marking import compare, feedback
from autograder.marking.marks import Mark, MarkState, Share
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper
from autograder.marking.requests import prepared
from autograder.marking.sentences import (
    ABSENT,
    PublicResult,
    has_answer,
    hidden_sentences,
    public_sentences,
    without_end,
)


def mark(
    paper: Paper, outcomes: Sequence[Outcome], course: Sequence[Build] = (), public: Sequence[Outcome] = ()
) -> Mark:
    """The points and sentences for the outcomes of a paper.

    ``public``: outcomes of the public cases in the order of the page, recorded before any hidden input was seen. If
    they are missing, those in ``outcomes`` are used, which is fine for a trusted program.
    """
    faults = [paper.fault(index, _without_text(outcome)) for index, outcome in enumerate(outcomes)]
    first = _public_results(paper, outcomes, faults, public)
    known = _known(paper, outcomes, faults, course, first)
    if known:
        return known
    right = {index: faults[index] is None for index in paper.once}
    shares = shares_of(paper.item, _counts(paper, right), lambda: _guessed(paper), _values_right(paper, right))
    if _changes(paper, outcomes, faults, first):
        unpaid = tuple(Share(share.name, share.passed, share.total, 0.0, share.points) for share in shares)
        return Mark(paper.item, "wrong", unpaid, ("answers change from call to call",))
    score = sum(share.score for share in shares)
    state: MarkState = "right" if all(right.values()) else "partly" if score > 0 else "wrong"
    if endless := without_end(first, outcomes, faults):
        return Mark(paper.item, state, shares, (endless,))
    slip, hidden = hidden_sentences(paper, outcomes, faults)
    if shares[0].passed == shares[0].total and not shares[0].score:
        hidden.append("The public cases are right, but too many other ordinary inputs are not: they earn nothing yet.")
    return Mark(paper.item, state, shares, tuple(public_sentences(paper, first)), tuple(hidden), slip)


def _public_results(
    paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None], public: Sequence[Outcome]
) -> list[PublicResult]:
    """The results of the public cases, in the order of the page."""
    item = paper.item
    # Compared as requests: equal cases may still differ in the order of a dictionary.
    numbers = {prepared(item, case): number for number, case in reversed(list(enumerate(item.cases)))}
    asked = ((paper.asked[index].case, index) for index in paper.once if paper.asked[index].group is None)
    places = sorted((numbers[prepared(item, case)], index) for case, index in asked)
    if len(public) != len(item.cases):
        return [PublicResult(index, _without_text(outcomes[index]), faults[index]) for _, index in places]
    return [PublicResult(index, public[number], paper.fault(index, public[number])) for number, index in places]


def _changes(
    paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None], first: Sequence[PublicResult]
) -> bool:
    """Whether a case that was run twice was right only once. A missing answer does not count: the host may be busy."""
    twice = [
        (faults[one], faults[two])
        for one, two in paper.again
        if has_answer(outcomes[one]) and has_answer(outcomes[two])
    ]
    twice += [
        (result.fault, faults[result.place])
        for result in first
        if has_answer(result.outcome)
        and has_answer(outcomes[result.place])
        and {result.outcome.kind, outcomes[result.place].kind} <= {"value", "raised", "refused"}
    ]
    return any((before is None) != (after is None) for before, after in twice)


def _without_text(outcome: Outcome) -> Outcome:
    """The outcome without text chosen by the submission, which could reveal a hidden input even in a public case.

    That text is the message of an exception, the exit status, and the tags of messages.
    """
    if not outcome.detail:
        return outcome
    if outcome.kind == "raised":
        return replace(outcome, detail="")
    return replace(outcome, detail=re.sub(r" with status \d+|\btag=-?\d{3,}", _redacted, outcome.detail))


def _redacted(match: re.Match[str]) -> str:
    return "tag=..." if match[0].startswith("tag") else ""


def _known(
    paper: Paper,
    outcomes: Sequence[Outcome],
    faults: Sequence[str | None],
    course: Sequence[Build],
    first: Sequence[PublicResult],
) -> Mark | None:
    """The mark of a function that is missing, is still a stub, or needs a missing item; None for any other."""
    nothing = shares_of(paper.item, _counts(paper, {}))
    if all(outcome.kind in ABSENT for outcome in outcomes):
        said = next((result.outcome.detail for result in first if result.outcome.kind in ABSENT), "")
        return Mark(paper.item, "missing", nothing, (said or "is not in the submission",))
    needs = feedback.needed(paper.item, [result.outcome for result in first], course)
    if needs:
        return Mark(paper.item, "wrong", nothing, (needs,))
    if all(fault == compare.UNWRITTEN for fault in faults):
        return Mark(paper.item, "unwritten", nothing, (compare.UNWRITTEN,))
    return None


def _counts(paper: Paper, right: dict[int, bool]) -> dict[str, tuple[int, int]]:
    """By group name, ``(passed, total)``; the public cases have the empty name."""
    counts: dict[str, tuple[int, int]] = {}
    for index in paper.once:
        group = paper.asked[index].group
        name = group.name if group else ""
        passed, total = counts.get(name, (0, 0))
        counts[name] = (passed + right.get(index, False), total + 1)
    return counts


def _values_right(paper: Paper, right: dict[int, bool]) -> bool:
    """Whether all public cases are right in which nothing has to raise."""
    public = [index for index in paper.once if paper.asked[index].group is None]
    return all(right[index] for index in public if not feedback.refuses(paper, index))


def _guessed(paper: Paper) -> int:
    """How many ordinary cases a lookup table of the public answers with one default answer would get right."""
    asked = [paper.asked[index] for index in paper.once]
    public = [one.case for one in asked if one.group is None]
    ordinary = [one for one in asked if one.group is not None and one.group.name == paper.item.groups[0].name]
    rest = [_answer(one.expected) for one in ordinary if one.case not in public]
    return len(ordinary) - len(rest) + max(map(rest.count, rest), default=0)


def _answer(expected: Outcome) -> tuple[Any, ...]:
    return expected.kind, expected.error, expected.value


def shares_of(
    item: Build, counts: dict[str, tuple[int, int]], guessed: Callable[[], int] = lambda: 0, values_right: bool = True
) -> tuple[Share, ...]:
    """What the public cases and each group earn.

    ``guessed`` counts the ordinary cases a lookup table gets right; ``values_right``: of the public cases, those in
    which nothing has to raise.
    """
    passed, total = counts.get("", (0, 0))
    groups = [(group.name, *counts.get(group.name, (0, 0))) for group in item.groups]
    _, ordinary, asked = groups[0] if groups else ("", 1, 1)
    worth = item.hidden_points / max(1, len(groups))
    known = passed > 0 and values_right and 2 * ordinary >= asked > 0 and (ordinary == asked or ordinary > guessed())
    public = item.public_points if known else 0.0
    shares = [Share("public cases", passed, total, public, item.public_points)]
    whole = {name for name, right, count in groups if right == count > 0}
    gates = {group.step: group.name for group in reversed(item.groups)}  # the first group of each step
    for group, (name, right, count) in zip(item.groups, groups, strict=True):
        earned = passed > 0 and {name, gates[group.step]} <= whole
        shares.append(Share(name, right, count, worth if earned else 0.0, worth))
    return tuple(shares)
