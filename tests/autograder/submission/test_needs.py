"""What grading runs of a notebook: whatever a graded function needs, and nothing that only shows."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from written_files import cells

from autograder import bank
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox
from autograder.submission import load, notebook
from tools.build_book import notebooks

BODY = "    return payload / bandwidth + latency * {}\n"
ITEM = "02-message-time"
HEAD = "def message_time(message_bytes, bandwidth, latency=0.0):\n"


def kept(*sources: str) -> tuple[list[str], tuple[str, ...]]:
    """What is kept of each cell, and the problems; ``f`` is graded."""
    units, problems, _ = notebook.parts("a.ipynb", cells(*sources), {"f"})
    return [unit.source.strip() for unit in units], problems


def ran(*sources: str) -> object:
    """The value of ``f()`` after what is kept of the cells has run."""
    names: dict = {"__name__": "a"}
    for source in kept(*sources)[0]:
        exec(source, names)
    return names["f"]()


F = "def f():\n    return {}\n"
#: Cells, and what ``f()`` is in Jupyter.
RUNS = {
    "a call": (["import math", "D = math.log2(8)", F.format("D")], 3.0),
    "a pattern": (["import re\nP = re.compile('a+')", F.format("P.match('aab')[0]")], "aa"),
    "a comprehension": (["S = {n: n * n for n in range(4)}", F.format("S[3]")], 9),
    "an f-string": (["K = 3\nT = f'{K}!'", F.format("T")], "3!"),
    "an Enum by a call": (["from enum import Enum\nE = Enum('E', 'A B')", F.format("E.B.value")], 2),
    "a sum in place": (["N = 0", "N += 1\nN *= 5", F.format("N")], 5),
    "an entry": (["D = {}", "D['x'] = len('four')", F.format("D['x']")], 4),
    "a method": (["D = dict(x=1)", "D.update(x=2)", F.format("D['x']")], 2),
    "a loop": (["T = []", "for n in range(3):\n    T.append(n)", F.format("T")], [0, 1, 2]),
    "a loop over a list": (["T = [[], []]", "for row in T:\n    row.append(1)", F.format("T")], [[1], [1]]),
    "a list changed by another name": (["T = [1]", "U = T", "U.append(2)", F.format("T")], [1, 2]),
    "an argument that is changed": (["import heapq\nT = [3, 1]", "heapq.heapify(T)", F.format("T[0]")], 1),
    "a function that fills": (["T = []\ndef fill(t):\n    t.append(7)", "fill(T)", F.format("T")], [7]),
    "a function that sets": (["def setup():\n    global N\n    N = 6", "setup()", F.format("N")], 6),
    "a branch": (["import sys", "if sys.maxsize > 1:\n    N = 1\nelse:\n    N = 2", F.format("N")], 1),
    "a try": (["try:\n    N = int('x')\nexcept ValueError:\n    N = 8", F.format("N")], 8),
    "a with": (["import io", "with io.StringIO('ab') as g:\n    T = g.read()", F.format("T")], "ab"),
    "a deletion": (["D = {'x': 1, 'y': 2}", "del D['x']", F.format("sorted(D)")], ["y"]),
    "a wrapped function": (["def _f():\n    return 4", "from functools import lru_cache\nf = lru_cache(_f)"], 4),
    "a partial": (["from functools import partial\ndef _f(a):\n    return a", "f = partial(_f, 9)"], 9),
    "a decorator with state": (
        [
            "SEEN = {}\ndef keep(g):\n    SEEN[g.__name__] = g\n    return g",
            "@keep\ndef g():\n    return K\nK = abs(-2)",
        ]
        + [F.format("SEEN['g']()")],
        2,
    ),
    "a name bound later": (["N = 1", F.format("N"), "N = max(2, 3)"], 3),
    "a need of a need": (["A = abs(-3)", "B = A + 1", "def g():\n    return B", F.format("g()")], 4),
    "a timed statement": (["%time N = sum([1, 2])", F.format("N")], 3),
    "several names": (["a, (b, *c) = 5, divmod(7, 2)", "a, *c = [8, 9]", F.format("(a, c)")], (8, [9])),
    "a walrus": (["if (N := len('ab')) > 1:\n    pass", F.format("N")], 2),
    "an attribute": (["class C: pass\nC.x = len('abc')", F.format("C.x")], 3),
    "a dispatched function": (
        ["from functools import singledispatch\n@singledispatch\ndef g(x):\n    return 0"]
        + ["@g.register\ndef _(x: int):\n    return K\nK = abs(-3)", F.format("g(1)")],
        3,
    ),
    "an attribute of a function": (["def g():\n    return g.n\ng.n = len('ab')", F.format("g()")], 2),
    "a shadowed local": (["x = open('/no/such/file')", "def f():\n    x = 1\n    return x"], 1),
}


@pytest.mark.parametrize("kind", RUNS)
def test_what_a_graded_function_needs_runs(kind):
    """Kills: a name that grading has left out, and a value that grading has changed."""
    sources, value = RUNS[kind]
    assert ran(*sources) == value
    assert kept(*sources)[1] == ()


@pytest.mark.parametrize(
    "statement",
    [
        "run = world.run(f, ranks=4)",
        "print(T)",
        "plot(T)",
        "plt.plot(T)\nplt.show()",
        "figure = plt.bar(T)",
        "f = check(f)",
        "predict('03-steps', len(T))",
        "serve(T)",
        "value = f()",
        "for n in T:\n    print(f(), n)",
        "assert f() == T[0]",
        "import_time = [f() for _ in range(10)]",
    ],
)
def test_what_only_shows_does_not_run(statement):
    """Kills: running a page's demonstrations, servers and plots because they mention a graded function."""
    assert kept("T = [1]", F.format("T[0]"), statement)[0] == ["T = [1]", F.format("T[0]").strip()]


@pytest.mark.parametrize("line", ["T = !ls", "T = %timeit -o len('a')", "S, T = !echo 1"])
def test_a_needed_name_that_a_magic_assigns_is_named(line):
    """Kills: leaving a line out without a word."""
    _, problems = kept("X = 1\n" + line, F.format("T"))
    why = "from a magic or a shell command, which grading does not run: write it in Python"
    assert problems == (f"cell 1 line 2 gets T {why}",)
    assert kept(line, F.format("1"))[1] == ()


# Magics


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("!ls\nX = ('a'\n  % 3)", "pass\nX = ('a'\n  % 3)"),
        ("!ls\nX = 7 \\\n  % 3", "pass\nX = 7 \\\n  % 3"),
        ("!ls\nX = '''\n%d\n!b\n?c'''", "pass\nX = '''\n%d\n!b\n?c'''"),
        ("%time\nX = [1,\n!= 2]", None),
        ('%pip x\nX = """a\\"""\n% b\n"""', 'pass\nX = """a\\"""\n% b\n"""'),
        ("!ls # (\nX = 1", "pass\nX = 1"),
        ("X = 1 # ( [\n!ls\nY = 2", "X = 1\npass\nY = 2"),
        ("!ls\nX = ('(',\n% 1)", None),
    ],
)
def test_a_magic_begins_a_logical_line(source, found):
    """Kills: a text or a sum that is changed because one of its lines begins with a percent sign."""
    units, problems, _ = notebook.parts("a.ipynb", cells(source))
    if found is None:
        assert len(problems) == 1
    else:
        assert ([unit.source for unit in units], problems) == ([found], ())


@pytest.mark.parametrize("magic", ["%%time", "%%capture out", "%%timeit -n 1", "%%capture\n%%time", "\n%%prun"])
def test_cell_magics_that_run_python_leave_it(magic):
    (unit,), problems, _ = notebook.parts("a.ipynb", cells(f"{magic}\nX = 1"))
    assert (unit.source, problems) == ("\n" * (magic.count("\n") + 1) + "X = 1", ())


@pytest.mark.parametrize("magic", ["bash", "writefile zero.py", "html", "javascript", "python3", "script bash"])
def test_other_cell_magics_are_skipped_and_named_if_they_define_something(magic):
    units, problems, _ = notebook.parts("a.ipynb", cells(f"%%{magic}\nls", f"%%{magic}\ndef f():\n    pass"))
    assert units == ()
    assert problems == (f"cell 2 starts with %%{magic.split()[0]} and is skipped, with the definitions in it",)


# In the sandbox


def graded(folder: Path, *sources: str) -> tuple[float, tuple[str, ...]]:
    (folder / "a.ipynb").write_bytes(cells(*sources))
    with Exam([bank.find(ITEM)], b"needs") as exam:
        grading = judging.judge(load(folder / "a.ipynb"), exam, Sandbox.measure("best"))
    return grading.score, grading.problems


RIGHT = f"""
import math


{HEAD}    for x, least in ((message_bytes, -1), (bandwidth, 0), (latency, -1)):
        if not (x > least or x == least == -1) or not math.isfinite(x) or x < 0:
            raise ValueError("range")
    return latency + message_bytes / bandwidth * SCALE
"""


def test_a_statement_that_fails_costs_only_itself_and_is_named(tmp_path):
    """Kills: a cell whose last definition is lost because the file that a line above it reads is not there."""
    score, problems = graded(tmp_path, "SCALE = 1\nTABLE = OTHER['x']\nNOTES = open('/no/such')\n" + RIGHT)
    assert (score, problems) == (4.0, ())
    score, problems = graded(tmp_path, "\nSCALE = open('/no/such').read()\n" + RIGHT)
    assert score < 4
    assert len(problems) == 1
    assert problems[0].startswith("cell 1: FileNotFoundError at line 2")


def test_closed_imports_of_the_course_are_told_only_if_they_are_needed(tmp_path):
    """Kills: ten sentences about cells that the course itself wrote."""
    course = "from autograder import check\nfrom rankzero import world\nfrom experiments.ch02 import runs"
    score, problems = graded(tmp_path, course, "from experiments import SCALE", "SCALE = 1", RIGHT, "world.run(runs)")
    assert (score, problems) == (4.0, ())
    _, problems = graded(tmp_path, course, "from experiments import SCALE", RIGHT)
    assert problems == ("cell 2: ImportError at line 1: what the pages run cannot be imported in grading",)


def test_of_an_import_of_several_names_one_fails_alone(tmp_path):
    """Kills: a right function that earns nothing because an editor has sorted its imports into one line."""
    checked = f"{HEAD}    checks.amount(latency=latency)\n    return latency + message_bytes / bandwidth\n"
    score, problems = graded(tmp_path, "from rankzero import checks, world", checked)
    assert (score, len(problems)) == (4.0, 1)
    assert problems[0].startswith("cell 1: ImportError at line 1: only rankzero.checks")
    score, problems = graded(tmp_path, "import math, no_such_module", checked.replace("checks.amount", "math.fsum"))
    assert score < 4  # fsum takes no keyword: math is there, and the mistake in the function is still one
    assert problems == ("cell 1: ModuleNotFoundError at line 1: No module named 'no_such_module'",)


@pytest.mark.parametrize(
    "cell",
    [
        "import time\nSCALE = 1\nwhile SCALE:\n    SCALE = time.sleep(1) or 1\n",
        "import os\nSCALE = 1\nSCALE = os._exit(3)\n",
    ],
)
def test_a_needed_statement_that_hangs_or_ends_the_process_is_left_out_and_named(cell, tmp_path):
    score, problems = graded(tmp_path, cell + RIGHT)
    assert score == 4
    assert len(problems) == 1
    assert problems[0].startswith(f"cell 1 line {cell.count(chr(10)) - ('while' in cell)} is left out: ")


STAND_INS = [
    "from autograder import check\n@check",
    "import autograder\n@autograder.check",
    "import autograder as ag\nag.predict('02-q', 3)\n@ag.check",
    "from autograder import check as test, scorecard, design, predict\nscorecard()\ndesign('x', a=1)\n@test",
]


@pytest.mark.parametrize("way", STAND_INS)
@pytest.mark.parametrize("file", ["a.ipynb", "a.py"])
def test_check_and_its_like_do_nothing_in_grading(way, file, tmp_path):
    """Kills: a program that ends at its first ``check``."""
    source = f"import math\nSCALE = 1\n{way}\n{HEAD.strip()} return latency + message_bytes / bandwidth\n"
    source += "check = None\ndef other(): pass\n"
    (tmp_path / file).write_bytes(cells(source) if file.endswith("nb") else source.encode())
    with Exam([bank.find(ITEM)], b"needs") as exam:
        grading = judging.judge(load(tmp_path / file), exam, Sandbox.measure("best"))
    (mark,) = grading.marks
    assert mark.shares[1].passed == mark.shares[1].total
    assert grading.problems == ()


def test_file_and_future_flags(tmp_path):
    """Kills: ``__file__`` that is not there, and annotations of later cells that are evaluated."""
    where = "from __future__ import annotations\nfrom pathlib import Path\nHERE = Path(__file__).parent"
    score, problems = graded(
        tmp_path, where, RIGHT.replace("latency=0.0", "latency: Tensor = len(str(HERE)) * 0.0"), "SCALE = 1"
    )
    assert (score, problems) == (4.0, ())


PAGES = notebooks()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_of_a_page_as_it_was_handed_out_nothing_runs_that_only_shows(path):
    """Kills: worlds, plots and servers of a whole chapter that run in grading because one name leads to another."""
    units, problems, answers = notebook.parts(path.name, path.read_bytes())
    more = [node for unit in units for node in ast.parse(unit.source).body if not notebook._is_kept(node)]
    settings = re.compile(r"torch\.(set_num_threads|manual_seed)\(\d\)")
    assert [one for one in map(ast.unparse, more) if not settings.fullmatch(one)] == []
    assert problems == ()
    assert set(answers.values()) <= {()}
