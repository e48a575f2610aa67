"""Finds the sentence that helps with wrong answers: the slip that gives the same ones, or the item that is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from autograder.items import Build, Case, Slip
from autograder.marking import compare
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper

#: Kinds of outcomes that no slip can explain.
SILENT = ("missing", "unloadable", "refused")
#: What a function raises that uses another one that is not there.
MISSING = ("NameError", "ImportError", "NotImplementedError")


def alike(item: Build, case: Case, slip: Outcome, theirs: Outcome) -> bool:
    """Whether two outcomes agree: in value and broken rule, in exception class, or in how the ranks got stuck."""
    if slip.kind != theirs.kind or slip.error != theirs.error:
        return False
    if slip.kind != "value":
        return slip.kind not in SILENT and _deadlock(slip) == _deadlock(theirs)
    if compare.wrong_value(item, case, slip, theirs) is not None:
        return False
    rules = [compare.broken_rule(item, case, one) or compare.changed(item, case, one) for one in (slip, theirs)]
    return rules[0] == rules[1]


def named_slip(paper: Paper, outcomes: Sequence[Outcome], failing: Sequence[int], least: int = 2) -> Slip | None:
    """The slip that gives the submission's answers in every case compared, including those where they are right.

    There must be at least ``least`` wrong answers. Cases whose input has to be refused are compared only if few others
    fail, because most people who make a slip also forget what has to be refused. Likewise, calls of an object that
    had to be refused but were answered are left out, unless nothing else is wrong. If several slips fit, the one that
    agrees in the most cases wins, counting all of them, and then the one whose worlds call the same operations.
    """
    wrong = [index for index in comparable(paper, failing, least) if outcomes[index].kind not in SILENT]
    if len(wrong) < least:
        return None
    guards = any(refuses(paper, index) for index in wrong)
    calls = paper.item.grade == "calls"  # calls to be refused are left out one by one, below
    rest = [index for index in paper.once if index not in failing and (guards or calls or not refuses(paper, index))]
    found = [slip for slip in paper.slips if _agrees(paper, slip, outcomes, wrong, rest)]
    if len(found) < 2:
        return found[0] if found else None

    def closeness(slip: Slip) -> tuple[int, int]:
        pairs = {index: (paper.slip_outcome(slip, index), outcomes[index]) for index in paper.once}
        calls = sum(_calls(mine) == _calls(theirs) for mine, theirs in (pairs[index] for index in wrong))
        return sum(alike(paper.item, paper.asked[index].case, *pair) for index, pair in pairs.items()), calls

    return max(found, key=closeness)


def refuses(paper: Paper, index: int) -> bool:
    """Whether the case at ``index``, or one of its calls, has to raise."""
    return paper.asked[index].refuses


def comparable(paper: Paper, failing: Sequence[int], least: int = 2) -> Sequence[int]:
    """The failing places where slips are compared: those where nothing has to raise, if there are ``least`` of them."""
    legal = [index for index in failing if not refuses(paper, index)]
    return legal if len(legal) >= least else failing


def _deadlock(outcome: Outcome) -> str:
    """Which rank waits in which operation of a deadlock, without line numbers; empty for any other outcome."""
    return re.sub(r" at line \d+|\bi(?=send|recv)", "", outcome.detail) if outcome.kind == "deadlock" else ""


def _calls(outcome: Outcome) -> list[tuple[int, str]]:
    """The operations that the ranks of a world called."""
    return sorted((event.rank, event.operation) for event in outcome.events)


def _agrees(paper: Paper, slip: Slip, outcomes: Sequence[Outcome], wrong: Sequence[int], rest: Sequence[int]) -> bool:
    """Whether a slip gives the submission's answers, the ``wrong`` ones and the ``rest``."""
    alone = not any(_wrong_beside_guards(paper, index, outcomes[index]) for index in wrong)

    def same(index: int) -> bool:
        pair = paper.slip_outcome(slip, index), outcomes[index]
        left_out = set() if alone else _accepted_calls(paper, index, outcomes[index])
        return alike(paper.item, paper.asked[index].case, *(_without(one, left_out) for one in pair))

    return all(map(same, (*wrong, *rest)))


def refused_rightly(paper: Paper, index: int, outcome: Outcome) -> bool:
    """Whether an object answered the calls of a case, and raised the right exception in each that has to raise."""
    pairs = _answers(paper, index, outcome)
    errors = [(compare.error_of(given), compare.error_of(right)) for given, right in pairs]
    return bool(pairs) and all(given == right for given, right in errors if right)


def _accepted_calls(paper: Paper, index: int, outcome: Outcome) -> set[int]:
    """The calls of an object that returned an answer where they had to raise."""
    pairs = enumerate(_answers(paper, index, outcome))
    return {call for call, (given, right) in pairs if compare.error_of(right) and not compare.error_of(given)}


def _answers(paper: Paper, index: int, outcome: Outcome) -> list[tuple[object, object]]:
    """An object's answers to the calls of a case, each paired with the right one; empty if there are none."""
    expected = paper.asked[index].expected
    if paper.item.grade != "calls" or outcome.kind != "value" or expected.kind != "value":
        return []
    if not isinstance(outcome.value, list) or len(outcome.value) != len(expected.value):
        return []
    return list(zip(outcome.value, expected.value, strict=True))


def _without(outcome: Outcome, calls: set[int]) -> Outcome:
    if not calls or not isinstance(outcome.value, list):
        return outcome
    return replace(outcome, value=[None if call in calls else given for call, given in enumerate(outcome.value)])


def _wrong_beside_guards(paper: Paper, index: int, outcome: Outcome) -> bool:
    """Whether anything is wrong apart from calls that returned an answer where they had to raise."""
    left_out, asked = _accepted_calls(paper, index, outcome), paper.asked[index]
    return not left_out or not alike(
        paper.item, asked.case, *(_without(one, left_out) for one in (asked.expected, outcome))
    )


def needed(item: Build, outcomes: Iterable[Outcome], course: Sequence[Build]) -> str | None:
    """A sentence if the function failed because another item that it uses is missing from the submission, else None."""
    missing = [outcome for outcome in outcomes if outcome.error.split(" ")[0] in MISSING]
    if not missing:
        return None
    others = {other.function: other for other in course if other.id != item.id}
    identifiers = {other.id: other for other in others.values()}
    for outcome in missing:
        error = outcome.error.split(" ")[0]
        for name in re.findall(r"'(\w+)'", outcome.detail) if error in ("NameError", "ImportError") else ():
            if name in others:
                return f"{item.function} needs {name} ({others[name].id}), which is not there"
        match = re.match(r"[\w-]+", outcome.detail) if error == "NotImplementedError" else None
        if match and match[0] in identifiers:
            return f"{item.function} needs {identifiers[match[0]].function} ({match[0]}), which is not implemented yet"
    return None
