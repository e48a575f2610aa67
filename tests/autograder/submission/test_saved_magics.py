"""What nbconvert writes for magics and shell commands counts in a handed-in script as the magics do in a notebook."""

from __future__ import annotations

import ast

import pytest
from nbconvert import PythonExporter
from nbformat import v4

from autograder.submission import load, magics

TOPICS = ("zero",)
F = "def f(x):\n    return 2 * x"


def saved(*cells: str, prompts: bool = True) -> str:
    """A notebook of these cells, as nbconvert saves it."""
    page = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    return PythonExporter(exclude_input_prompt=not prompts).from_notebook_node(page)[0]


def handed_in(tmp_path, source: str, name: str = "page.py"):
    (tmp_path / name).write_text(source, encoding="utf-8")
    return load(tmp_path / name, TOPICS)


def run(submission) -> dict:
    namespace: dict = {}
    for unit in submission.units:
        exec(compile(unit.source, unit.label, "exec"), namespace)
    return namespace


@pytest.mark.parametrize("prompts", [True, False])
@pytest.mark.parametrize(
    "cell",
    [
        f"%%time\n{F}",
        f"%%timeit -n 3\n\n{F}",
        f"%%capture out\n%%time\n{F}",
        f"%matplotlib inline\n{F}",
        f"!pip install torch\n{F}",
        f"files = !ls\n{F}",
        f"here = %pwd\n{F}",
        f"f?\n{F}",
        f"if True:\n    !ls\n    %pwd\n{F}",
        f"%time y = 3\n{F}",
    ],
)
def test_a_function_in_a_cell_with_a_magic_counts(cell, prompts, tmp_path):
    """Kills a script whose function is inside a string, or that stops at a name that only IPython has."""
    found = handed_in(tmp_path, saved("import math", cell, prompts=prompts))
    assert run(found)["f"](4) == 8
    assert found.problems == ()


def test_what_a_timed_cell_answers_is_read(tmp_path):
    source = saved('from autograder import predict\n%time predict("03-x", 7)', '%%time\npredict("03-y", "b")')
    assert handed_in(tmp_path, source).answers == {"03-x": (7,), "03-y": ("b",)}


def test_a_definition_in_another_language_is_named(tmp_path):
    found = handed_in(tmp_path, saved(F, "%%cython\ndef g(x):\n    return x", "%%bash\nls"))
    assert run(found)["f"](1) == 2
    assert len(found.problems) == 1
    assert "starts with %%cython and is skipped" in found.problems[0]


@pytest.mark.parametrize("cell", [f"%matplotlib inline\n{F}", f"!ls\n{F}", f"%%time\n{F}"])
def test_a_topic_module_saved_from_a_notebook_counts(cell, tmp_path):
    found = handed_in(tmp_path, saved(cell), "zero.py")
    assert run(found)["f"](4) == 8
    assert found.problems == ()


@pytest.mark.parametrize(
    ("call", "magic"),
    [
        ("get_ipython().run_line_magic('time', 'f(2)')", "%time f(2)"),
        ("get_ipython().magic('pwd')", "%pwd"),
        ("x = get_ipython().getoutput('ls -l')", "x = !"),
        ("if y:\n    get_ipython().system('ls')", "if y:\n    !"),
        ("get_ipython().system(\n    'ls'\n)\nz = 1", "!\n\n\nz = 1"),
        ("get_ipython().run_cell_magic('time', '', 'é = 1\\n')", "é = 1"),
        ("get_ipython().run_cell_magic('bash', '', 'ls\\n')", "pass"),
        ("a = 'get_ipython().system(1)'", "a = 'get_ipython().system(1)'"),
        ("get_ipython().kernel()", "get_ipython().kernel()"),
        ("get_ipython().system('ls') +", "get_ipython().system('ls') +"),
    ],
)
def test_calls_become_what_they_stand_for(call, magic):
    assert magics.restored(call) == magic


@pytest.mark.parametrize("source", ["x = 5\n%d = 3", "def get_ipython():\n    return None\n"])
def test_a_module_without_such_calls_stays_as_it_is(source):
    assert magics.without_calls(source) == source


def test_a_module_keeps_the_lines_of_what_stays():
    source = "get_ipython().run_line_magic('matplotlib', 'inline')\nx = 1\nif x:\n    get_ipython().system('ls')\n"
    kept = magics.without_calls(source)
    assert kept == "pass\nx = 1\nif x:\n    pass\n"
    ast.parse(kept)
