"""Systems: programs that are graded as a whole, level by level, each by runs that the key draws.

A submission runs in the sandbox, one process for each rank, and knows nothing but its own rank's rows. What it returned
and what the broker carried for it are judged in the grader's process.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from random import Random

from autograder.items import Build, Case, Desk, Level, Played, System, Verdict
from autograder.marking import compare
from autograder.marking.outcome import Outcome
from autograder.running.broker import KILLED
from autograder.running.limits import MIB, Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission

#: How a run ends for a submission that has nothing to run.
ABSENT = ("missing", "unloadable")
#: Runs of a level, about.
RUNS = 3


def verdicts(
    system: System, submission: Submission, sandbox: Sandbox, key: bytes, only: int | None = None
) -> Iterator[tuple[Level, Verdict]]:
    """The verdict on each level, in order, or on the level ``only``, counted from 1.

    Never raises because of what a submission does. A submission that has no such program, or cannot be loaded, is not
    asked again.
    """
    levels = system.levels if only is None else system.levels[only - 1 : only]
    with Runner(submission, Processes(sandbox), limits(system), [system.item]) as runner:
        player, absent = Player(system.item, runner), ""
        for level in levels:
            verdict = Verdict(absent) if absent else judged(level, draw(system, level, key), player)
            absent = verdict.wrong if player.absent else ""
            yield level, verdict


def limits(system: System) -> Limits:
    """Of all levels together. A run sends weights, state and events back, a few hundred kilobytes for each rank."""
    most = len(system.levels) * RUNS * system.seconds
    return Limits(imports=2 * Limits.imports, world=system.seconds, tensors=most, losses=1, answers=512.0 * MIB)


def draw(system: System, level: Level, key: bytes) -> Random:
    """The generator of a level, determined by the key alone: a level does not depend on those before it."""
    return Random(hmac.new(key, f"{system.id}:{level.name}".encode(), hashlib.sha256).digest())


def judged(level: Level, rng: Random, play: Player) -> Verdict:
    """The verdict on one level; a value that its judge cannot read is wrong."""
    try:
        verdict = level.judge(rng, play)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return Verdict("what a rank returned cannot be judged")
    _, unwritten, detail = verdict.wrong.partition(compare.UNWRITTEN)
    return Verdict(unwritten + detail, open=True) if unwritten else verdict


class Player:
    """Plays cases with a submission. ``absent``: there is nothing to play."""

    def __init__(self, item: Build, runner: Runner) -> None:
        self.item, self.runner, self.absent = item, runner, False

    def __call__(self, case: Case, fresh: bool = False, desk: Desk | None = None) -> Played:
        if fresh:
            self.runner.children.end(self.item)
        self.runner.desk = desk
        (outcome,) = self.runner.run(self.item, [case])
        self.absent = outcome.kind in ABSENT
        return Played(killed=True) if outcome == KILLED else _played(outcome)


def _played(outcome: Outcome) -> Played:
    if outcome.kind == "value":
        return Played(tuple(outcome.value), outcome.events)
    sentence = compare.failure(outcome, tell=True)
    detail = f" ({outcome.detail})" if sentence == compare.UNWRITTEN and outcome.detail else ""
    return Played(failure=sentence + detail)
