"""The check of a page, as its worker runs it."""

from __future__ import annotations

from autograder import bank
from autograder.learner import in_page
from tools import stubs
from tools.common import ROOT

TIME = "03-ring-all-reduce-time"


def judged(source: str, **more) -> dict:
    told: list = []
    reply = in_page.check(TIME, source, {}, told.append, told.append, **more)
    return {**reply, "told": told}


def stub(item) -> str:
    return stubs.cell((ROOT / "solutions" / item.file).read_text(encoding="utf-8"), item)


def test_code_that_does_not_run_is_told_with_its_line():
    """Syntax, an error around the function, a missing function, a stub: each has its sentence."""
    assert "Line 1: this is not Python" in judged("def f(:\n")["html"]
    assert "Line 2: NameError" in judged("\nfoo\n")["html"]
    assert "no function ring_all_reduce_time" in judged("x = 1\n")["html"]
    stubbed = judged(stub(bank.find(TIME)))
    assert (stubbed["state"], stubbed["told"]) == ("unwritten", [-1, 0])


def test_lines_are_told_as_they_are_printed():
    """In the order of the cases, and no more than anybody reads."""
    reply = judged("def ring_all_reduce_time(*given, **more):\n    print('a', end='')\n    print('b')\n")
    assert reply["told"][:4] == [-1, 0, "ab", 1]
    many = judged("def ring_all_reduce_time(*given, **more):\n    for n in range(999): print(n)\n")
    assert [line for line in many["told"] if isinstance(line, str)][-1] == "... and more"


def test_a_case_that_did_not_come_back():
    """What ran before it keeps its result; it is not run again, nor is anything after it."""
    item = bank.find(TIME)
    source = f"from solutions.{item.home} import {item.function}\n"
    reply = judged(source, late=2)
    assert (reply["passed"], reply["told"]) == (2, [-1, 0, 1, 2, -2])
    assert "no answer within 3 s" in reply["html"]
    assert "did not come to its end" in judged(source, late=-1)["html"]
