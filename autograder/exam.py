"""The papers of a grading: public and hidden cases, drawn and answered by the reference before a submission runs.

Everything depends on the secret key, the item and nothing else. Public and hidden cases stand in one order that the key
shuffles; then one hidden case and one public case are asked again, so that answers which change can be seen.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from autograder import compare, trusted, values
from autograder.bench import Bench, wrong_programs
from autograder.items import Build, Case, Choice, Group, Order, Question, Slip
from autograder.outcome import Outcome

#: Seconds for one case of the reference, and of a slip (which may be a deadlock).
REFERENCE_TIME, SLIP_TIME = 30.0, 1.5


class CannotJudge(Exception):
    """The grader itself cannot judge an item; the message is a sentence for whoever runs it."""


def vectors_hash(sheets: Iterable[str]) -> str:
    """Names everything that is asked, from the hashes of the sheets in order."""
    return hashlib.sha256("".join(sheets).encode()).hexdigest()[:16]


#: Of the tolerance: by how much a reference must move for its other answers to be kept.
HARDLY = 1 / 20


def in_trust(item: Build, slip: Slip, case: Case) -> Outcome:
    """What a wrong program makes of one case, run as the reference is."""
    return trusted.run(item, item.program_of(slip), [case], SLIP_TIME)[0]


@dataclass(frozen=True)
class Asked:
    """One question to the submission: ``group`` is None for a public case."""

    case: Case
    group: Group | None
    expected: Outcome


@dataclass(frozen=True)
class Sheet:
    """What is asked about one item, without the answers: public and hidden cases in one order, then two once more.

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
        return [case for _, case in self.drawn] + [self.drawn[place][1] for place in self.again]

    @functools.cached_property
    def hash(self) -> str:
        """Names what is asked: equal hashes, equal cases in equal order."""
        digest = hashlib.sha256(self.item.id.encode())
        for case in self.cases:
            digest.update(_canonical(case))
        return digest.hexdigest()[:16]


@dataclass(frozen=True)
class Paper:
    """All that is asked about one item, in order. ``again`` pairs a place with the place of its repetition."""

    item: Build
    asked: tuple[Asked, ...]
    again: tuple[tuple[int, int], ...]
    hash: str = ""
    run_slip: Callable[[Build, Slip, Case], Outcome] = in_trust
    slip_outcomes: dict[tuple[Slip, int], Outcome] = field(default_factory=dict, repr=False, compare=False)
    moved: Callable[[], Sequence[Sequence[Outcome]]] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def cases(self) -> list[Case]:
        return [asked.case for asked in self.asked]

    @property
    def once(self) -> list[int]:
        """Places of the cases, without repetitions."""
        repeated = {second for _, second in self.again}
        return [place for place in range(len(self.asked)) if place not in repeated]

    @property
    def slips(self) -> tuple[Slip, ...]:
        """The wrong programs that an answer is held against."""
        return wrong_programs(self.item)

    def slip_outcome(self, slip: Slip, place: int) -> Outcome:
        """What a wrong program makes of the case at ``place``; computed once for a class."""
        key = (slip, place)
        if key not in self.slip_outcomes:
            self.slip_outcomes[key] = self.run_slip(self.item, slip, self.asked[place].case)
        return self.slip_outcomes[key]

    def fault(self, place: int, outcome: Outcome) -> str | None:
        """What is wrong with the outcome at ``place``; None when it is right. A ratio is told of public cases only.

        How far the reference moves is found out when the first answer is not close to it.
        """
        asked = self.asked[place]
        facts = (self.item, asked.case, asked.expected, outcome, asked.group is None)
        sentence = compare.fault(*facts)
        if sentence is None or sentence == compare.UNWRITTEN or outcome.kind not in ("value", "raised"):
            return sentence
        return compare.fault(*facts, moved=self.movements[place])

    @property
    def movements(self) -> Sequence[Sequence[Outcome]]:
        """By place, what the reference gives when it rounds otherwise: nothing where that makes no difference."""
        with self._lock:
            if "movements" not in self.__dict__:
                once = list((self.moved or self._move)())
                repeated = [once[first] for first, _ in self.again]
                self.__dict__["movements"] = once + repeated
            return self.__dict__["movements"]

    def _move(self) -> list[Sequence[Outcome]]:
        cases = [self.asked[place].case for place in self.once]
        runs = trusted.moved(self.item, cases, REFERENCE_TIME)
        return [self._kept(place, [run[number] for run in runs]) for number, place in enumerate(self.once)]

    def _kept(self, place: int, others: Sequence[Outcome]) -> Sequence[Outcome]:
        """``others``, where one of them is not the same answer."""
        asked = self.asked[place]
        strict = replace(self.item, tolerance=self.item.tolerance * HARDLY, rule=None)
        return others if any(compare.fault(strict, asked.case, asked.expected, other) for other in others) else ()


class Exam:
    """Items and a secret key: the papers of a grading. Made once; every submission of a class is judged with it.

    ``questions`` count only when a grading asks for them. ``bench`` is that of another exam of the same items, which
    ends its processes.
    """

    def __init__(
        self,
        items: Sequence[Build],
        key: bytes,
        questions: Sequence[Question | Choice | Order] = (),
        bench: Bench | None = None,
    ) -> None:
        self.items, self.key, self.questions = tuple(items), key, tuple(questions)
        self._sheets: dict[str, Sheet] = {}
        self._papers: dict[str, Paper] = {}
        self._bench = bench or Bench([item for item in items if item.grade in ("tensor", "world")])
        self._lock = threading.Lock()

    def __enter__(self) -> Exam:
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes in which wrong programs ran."""
        self._bench.close()

    @property
    def key_hash(self) -> str:
        """Names the key without giving it away."""
        return hmac.new(self.key, b"rankzero key", hashlib.sha256).hexdigest()[:16]

    @functools.cached_property
    def vectors_hash(self) -> str:
        """Names everything that is asked: equal hashes, equal vector sets."""
        return vectors_hash(self.sheet(item).hash for item in self.items)

    def for_submission(self, sha256: str) -> Exam:
        """The exam of one submission alone: its inputs depend on the key and on the hash of what was handed in.

        The same submission is asked the same again; another one, by a byte, something else. It shares the processes in
        which wrong programs run: this exam ends them.
        """
        key = hmac.new(self.key, f"submission:{sha256}".encode(), hashlib.sha256).digest()
        return Exam(self.items, key, self.questions, self._bench)

    def random(self, item: Build, purpose: str) -> Random:
        """A generator that depends on the key, the item and the purpose, and on nothing else."""
        return Random(hmac.new(self.key, f"{item.id}:{purpose}".encode(), hashlib.sha256).digest())

    def sheet(self, item: Build) -> Sheet:
        """What is asked about ``item``. No reference is needed for it."""
        with self._lock:
            if item.id not in self._sheets:
                self._sheets[item.id] = self._draw(item)
            return self._sheets[item.id]

    def paper(self, item: Build) -> Paper:
        """What is asked about ``item``, with the reference's answers.

        Raises:
            CannotJudge: the reference does not answer one of its cases as the bank says.
        """
        sheet = self.sheet(item)
        with self._lock:
            if item.id not in self._papers:
                self._papers[item.id] = self._answer(sheet)
            return self._papers[item.id]

    def _draw(self, item: Build) -> Sheet:
        hidden = item.hidden(self.random(item, "cases"))
        drawn: list[tuple[Group | None, Case]] = [(None, case) for case in item.cases]
        drawn += [(group, case) for group, cases in hidden for case in cases]
        order = self.random(item, "order")
        order.shuffle(drawn)
        return Sheet(item, tuple(drawn), _repetitions([group for group, _ in drawn], order))

    def _answer(self, sheet: Sheet) -> Paper:
        expected = answered(sheet.item, [case for _, case in sheet.drawn])
        asked = [Asked(case, group, right) for (group, case), right in zip(sheet.drawn, expected, strict=True)]
        pairs = tuple((first, len(asked) + number) for number, first in enumerate(sheet.again))
        run_slip = self._bench.run if sheet.item.grade in ("tensor", "world") else in_trust
        asked += [asked[first] for first in sheet.again]
        return Paper(sheet.item, tuple(asked), pairs, sheet.hash, run_slip)


def _repetitions(groups: Sequence[Group | None], order: Random) -> tuple[int, ...]:
    """Places to ask again after the others: a hidden case, then a public one."""
    hidden = [place for place, group in enumerate(groups) if group is not None]
    public = [place for place, group in enumerate(groups) if group is None]
    return tuple(order.choice(places) for places in (hidden, public) if places)


def answered(item: Build, cases: Sequence[Case]) -> list[Outcome]:
    """What the reference gives for each case.

    Raises:
        CannotJudge: it is not what the bank says.
    """
    try:
        outcomes = trusted.run(item, item.solution(), cases, REFERENCE_TIME)
    except ImportError as error:
        raise CannotJudge(f"{item.id} cannot be judged here: {error}") from None
    for case, outcome in zip(cases, outcomes, strict=True):
        wanted = Outcome("raised", error=case.raises) if case.raises else Outcome("value")
        if (outcome.kind, outcome.error) != (wanted.kind, wanted.error):
            what = compare.failure(outcome, tell=True) if outcome.kind != "value" else "a value"
            raise CannotJudge(f"{item.id} cannot be judged: for one case the reference gave {what}")
    return outcomes


def _canonical(case: Case) -> bytes:
    parts = (list(case.args), dict(case.kwargs), case.raises, [list(call) for call in case.calls])
    return repr(values.encode(list(parts))).encode()
