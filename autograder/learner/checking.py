"""``check``: run the public cases on your function, on your own machine, and continue with one that works.

``ring_all_reduce = check(ring_all_reduce)`` returns your function if it passes, and otherwise the reference, so that
the rest of the page runs either way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from autograder import bank
from autograder.items import Build, Slip
from autograder.learner import card_frame, function_cards, progress, workbench
from autograder.learner.reference import source_of
from autograder.learner.reports import CheckReport, Failure, Using, public_paper
from autograder.marking import compare, feedback, probing, trusted, wording
from autograder.marking.outcome import Outcome
from autograder.marking.papers import Paper

Function = TypeVar("Function", bound=Callable[..., Any])

#: Time limit of one public case, seconds.
TIME = 3.0
#: How many lines printed by ranks are shown, and how many characters of each.
LINES, WIDEST = 40, 200
#: How many failing cases are shown.
SHOWN = 3
UNTRIED = "not tried"
LATER = "Hidden cases are checked when you submit."
USING: dict[Using, str] = {"yours": "Later cells use your function.", "reference": "Later cells use the reference."}


class Uncheckable(ValueError):
    """``check`` was called with something that is not an exercise. A notebook shows the sentence without a
    traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"check: {self}"]


def check(function: Function) -> Function:
    """Run the public cases of an exercise on ``function`` and show the results.

    Returns ``function`` if every case passes, else the reference; one line says which. While the book is being built,
    nothing is run: the card says how and where to write the function.

    Raises:
        Uncheckable: (a ``ValueError``) no exercise of the course asks for a function of this name.
    """
    item = _item(function)
    if function is item.solution():
        print(f"{item.id}: this is the reference. Run the cell of your own function again, then check it.")
        return function
    if card_frame.in_book():
        blank = CheckReport(item, 0, len(item.cases), (), "reference", source_of(item))
        card_frame.show(function_cards.check_card(blank, workbench.written(function)), "")
        return item.solution()
    outcomes, untried = _tried(item, function)
    if untried:
        print(f"{item.id}: {untried}. {USING['reference']}")
        return item.solution()
    if lines := printed(outcomes):
        print("\n".join(lines))
    if unwritten(outcomes):
        print(f"{item.id}: {compare.UNWRITTEN}. {USING['reference']}")
        return item.solution()
    report = judged(item, outcomes)
    progress.record_check(item.id, report.passed, report.total)
    card_frame.show(function_cards.check_card(report), text(report))
    return function if report.using == "yours" else item.solution()


def _tried(item: Build, function: Any) -> tuple[list[Outcome], str]:
    """The outcomes of the public cases, or why none can be tried here."""
    from rankzero.world import serialization, systems

    if item.grade == "world" and not systems.can_fork():
        return [], systems.WITHOUT_FORK
    try:
        return _outcomes(item, function), ""
    except serialization.Unsendable as error:
        return [], str(error)


def judged(item: Build, outcomes: Sequence[Outcome]) -> CheckReport:
    """The report on the outcomes of all public cases."""
    paper = public_paper(item)
    faults = [paper.fault(index, outcome) for index, outcome in enumerate(outcomes)]
    passed = faults.count(None)
    using: Using = "yours" if passed == len(faults) else "reference"
    return CheckReport(item, passed, len(faults), _failures(paper, outcomes, faults), using, source_of(item))


def _item(function: Any) -> Build:
    name = getattr(function, "__name__", None)
    if not callable(function) or not isinstance(name, str):
        raise Uncheckable(f"function must be a function or class of an exercise, got {type(function).__name__}")
    try:
        return bank.find_function(name)
    except KeyError as error:
        raise Uncheckable(error.args[0]) from None


def _outcomes(item: Build, function: Any) -> list[Outcome]:
    """The outcomes of the public cases; a stub, or a function that does not end, is called only once."""
    first = trusted.run(item, function, item.cases[:1], TIME)
    return given_up(item, first) or first + trusted.run(item, function, item.cases[1:], TIME)


def given_up(item: Build, first: list[Outcome]) -> list[Outcome]:
    """All outcomes when the first says that nothing else is worth a try; otherwise none."""
    if unwritten(first):
        return [first[0], *[replace(first[0], printed=())] * (len(item.cases) - 1)]
    if first[0].kind in ("timeout", "deadlock", "died"):
        return first + [replace(first[0], detail=UNTRIED, printed=())] * (len(item.cases) - 1)
    return []


def printed(outcomes: Sequence[Outcome]) -> list[str]:
    """What the ranks printed in each case, under the number of the case; only the beginning if there is much.

    A plain call prints directly.
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


def unwritten(outcomes: Sequence[Outcome]) -> bool:
    """Whether the function is still a stub."""
    return compare.failure(outcomes[0]) == compare.UNWRITTEN


def _failures(paper: Paper, outcomes: Sequence[Outcome], faults: Sequence[str | None]) -> tuple[Failure, ...]:
    """The first failing cases, each with the slip's sentence if a slip explains it."""
    failing = [index for index, fault in enumerate(faults) if fault and outcomes[index].detail != UNTRIED]
    unknown = any(outcome.error.startswith(("NameError", "ImportError", "NotImplementedError")) for outcome in outcomes)
    needs = (
        feedback.needed(paper.item, outcomes, bank.builds()) if unknown else None
    )  # the course takes seconds to load
    slip = None if needs else feedback.named_slip(paper, outcomes, failing, least=1)
    failures = []
    for index in failing[:SHOWN]:
        ended = outcomes[index].kind not in ("value", "raised")
        right = paper.asked[index].expected
        yours = outcomes[index].kind if ended else wording.beside(paper.item, outcomes[index], right)
        sentence = needs or _explained(paper, outcomes, index, slip) or faults[index] or ""
        failures.append(Failure(wording.call(paper.item, paper.asked[index].case), yours, sentence))
    return tuple(failures)


def _explained(paper: Paper, outcomes: Sequence[Outcome], index: int, slip: Slip | None) -> str:
    if slip is None:
        return ""
    same = feedback.alike(paper.item, paper.asked[index].case, paper.slip_outcome(slip, index), outcomes[index])
    return slip.sentence if same else ""


def text(report: CheckReport) -> str:
    """The result of a check as text for a terminal."""
    lines = [f"{report.item.id}: {report.passed} of {report.total} public cases"]
    if report.failures and (said := probing.sentence(report.item)):
        lines.append(f"  in each case: {said}")
    for failure in report.failures:
        lines += [f"  {line}" for line in failure.call.split("\n")]
        lines += [f"    yours: {failure.yours.strip()}".replace("\n", "\n      "), f"    {failure.sentence}"]
    return "\n".join([*lines, f"{USING[report.using]} {LATER}"])
