"""The papers of a grading: the cases of an item, the reference's answers, and how much those depend on rounding."""

from __future__ import annotations

import functools
import hashlib
import itertools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from autograder.items import Build, Case, Debug, Group, Slip
from autograder.marking import compare, trusted, values
from autograder.marking.outcome import Outcome

#: The sentence for a debug item that was handed in unchanged.
UNCHANGED = "This is still the program that was given."


def wrong_programs(item: Build) -> tuple[Slip, ...]:
    """The slips of an item that are programs, and the program that a debug item starts from."""
    slips = tuple(slip for slip in item.slips if slip.program or slip.changes)
    given = item.wrong if isinstance(item, Debug) else None
    new = given is not None and all(slip.program is not given or slip.changes for slip in slips)
    return (*slips, Slip(UNCHANGED, given)) if new else slips


#: Time limits in seconds for one case of the reference, and for one case of a slip (which may be a deadlock).
#: Python in a browser is several times as slow.
REFERENCE_TIME, SLIP_TIME = 30.0, 6.0 if sys.platform == "emscripten" else 1.5


class CannotJudge(Exception):
    """The grader itself cannot judge an item; the message is a sentence for whoever runs the grader."""


def vectors_hash(sheets: Iterable[str]) -> str:
    """A hash of everything that is asked, from the hashes of the sheets in order."""
    return hashlib.sha256("".join(sheets).encode()).hexdigest()[:16]


#: The share of the tolerance within which an answer of the reference under different rounding counts as unchanged.
NEGLIGIBLE = 1 / 20


def run_slip_here(item: Build, slip: Slip, case: Case) -> Outcome:
    """The outcome of a wrong program for one case, run the same way as the reference."""
    return trusted.run(item, item.program_of(slip), [case], SLIP_TIME)[0]


@dataclass(frozen=True)
class Asked:
    """One case that a submission is asked; ``group`` is None for a public case."""

    case: Case
    group: Group | None
    expected: Outcome

    @functools.cached_property
    def refuses(self) -> bool:
        """Whether the case, or one of its calls, has to raise."""
        return self.expected.kind != "value" or _has_error(self.expected.value)


def _has_error(answer: object) -> bool:
    """Whether an answer, or one in it, stands for an exception."""
    parts = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list | tuple) else ()
    return bool(compare.error_of(answer)) or any(map(_has_error, parts))


@dataclass(frozen=True)
class ExamSheet:
    """What is asked about one item, without the answers: public and hidden cases mixed, then two of them again.

    Attributes:
        drawn: every case with its group (None for a public case), in the order in which it is asked.
        again: places whose cases are asked again after the others.
    """

    item: Build
    drawn: tuple[tuple[Group | None, Case], ...]
    again: tuple[int, ...]

    @property
    def cases(self) -> list[Case]:
        """Everything that a submission is asked, in order."""
        return [case for _, case in self.drawn] + [self.drawn[index][1] for index in self.again]

    @functools.cached_property
    def hash(self) -> str:
        """A hash of the cases and their order."""
        digest = hashlib.sha256(self.item.id.encode())
        for case in self.cases:
            digest.update(_canonical(case))
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Paper:
    """What is asked about one item, with the right answers. ``again`` pairs a place with that of its repetition."""

    item: Build
    asked: tuple[Asked, ...]
    again: tuple[tuple[int, int], ...]
    hash: str = ""
    run_slip: Callable[[Build, Slip, Case], Outcome] = run_slip_here
    slip_outcomes: dict[tuple[Slip, int], Outcome] = field(default_factory=dict, repr=False, compare=False)
    moved: Callable[[], Sequence[Sequence[Outcome]]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def cases(self) -> list[Case]:
        """Everything that a submission is asked, in order."""
        return [asked.case for asked in self.asked]

    @property
    def once(self) -> list[int]:
        """The places of the cases, without repetitions."""
        repeated = {second for _, second in self.again}
        return [index for index in range(len(self.asked)) if index not in repeated]

    @property
    def slips(self) -> tuple[Slip, ...]:
        """The wrong programs that answers are compared with."""
        return wrong_programs(self.item)

    def slip_outcome(self, slip: Slip, index: int) -> Outcome:
        """The outcome of a wrong program for the case at ``index``; computed once for all submissions."""
        key = (slip, index)
        if key not in self.slip_outcomes:
            self.slip_outcomes[key] = self.run_slip(self.item, slip, self.asked[index].case)
        return self.slip_outcomes[key]

    def fault(self, index: int, outcome: Outcome) -> str | None:
        """What is wrong with the outcome at ``index``; None if it is right. Ratios are given for public cases only.

        The effect of rounding on the reference is computed only when some answer is not close to the reference's.
        """
        sentence = self._fault(index, outcome)
        return sentence.removesuffix(compare.PRINTED) if sentence and self.may_be_none else sentence

    @functools.cached_property
    def may_be_none(self) -> bool:
        """Whether None is the right answer to some case."""
        return any(asked.expected.kind == "value" and asked.expected.value is None for asked in self.asked)

    def _fault(self, index: int, outcome: Outcome) -> str | None:
        asked = self.asked[index]
        facts = (self.item, asked.case, asked.expected, outcome, asked.group is None)
        sentence = compare.fault(*facts)
        if sentence is None or sentence == compare.UNWRITTEN or outcome.kind not in ("value", "raised"):
            return sentence
        return compare.fault(*facts, moved=self.movements[index])

    @property
    def movements(self) -> Sequence[Sequence[Outcome]]:
        """By place, the reference's outcomes under different rounding; empty where rounding makes no difference."""
        with self._lock:
            if "movements" not in self.__dict__:
                once = list((self.moved or self._move)())
                repeated = [once[first] for first, _ in self.again]
                self.__dict__["movements"] = once + repeated
            return self.__dict__["movements"]

    def _move(self) -> list[Sequence[Outcome]]:
        cases = [self.asked[index].case for index in self.once]
        return self.kept(trusted.moved(self.item, cases, REFERENCE_TIME))

    def kept(self, runs: Sequence[Sequence[Outcome]]) -> list[Sequence[Outcome]]:
        """By case, the outcomes of ``runs`` of the reference under different rounding, where they make a difference."""
        return [self._kept(place, [run[number] for run in runs]) for number, place in enumerate(self.once)]

    def _kept(self, index: int, others: Sequence[Outcome]) -> Sequence[Outcome]:
        """``others`` if one of them differs noticeably from the expected answer, else nothing."""
        asked = self.asked[index]
        strict = replace(self.item, tolerance=self.item.tolerance * NEGLIGIBLE, rule=None)
        return others if any(compare.fault(strict, asked.case, asked.expected, other) for other in others) else ()


def answered(item: Build, cases: Sequence[Case]) -> list[Outcome]:
    """The reference's outcome for each case.

    Raises:
        CannotJudge: the reference cannot run here, or does not return or raise as the bank says.
    """
    try:
        outcomes = trusted.run(item, item.solution(), cases, REFERENCE_TIME)
    except ImportError as error:
        raise CannotJudge(f"{item.id} cannot be judged here: {error}") from None
    return as_announced(item, cases, outcomes)


def answered_together(sheets: Sequence[ExamSheet]) -> Iterator[list[Outcome]]:
    """The references' outcomes for each sheet of ``tensor`` and ``world`` items, which share their worlds.

    Raises:
        ImportError: a reference cannot run here.
    """
    from autograder.marking import trusted_worlds

    runs = [trusted_worlds.Run(sheet.item, sheet.item.solution(), case) for sheet in sheets for _, case in sheet.drawn]
    outcomes = iter(trusted_worlds.ended(runs, REFERENCE_TIME))
    return (list(itertools.islice(outcomes, len(sheet.drawn))) for sheet in sheets)


def moved_together(papers: Sequence[Paper]) -> list[Paper]:
    """The papers of ``tensor`` and ``world`` items, with the effects of rounding found in worlds that they share."""
    from autograder.marking import trusted_worlds

    asked = [(paper.item, [paper.asked[index].case for index in paper.once]) for paper in papers]
    found = trusted_worlds.moved_together(asked, REFERENCE_TIME)
    return [
        replace(paper, moved=functools.partial(paper.kept, runs)) for paper, runs in zip(papers, found, strict=True)
    ]


def as_announced(item: Build, cases: Sequence[Case], outcomes: list[Outcome]) -> list[Outcome]:
    """``outcomes``, the reference's.

    Raises:
        CannotJudge: the reference does not return or raise as the bank says.
    """
    for case, outcome in zip(cases, outcomes, strict=True):
        wanted = Outcome("raised", error=case.raises) if case.raises else Outcome("value")
        if (outcome.kind, outcome.error) != (wanted.kind, wanted.error):
            what = compare.failure(outcome, tell=True) if outcome.kind != "value" else "a value"
            raise CannotJudge(f"{item.id} cannot be judged: for one case the reference gave {what}")
    return outcomes


def _canonical(case: Case) -> bytes:
    parts = (list(case.args), dict(case.kwargs), case.raises, [list(call) for call in case.calls])
    return repr(values.encode(list(parts))).encode()
