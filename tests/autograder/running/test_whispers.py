"""A submission that tries to tell its hidden inputs: whatever it chooses by them, its report reads the same.

Each program below knows, once it has been asked a hidden case, a number that depends on the key, and lets it choose
something that could stand in a report. Graded with many keys, it must earn the same sentences with each of them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import toy_bank as toys

from autograder.marking.marks import Grading
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.running.limits import Limits
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

KEYS = [f"key {number}".encode() for number in range(3)]
LIMITS = Limits(imports=60.0, call=60.0, submission=600.0)
ITEMS = (toys.SCALE.moved_to("first"), toys.LOWEST.moved_to("second"))

#: ``secret`` is 0 before a hidden case was asked, and then a number from 1 to 200 that depends on it.
FIRST = """
import sys

PUBLIC = [(2.0, 3.0), (0.5, 4.0), (1.0, 0.0), (1.0, -1.0)]
sys.secret = 0

def scale(value, factor):
    if (value, factor) not in PUBLIC:
        sys.secret = sys.secret or 1 + int(value * factor * 1e6) % 200
    secret = sys.secret
{body}
"""

SECOND = "def lowest(values):\n    return min(values)\n"


def told(first: str, second: str = SECOND, key: bytes = KEYS[0]) -> tuple[Grading, str]:
    """A grading and all that stands in it for the learner but the points."""
    units = (Unit("first.py", first, "first"), Unit("second.py", second, "second"))
    with Exam(ITEMS, key) as exam:
        grading = judging.judge(Submission("s", units), exam, Sandbox.measure("best"), LIMITS)
    return grading, repr([(mark.state, mark.public, mark.hidden) for mark in grading.marks] + [grading.problems])


def body(*lines: str) -> str:
    return FIRST.format(body="\n".join(f"    {line}" for line in lines))


#: What the first function does with the secret.
WAYS = {
    "the line": ('exec(compile("\\n" * secret + "raise ValueError", scale.__code__.co_filename, "exec"))',),
    "the class": (
        "import builtins",
        "raise list(vars(builtins).values())[60 + secret // 4]",
    ),
    "the text": ("raise RuntimeError(secret)",),
    "the status": ("import os", "os._exit(secret)"),
    "the signal": ("import ctypes", "ctypes.string_at(0) if secret % 2 else ctypes.CDLL(None).abort()"),
    "the ratio": ("return value * factor * (1 + secret / 1000)",),
    "the type": ("return ['', [], (), {}, True, range(3)][secret % 6]",),
    "the length": ("return [0.0] * secret",),
    "the kind of refusal": ("return [object(), {1}, b'', 1j, print, iter(())][secret % 6]",),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_a_function_chooses_by_a_hidden_input_is_not_told(way):
    """Kills a report with a line, a class, a status or a ratio that the submission could choose by a hidden input."""
    reports = {told(body(*WAYS[way]), key=key)[1] for key in KEYS}
    assert len(reports) == 1, reports


@pytest.mark.parametrize(
    "second",
    [
        "import os, sys\nif sys.secret:\n    os._exit(sys.secret)\n",
        "import sys\nif sys.secret:\n    raise RuntimeError(sys.secret)\n",
        "import sys\nif sys.secret:\n    exec('\\n' * sys.secret + 'raise ValueError')\n",
        "import sys\nif sys.secret:\n    vars()['x' * sys.secret]\n",
    ],
    ids=["status", "text", "line", "name"],
)
def test_what_a_module_does_when_it_is_imported_later_is_not_told(second):
    """Kills a report with the end of an import by a child that had seen hidden inputs."""
    reports = {told(body("return value * factor"), second + SECOND, key)[1] for key in KEYS}
    assert len(reports) == 1, reports


def test_public_cases_asked_after_hidden_ones_are_not_told():
    """Kills sentences about public cases that are made from answers given after hidden ones."""
    second = "import sys\n\n\ndef lowest(values):\n    return min(values) * (1 + getattr(sys, 'secret', 0) / 1000)\n"
    gradings = [told(body("return value * factor"), second, key) for key in KEYS]
    assert len({text for _, text in gradings}) == 1
    assert {grading.marks[1].public for grading, _ in gradings} == {("answers change from call to call",)}
    assert {grading.marks[1].score for grading, _ in gradings} == {0.0}


def test_what_is_wrong_with_a_public_case_is_told_in_full():
    """Kills a report that says nothing any more: before hidden inputs nothing has to be held back."""
    wrong = body("if factor < 0:", "    raise KeyError('factor', factor)", "return 2 * value * factor")
    grading, _ = told(wrong)
    assert grading.marks[0].public[0].endswith("the value is 2x too large")
    assert (
        grading.marks[0]
        .public[-1]
        .endswith("raised KeyError at line 12 of first.py: ('factor', -1.0); raise ValueError")
    )


def test_how_hidden_cases_fail_is_told_in_few_words():
    """What helps and tells nothing: no exception where one is due, another type, no answer at all."""
    hints = [
        ("return value - factor", "factors below 0 (returned a value; raise ValueError)"),
        ("return str(value * factor)", "any value, factors above 1 (returned a value of another type; return a float)"),
        (
            "return None",
            "any value, factors above 1 (returned None where there is an answer; did you print instead of ",
        ),
        ("raise KeyError(value)", "any value, factors above 1 (raised an exception)"),
        ("raise KeyError(value)", "factors below 0 (raised another exception; raise ValueError)"),
        ("raise SystemExit", "any value, factors above 1 (raised an exception)"),
        ("import os; os._exit(3)", "any value, factors above 1 (the process died, here or before)"),
        ("return {1}", "any value, factors above 1 (returned something that is not a plain value)"),
        ("return float('nan')", "any value, factors above 1 (returned nan)"),
    ]
    for line, hint in hints:
        grading, _ = told(body(line))
        assert any(sentence.startswith(hint) for sentence in grading.marks[0].hidden), (line, grading.marks[0].hidden)


def test_answers_that_are_too_large_together_are_told_so():
    """Kills a report that calls them wrong and does not say why, of public and of hidden cases."""
    sentence = "the answers of this submission together are too large to be kept"
    large = body("return [value] * (1000 if secret else 1)")
    for answers, told_of in ((3000, "hidden"), (200, "public")):
        with Exam(ITEMS, KEYS[0]) as exam:
            units = (Unit("first.py", large, "first"), Unit("second.py", SECOND, "second"))
            limits = replace(LIMITS, answers=answers)
            grading = judging.judge(Submission("s", units), exam, Sandbox.measure("best"), limits)
        assert any(sentence in said for said in getattr(grading.marks[0], told_of)), grading.marks[0]
