"""Milestones: programs that must learn something, judged by what they have learnt and not by what they return.

A milestone takes minutes, so it is asked for by name (``python -m autograder milestone``) and earns no points. The
submission trains in the sandbox and hands back weights, which are data; the grader measures them.

Weights can also be written by hand, and a program can say whatever it likes about how it came by them. Therefore the
key draws an arena for each try, and the grader plays it: the program asks for every step, and learns about the arena
what it sees there and nothing else. What was written before the arena was drawn does not fit.
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

from autograder import compare
from autograder.items import Arena, Case, Milestone, Tensor
from autograder.outcome import Outcome
from autograder.runner import Limits, Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission


@dataclass(frozen=True)
class Try:
    """One training: its score, or the sentence that says why there is none. ``ended``: the program returned."""

    passed: bool
    sentence: str
    seconds: float
    ended: bool = True


def arena(milestone: Milestone, key: bytes, number: int) -> Arena:
    """Where a try takes place: the same for the same key and number."""
    drawn = hmac.new(key, f"{milestone.id}:try {number}".encode(), hashlib.sha256).digest()
    return milestone.arena(Random(drawn), milestone.steps)


def tries(milestone: Milestone, submission: Submission, sandbox: Sandbox, key: bytes) -> Iterator[Try]:
    """The tries in order, until it is clear how the milestone ends. Never raises for what a submission does."""
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
    with Runner(submission, sandbox, limits, [milestone.item]) as runner:
        runner.answer = place.answer
        started = time.perf_counter()
        (outcome,) = runner.run(milestone.item, [Case(args=(milestone.steps, place.seed))])
        spent = time.perf_counter() - started
    if outcome.kind == "value":
        return _measured(milestone, place, outcome.value, spent)
    return Try(False, _failure(outcome), spent, ended=False)


def _failure(outcome: Outcome) -> str:
    """Why there are no weights; of a part that is not written, which: the loop may stand on other exercises."""
    sentence = compare.failure(outcome, tell=True)
    return f"{sentence} ({outcome.detail})" if sentence == compare.UNWRITTEN and outcome.detail else sentence


def _measured(milestone: Milestone, place: Arena, weights: Any, seconds: float) -> Try:
    """The try that ended with these weights."""
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
        isinstance(one, Tensor) and one.shape == shape and all(map(math.isfinite, one.tolist()))
        for one, shape in zip(weights, milestone.shapes, strict=True)
    )
