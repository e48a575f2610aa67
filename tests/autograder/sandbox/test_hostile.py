"""What single hostile submissions show about the grader, beside what the whole corpus does in ``test_corpus.py``."""

from __future__ import annotations

import os
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.items import Build, Case, Tensor
from autograder.running.children import Children
from autograder.running.limits import Limits
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

LIMITS = Limits(imports=60.0, call=60.0, world=200.0, submission=600.0)


def item(function: str, grade: str = "call") -> Build:
    return Build(f"03 target.{function}", "3.1", "boundary", (), (), (), grade=grade)


def submission(file: Path) -> Submission:
    return Submission(file.name, (Unit(file.name, file.read_text()),))


def sandbox(level: str) -> Sandbox:
    box = Sandbox.measure(level)
    if level == "best" and not box.isolated:
        pytest.skip(box.line)
    return box


@pytest.mark.xdist_group("systems")
def test_only_what_the_broker_carried_is_an_event(forked):
    """Kills a grader that believes a rank's own log: the right value without a collective has no events."""
    file = Path(__file__).parents[1] / "hostile" / "world_no_collective.py"
    with Runner(submission(file), Processes(Sandbox.measure("none")), LIMITS) as runner:
        (outcome,) = runner.run(item("answer", "world"), [Case(((Tensor.of([1.5]),),) * 2)])
    assert [value.tolist() for value in outcome.value] == [[3.0], [3.0]]
    assert outcome.events == ()


@pytest.mark.parametrize("name", ["input_in_class_name", "input_in_type_name"])
def test_a_made_up_name_does_not_carry_an_input_out(name):
    """Kills a report that shows class names as they come: the hidden input would stand in it."""
    file = Path(__file__).parents[1] / "hostile" / f"{name}.py"
    with Runner(submission(file), Processes(Sandbox.measure("none")), LIMITS) as runner:
        (outcome,) = runner.run(item("answer"), [Case((41.5,))])
    shown = (outcome.error, outcome.detail if outcome.kind == "refused" else "", outcome.where)
    assert "41" not in repr(shown)


@pytest.mark.parametrize("level", ["best", "none"])
def test_one_endless_function_costs_only_itself(level):
    source = "def endless(x):\n    while True: pass\n\n\ndef fine(x):\n    return x + 1\n"
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(sandbox(level)), LIMITS) as runner:
        before = runner.run(item("fine"), [Case((1,))])
        runner.limits = replace(LIMITS, call=0.5)
        endless = runner.run(item("endless"), [Case((1,))] * 50)
        runner.limits = LIMITS
        after = runner.run(item("fine"), [Case((1,))])
    assert [outcome.value for outcome in before + after] == [2, 2]
    assert {outcome.kind for outcome in endless} == {"timeout"}
    assert "not tried" in endless[-1].detail


@pytest.mark.parametrize("level", ["best", "none"])
def test_an_endless_cell_costs_one_limit_and_its_own_names(level, monkeypatch):
    """Kills a runner that pays the import limit again for every item."""
    waits: list[Children] = []
    replied = Children._await_load
    monkeypatch.setattr(Children, "_await_load", lambda self, *args: (waits.append(self), replied(self, *args))[1])
    units = (Unit("cell 1", "def fine(x):\n    return x + 1\n"), Unit("cell 2", "import time\ntime.sleep(1000)\n"))
    units += (Unit("cell 3", "def other(x):\n    return x + 2\n"),)
    with Runner(Submission("s", units), Processes(sandbox(level)), replace(LIMITS, imports=3.0)) as runner:
        outcomes = [runner.run(item(name), [Case((1,))] * 2)[-1] for name in ("fine", "other", "gone")]
        problems = runner.problems
    assert [outcome.value for outcome in outcomes] == [2, 3, None]
    assert outcomes[2].kind == "unloadable"
    assert any("cell 2" in problem for problem in problems)
    assert len(waits) == 2  # one that hangs, and one without the cell


def test_an_empty_folder_is_left_nowhere(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in ("deep_folders", "locked_folder", "background_writer"):
        file = Path(__file__).parents[1] / "hostile" / f"{name}.py"
        with Runner(submission(file), Processes(Sandbox.measure("none")), LIMITS) as runner:
            runner.run(item("answer"), [Case((41.5,))] * 4)
    assert os.listdir(tmp_path) == []
