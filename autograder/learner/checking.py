"""``check``: run the public cases on your function, on your own machine, and go on with what works.

``ring_all_reduce = check(ring_all_reduce)`` gives back your function when it passes, and the reference until then, so
that the rest of the page runs either way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from autograder import bank, cards, compare, feedback, probing, progress, trusted, wording
from autograder.exam import Asked, Paper, answered
from autograder.items import Build, Slip
from autograder.outcome import Outcome
from autograder.reference import source_of

Function = TypeVar("Function", bound=Callable[..., Any])

#: Seconds for one public case.
TIME = 3.0
#: Most lines that are shown of what ranks print, and the widest, in characters.
LINES, WIDEST = 40, 200
#: Most failing cases that are shown.
SHOWN = 3
UNTRIED = "not tried"
LATER = "Hidden cases are checked when you submit."
USING = {"yours": "Later cells use your function.", "reference": "Later cells use the reference."}


@dataclass(frozen=True)
class Failure:
    """A failing public case: the call, what came of it, and the sentence that helps."""

    call: str
    yours: str
    sentence: str


@dataclass(frozen=True)
class CheckReport:
    """What a check found. ``using`` is ``yours`` or ``reference``; ``source`` is the reference's source."""

    item: Build
    passed: int
    total: int
    failures: tuple[Failure, ...]
    using: str
    source: str


class Uncheckable(ValueError):
    """A call of ``check`` that no exercise answers to. A notebook shows its one sentence and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"check: {self}"]


def check(function: Function) -> Function:
    """Run the public cases of an exercise on ``function`` and show what came of them.

    Returns ``function`` when every case passes, else the reference; one line says which. While the book is built
    nothing is run: the card says how and where to write the function.

    Raises:
        Uncheckable: (a ``ValueError``) no exercise of the course asks for a function of this name.
    """
    item = _item(function)
    if function is item.solution():
        print(f"{item.id}: this is the reference. Run the cell of your own function again, then check it.")
        return function
    if cards.in_book():  # nobody writes functions there: the card says how and where
        cards.show(cards.check_card(CheckReport(item, 0, len(item.cases), (), "reference", source_of(item))), "")
        return item.solution()
    outcomes = _outcomes(item, function)
    if lines := printed(outcomes):
        print("\n".join(lines))
    if _unwritten(outcomes):
        print(f"{item.id}: {compare.UNWRITTEN}. {USING['reference']}")
        return item.solution()
    paper = public_paper(item)
    faults = _faults(paper, outcomes)
    passed = faults.count(None)
    using = "yours" if passed == len(faults) else "reference"
    report = CheckReport(item, passed, len(faults), _failures(paper, outcomes, faults), using, source_of(item))
    progress.record_check(item.id, passed, len(faults))
    cards.show(cards.check_card(report), text(report))
    return function if using == "yours" else item.solution()


def _item(function: Any) -> Build:
    name = getattr(function, "__name__", None)
    if not callable(function) or not isinstance(name, str):
        raise Uncheckable(f"function must be a function or class of an exercise, got {type(function).__name__}")
    try:
        return bank.find_function(name)
    except KeyError as error:
        raise Uncheckable(error.args[0]) from None


@functools.cache
def _public_papers() -> dict[str, Paper]:
    return {}


def public_paper(item: Build) -> Paper:
    """The public cases with the reference's answers, computed once."""
    papers = _public_papers()
    if item.id not in papers:
        expected = answered(item, item.cases)
        asked = tuple(Asked(case, None, right) for case, right in zip(item.cases, expected, strict=True))
        papers[item.id] = Paper(item, asked, ())
    return papers[item.id]


def _outcomes(item: Build, function: Any) -> list[Outcome]:
    """What the learner's function makes of the public cases; a stub, or one that does not end, is asked only once."""
    first = trusted.run(item, function, item.cases[:1], TIME)
    if _unwritten(first):
        return [first[0], *[replace(first[0], printed=())] * (len(item.cases) - 1)]
    if first[0].kind in ("timeout", "deadlock", "died"):
        return first + [replace(first[0], detail=UNTRIED, printed=())] * (len(item.cases) - 1)
    return first + trusted.run(item, function, item.cases[1:], TIME)


def printed(outcomes: Sequence[Outcome]) -> list[str]:
    """What the ranks of the cases printed, under the number of each case; the beginning, when it is much.

    A plain call prints for itself.
    """
    lines = []
    for number, outcome in enumerate(outcomes, start=1):
        alone = len(outcome.printed) == 1
        said = [
            f"  {'' if alone else f'rank {rank}: '}{line[:WIDEST]}"
            for rank, found in enumerate(outcome.printed)
            for line in found
        ]
        lines += [f"printed in case {number} of {len(outcomes)}:", *said] if said else []
    more = len(lines) - LINES
    return lines if more <= 0 else [*lines[:LINES], f"... and {more:,} more line{'s' if more > 1 else ''}"]


def _unwritten(outcomes: Sequence[Outcome]) -> bool:
    return compare.failure(outcomes[0]) == compare.UNWRITTEN


def _faults(paper: Paper, outcomes: Sequence[Outcome]) -> list[str | None]:
    return [paper.fault(place, outcome) for place, outcome in enumerate(outcomes)]


def _failures(paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None]) -> tuple[Failure, ...]:
    """The first failing cases, each with the slip's sentence when a slip explains it."""
    failing = [place for place, fault in enumerate(faults) if fault and outcomes[place].detail != UNTRIED]
    needs = feedback.needed(paper.item, outcomes, bank.builds())
    slip = None if needs else feedback.named_slip(paper, outcomes, failing, least=1)
    failures = []
    for place in failing[:SHOWN]:
        ended = outcomes[place].kind not in ("value", "raised")
        yours = outcomes[place].kind if ended else wording.result(paper.item, outcomes[place])
        sentence = needs or _explained(paper, outcomes, place, slip) or faults[place] or ""
        failures.append(Failure(wording.call(paper.item, paper.asked[place].case), yours, sentence))
    return tuple(failures)


def _explained(paper: Paper, outcomes: Sequence[Outcome], place: int, slip: Slip | None) -> str:
    if slip is None:
        return ""
    same = feedback.alike(paper.item, paper.asked[place].case, paper.slip_outcome(slip, place), outcomes[place])
    return slip.sentence if same else ""


def text(report: CheckReport) -> str:
    """A check for a terminal."""
    lines = [f"{report.item.id}: {report.passed} of {report.total} public cases"]
    if report.failures and (said := probing.sentence(report.item)):
        lines.append(f"  in each case: {said}")
    for failure in report.failures:
        lines += [f"  {line}" for line in failure.call.split("\n")]
        lines += [f"    yours: {failure.yours.strip()}".replace("\n", "\n      "), f"    {failure.sentence}"]
    return "\n".join([*lines, f"{USING[report.using]} {LATER}"])
