"""The runner: one outcome for every case, of the right kind, whatever the submission is made of."""

from __future__ import annotations

import dataclasses
import sys
import time
from typing import Any

import psutil
import pytest

from autograder import bank
from autograder.items import Array, Build, Case, Iterator, Tensor
from autograder.marking import trusted
from autograder.marking.outcome import TOO_MUCH, Outcome
from autograder.running.children import STATEMENTS, Children
from autograder.running.limits import Limits
from autograder.running.packages import imported_names
from autograder.running.process import Processes
from autograder.running.runner import Runner
from autograder.sandbox import Sandbox
from autograder.starting import NotStarted
from autograder.submission import Submission, Unit

LIMITS = Limits(imports=60.0, call=60.0, submission=600.0)


def item(function: str, grade: str = "call", module: str = "target") -> Build:
    return Build(f"03 {module}.{function}", "3.1", "boundary", (), (), (), grade=grade)


def run(source: str | tuple[Unit, ...], what: Build, *cases: Case, level: str = "best", limits: Limits = LIMITS):
    units = source if isinstance(source, tuple) else (Unit("s.py", source),)
    with Runner(Submission("s", units), Processes(Sandbox.measure(level)), limits) as runner:
        return runner.run(what, list(cases))


def test_values_arrive_by_exact_type_and_in_order():
    source = "def same(x, *, y=0):\n    return [x, (y,), {'k': None}]\n"
    values = [1, True, 0.1, "é\n", None, (1, [2.5]), {1: "a"}]
    outcomes = run(source, item("same"), *(Case((value,), {"y": 3}) for value in values))
    assert [outcome.value for outcome in outcomes] == [[value, (3,), {"k": None}] for value in values]
    assert [type(outcome.value[0]) for outcome in outcomes] == [type(value) for value in values]


def test_an_exception_has_its_class_and_the_learners_innermost_line():
    source = "import json\n\n\ndef read(text):\n    return json.loads(text)\n"
    (outcome,) = run(source, item("read"), Case(("[",)))
    assert (outcome.kind, outcome.error, outcome.line, outcome.where) == ("raised", "JSONDecodeError", 5, "line 5")


def test_arguments_are_reported_as_the_call_left_them():
    """Kills a grader that compares with arguments which the call has changed."""
    source = "def sort(x):\n    x.sort()\n    return x\n"
    (outcome,) = run(source, item("sort"), Case(([3, 1],)))
    assert (outcome.value, outcome.arguments) == ([1, 3], ([1, 3],))


def test_a_one_shot_iterator_can_be_walked_once():
    source = "def twice(x):\n    return [list(x), list(x)]\n"
    case = Case((Iterator((1, 2)),))
    outcomes = run(source, item("twice"), case, case)
    assert [outcome.value for outcome in outcomes] == [[[1, 2], []]] * 2
    assert outcomes[0].arguments is None  # a used iterator is no changed argument


def test_a_world_that_does_not_end_is_tried_twice(monkeypatch):
    """Kills: a function that hangs in every case and takes the time of all others."""
    tried: list[Case] = []

    def world(self: Runner, what: Build, case: Case) -> Outcome:
        tried.append(case)
        return Outcome("value", ()) if len(tried) == 2 else Outcome("timeout", detail="no answer in time")

    monkeypatch.setattr(Runner, "_world", world)
    found = run("x = 1\n", item("hangs", "world"), *(Case((rank,)) for rank in range(5)), level="none")
    assert [outcome.kind for outcome in found] == ["timeout", "value", "timeout", "timeout", "timeout"]
    assert [outcome.detail for outcome in found[3:]] == ["not tried: before, no answer in time"] * 2
    assert len(tried) == 3


def test_a_class_is_driven_call_by_call():
    source = """
class Counter:
    def __init__(self, start=0):
        self.n = start

    def add(self, k):
        if k < 0:
            raise ValueError("k")
        self.n += k
        return self.n
"""
    calls = (("add", (2,)), ("add", (-1,)), ("n", None), ("missing", ()), ("other.add", (5,)), ("n", None))
    (outcome,) = run(source, item("Counter", "calls"), Case((1,), calls=calls))
    assert outcome.value == [3, ("raises", "ValueError"), 3, ("raises", "AttributeError"), 6, 3]


@pytest.mark.parametrize(("copied", "later"), [("list(self.held)", 1), ("self.held", 2)], ids=["a copy", "its own"])
def test_an_answer_is_looked_at_again_after_later_calls(copied, later):
    """In the child and in the grader; a call that raised has no answer to look at."""
    source = f"""
class Shelf:
    def __init__(self):
        self.held = []

    def put(self, thing):
        self.held.append(thing)
        return {copied}
"""
    looks = (("#0.__len__", ()), ("#4.__len__", ()), ("#2.__add__", (1,)), ("#0.clear", ()), ("put", (6,)))
    case = Case(calls=(("put", (4,)), ("put", (5,)), *looks))
    (outcome,) = run(source, item("Shelf", "calls"), case)
    last = [4, 5, 6] if later == 1 else [6]
    assert outcome.value == [[4], [4, 5], later, ("raises", "KeyError"), later + 1, None, last]
    names: dict[str, Any] = {}
    exec(source, names)
    assert trusted.run(item("Shelf", "calls"), names["Shelf"], [case])[0].value == outcome.value


def test_a_broken_cell_costs_only_itself_and_is_named():
    units = (
        Unit("cell 1", "import math\nx = ("),
        Unit("cell 2", "def f(a):\n    return a + 1\n"),
        Unit("cell 3", "g = f(0) / 0"),
    )
    with Runner(Submission("s", units), Processes(Sandbox.measure("best")), LIMITS) as runner:
        (good,) = runner.run(item("f"), [Case((1,))])
        (bad,) = runner.run(item("g"), [Case((1,))])
        problems = runner.problems
    assert good.value == 2
    assert bad.kind == "unloadable"
    assert problems[0].startswith("cell 1: SyntaxError at line 2")
    assert problems[1].startswith("cell 3: ZeroDivisionError at line 1")


def test_an_import_that_fails_costs_only_its_names():
    """Kills a loader that gives up a cell of imports because the grader's package is among them."""
    source = "from __future__ import annotations\nfrom autograder import check\nimport math\n\n\n"
    source += "def f(x: Missing):\n    return math.sqrt(x)\n"
    (outcome,) = run(source, item("f"), Case((4,)))
    assert outcome.value == 2.0


def test_a_folder_is_offered_as_labs():
    units = (
        Unit(
            "one.py",
            "from .two import double\nfrom labs.two import BASE\n\n\ndef f(x):\n    return double(x) + BASE\n",
            "one",
        ),
        Unit(
            "two.py",
            "from rankzero.facts.units import GB\nBASE = GB / GB\n\n\ndef double(x):\n    return 2 * x\n",
            "two",
        ),
        Unit("three.py", "while True:\n    pass\n", "three"),
    )
    outcomes = run(units, item("f", module="one"), Case((1,)))
    assert outcomes[0].value == 3.0


@pytest.mark.parametrize(
    "line",
    [
        "from .two import double",
        "from ..ch02.two import double",
        "from ..ch02 import two; double = two.double",
        "from labs.two import double",
        "from labs.ch02.two import double",
        "import labs.ch02.two; double = labs.ch02.two.double",
    ],
)
def test_a_module_is_found_in_whatever_chapter_it_is_looked_for(line):
    """Kills: an import of the labs' own form that fails where the files came without their folders."""
    units = (
        Unit("one.py", f"{line}\n\n\ndef f(x):\n    return double(x)\n", "one"),
        Unit("two.py", "def double(x):\n    return 2 * x\n", "two"),
    )
    assert run(units, item("f", module="one"), Case((1.5,)))[0].value == 3.0


def test_a_module_runs_once_under_all_its_names():
    """Kills: a class that is not itself because its module was run again under another name."""
    source = "from labs.two import Kept\nfrom ..ch02.two import Kept as Same\nfrom labs.ch02 import two\n\n\n"
    source += "def f(x):\n    return float(Kept is Same and two.Kept is Kept)\n"
    units = (Unit("one.py", source, "one"), Unit("two.py", "class Kept:\n    pass\n", "two"))
    assert run(units, item("f", module="one"), Case((1,)))[0].value == 1.0


def test_a_single_file_may_keep_the_imports_of_its_folder():
    source = "from ..ch05.zero import g\n\n\ndef f(x):\n    from .other import g as own\n\n    return own(x)\n\n\n"
    source += "def g(x):\n    return -x\n"
    assert run(source, item("f"), Case((1,)))[0].value == -1


def test_a_single_file_answers_for_any_module_of_labs():
    source = "def f(x):\n    from labs.anything import g\n\n    return g(x)\n\n\ndef g(x):\n    return -x\n"
    assert run(source, item("f"), Case((1,)))[0].value == -1


@pytest.mark.parametrize(
    "name", ["solutions.ch05.zero", "experiments.ch05.explorers", "autograder.bank", "rankzero.world", "solutions"]
)
def test_closed_packages_are_named_in_the_error(name):
    (outcome,) = run(f"def f(x):\n    import {name}\n", item("f"), Case((1,)))
    assert (outcome.kind, outcome.error, outcome.line) == ("raised", "ImportError", 2)
    assert "imported in grading" in outcome.detail


@pytest.mark.parametrize("line", ["from rankzero import checks", "import rankzero.checks as checks"])
def test_checks_can_be_imported(line):
    source = f"{line}\n\n\ndef f(x):\n    checks.positive(x=x)\n    return x\n"
    right, wrong = run(source, item("f"), Case((1.5,)), Case((0.0,)))
    assert right.value == 1.5
    assert (wrong.error, wrong.detail) == ("ValueError", "x must be a finite number > 0, got 0.0")


@pytest.mark.parametrize(
    "line",
    [
        "from rankzero.facts.units import MB",
        "from rankzero.facts import units\n\nMB = units.MB",
        "from rankzero.units import MB",
        "from rankzero import units\n\nMB = units.MB",
        "import rankzero.units as u\n\nMB = u.MB",
        "from rankzero.units import MB\nfrom rankzero.models import LLAMA3_8B\nfrom rankzero.hardware import H100_SXM",
    ],
)
def test_units_are_found_under_the_name_they_had_in_version_0_1(line):
    """Kills a move of modules that costs learners the points of what they had written before it."""
    assert run(f"{line}\n\n\ndef f(x):\n    return x * MB\n", item("f"), Case((2,)))[0].value == 2e6


def test_numpy_is_there_for_those_who_import_it():
    source = "import numpy as np\n\n\ndef f(x):\n    return np.asarray(x, dtype=np.float32) * 2\n"
    assert run(source, item("f"), Case(([1, 2],)))[0].value == Array.of([2, 4])
    (outcome,) = run(source.replace("32", "16"), item("f"), Case(([1, 2],)))
    assert outcome.detail == "returned a NumPy array of float16; return one of float32, float64, int64, int32, bool"
    assert run("def f(x):\n    import numpy\n", item("f", "call"), Case((1,)))[0].kind == "value"


def test_tensors_go_in_and_come_out():
    """Kills, too, a grader that takes bytes of a bool tensor other than 0 and 1 for an attack on its channel."""
    source = "import torch\n\n\ndef f(x, y):\n    x += 1\n    return {'sum': x.sum(), 'y': y.t(), 'odd': unfilled()}\n"
    source += "\n\ndef unfilled():\n    return torch.tensor([0, 2, 255], dtype=torch.uint8).view(torch.bool)\n"
    x, y = Tensor.of([1, 2]), Tensor.of([1, 2, 3, 4, 5, 6], "int64", (2, 3))
    (outcome,) = run(source, item("f", "tensor"), Case((x, y)))
    assert outcome.value["odd"].tolist() == [False, True, True]
    assert outcome.value["sum"] == Tensor.of([5.0], shape=())
    assert outcome.value["y"] == Tensor.of([1, 4, 2, 5, 3, 6], "int64", (3, 2))
    assert outcome.arguments == (Tensor.of([2, 3]), y)


def test_what_is_printed_neither_blocks_nor_comes_back():
    source = "def f(n):\n    print('é' * n)\n    return n\n"
    short, long = run(source, item("f"), Case((3,)), Case((10**6,)))
    assert (short.value, long.value) == (3, 10**6)
    assert "é" not in repr((short, long))


def test_the_time_of_a_submission_ends():
    source = "import time\n\n\ndef f(x):\n    time.sleep(x)\n    return x\n"
    cases = [Case((seconds,)) for seconds in (0, 1000, 0)]
    first, _, last = run(source, item("f"), *cases, limits=Limits(call=1000.0, submission=8.0))
    assert first.kind == "value"
    assert (last.kind, last.detail) == ("timeout", "the time for the whole submission is used up")


def test_no_problem_is_told_once_an_input_is_hidden():
    """Kills a report in which the text of a later import carries an earlier hidden input out."""
    units = (
        Unit("one.py", "import sys\n\n\ndef f(x):\n    sys.stolen = x\n    return x\n", "one"),
        Unit("two.py", "import sys\nraise RuntimeError(f'got {getattr(sys, \"stolen\", None)}')\n", "two"),
    )
    with Runner(Submission("s", units), Processes(Sandbox.measure("best")), LIMITS) as runner:
        (outcome,) = runner.run(item("g", module="two"), [Case((1,))])
        told = runner.problems
        runner.hide()
        runner.run(item("f", module="one"), [Case((41,))])
        runner.run(item("g", module="two"), [Case((1,))])
        runner.close()
        runner.run(item("f", module="one"), [Case((41,))])
        runner.run(item("g", module="two"), [Case((1,))])
    assert outcome.kind == "unloadable"
    assert "got None" in outcome.detail
    assert told == runner.problems == ("two.py: RuntimeError at line 2: got None",)


def test_nothing_lives_after_the_runner():
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    with Runner(
        Submission("s", (Unit("s.py", "def f(x):\n    return x\n"),)), Processes(Sandbox.measure("best"))
    ) as runner:
        runner.run(item("f"), [Case((1,))])
        assert {process.pid for process in psutil.Process().children(recursive=True)} - before
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_the_grader_does_not_import_torch():
    import subprocess

    code = "import sys, autograder.running.runner; print('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


LARGE = {
    "texts": ("return 'a' * 2**19", 2**19),
    "lists": ("return [[]] * 8_000", 8_000 * 70),
    "arguments": ("x += ['a' * 2**19]", 2**19),
}


@pytest.mark.parametrize("kind", LARGE)
def test_the_answers_of_a_submission_have_one_budget(kind):
    """Kills: a gigabyte in the grader, each function of which returns no more than it may."""
    body, size = LARGE[kind]
    source = f"def large(x):\n    {body}\n\ndef small(x):\n    return 1\n"
    limits = dataclasses.replace(LIMITS, answers=5 * size)
    with Runner(Submission("s", (Unit("s.py", source),)), Processes(Sandbox.measure("best")), limits) as runner:
        first = runner.run(item("large"), [Case(([],))] * 20)
        second = runner.run(item("small"), [Case((1,))])
    assert [outcome.kind for outcome in first] == ["value"] * 4 + ["refused"] * 16
    assert {outcome.detail for outcome in (*first[4:], *second)} == {TOO_MUCH}


def test_the_budget_grows_with_the_exam():
    """Kills: a course that has no more room than one item, and 20 items that may hold 600 MiB."""
    few, many = (Limits.of([item("f")] * count).answers / 2**20 for count in (20, 240))
    assert few <= 64
    assert many >= 10 * 26


def test_small_answers_never_use_the_budget_up():
    source = "def small(x):\n    return [0.1] * 20\n"
    outcomes = run(source, item("small"), *[Case((n,)) for n in range(300)])
    assert {outcome.kind for outcome in outcomes} == {"value"}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import torch.distributed as dist, numpy", {"torch", "distributed", "numpy"}),
        ("if 1:\n    from numpy import (array,\n zeros)", {"numpy", "array", "zeros"}),
        ("from labs import (batching, # one\n    policy,\n)", {"labs", "batching", "policy"}),
        ("try: import numpy\nexcept ImportError: pass", {"numpy"}),
        ("import os; import torch", {"os", "torch"}),
        ("from . import torch", {"torch"}),
        ('"""\nimport torch\n"""', set()),
        ("import torch.nn\ndef f(:\n  from numpy import array", {"torch", "nn", "numpy", "array", "import"}),
        ("text = 'no import torch here'", set()),
    ],
)
def test_imports_are_found_without_running_anything(source, names):
    assert imported_names(source) == names


@pytest.mark.parametrize(
    "piece", ["\n", " \n", "\f", "import (\n", "from ", "import \t", " import a\n(", "x import x\n"]
)
def test_imports_are_found_in_time(piece):
    """Kills a search whose time grows with the square of the text: it runs in the grader, which has no time limit."""
    began = time.process_time()
    imported_names("(" + piece * (2**20 // len(piece)))
    assert time.process_time() - began < 60


def test_a_child_that_cannot_be_had_is_not_replaced_by_another_items():
    """Kills a runner that asks the child of the item before when the one that an item needs does not start."""
    units = (
        Unit("a.py", "def f(x):\n    return x\n", "a"),
        Unit("b.py", "import numpy\nimport time\n\ntime.sleep(1000)\n", "b"),
    )
    with Runner(Submission("s", units), Processes(Sandbox.measure("none")), Limits(imports=3.0)) as runner:
        first = runner.run(item("f").moved_to("a"), [Case((1,))])
        second = runner.run(item("f").moved_to("b"), [Case((1,)), Case((2,))])
    assert [outcome.kind for outcome in first] == ["value"]
    assert [outcome.kind for outcome in second] == ["unloadable", "unloadable"]


ENDS_AT_THE_SAME_PLACE = """
import os
import sys

frame = sys._getframe()
while not hasattr(frame.f_locals.get("self"), "channel"):
    frame = frame.f_back
frame.f_locals["self"].channel.send(kind="running", unit=0, place=7)
os._exit(0)
"""


class Counting(Processes):
    """Processes that are counted when they start."""

    count = 0

    def start(self, package):
        self.count += 1
        return super().start(package)


def test_a_submission_that_ends_at_the_same_place_for_ever_is_lost():
    """Kills: a child after another without end, as each says that it was lost to a statement that can be left out."""
    transport = Counting(Sandbox.measure("none"))
    with Runner(Submission("s", (Unit("s.py", ENDS_AT_THE_SAME_PLACE),)), transport, LIMITS) as runner:
        (outcome,) = runner.run(item("f"), [Case((1,))])
    assert (outcome.kind, outcome.detail) == ("unloadable", "the process exited with status 0")
    assert transport.count == STATEMENTS + 1


def test_a_longer_exam_has_more_time():
    few, many = bank.builds()[:5], bank.builds()
    assert Limits.of(few).submission < Limits.of(many).submission
    plain = [item for item in many if item.grade in ("call", "calls")]
    hung = Limits.call * Limits.losses  # what one function that never returns costs
    assert Limits.of(plain).submission > hung * len(plain) / 2


@pytest.mark.parametrize("failures", [1, 2])
def test_a_child_that_does_not_start_is_tried_once_more(failures, monkeypatch):
    """Kills a grading that ends because the host was busy for a moment."""
    await_ready, tried = Children._await_ready, []

    def fail(self, children):
        tried.append(children)
        if len(tried) <= failures:
            raise NotStarted("a child did not start")
        await_ready(self, children)

    monkeypatch.setattr(Children, "_await_ready", fail)
    source = "def f(x):\n    return x\n"
    if failures == 1:
        assert [outcome.value for outcome in run(source, item("f"), Case((1,)))] == [1]
    else:
        with pytest.raises(NotStarted):
            run(source, item("f"), Case((1,)))
    assert len(tried) == 2
    assert all(not child.alive for child in tried[0])
