"""Asks a submission's functions: cases in, outcomes out.

It holds inputs only. It raises when a sandbox does not go up (``SandboxFailed``), never for what a submission does.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rankzero.units
from autograder import probing
from autograder.broker import World
from autograder.fingerprints import parse
from autograder.items import Build, Case, NoQuestion
from autograder.launch import SandboxFailed
from autograder.messages import Message
from autograder.outcome import Outcome
from autograder.patience import Patience
from autograder.process import Process, exchange
from autograder.replies import Reader
from autograder.requests import prepared, request
from autograder.sandbox import Sandbox, site_packages
from autograder.submission import Submission

MIB = 1 << 20

#: Calls that are queued in a child at most, and how many are left when more are queued; it answers them one by one.
AHEAD, LOW = 64, 16

#: Bytes that an event of a world takes in memory, about.
EVENT = 512

#: Address space by the heaviest package in a child, bytes.
MEMORY = {"": 512 * MIB, "numpy": 1024 * MIB, "torch": 4096 * MIB}


@dataclass(frozen=True)
class Limits:
    """Limits of a submission; times are by the clock on the wall, in seconds, less what a busy host takes away.

    Attributes:
        imports: running the units of a topic.
        packages: starting a child and importing NumPy and torch.
        call: one call.
        world: one case of a world.
        submission: everything that is asked of a submission's plain functions.
        tensors: the same for the items that need torch.
        losses: children that an item may cost; then the rest of its cases is not tried.
        answers: bytes that all answers of the submission together may take in memory, about.
    """

    imports: float = 5.0
    packages: float = 60.0
    call: float = 2.0
    world: float = 5.0
    submission: float = 30.0
    tensors: float = 300.0
    losses: int = 2
    answers: float = 32.0 * MIB

    @classmethod
    def of(cls, items: Sequence[Build]) -> Limits:
        """The limits of an exam: its time grows with its items, so that one that hangs leaves enough for the others.

        So does the room for answers: right ones to all items of the course together come to 27 MiB.
        """
        plain = sum(budget_of(item) == "plain" for item in items)
        return cls(
            submission=cls.submission + 3.0 * plain,
            tensors=cls.tensors + 10.0 * (len(items) - plain),
            answers=cls.answers + MIB * len(items),
        )


#: Why a case is not tried although the submission's other cases were.
NO_TIME = "the time for the whole submission is used up"
#: Why an answer is not kept, and no other is asked for.
TOO_MUCH = "the answers of this submission together are too large to be kept"


class Lost(Exception):
    """A child ended or did not answer in time."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.detail)
        self.outcome = outcome


class Runner:
    """Children for one submission, started when needed and killed at the end. A context manager; for one thread.

    Until :meth:`hide` they are asked what everybody may know, and what they say may be told.
    """

    def __init__(
        self, submission: Submission, sandbox: Sandbox, limits: Limits | None = None, items: Iterable[Build] = ()
    ) -> None:
        """``items`` are those that will be asked about, as far as they are known: their drivers are loaded at once."""
        self.submission, self.sandbox, self.limits = submission, sandbox, limits or Limits()
        self.reader = Reader(submission)
        self._children: dict[tuple[str, int], Process] = {}
        self._child: Process | None = None  # the one that answers the calls of the item at hand
        self._loaded: dict[tuple[Process, str], list[str]] = {}
        self._telling = True
        self._packages: dict[str, str] = {}
        self._skip: dict[int, str] = {}
        self._left = {"plain": self.limits.submission, "tensors": self.limits.tensors}
        self._room = self.limits.answers
        self._excused = 0.0  # seconds of the case at hand that a busy host took
        self._problems: dict[str, None] = {}
        self._last_unit: int | None = None
        self._drivers: dict[str, set[str]] = {}
        #: Answers what a driver asks in the middle of a call, with plain data for JSON; raises NoQuestion for the rest.
        self.answer: Callable[[Any], Any] | None = None
        for item in items:
            self._provide(item, self._package(item))

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill every child, whatever happens to one of them meanwhile."""
        with contextlib.ExitStack() as stack:
            for child in self._children.values():
                stack.callback(child.kill)
            self._children.clear()

    def hide(self) -> None:
        """From now on cases are hidden: no problem of a unit is told any more, since it could tell an input."""
        self._telling = False

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about units that could not be run, as far as they were run before any input was hidden."""
        return tuple(self._problems)

    def run(self, item: Build, cases: Sequence[Case], losses: int | None = None) -> list[Outcome]:
        """One outcome for each case, in order. A case may stand in ``cases`` twice: then it is asked twice.

        ``losses``: children that the cases may cost; as the limits say when left out.
        """
        most = self.limits.losses if losses is None else losses
        outcomes = self._apart(item, cases, most) if item.processes > 1 else self._run(item, cases, most)
        return [probing.concluded(item, *pair) for pair in zip(cases, outcomes, strict=True)]

    def _apart(self, item: Build, cases: Sequence[Case], most: int) -> list[Outcome]:
        """All cases once for each process, in a fresh child after the first: none knows what another was asked."""
        parts = []
        for process in range(item.processes):
            if process > 0:
                self._end(self._package(item))
            parts.append(self._run(item, [probing.asked(item, case)[process] for case in cases], most))
        return [probing.joined(item, outcomes) for outcomes in zip(*parts, strict=True)]

    def _run(self, item: Build, cases: Sequence[Case], most: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        losses: list[Outcome] = []
        budget = budget_of(item)
        for place in range(len(cases)):
            started, self._excused = time.monotonic(), 0.0
            if self._left[budget] <= 0:
                outcome = Outcome("timeout", detail=NO_TIME)
            elif self._room < 0:
                outcome = Outcome("refused", detail=TOO_MUCH)
            elif len(losses) >= most:
                outcome = Outcome(losses[-1].kind, detail=f"not tried: before, {losses[-1].detail}")
            else:
                outcome = self._one(item, cases, place, losses)
            outcomes.append(outcome)
            self._left[budget] -= max(0.0, time.monotonic() - started - self._excused)
        return outcomes

    def _one(self, item: Build, cases: Sequence[Case], place: int, losses: list[Outcome]) -> Outcome:
        try:
            return self._world(item, cases[place]) if item.grade == "world" else self._call(item, cases, place)
        except Lost as lost:
            losses.append(lost.outcome)
            return lost.outcome

    # One call in one child.

    def _call(self, item: Build, cases: Sequence[Case], place: int) -> Outcome:
        """The outcome of one case. Those that follow are queued behind it, so that the child need not wait for us."""
        child, self._child = self._child, None
        if place == 0 or child is None or not child.alive:
            (child,) = self._children_for(item, 1)
        self._child = child
        if len(child.ids) <= LOW:
            child.queue(*(prepared(item, case) for case in cases[place + len(child.ids) : place + AHEAD]))
        reply = self._reply(child, Patience([child.pid], self._limit(item)), f"{item.function} did not return")
        return self.outcome(item, child, reply)

    def _limit(self, item: Build) -> float:
        """Seconds that one case may take now."""
        most = self.limits.world if item.grade == "world" else self.limits.call
        return max(0.1, min(most, self._left[budget_of(item)]))

    def _reply(self, child: Process, patience: Patience, what: str) -> Message:
        """The reply of ``child`` in time; units that start running meanwhile are noted.

        Raises:
            Lost: it ended, or did not answer.
        """
        before = patience.excused
        try:
            return self._replied(child, patience, what)
        finally:
            self._excused += patience.excused - before

    def _replied(self, child: Process, patience: Patience, what: str) -> Message:
        while True:
            got = [] if patience.passed else exchange([child], patience.deadline)  # however much it says meanwhile
            if not got and patience.lasts():
                continue
            if not got:
                child.kill()
                raise Lost(Outcome("timeout", detail=f"{what} within {patience.seconds:.1f} s"))
            reply = got[0][1]
            if reply is None:
                raise Lost(Outcome("died", detail=child.ended))
            if reply.get("kind") == "running":
                self._last_unit = self.reader.unit(reply.get("unit"))
            elif reply.get("kind") == "ask" and self.answer:
                self._answer(child, reply)
            else:
                child.ids.popleft()
                return reply

    def _answer(self, child: Process, reply: Message) -> None:
        """Answer what the driver of an item asks in the middle of a call.

        Raises:
            Lost: no driver asks that, which ends the child.
        """
        assert self.answer is not None
        try:
            child.tell(answer=self.answer(reply.get("question")))
        except NoQuestion:
            child.kill()
            raise Lost(Outcome("died", detail="it wrote on the grader's channel")) from None

    def outcome(self, item: Build, child: Process, reply: Message) -> Outcome:
        """What a final reply means.

        Raises:
            Lost: it breaks the rules, which ends its child.
        """
        self._room -= reply.size
        if self._room < 0:
            return Outcome("refused", detail=TOO_MUCH)
        if reply.get("kind") == "missing":
            return self._missing(item, child)
        outcome = self.reader.outcome(reply)
        if outcome is None:
            child.kill()
            raise Lost(Outcome("died", detail="it wrote on the grader's channel"))
        return outcome

    def _missing(self, item: Build, child: Process) -> Outcome:
        problems = self._loaded.get((child, item.module), [])
        if problems:
            return Outcome("unloadable", detail=f"there is no {item.function}: {'; '.join(problems[:3])}")
        return Outcome("missing", detail=f"the submission has no function or class named {item.function}")

    # Children.

    def _children_for(self, item: Build, ranks: int) -> list[Process]:
        """That many living children, started side by side, which have run the units of ``item``.

        Raises:
            Lost: a package or a unit did not load.
        """
        package = self._package(item)
        self._provide(item, package)
        children = self._ready(package, ranks)
        self._load(item, [child for child in children if (child, item.module) not in self._loaded])
        if all(child.alive for child in children):
            return children
        return self._children_for(item, ranks)

    def _ready(self, package: str, ranks: int) -> list[Process]:
        """Children that are up; those that do not come up are tried a second time.

        Raises:
            SandboxFailed: one did not come up twice.
        """
        try:
            return self._up(package, ranks)
        except SandboxFailed:
            for (name, _), child in self._children.items():
                if name == package and not child.ready:
                    child.kill()
        return self._up(package, ranks)

    def _up(self, package: str, ranks: int) -> list[Process]:
        children = [self._start(package, rank) for rank in range(ranks)]
        self._await_ready([child for child in children if not child.ready])
        return children

    def _provide(self, item: Build, package: str) -> None:
        """Let children have the item's driver. It is loaded before the first unit runs: those without it are ended."""
        drivers = self._drivers.setdefault(package, set())
        if item.probe and (module := probing.module(item.probe)) not in drivers:
            drivers.add(module)
            self._end(package)

    def _end(self, package: str) -> None:
        for (name, _), child in self._children.items():
            if name == package:
                child.kill()

    def _start(self, package: str, rank: int) -> Process:
        key = (package, rank)
        child = self._children.get(key)
        if child is None or not child.alive:
            packages = site_packages() if package else ()
            child = self._children[key] = Process(self.sandbox.launch(packages, package))
            child.send(
                do="start",
                limits=resources(package, child.inside or "user" in child.walls),
                walls=child.walls,
                packages=packages,
                preload=[package] if package else [],
                drivers=sorted(self._drivers[package]),
                units=[[unit.label, unit.module, unit.source] for unit in self.submission.units],
                rankzero_units=rankzero_units(),
            )
        return child

    def _await_ready(self, children: Sequence[Process]) -> None:
        """Wait until they are up. Nothing of the submission runs before, so whatever goes wrong is no fault of it.

        Raises:
            SandboxFailed: one did not come up, or not with its walls.
        """
        patience = Patience([child.pid for child in children], self.limits.packages)
        for child in children:
            try:
                reply = self._reply(child, patience, "the interpreter did not start")
            except Lost as lost:
                raise SandboxFailed(f"a child did not start: {lost}") from None
            if reply.get("kind") != "ready":
                child.kill()
                raise SandboxFailed(f"a child did not start: {reply.get('wall') or reply.get('error')}")
            child.enter()
            child.ready = True

    def _load(self, item: Build, children: Sequence[Process]) -> None:
        """Run the units that hold ``item``. One that hangs or ends its child is skipped by every later child."""
        for child in children:
            child.send(do="load", module=item.module, skip=sorted(self._skip))
        patience = Patience([child.pid for child in children], self.limits.imports)
        for child in children:
            reply = self._await_load(child, patience)
            found = [self._problem(problem) for problem in _list(reply.get("problems"))[:100]]
            self._loaded[child, item.module] = found
            if self._telling:
                self._problems.update(dict.fromkeys(found))

    def _await_load(self, child: Process, patience: Patience) -> Message:
        self._last_unit = None
        try:
            return self._reply(child, patience, "importing did not end")
        except Lost as lost:
            if self._last_unit is not None:
                label = self.submission.units[self._last_unit].label
                self._skip[self._last_unit] = f"{label} could not be imported: {lost.outcome.detail}"
            raise Lost(Outcome("unloadable", detail=lost.outcome.detail)) from None

    def _problem(self, problem: Any) -> str:
        """One sentence about a unit that could not be run."""
        index = problem[0] if type(problem) is list and problem else None
        skipped = self._skip.get(index) if type(index) is int else None
        return skipped or self.reader.problem(problem if type(index) is int else None)

    def _package(self, item: Build) -> str:
        """The heaviest package that a child for ``item`` needs: by the item's kind, else by what the source imports."""
        if item.grade not in ("call", "calls"):
            return "torch"
        if item.module not in self._packages:
            imported = self._imports(item.module)
            self._packages[item.module] = next((name for name in ("torch", "numpy") if name in imported), "")
        return self._packages[item.module]

    def _imports(self, module: str) -> set[str]:
        """Names that the units of ``module`` import, and the units of the submission that they import."""
        found: set[str] = set()
        todo, done = [module], set()
        while todo:
            name = todo.pop()
            done.add(name)
            for unit in self.submission.units:
                if unit.module in (name, None):
                    found |= imported_names(unit.source)
            todo += [unit.module for unit in self.submission.units if unit.module in found - done]
        return found

    # Worlds.

    def _world(self, item: Build, case: Case) -> Outcome:
        children = self._children_for(item, len(case.args))
        for rank, child in enumerate(children):
            message = request(item, case.args[rank], case.kwargs, ())
            child.send(rank=rank, ranks=len(children), **message)
        world = World(self, item, children, self._limit(item))
        outcome = world.run()
        self._excused += world.patience.excused
        for child in children:
            child.ids.clear()
        self._room -= EVENT * len(outcome.events)
        return outcome if self._room >= 0 else Outcome("refused", detail=TOO_MUCH)


def budget_of(item: Build) -> str:
    """Which of the two times of a submission an item uses."""
    return "plain" if item.grade in ("call", "calls") else "tensors"


@functools.lru_cache(maxsize=256)
def imported_names(source: str) -> frozenset[str]:
    """Every dotted part of every name that ``source`` imports; where it is not Python, as far as its lines show."""
    tree = parse(source) if "import" in source else ast.Module([], [])
    if tree is None:
        names = re.findall(r"^[ \t]*(?:import|from)[ \t]+([\w., \t]+)", source, re.MULTILINE)
    else:
        names = [name for node in ast.walk(tree) for name in _imported(node)]
    return frozenset(part for name in names for part in re.findall(r"\w+", name))


def _imported(node: ast.AST) -> list[str]:
    """The names in an import; of ``from a import b``, both."""
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return []
    module = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return module + [alias.name for alias in node.names]


def resources(package: str, alone: bool) -> dict[str, int]:
    """Resource limits of a child, for setrlimit. ``alone``: no other process runs as its user."""
    limits = {"CPU": 300 if package else 60, "AS": MEMORY[package], "FSIZE": 16 * MIB, "NOFILE": 256, "CORE": 0}
    limits["STACK"] = 8 * MIB
    return limits | ({"NPROC": 64} if alone else {})


@functools.cache
def rankzero_units() -> str:
    """The source of :mod:`rankzero.units`, the one module of the course that a child can import."""
    return Path(rankzero.units.__file__).read_text(encoding="utf-8")


def _list(value: Any) -> list[Any]:
    return value if type(value) is list else []
