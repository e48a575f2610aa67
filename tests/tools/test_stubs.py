"""Stubs: same names, signatures and docstrings; no bodies; nothing that a learner does not need; and never stale."""

from __future__ import annotations

import ast
import inspect

import nbformat
import pytest

from autograder import bank
from autograder.items import Build, Debug
from tools import stubs
from tools.common import ROOT

MODULE = '''"""A topic.

More about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankzero import checks

#: The largest.
MOST = 3
_SECRET = 4


@dataclass(frozen=True)
class Pair:
    """Two numbers."""

    a: int
    b: int


def area(
    sides: Sequence[float],
    pair: Pair | None = None,
) -> float:
    """The area.

    Args:
        sides: two.
    """
    checks.positive(sides=sides)
    ranks = len(sides)
    for side in sides:
        _check(side, ranks)
    scale = _SECRET
    return math.prod(sides) + _scaled(scale)


def helper(x: int) -> int:
    """Not an exercise."""
    return _half(x) + MOST


class Counter:
    """Counts.

    Args:
        start: from here.
    """

    step = 1

    def __init__(self, start: int = 0) -> None:
        self._n = start

    @property
    def n(self) -> int:
        """So far."""
        return self._n

    def add(self, values: Iterable[int]) -> None:
        """Count ``values``."""
        checks.count(0, values=values)
        self._n += self._sum(values)

    def _sum(self, values):
        return sum(values)


def debug_sum(values: Sequence[float]) -> float:
    """The sum."""
    checks.finite(values=values)
    return math.fsum(values)


def _check(side, ranks):
    checks.require(side != ranks, "differ from ranks", side=side)


def _scaled(value):
    return value


def _half(x):
    return x // 2
'''


def wrong_sum(values):
    import math

    total = 1.0  # wrong
    return total + math.fsum(values)


def item(function: str, kind: type[Build] = Build, **more) -> Build:
    return kind(f"99 topic.{function}", "99.1", "a topic", (), (), (), **more)


AREA, COUNTER, DEBUG = item("area"), item("Counter"), item("debug_sum", Debug, wrong=wrong_sum)
ALL = [AREA, COUNTER, DEBUG]


def run(source: str) -> dict:
    names: dict = {"__name__": __name__}
    exec(compile(source, "made", "exec", dont_inherit=True), names)
    return names


@pytest.fixture
def made() -> dict:
    return run(stubs.lab("ch01/topic.py", MODULE, ALL))


def test_exercises_keep_signature_and_docstring(made):
    right = run(MODULE)
    for name in ("area", "debug_sum"):
        assert inspect.signature(made[name]) == inspect.signature(right[name])
        assert made[name].__doc__ == right[name].__doc__
    assert made["Counter"].__doc__ == right["Counter"].__doc__
    assert made["Counter"].add.__doc__ == "Count ``values``."


def test_exercises_have_no_body(made):
    with pytest.raises(NotImplementedError, match=r"^99-area: "):
        made["area"]([1, 3])
    with pytest.raises(NotImplementedError, match=r"^99-counter: "):
        made["Counter"](3)
    blank = object.__new__(made["Counter"])
    with pytest.raises(NotImplementedError, match=r"^99-counter: "):
        _ = blank.n
    assert not hasattr(made["Counter"], "_sum")
    assert made["Counter"].step == 1


def test_a_debug_exercise_is_the_wrong_program(made):
    assert made["debug_sum"]([1, 2]) == 4.0


def test_checks_are_given(made):
    """Kills: stubs without checks, without what a check needs, or with statements of the answer behind them."""
    for refused in ([1, 0], [1, 2]):  # by a line, and by a private check in a loop
        with pytest.raises(ValueError, match=r"must"):
            made["area"](refused)
    with pytest.raises(ValueError, match=r"values\[1\] must be an integer >= 0, got -1"):
        object.__new__(made["Counter"]).add([1, -1])
    with pytest.raises(ValueError, match="values"):
        made["debug_sum"]([float("nan")])
    text = stubs.lab("ch01/topic.py", MODULE, ALL)
    assert "ranks = len(sides)\n" in text
    assert "scale = " not in text


def test_what_is_not_an_exercise_stays_with_what_it_needs(made):
    assert made["MOST"] == 3
    assert made["helper"](10) == 8
    assert made["Pair"](1, 2).b == 2


def test_what_only_the_answer_needs_goes(made):
    """Kills a lab that gives the answer away in a helper."""
    assert not {"_scaled", "_SECRET"} & set(made)


def test_comments_above_a_constant_stay():
    assert "#: The largest.\nMOST = 3\n" in stubs.lab("ch01/topic.py", MODULE, ALL)


def test_imports_are_those_that_are_used():
    lab = stubs.lab("topic", MODULE, [AREA, COUNTER])
    assert "import math" in lab  # debug_sum is whole here
    without = stubs.lab("topic", MODULE.replace("math.fsum(values)", "0.0"), [AREA, COUNTER])
    assert "import math" not in without


def test_the_first_line_says_where_it_comes_from():
    first, second = stubs.lab("ch01/topic.py", MODULE, ALL).splitlines()[:2]
    assert first.startswith("# Generated from solutions/ch01/topic.py")
    assert second == '"""A topic.'


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.function)
def test_a_cell_runs_alone(one):
    """Kills annotations whose names are missing: a cell has no future import, so they are looked up at once."""
    source = stubs.cell(MODULE, one)
    assert "__future__" not in source
    assert not source.endswith("\n")
    assert one.function in run(source)


def test_an_argument_is_not_taken_for_a_function_of_its_name():
    """Kills a cell that brings another exercise along, whole, because a checked argument has its name."""
    source = f'{MODULE}\n\ndef side(area: float) -> float:\n    """Its root."""\n    checks.positive(area=area)\n'
    assert "def area" not in stubs.cell(source, item("side"))


def test_a_cell_brings_the_data_class_of_its_signature():
    assert "class Pair" in stubs.cell(MODULE, AREA)
    assert "class Pair" not in stubs.cell(MODULE, COUNTER)


def test_a_cell_brings_the_error_that_its_docstring_names():
    """Kills a cell whose function has to raise an error of its module that nobody has defined."""
    error = "".join(f'class {name}(RuntimeError):\n    """No place is left."""\n\n\n' for name in ("Full", "Unused"))
    told = 'def put(count: int) -> int:\n    """One more; Full where none is left."""\n    raise Full(count)\n'
    made = stubs.cell(f"{MODULE}\n\n{error}{told}", item("put"))
    assert "class Full" in made
    assert "class Unused" not in made


def test_a_cell_must_not_need_another_module():
    source = MODULE.replace("import math\n", "import math\n\nfrom .other import Kind\n").replace(
        "Pair | None", "Kind | None"
    )
    with pytest.raises(ValueError, match="area must not need another topic module"):
        stubs.cell(source, AREA)


def test_an_exercise_that_the_module_does_not_define_is_named():
    with pytest.raises(ValueError, match="must define nothing_here"):
        stubs.lab("topic", MODULE, [item("nothing_here")])


def test_an_exercise_without_docstring_is_refused():
    with pytest.raises(ValueError, match="area must have a docstring"):
        stubs.lab("topic", '"""T."""\n\n\ndef area(x):\n    return x\n', [AREA])


def test_only_exercise_cells_of_a_notebook_change(monkeypatch):
    build = bank.builds()[0]
    stub = nbformat.v4.new_code_cell("old", id="a", metadata={"tags": ["exercise"], "rankzero": {"id": build.id}})
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[stub, nbformat.v4.new_code_cell("1 + 1", id="b")]))
    first, second = nbformat.reads(stubs.notebook(text), as_version=4).cells
    assert f"def {build.function}(" in first.source or f"class {build.function}" in first.source
    assert second.source == "1 + 1"
    assert stubs.notebook(stubs.notebook(text)) == stubs.notebook(text)


def test_the_list_of_exercises_names_them_all_and_keeps_the_text_above():
    text = stubs.readme(f"# Labs\n\n{stubs.LIST}old\n")
    assert text.startswith(f"# Labs\n\n{stubs.LIST}\n### 1. ")
    assert stubs.readme(text) == text
    assert [item.id for item in bank.builds() if f"`{item.function}`" not in text] == []
    assert "old" not in text
    assert "| 5.6 | write `zero_memory` | `ch05/zero.py` |\n" in text


def test_check_names_what_is_stale(monkeypatch, capsys):
    monkeypatch.setattr(stubs, "stale", lambda: {ROOT / "labs" / "ch05" / "zero.py": "new text"})
    assert stubs.main(["--check"]) == 1
    assert "labs/ch05/zero.py" in capsys.readouterr().err


@pytest.mark.parametrize("build", bank.builds(), ids=lambda build: build.id)
def test_every_exercise_of_the_course_has_a_lab_and_a_cell(build):
    source = (ROOT / "solutions" / build.file).read_text(encoding="utf-8")
    lab = ast.parse((ROOT / "labs" / build.file).read_text(encoding="utf-8"))
    assert build.function in {getattr(node, "name", "") for node in lab.body}
    assert build.function in run(stubs.cell(source, build))
