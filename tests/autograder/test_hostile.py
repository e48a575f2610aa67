"""Every hostile or broken submission in ``hostile/`` ends in outcomes: in time, alone, with nothing it did not compute.

Each file says in its docstring what it tries, in ``# ends:`` how its calls may end, and in ``# levels:`` under which
sandbox it is tried (without isolation some would read or end what is not ours to give).
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from autograder.items import Build, Case, Tensor
from autograder.outcome import KINDS, Outcome
from autograder.runner import Limits, Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

FILES = sorted((Path(__file__).parent / "hostile").glob("*.py"))
LIMITS = Limits(imports=1.0, call=0.5, world=2.0, submission=6.0)

#: What the grader holds and no child may ever show: an expected value that no input leads to, and a key.
EXPECTED = 2718.281828
SECRET = "SECRET-b7e3d1"


def header(file: Path, name: str) -> list[str]:
    found = re.search(rf"^# {name}: (.*)$", file.read_text(), re.MULTILINE)
    assert found, f"{file.name} has no '# {name}:' line"
    return found[1].split()


def item(function: str, grade: str = "call") -> Build:
    return Build(f"03-{function}", "target", function, grade, (), (), (), "3.1", "boundary")


def submission(file: Path) -> Submission:
    return Submission(file.name, (Unit(file.name, file.read_text()),))


def sandbox(level: str) -> Sandbox:
    box = Sandbox.measure(level)
    if level == "best" and not box.isolated:
        pytest.skip(box.line)
    return box


def cases_for(file: Path) -> list[Case]:
    argument = [1.0, 2.0] if file.stem == "emptied_arguments" else 41.5
    return [Case((argument,)) for _ in range(4)]


def no_survivor(before: set[int], seconds: float = 3.0) -> list[str]:
    """Processes that are below this one and were not before; waits for those that are being ended."""
    deadline = time.monotonic() + seconds
    while True:
        left = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
        if not left or time.monotonic() > deadline:
            return [f"{p.pid} {p.status()} {p.cmdline()}" for p in left]
        psutil.wait_procs(left, timeout=0.05)


TRIALS = [
    pytest.param(file, level, id=f"{file.stem}-{level}")
    for file in FILES
    if not file.stem.startswith("world_")
    for level in header(file, "levels")
]


@pytest.mark.parametrize(("file", "level"), TRIALS)
def test_a_hostile_submission_ends_as_it_must(file, level, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_KEY", SECRET)
    expected = Outcome("value", EXPECTED, detail=SECRET)
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    with tempfile.TemporaryDirectory(prefix="neighbour-") as neighbour:
        Path(neighbour, "submission.py").write_text(SECRET)
        started = time.monotonic()
        with Runner(submission(file), sandbox(level), LIMITS) as runner:
            outcomes = runner.run(item("answer"), cases_for(file))
        seconds = time.monotonic() - started
    ends = [outcome.kind for outcome in outcomes]
    assert len(outcomes) == 4
    assert set(ends) <= set(header(file, "ends")) & set(KINDS), [(o.kind, o.detail) for o in outcomes]
    assert seconds < 12
    assert all(outcome.value != expected.value for outcome in outcomes)
    assert SECRET not in repr(outcomes)
    assert all("\n" not in outcome.detail and "\x1b" not in outcome.detail for outcome in outcomes)
    assert no_survivor(before) == []


WORLDS = [
    pytest.param(file, level, id=f"{file.stem}-{level}")
    for file in FILES
    if file.stem.startswith("world_")
    for level in header(file, "levels")
]


@pytest.mark.parametrize(("file", "level"), WORLDS)
def test_a_hostile_rank_ends_its_case_and_answers_for_nobody_else(file, level, monkeypatch):
    monkeypatch.setenv("AUTOGRADER_KEY", SECRET)
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    one = Tensor.of([1.5])
    with Runner(submission(file), Sandbox.measure(level), LIMITS) as runner:
        outcomes = runner.run(item("answer", "world"), [Case(((one,), (one,)))])
    assert {outcome.kind for outcome in outcomes} <= set(header(file, "ends")), [(o.kind, o.detail) for o in outcomes]
    for outcome in outcomes:
        assert outcome.kind != "value" or len(outcome.value) == 2
        assert {event.rank for event in outcome.events} <= {0, 1}
        assert "\n" not in outcome.detail
    assert SECRET not in repr(outcomes)
    assert no_survivor(before) == []


def test_only_what_the_broker_carried_is_an_event():
    """Kills a grader that believes a rank's own log: the right value without a collective has no events."""
    file = Path(__file__).parent / "hostile" / "world_no_collective.py"
    with Runner(submission(file), Sandbox.measure("none"), LIMITS) as runner:
        (outcome,) = runner.run(item("answer", "world"), [Case(((Tensor.of([1.5]),),) * 2)])
    assert [value.tolist() for value in outcome.value] == [[3.0], [3.0]]
    assert outcome.events == ()


def test_there_are_at_least_sixty_kinds_and_each_says_what_it_tries():
    sentences = [file.read_text().splitlines()[0].strip('"') for file in FILES]
    assert len(FILES) >= 60
    assert len(set(sentences)) == len(FILES)
    assert all(sentence.endswith(".") for sentence in sentences)


@pytest.mark.parametrize("name", ["input_in_class_name", "input_in_type_name"])
def test_a_made_up_name_does_not_carry_an_input_out(name):
    """Kills a report that shows class names as they come: the hidden input would stand in it."""
    file = Path(__file__).parent / "hostile" / f"{name}.py"
    with Runner(submission(file), Sandbox.measure("none"), LIMITS) as runner:
        (outcome,) = runner.run(item("answer"), [Case((41.5,))])
    shown = (outcome.error, outcome.detail if outcome.kind == "refused" else "", outcome.where)
    assert "41" not in repr(shown)


@pytest.mark.parametrize("level", ["best", "none"])
def test_one_endless_function_costs_only_itself(level):
    source = "def endless(x):\n    while True: pass\n\n\ndef fine(x):\n    return x + 1\n"
    with Runner(Submission("s", (Unit("s.py", source),)), sandbox(level), LIMITS) as runner:
        before = runner.run(item("fine"), [Case((1,))])
        endless = runner.run(item("endless"), [Case((1,))] * 50)
        after = runner.run(item("fine"), [Case((1,))])
    assert [outcome.value for outcome in before + after] == [2, 2]
    assert {outcome.kind for outcome in endless} == {"timeout"}
    assert "not tried" in endless[-1].detail


@pytest.mark.parametrize("level", ["best", "none"])
def test_an_endless_cell_costs_one_limit_and_its_own_names(level):
    """Kills a runner that pays the import limit again for every item."""
    units = (Unit("cell 1", "def fine(x):\n    return x + 1\n"), Unit("cell 2", "while True:\n    pass\n"))
    units += (Unit("cell 3", "def other(x):\n    return x + 2\n"),)
    started = time.monotonic()
    with Runner(Submission("s", units), sandbox(level), LIMITS) as runner:
        outcomes = [runner.run(item(name), [Case((1,))] * 2)[-1] for name in ("fine", "other", "gone")]
        problems = runner.problems
    assert [outcome.value for outcome in outcomes] == [2, 3, None]
    assert outcomes[2].kind == "unloadable"
    assert any("cell 2" in problem for problem in problems)
    assert time.monotonic() - started < 4


def test_an_empty_folder_is_left_nowhere(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("deep_folders", "locked_folder", "background_writer"):
        file = Path(__file__).parent / "hostile" / f"{name}.py"
        with Runner(submission(file), Sandbox.measure("none"), LIMITS) as runner:
            runner.run(item("answer"), cases_for(file))
    assert os.listdir(tmp_path) == []
