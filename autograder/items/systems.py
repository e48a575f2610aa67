"""Systems: milestones that are graded level by level, each by runs that are drawn for it and judged from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, Protocol

from autograder.items.cases import Case
from autograder.items.exercises import Build
from rankzero.events import Event


@dataclass(frozen=True)
class Played:
    """How one run ended.

    Attributes:
        values: what each rank's driver returned; empty if the run failed.
        events: the broker's events.
        failure: a sentence if the run gave no values (an exception, a deadlock, a process that died); else empty.
        killed: the grader has killed the processes; there are no values, and that is no failure.
    """

    values: tuple[Any, ...] = ()
    events: tuple[Event, ...] = ()
    failure: str = ""
    killed: bool = False


class Kill(Exception):
    """Raised by a desk: every process of the run is ended at once, with SIGKILL."""


class Later(Exception):
    """Raised by a desk: the rank gets this answer when nothing else in the world can go on, and others are served."""

    def __init__(self, answer: Any) -> None:
        super().__init__("later")
        self.answer = answer


class Desk(Protocol):
    """Answers what the drivers of the ranks ask during a run, in the grader's process.

    Attributes:
        first: the rank that is answered before the others when several ask; then the next ones, and 0 after the last.
    """

    first: int

    def __call__(self, rank: int, question: Any) -> Any:
        """The answer, plain data for JSON.

        Raises:
            Kill: the run ends here.
            Later: the rank has to wait for the answer.
            NoQuestion: no driver asks this.
        """


class Play(Protocol):
    """Runs the program on a case, one real process for each rank."""

    def __call__(self, case: Case, fresh: bool = False, desk: Desk | None = None) -> Played:
        """The run of one case.

        Args:
            case: what each rank is handed.
            fresh: run it in processes that have run nothing before.
            desk: what answers the drivers, if they ask.
        """


class Cost(NamedTuple):
    """What a run took, and the least that any program takes for it, or what the reference takes, in the same unit."""

    spent: float
    least: float


@dataclass(frozen=True)
class LevelCosts:
    """What a level costs, in figures; None where a level has no such figure.

    Attributes:
        sent: bytes that the busiest rank sends in one step of the optimizer.
        held: bytes that the fullest rank holds besides the weights.
        hops: messages that the busiest rank sends one after the other in one step, each collective on a ring.
        repeated: steps that were begun again because the run had been killed.
        written: bytes written to the disk by a run that nobody kills.
        files: most files that were on a disk at any time.
        time: that the passes of a device took, on its clock.
        computed: tokens that the passes computed.
        waited: the longest wait of a client between two pieces of its text, on the clock.
        judged: the mean mark of what a model writes, and the highest possible.
    """

    sent: Cost | None = None
    held: Cost | None = None
    hops: Cost | None = None
    repeated: Cost | None = None
    written: Cost | None = None
    files: Cost | None = None
    time: Cost | None = None
    computed: Cost | None = None
    waited: Cost | None = None
    judged: Cost | None = None


#: Three figures of a level, by name, and the heads of their columns.
Columns = Mapping[str, str]


@dataclass(frozen=True)
class Verdict:
    """What a level has found.

    Attributes:
        wrong: a sentence; empty if all is right.
        costs: what a right level costs.
        open: the level is wrong because the program says that it is not written yet.
    """

    wrong: str = ""
    costs: LevelCosts = LevelCosts()
    open: bool = False


@dataclass(frozen=True)
class Level:
    """One level of a system.

    Attributes:
        name: of the table.
        judge: draws runs from a generator, has them played, and judges them. Whatever a program returns, it must not
            raise anything but ArithmeticError, AttributeError, LookupError, TypeError or ValueError.
    """

    name: str
    judge: Callable[[Random, Play], Verdict]


@dataclass(frozen=True)
class System:
    """A program that is graded as a whole, level by level: only on request, and for no points.

    Attributes:
        item: the function and its driver; a world item without cases.
        levels: in the order in which they are built; none needs another one.
        lines: most lines that the program's module may have.
        seconds: wall-clock limit of a run.
        measured: what the figures are, in words.
        columns: the figures that the sheet shows, and the heads of their columns.
    """

    item: Build
    levels: tuple[Level, ...]
    lines: int
    seconds: float
    measured: str
    columns: Columns

    @property
    def id(self) -> str:
        return self.item.id
