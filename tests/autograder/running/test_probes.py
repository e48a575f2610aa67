"""Probes: a driver beside the program, alike in the child and in trust."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest
import torch

from autograder import bank, syntax
from autograder.items import Case, Tensor
from autograder.marking import probing, trusted
from autograder.running import driver_imports
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.submission import Submission, Unit

#: The tests share children, which are forked, so one process runs them.
pytestmark = pytest.mark.xdist_group("systems")

ITEM = replace(bank.find("02-forward-backward"), grade="tensor", cases=(), groups=(), probe="ch06.differentiated")
WORLD = replace(ITEM, grade="world")
CASE = Case((Tensor.of([1.0, 2.0]), Tensor.of([3.0, 5.0]), Tensor.of([1.0, 10.0])))


def product(x, y):
    return x * y


def detached(x, y):
    return x.detach() * y


def summed(x):
    import torch
    import torch.distributed as dist

    class Sum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            total = x.clone()
            dist.all_reduce(total)
            return total

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    return Sum.apply(x)


def fails(x, y):
    raise KeyError("no")


PROGRAMS = [product, detached, summed, fails]


@pytest.fixture(scope="module")
def child(forked):
    source = "\n\n".join(inspect.getsource(program) for program in PROGRAMS)
    with Runner(Submission("s", (Unit("s.py", source, None),)), Processes(Sandbox.measure("none"))) as runner:
        yield lambda item, program, case: runner.run(item.moved_to(item.module, program.__name__), [case])[0]


def in_trust(item, program, case):
    return trusted.run(item, program, [case])[0]


@pytest.fixture(params=["child", "trusted"])
def ask(request, child):
    return child if request.param == "child" else in_trust


def gradients(outcome):
    return [found and found.tolist() for found in outcome.value["gradients"]]


def test_a_driver_sees_the_gradients(ask):
    """Kills: a probe that calls the program plainly."""
    outcome = ask(ITEM, product, CASE)
    assert outcome.value["value"].tolist() == [3.0, 10.0]
    assert gradients(outcome) == [[3.0, 50.0], [1.0, 20.0]]


def test_a_missing_gradient_is_none(ask):
    assert gradients(ask(ITEM, detached, CASE)) == [None, [1.0, 20.0]]


def test_a_driver_runs_on_every_rank(ask):
    outcome = ask(WORLD, summed, Case(tuple((Tensor.of([x]), Tensor.of([1.0])) for x in (1.0, 4.0))))
    assert [value["value"].tolist() for value in outcome.value] == [[5.0], [5.0]]
    assert [gradients(type(outcome)("value", value)) for value in outcome.value] == [[[2.0]], [[2.0]]]


def test_an_exception_is_the_programs_own(ask):
    """Its line is one of the program, not of the driver."""
    outcome = ask(ITEM, fails, CASE)
    assert (outcome.kind, outcome.error) == ("raised", "KeyError")
    assert outcome.line is not None


def test_arguments_that_a_driver_changes_do_not_count(ask):
    assert ask(ITEM, product, CASE).arguments is None


def test_a_driver_says_what_it_does():
    assert probing.sentence(ITEM).startswith("The last argument is a gradient")
    assert probing.sentence(replace(ITEM, probe=None)) == ""
    assert all(probing.sentence(item) for item in bank.builds() if item.probe)


def test_the_driver_is_the_plain_function():
    x = torch.tensor([2.0])
    assert probing.load("ch06.differentiated")(lambda x: x * x, x, torch.ones(1))["gradients"][0].item() == 4.0


# When drivers are loaded.

PATCHES = """
import copy, random

copy.deepcopy = random.Random = None


def plain(x):
    return x


def answer(fresh, saved):
    return saved
"""


def test_a_driver_is_loaded_before_the_submission_runs():
    """Kills: a driver whose libraries a submission has changed before it was loaded, also in a child that was there."""
    item = bank.find("cap-debug-resume").moved_to("s", "answer")
    case, units = item.cases[0], (Unit("s.py", PATCHES, None),)
    for first in (False, True):
        with Runner(Submission("s", units), Processes(Sandbox.measure("none"))) as runner:
            if first:  # the child that answers this has no driver
                plain = replace(item.moved_to(item.module, "plain"), probe=None)
                assert runner.run(plain, [Case((3,))])[0].value == 3
            (outcome,) = runner.run(item, [case])
            assert outcome == in_trust(item, bank.find("cap-debug-resume").solution(), case)


def test_a_driver_has_built_ins_of_its_own():
    """Kills: a driver that counts with the submission's ``len``."""
    source = (
        "import builtins\nbuiltins.len = lambda _: 99\n\n\ndef saver(disk, name, data):\n    disk.write(name, data)\n"
    )
    item = bank.find("cap-debug-atomic").moved_to("s", "saver")
    with Runner(Submission("s", (Unit("s.py", source, None),)), Processes(Sandbox.measure("none"))) as runner:
        (outcome,) = runner.run(item, item.cases[:1])
    assert outcome.value["at the end"] == "a part of a checkpoint"


# What drivers import of the course.

CHOOSE, MEMORY = bank.find("07-choose-layout"), bank.find("07-layout-memory")


def asked(source, *items):
    """The outcomes of the items' first cases, one after another, by a submission of one file."""
    with Runner(Submission("s", (Unit("s.py", source, None),)), Processes(Sandbox.measure("none"))) as runner:
        return [runner.run(item, item.cases[:1])[0] for item in items]


def test_no_driver_brings_the_reference_that_is_asked_for():
    """Kills a child that holds the answer, under whatever name: the reference is not among the sources it gets."""
    items = [item for item in (*bank.builds(), *bank.on_request()) if item.probe]
    held = {item.id: driver_imports.sources(probing.module(item.probe)) for item in items}
    assert {"07-choose-layout", "07-trainer"} <= {name for name, sources in held.items() if sources}
    for item in items:
        names = {name for source in held[item.id].values() for name in syntax.definitions(syntax.parse(source))}
        assert item.function not in names, item.id


def test_a_driver_imports_definitions_and_what_they_need():
    """Kills a whole module where one of its functions is needed."""
    sources = driver_imports.sources("ch07_layouts")
    assert {"layout_memory", "_check_layout", "_state_bytes"} == {
        *syntax.definitions(syntax.parse(sources["solutions.ch07.layout"]))
    }
    assert "rankzero.facts.hardware" not in sources
    assert driver_imports.sources("ch06") == {}


def test_a_submission_imports_nothing_that_its_driver_has_imported():
    """Kills a child whose driver leaves the course's modules under their names, or lets the item's own reference in."""
    source = """
import gc, sys
from types import FunctionType


def choose_layout(job, limit=None):
    functions = [one for one in gc.get_objects() if type(one) is FunctionType]
    assert [one for one in functions if one.__name__ == "choose_layout"] == [choose_layout]
    assert not [name for name in sys.modules if name.startswith(("solutions", "rankzero"))]
    from solutions.ch07.layout import choose_layout as reference
"""
    (outcome,) = asked(source, CHOOSE)
    assert (outcome.kind, outcome.error) == ("raised", "ImportError")
    assert outcome.detail.startswith("the reference cannot be imported in grading")


def test_what_a_driver_gives_one_function_no_other_item_is_asked_beside():
    """Kills one child for both items: the memory's reference, which the choice gets, would answer for the memory."""
    source = """
kept = {}


def choose_layout(job, limit=None):
    kept["own"] = layout_memory


def layout_memory(layout, job):
    return kept["own"](layout, job)
"""
    chosen, memory = asked(source, CHOOSE, MEMORY)
    assert (chosen.kind, chosen.value) == ("value", None)
    assert (memory.kind, memory.error) == ("raised", "KeyError")


def test_a_choice_is_made_with_what_the_course_gives():
    """Kills a driver whose functions a submission's own hide, in the function or in a helper beside it."""
    source = inspect.getsource(inspect.getmodule(CHOOSE.solution()))
    own = "\n\ndef candidates(job):\n    return []\n\n\nlayout_memory = step_time = None\n"
    (outcome,) = asked(source + own, CHOOSE)
    assert outcome == in_trust(CHOOSE, CHOOSE.solution(), CHOOSE.cases[0])
