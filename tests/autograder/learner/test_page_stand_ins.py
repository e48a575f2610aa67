"""In a page ``check`` and its like do nothing in a program that is checked, as in grading."""

from __future__ import annotations

import pytest

import autograder
from autograder.learner import in_page

TIME = """def message_time(message_bytes, bandwidth, latency=0.0):
    if not 0 <= message_bytes < float("inf") or not 0 < bandwidth < float("inf") or not 0 <= latency < float("inf"):
        raise ValueError("out of range")
    return latency + message_bytes / bandwidth
"""


def checked(source: str) -> tuple[str, str]:
    found = in_page.check("02-message-time", source, {}, lambda place: None, lambda line: None)
    return found["state"], found["html"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from autograder import check\n@check\n", ""),
        ("import autograder\n@autograder.check\n", ""),
        ("", "from autograder import check\nassert check(message_time) is message_time\n"),
        ("from autograder import predict\npredict('02-none', 3)\n", ""),
        ("import autograder as ag\nag.design('x', tp=2), ag.scorecard('02')\n", "ag.check(message_time)\n"),
        ("from autograder import *\nassert predict('02-none') is None\n", "check(message_time)\n"),
    ],
)
def test_a_program_of_a_notebook_is_checked_in_a_page(before, after, monkeypatch):
    """Kills: "No module named ..." about a line of the notebook, and a check within the check that takes its time."""
    monkeypatch.setitem(autograder.HOMES, "predict", "not_in_a_page")
    monkeypatch.setattr("autograder.learner.checking.check", lambda function: pytest.fail("checked within a check"))
    state, html = checked(before + TIME + after)
    assert state == "right"
    assert "after the function" not in html


def test_what_stands_in_goes_with_the_program():
    """Kills a notebook whose ``check`` does nothing once a program was checked."""
    real = autograder.check
    checked("import autograder\nautograder.check = autograder.predict = None\n" + TIME)
    assert autograder.check is real
    assert "check" not in vars(autograder)
