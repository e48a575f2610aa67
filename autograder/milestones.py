"""Milestones: programs that must learn something, judged by what they have learnt and not by what they return.

A milestone takes minutes, so it is asked for by name (``python -m autograder milestone``) and earns no points. The
submission trains in the sandbox and hands back weights, which are data; the grader measures them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from autograder import compare
from autograder.items import Milestone, Tensor
from autograder.outcome import Outcome
from autograder.runner import Limits, Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission


@dataclass(frozen=True)
class Try:
    """One training: its score, or the sentence that says why there is none."""

    passed: bool
    sentence: str
    seconds: float


def tries(milestone: Milestone, submission: Submission, sandbox: Sandbox) -> Iterator[Try]:
    """The tries in order, until it is clear how the milestone ends. Never raises for what a submission does."""
    cases = milestone.item.cases
    passed = 0
    limits = Limits(call=milestone.seconds, tensors=2 * milestone.seconds * len(cases), losses=1)
    with Runner(submission, sandbox, limits) as runner:
        for number, case in enumerate(cases):
            started = time.perf_counter()
            (outcome,) = runner.run(milestone.item, [case])
            spent = time.perf_counter() - started
            if outcome.kind == "value":
                found = _measured(milestone, outcome.value, spent)
            else:
                found = Try(False, _failure(outcome), spent)
            yield found
            passed += found.passed
            left = len(cases) - number - 1
            if passed >= milestone.needed or passed + left < milestone.needed or outcome.kind != "value":
                return


def _failure(outcome: Outcome) -> str:
    """Why there are no weights; of a part that is not written, which: the loop may stand on other exercises."""
    sentence = compare.failure(outcome, tell=True)
    return f"{sentence} ({outcome.detail})" if sentence == compare.UNWRITTEN and outcome.detail else sentence


def _measured(milestone: Milestone, weights: Any, seconds: float) -> Try:
    """The try that ended with these weights."""
    if not _fit(milestone, weights):
        shapes = ", ".join(map(str, milestone.shapes))
        return Try(False, f"the trained network must have finite weights of the shapes {shapes}", seconds)
    score = milestone.measure(weights)
    return Try(score >= milestone.goal, f"{score:.1f} {milestone.unit}", seconds)


def _fit(milestone: Milestone, weights: Any) -> bool:
    if type(weights) is not list or len(weights) != len(milestone.shapes):
        return False
    return all(
        isinstance(one, Tensor) and one.shape == shape and all(map(math.isfinite, one.tolist()))
        for one, shape in zip(weights, milestone.shapes, strict=True)
    )
