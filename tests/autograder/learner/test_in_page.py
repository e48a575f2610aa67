"""The check of a page, as its worker runs it."""

from __future__ import annotations

import ast
import builtins
import sys
import tomllib

import pytest

from autograder import bank
from autograder.learner import in_page, oldest_python
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
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"Line 1: this is not Python {version} (" in judged("def f(:\n")["html"]
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


def right(after: str = "") -> str:
    """The reference, and what stands behind it."""
    return f"from solutions.{bank.find(TIME).home} import {bank.find(TIME).function}\n{after}\n"


@pytest.fixture(autouse=True)
def exits(monkeypatch):
    """What the site module of a page's Python gives, and another test may take away."""

    def leave(code=None):
        raise SystemExit(code)

    for name in ("exit", "quit"):
        monkeypatch.setattr(builtins, name, leave, raising=False)


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("exit()", "Line 2: SystemExit."),
        ("if True:\n    quit(0)", "Line 3: SystemExit: 0."),
        ("import sys; sys.exit('bye')", "Line 2: SystemExit: bye."),
        ("raise KeyboardInterrupt", "Line 2: KeyboardInterrupt."),
        ("raise type('Own', (BaseException,), {})", "Line 2: Own."),
        ("assert ring_all_reduce_time(1, 2, 3) == 9", "Line 2: AssertionError."),
        ("n = int(input('How many? '))", "Line 2: EOFError: nobody can answer input() here"),
        ("breakpoint()", "RuntimeError: breakpoint() has no terminal here"),
    ],
)
def test_what_stands_behind_the_function_does_not_hinder_its_check(after, said):
    """Kills an editor that can never be checked because of its last line: as in grading, the function counts."""
    reply = judged(right(after))
    assert reply["state"] == "right"
    assert said in reply["html"]
    assert "after the function, which was checked" in reply["html"]


def test_only_what_stands_behind_the_function_is_said_to():
    assert "after the function" not in judged(right())["html"]
    for before in ("exit()", "1 / 0"):
        assert judged(f"{before}\n{right()}")["state"] == "broken"


def test_an_endless_loop_behind_the_function_is_one_sentence_with_its_line(monkeypatch):
    monkeypatch.setattr(in_page.checking, "TIME", 0.2)
    html = judged(right("\nwhile True:\n    n = 1"))["html"]
    assert html.startswith("<p>Line ")
    assert html.endswith(" of your code did not come to its end within 0.2 s, before the first case.</p>")


@pytest.mark.parametrize("leaves", ["sys.exit()", "exit(3)", "raise GeneratorExit", "input()"])
def test_a_function_that_leaves_python_is_judged(leaves):
    """Kills a check without an answer: leaving is an exception like another."""
    reply = judged(f"import sys\ndef ring_all_reduce_time(*given, **more):\n    {leaves}\n")
    assert (reply["state"], reply["passed"]) == ("wrong", 0)
    assert "at line 3" in reply["html"]


def test_what_a_check_changes_ends_with_it():
    """Kills a check that hands its depth of calls, its standard input or its debugger on to the next."""
    before = sys.getrecursionlimit(), sys.stdin, sys.breakpointhook
    judged(f"import sys\nsys.setrecursionlimit(10**6)\n{right()}")
    assert (sys.getrecursionlimit(), sys.stdin, sys.breakpointhook) == before


# Another Python.

#: f-strings that every Python of the course reads.
OLD = (
    "x = 1; f'{x:>{x}}'",
    "f'{\"a\"}'",
    "f\"{'a' + 'b'!r:^9}\"  # a comment",
    'f"""{1!r}\n{"a"} {\'b\'} \n"""',
    "f'{{not}} \\\n {1}'",
    "f'a' f\"{1}\" 'b'",
    r"rf'\d{1}'",
    "f'''{\n1\n}'''",
    "f'{1:\\n}'",
)


def test_the_oldest_python_is_that_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={oldest_python.NAME}"


def test_what_the_oldest_python_reads_gets_no_note():
    """Kills a false alarm: f-strings with other quotes, braces, formats, lines and comments around them."""
    for text in OLD:
        ast.parse(text)
        assert oldest_python.note(text) == "", text
