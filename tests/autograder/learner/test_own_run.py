"""A cell of a page, run with the reader's own functions."""

from __future__ import annotations

import sys

import pytest

from autograder.learner import in_page, own_run

MODULE = "solutions.ch03.collective_cost"
CELL = {
    "functions": {"ring_all_reduce_time": MODULE, "traffic": MODULE},
    "before": "ranks = 4\nprint('earlier')",
    "code": "print(ring_all_reduce_time(8.0, ranks, 2.0))\nprint(traffic('all_reduce', 8, ranks, 0))",
}
OWN = "def ring_all_reduce_time(size, ranks, bandwidth):\n    return {}\n"


def ran(own: dict[str, str], others: dict[str, str] | None = None, **changes) -> tuple[str, list]:
    told: list = []
    return own_run.run({**CELL, **changes}, own, others or {}, told.append, told.append), told


def test_functions_that_are_not_written_are_the_courses():
    """Its lines are told after the stage that they belong to; what earlier cells print is not told again."""
    assert ran({}) == ("", [-1, 0, "6.0", "(12.0, 12.0)"])


def test_the_readers_function_is_used():
    """Kills a run that shows the course's numbers as hers, and one that replaces the functions she has not written."""
    assert ran({"ring_all_reduce_time": OWN.format("size * ranks")}) == ("", [-1, 0, "32.0", "(12.0, 12.0)"])


def test_hers_may_call_another_of_hers():
    """Another function of the page, checked or not, also one that the cell calls by itself."""
    calls = {"ring_all_reduce_time": OWN.format("helper(size)")}
    assert ran(calls, {"helper": "def helper(size):\n    return -size\n"})[1][2] == "-8.0"
    both = {"ring_all_reduce_time": OWN.format("traffic()"), "traffic": "def traffic(*given):\n    return 5\n"}
    assert ran(both)[1][2:] == ["5", "5"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (OWN.format("1 / 0"), "Your code, line 2 (ring_all_reduce_time): ZeroDivisionError: division by zero"),
        ("def ring_all_reduce_time(:\n", f"Your code, line 1: this is not {in_page.PYTHON} (invalid syntax)."),
        ("x = 1\n", "NameError: there is no function ring_all_reduce_time in its editor"),
        ("def ring_all_reduce_time():\n    return 1\n", "The cell stops at its line `print(ring_all_reduce_time("),
        ("\nraise ValueError\n", "Your code, line 2 (<module>): ValueError"),
    ],
)
def test_why_a_cell_stops(source, said):
    """Where in her code, or else where in the cell: kills a traceback of the course's files."""
    assert ran({"ring_all_reduce_time": source})[0].startswith(said)


def test_what_was_printed_before_an_error_is_told():
    """With the line of the cell that stops: an assertion about her numbers has no words of its own."""
    why, told = ran({}, code="print('first')\nassert ring_all_reduce_time(8.0, ranks, 2.0) == 7")
    assert why == "The cell stops at its line `assert ring_all_reduce_time(8.0, ranks, 2.0) == 7`: AssertionError"
    assert told == [-1, 0, "first"]


@pytest.mark.parametrize("stage", ["before", "code"])
def test_a_loop_ends_at_the_deadline(monkeypatch, stage):
    """In what the cell needs and in the cell: kills a limit on one of the two."""
    monkeypatch.setattr(own_run, "TIME", 0.2)
    loops = {"ring_all_reduce_time": "def ring_all_reduce_time(*given):\n    while True: pass\n"}
    assert ran(loops, **{stage: "ring_all_reduce_time()"})[0] == "It did not come to its end within 0.2 s."


def test_modules_that_only_cells_need_are_put_beside_the_others(tmp_path, monkeypatch):
    """Kills an import that has looked into the folder before and does not look again."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "late_module", raising=False)
    before = "from late_module.inner import answer"
    assert "late_module" in ran({}, before=before)[0]
    own_run.install({"late_module/inner.py": "answer = 42\n"}, tmp_path)
    assert ran({}, before=before, code="print(answer)") == ("", [-1, 0, "42"])


def test_a_chart_that_the_cell_ends_in_is_shown():
    """From her numbers, after the lines. Kills a chart of a cell that stops, and one that an earlier statement made."""
    drawn: list = []
    before = (
        "from rankzero.charts.pictures import plots\ndraw = lambda a: plots.bars({'a': {'b': a}}, y='y', alt=f'{a}')"
    )
    for end, charts in (("\ndraw(time)", 1), ("\nx = draw(time)", 0), ("\n1 / 0\ndraw(time)", 0), ("\ntime", 0)):
        cell = CELL | {"before": before, "code": f"time = ring_all_reduce_time(8.0, 4, 2.0)\ndraw(1){end}"}
        own = {"ring_all_reduce_time": OWN.format("size * ranks")}
        own_run.run(cell, own, {}, lambda stage: None, lambda line: None, drawn.append)
        assert [chart["description"] for chart in drawn] == ["32.0"] * charts
        drawn.clear()


def test_a_number_that_a_chart_refuses_is_told():
    """In the words of the figure: kills a chart that is missing without a reason."""
    before = "from rankzero.charts.pictures import plots"
    code = "plots.curves({'a': [(1, -1.0)]}, x='x', y='y', log='y', alt='A.')"
    assert ran({}, before=before, code=code)[0].endswith(
        "ValueError: values must be positive on a logarithmic axis, got [-1.0]"
    )
