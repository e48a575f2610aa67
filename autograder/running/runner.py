"""Runs a submission's functions: cases in, outcomes out.

A runner knows inputs but no expected values. It raises ``NotStarted`` if a child cannot be started, but never because
of anything that a submission does.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Sequence

from autograder.items import Build, Case, Desk
from autograder.marking import probing
from autograder.marking.outcome import NO_TIME, TOO_MUCH, Outcome
from autograder.marking.requests import prepared, request
from autograder.running.broker import Broker
from autograder.running.children import ChildLost, Children
from autograder.running.limits import Limits, budget_of
from autograder.running.messages import Message
from autograder.running.replies import Reader
from autograder.running.transport import Child, Transport, deadline_of
from autograder.submission import Submission

#: The most calls queued in a child, which answers them one by one, and how few must be left before more are queued.
AHEAD, LOW = 64, 16

#: Approximate memory of an event of a world, bytes.
EVENT = 512


class Runner:
    """Runs the cases of one submission in children. A context manager, for one thread; closing it kills the children.

    Until :meth:`hide` is called, all cases are public, and problems may be reported.
    """

    def __init__(
        self, submission: Submission, transport: Transport, limits: Limits | None = None, items: Iterable[Build] = ()
    ) -> None:
        """``items``: those that will be run, as far as known, so that their drivers are loaded from the start."""
        self.submission, self.transport, self.limits = submission, transport, limits or Limits()
        self.reader = Reader(submission)
        self.children = Children(submission, transport, self.limits, self.reader)
        self._child: Child | None = None  # the one that runs the calls of the current item
        self._left = {"plain": self.limits.submission, "tensors": self.limits.tensors}
        self._room = self.limits.answers
        self.desk: Desk | None = None  # answers what the drivers of a world ask
        for item in items:
            self.children.provide(item)

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill every child."""
        self.children.close()

    def hide(self) -> None:
        """From now on cases are hidden: problems of units are no longer recorded, since they could reveal an input."""
        self.children.public = False

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences about units that could not be run, found before any hidden case."""
        return self.children.problems

    def run(self, item: Build, cases: Sequence[Case], losses: int | None = None) -> list[Outcome]:
        """One outcome for each case, in order. A case that occurs twice in ``cases`` is run twice.

        ``losses``: how many children may be lost before the remaining cases are skipped; by default as in the limits.
        """
        most = self.limits.losses if losses is None else losses
        outcomes = self._in_processes(item, cases, most) if item.processes > 1 else self._run(item, cases, most)
        return [probing.with_conclusion(item, *pair) for pair in zip(cases, outcomes, strict=True)]

    def _in_processes(self, item: Build, cases: Sequence[Case], most: int) -> list[Outcome]:
        """Run all cases once for each process of the item, each time in a new child."""
        parts = []
        for process in range(item.processes):
            if process > 0:
                self.children.end(item)
            parts.append(self._run(item, [probing.for_processes(item, case)[process] for case in cases], most))
        return [probing.joined(item, outcomes) for outcomes in zip(*parts, strict=True)]

    def _run(self, item: Build, cases: Sequence[Case], most: int) -> list[Outcome]:
        outcomes: list[Outcome] = []
        losses: list[Outcome] = []
        budget = budget_of(item)
        for index in range(len(cases)):
            started, extension = time.monotonic(), self.children.extension
            if self._left[budget] <= 0:
                outcome = Outcome("timeout", detail=NO_TIME)
            elif self._room < 0:
                outcome = Outcome("refused", detail=TOO_MUCH)
            elif len(losses) >= most:
                outcome = Outcome(losses[-1].kind, detail=f"not tried: before, {losses[-1].detail}")
            else:
                outcome = self._case(item, cases, index, losses)
            outcomes.append(outcome)
            self._left[budget] -= max(0.0, time.monotonic() - started - (self.children.extension - extension))
        return outcomes

    def _case(self, item: Build, cases: Sequence[Case], index: int, losses: list[Outcome]) -> Outcome:
        try:
            if item.grade != "world":
                return self._call(item, cases, index)
            outcome = self._world(item, cases[index])
            losses += [outcome] if outcome.kind == "timeout" else []  # all its children are lost
            return outcome
        except ChildLost as lost:
            losses.append(lost.outcome)
            return lost.outcome

    # One call in one child.

    def _call(self, item: Build, cases: Sequence[Case], index: int) -> Outcome:
        """The outcome of one case. The next cases are queued behind it, so that the child never has to wait."""
        child, self._child = self._child, None
        if index == 0 or child is None or not child.alive:
            (child,) = self.children.loaded(item, 1)
        self._child = child
        if len(child.ids) <= LOW:
            child.queue(*(prepared(item, case) for case in cases[index + len(child.ids) : index + AHEAD]))
        reply = self.children.reply(child, deadline_of([child], self._limit(item)), f"{item.function} does not return")
        return self.outcome(item, child, reply)

    def _limit(self, item: Build) -> float:
        """Seconds that the next case may take."""
        most = self.limits.world if item.grade == "world" else self.limits.call
        return max(0.1, min(most, self._left[budget_of(item)]))

    def outcome(self, item: Build, child: Child, reply: Message) -> Outcome:
        """What a final reply of ``child`` means.

        Raises:
            ChildLost: the reply breaks the rules; the child is ended.
        """
        self._room -= reply.size
        if self._room < 0:
            return Outcome("refused", detail=TOO_MUCH)
        if reply.get("kind") == "missing":
            return self._missing(item, child)
        outcome = self.reader.outcome(reply)
        if outcome is None:
            child.kill()
            raise ChildLost(Outcome("died", detail="it wrote on the grader's channel"))
        return outcome

    def _missing(self, item: Build, child: Child) -> Outcome:
        problems = self.children.problems_with(item, child)
        if problems:
            return Outcome("unloadable", detail=f"there is no {item.function}: {'; '.join(problems[:3])}")
        return Outcome("missing", detail=f"the submission has no function or class named {item.function}")

    # Worlds.

    def _world(self, item: Build, case: Case) -> Outcome:
        children = self.children.loaded(item, len(case.args))
        for rank, child in enumerate(children):
            message = request(item, case.args[rank], case.kwargs, ())
            child.send(rank=rank, ranks=len(children), **message)
        read_reply = functools.partial(self.outcome, item)
        broker = Broker(self.transport, children, self._limit(item), read_reply, self.reader.line, self.desk)
        outcome = broker.run()
        self.children.extension += broker.deadline.extension
        for child in children:
            child.ids.clear()
        self._room -= EVENT * len(outcome.events)
        return outcome if self._room >= 0 else Outcome("refused", detail=TOO_MUCH)
