"""Milestones: programs that must learn something, judged by what they have learned.

A milestone takes minutes, so it is graded only on request (``python -m autograder milestone``) and earns no points. The
submission trains in the sandbox and returns weights, which are plain data that the grader measures.

Weights could also be written by hand, and a program can claim anything about where they come from. Therefore the key
draws an arena for each try, which the grader plays: the program requests every step, and knows nothing about the arena
but what it observes. Weights written before the arena was drawn do not fit it.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from autograder.items import Arena, Case, Milestone, Tensor
from autograder.marking import compare
from autograder.marking.outcome import Outcome
from autograder.running.limits import Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission


@dataclass(frozen=True)
class Try:
    """One training run: a sentence with its score or the reason why there is none. ``ended``: the program returned."""

    passed: bool
    sentence: str
    seconds: float
    ended: bool = True


def arena(milestone: Milestone, key: bytes, number: int) -> Arena:
    """The arena of a try, determined by the key and the number of the try."""
    drawn = hmac.new(key, f"{milestone.id}:try {number}".encode(), hashlib.sha256).digest()
    return milestone.arena(Random(drawn), milestone.steps)


def tries(milestone: Milestone, submission: Submission, sandbox: Sandbox, key: bytes) -> Iterator[Try]:
    """The tries in order, until the result is clear. Never raises because of what a submission does."""
    passed = 0
    for number in range(milestone.tries):
        found = _try(milestone, submission, sandbox, arena(milestone, key, number))
        yield found
        passed += found.passed
        left = milestone.tries - number - 1
        if passed >= milestone.needed or passed + left < milestone.needed or not found.ended:
            return


def _try(milestone: Milestone, submission: Submission, sandbox: Sandbox, place: Arena) -> Try:
    """One try, in a process of its own."""
    limits = Limits(call=milestone.seconds, tensors=2 * milestone.seconds, losses=1)
    with Runner(submission, Processes(sandbox), limits, [milestone.item]) as runner:
        runner.children.answer = place.answer
        started = time.perf_counter()
        (outcome,) = runner.run(milestone.item, [Case(args=(milestone.steps, place.seed))])
        spent = time.perf_counter() - started
    if outcome.kind == "value":
        return _measured(milestone, place, outcome.value, spent)
    return Try(False, _failure(outcome), spent, ended=False)


def _failure(outcome: Outcome) -> str:
    """Why there are no weights; if a part is not implemented, also which: the program may use other exercises."""
    sentence = compare.failure(outcome, tell=True)
    return f"{sentence} ({outcome.detail})" if sentence == compare.UNWRITTEN and outcome.detail else sentence


def _measured(milestone: Milestone, place: Arena, weights: Any, seconds: float) -> Try:
    """The result of a try that returned these weights."""
    if not _fit(milestone, weights):
        shapes = ", ".join(map(str, milestone.shapes))
        return Try(False, f"the trained network must have finite weights of the shapes {shapes}", seconds)
    if refusal := place.refusal(weights):
        return Try(False, refusal, seconds)
    score = place.measure(weights)
    return Try(score >= milestone.goal, f"{score:.1f} {milestone.unit}", seconds)


def _fit(milestone: Milestone, weights: Any) -> bool:
    if type(weights) is not list or len(weights) != len(milestone.shapes):
        return False
    return all(
        isinstance(weight, Tensor) and weight.shape == shape and all(map(math.isfinite, weight.tolist()))
        for weight, shape in zip(weights, milestone.shapes, strict=True)
    )
