"""From wrong answers to a sentence that helps: the slip that gives the same answers, or the item that is missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from autograder import compare
from autograder.exam import Paper
from autograder.items import Build, Case, Slip
from autograder.outcome import Outcome

#: A slip is named when it gives at least this share of the wrong answers.
SHARE = 0.8
#: Most wrong answers on which slips are tried: a world takes a tenth of a second each.
TRIED = {"call": 50, "calls": 50, "tensor": 4, "world": 4}
#: Outcomes in which no program ran.
SILENT = ("missing", "unloadable", "refused")


def alike(item: Build, case: Case, slip: Outcome, hers: Outcome) -> bool:
    """Whether two outcomes are the same mistake: the same value and broken rule, exception class, or kind of end."""
    if slip.kind != hers.kind or slip.error != hers.error:
        return False
    if slip.kind != "value":
        return slip.kind not in SILENT
    if compare.wrong_value(item, case, slip, hers) is not None:
        return False
    rules = [compare.broken_rule(item, case, one) or compare.changed(item, case, one) for one in (slip, hers)]
    return rules[0] == rules[1]


def named_slip(paper: Paper, outcomes: Sequence[Outcome], failing: Sequence[int], least: int = 2) -> Slip | None:
    """The slip that gives at least four fifths of the wrong answers at ``failing``, of which there are ``least``.

    Inputs that should have been refused count only where little else fails: most people who make a slip also forget to
    check their arguments. Of several slips, the one that agrees most, then the one that is also right where the
    submission is right, then the one in whose worlds the same ranks wait in the same operations, or call the same.
    """
    failing = telling(paper, failing, least)
    places = [place for place in failing if outcomes[place].kind not in SILENT][: TRIED[paper.item.grade]]
    if len(places) < least:
        return None
    spare = int((1 - SHARE) * len(places) + 1e-9)
    counts = [(_agreement(paper, slip, outcomes, places, spare), slip) for slip in paper.slips]
    most = max((count for count, _ in counts), default=0)
    if most < max(least, SHARE * len(places)):
        return None
    best = [slip for count, slip in counts if count == most]
    if len(best) == 1:
        return best[0]
    rest = [place for place in paper.once if place not in failing][: TRIED[paper.item.grade]]

    def closeness(slip: Slip) -> tuple[int, int, int]:
        pairs = [(paper.slip_outcome(slip, place), outcomes[place]) for place in places]
        ends = sum(_end(mine) == _end(hers) for mine, hers in pairs)
        return _agreement(paper, slip, outcomes, rest, len(rest)), ends, sum(_calls(a) == _calls(b) for a, b in pairs)

    return max(best, key=closeness)


def telling(paper: Paper, failing: Sequence[int], least: int = 2) -> Sequence[int]:
    """The failing places on which slips are tried: where nothing has to be refused, if there are ``least`` of those."""

    def refuses(expected: Outcome) -> bool:
        answers = expected.value if paper.item.grade == "calls" and expected.kind == "value" else []
        return expected.kind != "value" or any(compare.error_of(answer) for answer in answers)

    legal = [place for place in failing if not refuses(paper.asked[place].expected)]
    return legal if len(legal) >= least else failing


def _end(outcome: Outcome) -> str:
    """How a world ended in which ranks wait, without lines: who waits in which operation."""
    return re.sub(r" at line \d+|\bi(?=send|recv)", "", outcome.detail) if outcome.kind == "deadlock" else ""


def _calls(outcome: Outcome) -> list[tuple[int, str]]:
    """Which operations the ranks of a world called."""
    return sorted((event.rank, event.operation) for event in outcome.events)


def _agreement(paper: Paper, slip: Slip, outcomes: Sequence[Outcome], places: Sequence[int], spare: int) -> int:
    """At how many places a slip gives the submission's answer; it is given up after more than ``spare`` others."""
    same = 0
    for tried, place in enumerate(places):
        same += alike(paper.item, paper.asked[place].case, paper.slip_outcome(slip, place), outcomes[place])
        if tried + 1 - same > spare:
            break
    return same


def needed(item: Build, outcomes: Iterable[Outcome], course: Sequence[Build]) -> str | None:
    """A sentence when the function failed because it uses one of the submission's other items, which is not there."""
    others = {other.function: other for other in course if other.id != item.id}
    identifiers = {other.id: other for other in others.values()}
    for outcome in outcomes:
        error = outcome.error.split(" ")[0]
        for name in re.findall(r"'(\w+)'", outcome.detail) if error in ("NameError", "ImportError") else ():
            if name in others:
                return f"{item.function} needs {name} ({others[name].id}), which is not there"
        match = re.match(r"[\w-]+", outcome.detail) if error == "NotImplementedError" else None
        if match and match[0] in identifiers:
            return f"{item.function} needs {identifiers[match[0]].function} ({match[0]}), which is not implemented yet"
    return None
