"""The children of one submission: how they are started, what they have loaded, and how their replies are awaited."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder import syntax
from autograder.items import Build, NoQuestion
from autograder.marking import probing
from autograder.marking.outcome import Outcome
from autograder.running import driver_imports, packages
from autograder.running.deadlines import Deadline
from autograder.running.limits import Limits
from autograder.running.messages import Message
from autograder.running.replies import Reader
from autograder.running.transport import Child, Transport, deadline_of
from autograder.starting import PACKAGES, NotStarted, Package
from autograder.submission import Submission
from rankzero import checks
from rankzero.facts import units

#: What a child runs: the index of a unit, and the place of a statement in it if its statements run one by one.
Place = tuple[int, int | None]
#: How many statements that hang, or end their child, are left out before the units of a submission count as lost.
STATEMENTS = 3


class ChildLost(Exception):
    """A child ended or did not answer in time."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class Children:
    """The children of a submission, started when needed.

    Attributes:
        started: those started so far, by imported package and rank; some may have ended.
        answer: answers a question that a driver asks during a call, with plain data for JSON, and raises NoQuestion for
            anything else. None if no driver asks questions.
        extension: seconds by which deadlines were extended for a busy host, in all.
        public: whether they have run only public cases, so that their problems may be reported.
    """

    def __init__(self, submission: Submission, transport: Transport, limits: Limits, reader: Reader) -> None:
        self.submission, self.transport, self.limits, self.reader = submission, transport, limits, reader
        self.started: dict[tuple[Package, int], Child] = {}
        self.answer: Callable[[Any], Any] | None = None
        self.extension = 0.0
        self.public = True
        self._loaded: dict[tuple[Child, str], list[str]] = {}
        self._packages: dict[str, Package] = {}
        self._skip: dict[Place, str] = {}
        self._problems: dict[str, None] = {}
        self._last: Place | None = None
        self._drivers: dict[Package, set[str]] = {}

    def close(self) -> None:
        """Kill every child, even if killing one of them fails."""
        with contextlib.ExitStack() as stack:
            for child in self.started.values():
                stack.callback(child.kill)
            self.started.clear()

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about units that could not be run, found before any hidden case."""
        return tuple(self._problems)

    def problems_with(self, item: Build, child: Child) -> list[str]:
        """Sentences about the units of ``item`` that ``child`` could not run."""
        return self._loaded.get((child, self._home(item)), [])

    def _home(self, item: Build) -> str:
        """The module of the submission in which an item's function is looked for; empty for the shared namespace."""
        return self.submission.homes.get(item.function, item.module) or ""

    def loaded(self, item: Build, ranks: int) -> list[Child]:
        """Living children, one for each rank, that have run the units of ``item``; new ones are started side by side.

        Where one is lost to a statement that the next can leave out, another is started, at most as often as each rank
        may be lost to so many statements: a child says itself what it runs, and may say the same for ever.

        Raises:
            ChildLost: a package or a unit did not load.
        """
        package = self._package(item)
        self.provide(item)
        for left in reversed(range(ranks * (STATEMENTS + 1))):
            children = self._ready(package, ranks)
            try:
                self._load(item, [child for child in children if (child, self._home(item)) not in self._loaded])
            except ChildLost:
                if not left or not self._is_left_out():
                    raise
            if all(child.alive for child in children):
                return children
        raise ChildLost(Outcome("unloadable", detail="its processes end again and again"))

    def _ready(self, package: Package, ranks: int) -> list[Child]:
        """Children that have started; those that fail to start get a second try.

        Raises:
            NotStarted: a child failed to start twice.
        """
        try:
            return self._started(package, ranks)
        except NotStarted:
            for (name, _), child in self.started.items():
                if name == package and not child.ready:
                    child.kill()
        return self._started(package, ranks)

    def _started(self, package: Package, ranks: int) -> list[Child]:
        children = [self._start(package, rank) for rank in range(ranks)]
        self._await_ready([child for child in children if not child.ready])
        return children

    def provide(self, item: Build) -> None:
        """Give children the item's driver. It must be loaded before any unit runs, so children without it are ended.

        A driver that imports of the course has children of its own: what they hold may be what another item asks for.
        """
        package = self._package(item)
        before = self._drivers.setdefault(package, set())
        own = {probing.module(item.probe)} if item.probe else set()
        alone = any(map(driver_imports.sources, before | own))
        drivers = own if alone else before | own
        if drivers != before:
            self._drivers[package] = drivers
            self._end(package)

    def end(self, item: Build) -> None:
        """End the children that run ``item``."""
        self._end(self._package(item))

    def _end(self, package: Package) -> None:
        for (name, _), child in self.started.items():
            if name == package:
                child.kill()

    def _start(self, package: Package, rank: int) -> Child:
        key = (package, rank)
        child = self.started.get(key)
        if child is None or not child.alive:
            self._loaded = {(one, home): found for (one, home), found in self._loaded.items() if one is not child}
            drivers = sorted(self._drivers[package])
            child = self.started[key] = self.transport.start(package)
            child.send(
                do="start",
                **child.settings,
                drivers=drivers,
                course={name: text for driver in drivers for name, text in driver_imports.sources(driver).items()},
                units=[[unit.label, unit.module, unit.source, unit.needed] for unit in self.submission.units],
                homes=dict(self.submission.homes),
                offered=offered(),
            )
        return child

    def _await_ready(self, children: Sequence[Child]) -> None:
        """Wait until the children have started. None of the submission's code has run yet: a failure is not its fault.

        Raises:
            NotStarted: a child did not start, or did not start with its walls.
        """
        deadline = deadline_of(children, self.limits.packages)
        for child in children:
            try:
                reply = self.reply(child, deadline, "the interpreter did not start")
            except ChildLost as lost:
                raise NotStarted(f"a child did not start: {lost}") from None
            if reply.get("kind") != "ready":
                child.kill()
                raise NotStarted(f"a child did not start: {reply.get('wall') or reply.get('error')}")
            child.confine()
            child.ready = True

    def _is_left_out(self) -> bool:
        """Whether the child was lost to a statement that the next child leaves out, so that it is worth a try."""
        return self._last is not None and self._last[1] is not None and len(self._skip) <= STATEMENTS

    def _load(self, item: Build, children: Sequence[Child]) -> None:
        """Run the units of ``item``. Later children skip a unit, or a statement, that hangs or ends its child."""
        for child in children:
            child.send(do="load", module=self._home(item), skip=[list(place) for place in self._skip])
        deadline = deadline_of(children, self.limits.imports)
        for child in children:
            reply = self._await_load(child, deadline)
            found = [self._problem(problem) for problem in _list(reply.get("problems"))[:100]]
            self._loaded[child, self._home(item)] = found
            if self.public:
                self._problems.update(dict.fromkeys(found))

    def _await_load(self, child: Child, deadline: Deadline) -> Message:
        self._last = None
        try:
            return self.reply(child, deadline, "importing did not end")
        except ChildLost as lost:
            if self._last is not None:
                self._skip[self._last] = f"{self._named(*self._last)}: {lost.outcome.detail}"
            raise ChildLost(Outcome("unloadable", detail=lost.outcome.detail)) from None

    def _named(self, index: int, place: int | None) -> str:
        """That a unit, or the statement at a place in it, could not be run."""
        unit = self.submission.units[index]
        if place is None:
            return f"{unit.label} could not be imported"
        tree = syntax.tree_of(unit.source)
        line = next((f" line {node.lineno}" for node in (tree.body if tree else [])[place : place + 1]), "")
        return f"{unit.label}{line} is left out"

    def _place(self, unit: Any, place: Any) -> Place | None:
        """What a child says that it runs, if it is a part of the submission."""
        index = self.reader.unit(unit)
        return None if index is None else (index, place if type(place) is int and place >= 0 else None)

    def _problem(self, problem: Any) -> str:
        """One sentence about a unit that could not be run."""
        place = self._place(*problem[:2]) if type(problem) is list and len(problem) == 4 else None
        skipped = self._skip.get(place) if place and problem[2:] == ["", ""] else None
        return skipped or self.reader.problem(problem)

    def _package(self, item: Build) -> Package:
        """The heaviest package that a child for ``item`` needs, by the item's grade or by what its source imports."""
        if item.grade not in ("call", "calls"):
            return "torch"
        home = self._home(item)
        if home not in self._packages:
            imported = packages.imports(self.submission, home)
            self._packages[home] = next((name for name in PACKAGES if name in imported), "")
        return self._packages[home]

    # Replies.

    def reply(self, child: Child, deadline: Deadline, what: str) -> Message:
        """Wait for the reply of ``child``, and note which units start running meanwhile.

        Raises:
            ChildLost: the child ended, or did not answer in time.
        """
        before = deadline.extension
        try:
            return self._replied(child, deadline, what)
        finally:
            self.extension += deadline.extension - before

    def _replied(self, child: Child, deadline: Deadline, what: str) -> Message:
        while True:
            # The deadline comes first: a child may send other messages endlessly.
            got = [] if deadline.passed else self.transport.exchange([child], deadline.until)
            if not got and deadline.extend():
                continue
            if not got:
                child.kill()
                seconds = f"{deadline.seconds:.1f}".removesuffix(".0")
                raise ChildLost(Outcome("timeout", detail=f"{what} within {seconds} s"))
            reply = got[0][1]
            if reply is None:
                raise ChildLost(Outcome("died", detail=child.ended))
            if reply.get("kind") == "running":
                self._last = self._place(reply.get("unit"), reply.get("place"))
            elif reply.get("kind") == "ask" and self.answer:
                self._answer(child, reply)
            else:
                child.ids.popleft()
                return reply

    def _answer(self, child: Child, reply: Message) -> None:
        """Answer a question that the driver of an item asks during a call.

        Raises:
            ChildLost: no driver asks this question; the child is ended.
        """
        assert self.answer is not None
        try:
            child.tell(answer=self.answer(reply.get("question")))
        except NoQuestion:
            child.kill()
            raise ChildLost(Outcome("died", detail="it wrote on the grader's channel")) from None


@functools.cache
def offered() -> dict[str, str]:
    """By name, the sources of the modules of ``rankzero`` that a child can import."""
    return {one.__name__: Path(str(one.__file__)).read_text(encoding="utf-8") for one in (checks, units)}


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []
