"""Which cells of a page can run there with the reader's own functions, and what each takes with it."""

from __future__ import annotations

import html
import json

import nbformat
import pytest

from tools import bundle, own_runs, page_cells
from tools.build_book import notebooks
from tools.statements import linked, statements

IMPORTS = """import torch
from rankzero.facts.units import GB, MB
from rankzero.figures import plots
from rankzero import figures, world
from autograder import check
from experiments.ch03 import explorers"""
TRAFFIC = "traffic = check(traffic)"
TASK = (IMPORTS, TRAFFIC)


def cell(source: str, *tags: str):
    return nbformat.v4.new_code_cell(source, metadata={"tags": list(tags)})


def found(*sources: str, tags: tuple[str, ...] = ()) -> dict | None:
    """The data of the last of the cells, or None where it does not qualify."""
    cells = [*map(cell, sources[:-1]), cell(sources[-1], *tags)]
    program = own_runs.programs(cells).get(cells[-1]["id"])
    return program and program.data()


def needed(*sources: str) -> list[str]:
    """What the last of the cells takes from those before it, line by line."""
    data = found(*sources)
    assert data is not None
    return data["before"].splitlines()


@pytest.mark.parametrize(
    ("source", "binds", "reads"),
    [
        ("x = y", "x", "y"),
        ("x += 1", "x", "x"),
        ("from a.b import c as d", "d", ""),
        ("def f(a=g):\n    b = a + c\n    return [b for b in d]", "f", "g"),
        ("f = lambda a: a + b", "f", "b"),
        ("for a, b in c:\n    print(a, d)", "a b", "c d print"),
        ("for a in b:\n    c = a\n    e = c + f", "a c e", "b f"),
        ("with a(b) as c:\n    d = c\ne = 1", "c d", "a b"),
        ("if a:\n    b = 1\nelse:\n    b = 2\nc = b", "b", "a"),
        ("try:\n    a()\nexcept b.C as error:\n    print(error)", "error", "a b print"),
        ("a = [b for b in c if d(b)]", "a", "c d"),
    ],
)
def test_what_a_statement_binds_and_reads(source, binds, reads):
    """Kills: a loop's own variable that is looked for in earlier cells, a name that a function reads when it is called
    and that is looked for where it is defined.
    """
    first = statements(source)[0]
    assert first.binds == {*binds.split()}
    assert first.reads == {*reads.split()}


def test_a_call_reads_what_its_function_reads():
    """Through other functions too, and not after the name has another meaning."""
    page = statements("def f(a):\n    return g(a) + c\n\n\ndef g(a):\n    return d")
    functions: dict[str, frozenset[str]] = {}
    assert linked([*page, *statements("x = f(1)")], functions)[-1].reads == {"f", "g", "c", "d"}
    assert linked(statements("g = 1\nx = f(1)"), functions)[-1].reads == {"f", "g", "c"}


def test_what_is_bound_in_either_branch_is_known_after_it():
    """Within a loop, as at the top of a cell."""
    (loop,) = statements("for a in b:\n    if a:\n        c = 1\n    else:\n        c = 2\n    print(c)")
    assert loop.reads == {"b", "print"}


@pytest.mark.parametrize(
    ("source", "changes"),
    [("a.b = 1", "a"), ("a['b'].c = 1", "a"), ("a.append(b)", "a"), ("x = Pool(a, 3)", "a"), ("x = len(a)", "")],
)
def test_what_a_statement_may_change(source, changes):
    assert statements(source)[0].changes == {*changes.split()}


def test_a_cell_takes_what_it_needs_and_no_more():
    """One name of an import, the latest meaning of a name, statements that change it, and functions with what they
    read: kills a program without them, and one that takes a whole page along.
    """
    data = found(
        *TASK,
        "size = torch.zeros(3)",
        "def sizes(n):\n    return [size * one for one in range(n)]",
        "size = GB",
        "kept = {}\nother = 3",
        "kept['a'] = sizes(2)",
        "for size in kept: print(size)",
        "size = 2 * GB",
        "print(traffic('all_reduce', sum(kept['a']), 4, 0))",
    )
    assert data is not None
    assert data["before"].splitlines()[0] == "from rankzero.facts.units import GB"
    assert "MB" not in data["before"]
    assert "torch" not in data["before"]
    assert "other" not in data["before"]
    assert "kept['a'] = sizes(2)" in data["before"]
    assert data["functions"] == {"traffic": "solutions.ch03.collective_cost"}
    assert data["items"] == {"traffic": "03-traffic"}


def test_a_program_does_what_its_cells_do():
    """A name that is bound anew between the cells has the meaning of its place."""
    data = found(*TASK, "a = 1", "b = a", "a = 5", "print(b + a, traffic)")
    assert data is not None
    namespace: dict = {"traffic": 0}
    exec(data["before"], namespace)
    assert (namespace["b"], namespace["a"]) == (1, 5)


@pytest.mark.parametrize(
    "sources",
    [
        (TRAFFIC, "print(traffic('all_reduce', 1, 2, 0), torch.zeros(1))"),
        (TRAFFIC, "run = world.run(len, ranks=2)", "print(traffic(run))"),
        (TRAFFIC, "import subprocess\nprint(traffic(subprocess.run))"),
        (TRAFFIC, "import numpy as np\nprint(traffic(np.ones(1)))"),
        (TRAFFIC, "ring_all_reduce = check(ring_all_reduce)", "print(traffic, ring_all_reduce)"),
        (TRAFFIC, "print(traffic(nowhere))"),
        (TRAFFIC, "print(GB)"),
        (TRAFFIC, "figures.matrix({'a': traffic('all_reduce', 1, 2, 0)}, alt='')"),
        (TRAFFIC, "picture = plots.bars({'a': traffic('all_reduce', 1, 2, 0)}, alt='')"),
        (TRAFFIC, "plots.bars({'a': figures.matrix(traffic)}, alt='')"),
        (TRAFFIC, "def draw(a):\n    figures.matrix(a)\n    return plots.bars(a)", "draw(traffic)"),
        (TRAFFIC, "size = traffic('all_reduce', 1, 2, 0)"),
        (TRAFFIC, "print(traffic('all_reduce', 1, 2, 0))\nfor a in traffic: print(plots.bars(a))"),
        ("print(traffic('all_reduce', 1, 2, 0))",),
        (TRAFFIC, "tree = dict()\nnodes = world.Tree(tree)", "print(traffic(tree))"),
        (TRAFFIC, "predict('03-ring-ms')\nprint(traffic)"),
    ],
)
def test_cells_that_do_not_qualify(sources):
    """Torch, processes, packages, functions that need them, names that nothing binds, no function of hers, nothing
    shown, a picture that no chart can show, a picture inside a loop, a function before its check, an object that was
    handed to something else.
    """
    assert found(IMPORTS, *sources) is None


@pytest.mark.parametrize("tag", ["nbval-ignore-output", "gpu", "exercise"])
def test_what_measures_a_machine_is_not_run(tag):
    assert found(*TASK, "print(traffic)", tags=(tag,)) is None
    assert found(*TASK, "print(traffic)", tags=("other",)) is not None


def test_a_picture_is_left_out():
    """With what only it needs; the printed lines remain, and the page says that the picture is the built one."""
    data = found(*TASK, "t = traffic\nprint(t)\npicture = figures.matrix(t)\npicture.alt = 'x'\npicture")
    assert data is not None
    assert (data["code"], data["before"], data["picture"]) == ("t = traffic\nprint(t)", "", True)
    plain = found(*TASK, "print(traffic)")
    assert plain is not None
    assert plain["picture"] is False


CHART = "picture = plots.bars({'a': {'b': traffic}}, y='', alt='')\npicture.alt = 'x'\npicture"


def test_a_picture_that_can_be_a_chart_is_drawn():
    """By the package that the page's Python can load, whichever name the page has for it; no printed line is needed."""
    for source, imported in (
        (CHART, "from rankzero.charts.pictures import plots as plots"),
        ("print(traffic)\nfigures.schedules.draw(traffic)", "from rankzero.charts import pictures as figures"),
    ):
        data = found(*TASK, source)
        assert data is not None
        assert (data["code"], data["before"], data["picture"]) == (source, imported, False)
    assert own_runs.modules([cell(source) for source in (*TASK, CHART)]) == {
        "rankzero.charts.pictures",
        "rankzero.charts.pictures.plots",
    }


def test_what_earlier_cells_draw_does_not_come_along():
    """Kills a cell that is offered with a function on which only an earlier picture depends."""
    earlier = "figures.schedules.draw(traffic)"
    assert found(*TASK, earlier, "figures.schedules.draw({})") is None
    assert "draw" not in "".join(needed(*TASK, earlier, "figures.schedules.draw({'0F0': traffic})"))


def test_a_picture_beside_one_that_no_chart_shows_is_left_out_with_it():
    """Kills a chart in the place of two pictures, of which the page shows one."""
    data = found(*TASK, f"print(traffic)\nfigures.matrix(traffic)\n{CHART}")
    assert data is not None
    assert (data["code"], data["before"], data["picture"]) == ("print(traffic)", "", True)


def test_a_print_of_an_earlier_cell_is_none_of_its_own():
    """Kills an offer to run a cell that then shows nothing; a function of the page that prints counts."""
    assert found(*TASK, "a = []\nfor n in (1, 2):\n    a.append(n)\n    print(n)", "b = traffic(a)") is None
    assert needed(*TASK, "def tell(a):\n    print(a)", "tell(traffic)") == ["def tell(a):", "    print(a)"]


def test_a_page_has_a_place_after_the_cell():
    """In the page alone, directly below the cell, with data that survives HTML; the cell stays as it is."""
    notebook = nbformat.v4.new_notebook(cells=[*map(cell, TASK), cell('print(traffic, "<b>\\n\\n$x$")'), cell("x = 1")])
    cells = page_cells.shown(notebook).cells
    assert [one.cell_type for one in cells] == ["code", "code", "code", "markdown", "code"]
    place = cells[3].source
    assert "\n" not in place
    assert 'class="rz-own" hidden ' in place
    data = json.loads(html.unescape(place.partition('data-own="')[2].partition('"')[0]))
    assert data["code"] == cells[2].source


def test_modules_of_a_page_are_those_that_its_cells_import():
    cells = [cell(source) for source in (*TASK, "print(traffic(GB))", "print(explorers)")]
    assert own_runs.modules(cells) == {"rankzero.facts.units", "rankzero.facts.units.GB"}


def test_the_page_fetches_what_a_check_lacks(tmp_path, monkeypatch):
    """Kills a second copy of what the worker has, and a module whose own imports are missing."""
    monkeypatch.setattr(bundle, "checks", lambda: {"rankzero/__init__.py": "", "rankzero/facts/units.py": ""})
    bundle.write(tmp_path, {"rankzero.sim.network", "rankzero.facts.units.GB"})
    files = json.loads((tmp_path / "cells.json").read_text())
    assert "rankzero/sim/network.py" in files
    assert not {"rankzero/__init__.py", "rankzero/facts/units.py"} & files.keys()


@pytest.mark.proof(part="guides")
def test_every_chapter_has_such_cells():
    """Kills an analysis that a new form of cell makes blind. The functions of chapters 7 and 13 need torch,
    ranks or a deep page.
    """
    counts = {path: len(own_runs.programs(nbformat.read(path, as_version=4).cells)) for path in notebooks()}
    without = {path.stem for path, count in counts.items() if path.parent.name == "book" and not count}
    assert without == {"07-pipeline-expert", "13-rlhf"}
    assert sum(counts.values()) >= 100
