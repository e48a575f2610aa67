"""What a report says about failing cases: public ones in full, hidden ones in sentences of the bank and a fixed set.

The learner's code has no influence on the wording for hidden cases: it could otherwise reveal its inputs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.marking import compare, feedback, wording
from autograder.marking.outcome import NO_TIME, TOO_MUCH, Kind, Outcome
from autograder.marking.papers import Paper

#: How many failing public cases of an item a report shows.
SHOWN = 3
#: Kinds of outcomes of a function that is missing.
ABSENT: tuple[Kind, ...] = ("missing", "unloadable")
#: What a report says about a hidden case without an answer, by the kind of its outcome.
ENDINGS: dict[Kind, str] = {
    "refused": "returned something that is not a plain value",
    "timeout": "no answer in time",
    "died": "the process died",
    **dict.fromkeys(ABSENT, "could not be loaded"),
}
#: Added if some cases were not tried because of earlier ones.
BEFORE = ", here or before"
#: Details of the runner that may be quoted because they depend only on the limits.
FIXED = frozenset({NO_TIME, TOO_MUCH})
#: What may be quoted about a value returned for a hidden case.
RETURNED = frozenset(
    {
        "returned nan",
        "returned another number of elements",
        compare.NONE,
        compare.NONE + compare.PRINTED,
        compare.CHANGED,
    }
)


@dataclass(frozen=True)
class PublicResult:
    """The outcome of the public case at ``place`` before any hidden input was seen, and what is wrong with it."""

    place: int
    outcome: Outcome
    fault: str | None


def was_tried(outcome: Outcome) -> bool:
    """Whether the case was run at all; after a few cases without an answer, the rest are not."""
    return not outcome.detail.startswith("not tried")


def has_answer(outcome: Outcome) -> bool:
    """Whether an answer came, right or wrong: not where none came in time, or where the submission's time or room had
    been used up."""
    detail = re.sub(r"^rank \d+: ", "", outcome.detail)
    return was_tried(outcome) and outcome.kind != "timeout" and detail not in FIXED


def without_end(first: Sequence[PublicResult], outcomes: Sequence[Outcome], faults: Sequence[str | None]) -> str:
    """The one sentence about a function that does not return; empty if anything else is wrong with it.

    What is not tried after it is not wrong, so no hint would be true.
    """
    failing = [result.outcome for result in first if result.fault]
    failing += [outcome for outcome, fault in zip(outcomes, faults, strict=True) if fault]
    if not first or not first[0].fault or any(outcome.kind != "timeout" for outcome in failing):
        return ""
    return first[0].outcome.detail.removeprefix("not tried: before, ")


def public_sentences(paper: Paper, first: Sequence[PublicResult]) -> list[str]:
    """The first failing public cases in the order of the page, each as its call and what is wrong."""
    failing = [result for result in first if result.fault][:SHOWN]
    calls = [wording.call(paper.item, paper.asked[one.place].case).replace("\n", "; ") for one in failing]
    return [f"{call}: {one.fault}" for call, one in zip(calls, failing, strict=True)]


def hidden_sentences(paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None]) -> tuple[str, list[str]]:
    """The sentence of the slip that explains the failures (or ""), and all sentences about the hidden cases.

    These are the slip's sentence and the hint of each failing group that the slip does not explain.
    """
    failing = [index for index in paper.once if faults[index]]
    slip = feedback.named_slip(paper, outcomes, failing)
    explained = set(feedback.comparable(paper, failing)) if slip else set()
    sentences = [slip.sentence] if slip else []

    def refused(index: int) -> bool:
        return feedback.refused_rightly(paper, index, outcomes[index])

    failing = [index for index in failing if index not in explained]
    before = "" if all(map(was_tried, outcomes)) else BEFORE
    for group in paper.item.groups:
        places = [index for index in failing if paper.asked[index].group is group]
        if sentences and "Error" in group.hint and all(map(refused, places)):
            continue  # what it tells to refuse is refused: the sentence above is about the rest
        if places:
            asked = paper.asked[places[0]]
            remark = _remark(asked.expected, outcomes[places[0]], faults[places[0]] or "", before)
            sentences.append(group.hint + remark)
    return slip.sentence if slip else "", sentences


def _remark(expected: Outcome, outcome: Outcome, sentence: str, before: str = "") -> str:
    """In brackets, how a hidden case failed if not by a wrong value: one of a few fixed sentences.

    The line that raised, the exception, how the process died and the value returned are under the submission's control
    and could reveal its input, so none of them is quoted. Neither is the last case that was tried.
    """
    if outcome.kind == "value":
        said = _returned(expected, outcome, sentence)
    elif outcome.kind == "raised" and sentence != compare.UNWRITTEN:
        said = f"raised another exception; raise {expected.error}" if expected.error else "raised an exception"
    else:
        detail = re.sub(r"^rank \d+: ", "", outcome.detail)
        ending = compare.stuck(outcome) if outcome.kind == "deadlock" else ENDINGS.get(outcome.kind, sentence)
        said = detail if detail in FIXED else ending + before
    return f" ({said})" if said else ""


def _returned(expected: Outcome, outcome: Outcome, sentence: str) -> str:
    """What is said about a value returned for a hidden case; empty if its type is right."""
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
