"""Finding a submission's code: what is kept, and under which line. Most refusals stand in ``test_broken.py``."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import notebook
from autograder.literals import literal
from autograder.submission import Unreadable, choose, load

TOPICS = ("zero", "collectives")


def cells(*sources: str) -> bytes:
    return json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]}).encode()


def kept(source: str) -> str:
    """What is kept of one cell."""
    units, problems, _ = notebook.parts("a.ipynb", cells(source))
    assert problems == ()
    return units[0].source if units else ""


def test_a_python_file_is_kept_whole(tmp_path):
    source = "import math\nTABLE = [math.sqrt(n) for n in range(9)]\nprint(TABLE)\n"
    (tmp_path / "a.py").write_text(source)
    (unit,) = load(tmp_path / "a.py", TOPICS).units
    assert (unit.label, unit.source, unit.module) == ("a.py", source, None)


@pytest.mark.parametrize(
    "statement",
    [
        "import torch",
        "from rankzero.units import GB",
        "def f(x):\n    return x",
        "@decorated\n@twice(\n    3)\ndef f(x):\n    return x",
        "async def f(): pass",
        "class A:\n    x = 1",
        "LIMIT = 25 * MiB",
        "SIZES: tuple[int, ...] = (1, 2)",
        "INFINITE = float('inf')",
        "alias = ring",
        "double = lambda x: 2 * x",
        "if TYPE_CHECKING:\n    from torch import Tensor",
        "try:\n    import torch\nexcept ImportError:\n    torch = None",
    ],
)
def test_imports_definitions_and_constants_are_kept(statement):
    assert kept(statement) == statement


@pytest.mark.parametrize(
    "statement",
    [
        "print(1)",
        "ring = check(ring)",
        "predict('03-steps', 30)",
        "run = world.run(ring, ranks=4)",
        "for i in range(3):\n    f(i)",
        "while True:\n    pass",
        "with open('x') as f:\n    pass",
        "x += 1",
        "del x",
        "x: int",
        "await f()",
        "[f(x) for x in y]",
        "if ready:\n    start()",
        "try:\n    start()\nfinally:\n    stop()",
        "import_me.now()",
        "raise SystemExit",
    ],
)
def test_everything_else_is_dropped(statement):
    """Kills: running a page's demonstrations, servers and endless loops while grading."""
    assert kept(statement) == ""


def test_line_numbers_stay_those_of_the_cell():
    """Kills: reporting the line of the text that is left, which the learner cannot find."""
    source = "print(1)\n\n# text\n@a\ndef f():\n    x = '''\n1\n'''\n    return x\n"
    source += "print(2); Y = 3; print(4); Z = 4\nclass A: pass"
    before = {node.name: node.lineno for node in ast.walk(ast.parse(source)) if hasattr(node, "name")}
    after = {node.name: node.lineno for node in ast.walk(ast.parse(kept(source))) if hasattr(node, "name")}
    assert after == before
    assert "Y = 3;Z = 4" in kept(source)
    assert "print" not in kept(source)


def test_offsets_count_bytes_and_letters_do_not_have_to_be_ascii():
    assert kept("print('é'); größe = 'ü'; print(1)") == "größe = 'ü'"


names = st.sampled_from(["a", "b", "größe"])
statements = st.lists(
    st.sampled_from(["{n} = 1", "print('é')", "def {n}():\n    return 'é'", "import math", "{n} = f()", "\n", "# é"]),
    max_size=8,
)


@given(statements, names)
def test_what_is_kept_parses_to_the_kept_statements(lines, name):
    """Law: parsing what is kept gives exactly the kept statements of the cell, each on its own line."""
    source = "\n".join(lines).format(n=name)
    wanted = [node for node in ast.parse(source).body if notebook._is_kept(node)]
    found = ast.parse(kept(source)).body
    assert [ast.dump(node) for node in found] == [ast.dump(node) for node in wanted]
    assert [node.lineno for node in found] == [node.lineno for node in wanted]


def test_magic_lines_are_replaced_only_where_the_cell_is_not_python():
    source = "def f(a, b):\n    '''\n    % of all\n    '''\n    return (a\n    % b)"
    assert kept(source) == source
    assert "%" not in kept("%timeit f()\ndef f(): pass")
    assert kept("if x:\n    !ls\nY = 1").strip() == "if x:\n    pass\nY = 1"


def test_a_broken_cell_is_named_and_costs_only_itself():
    units, problems, _ = notebook.parts("a.ipynb", cells("X = 1", "def f(:\n", "Y = 2"))
    assert [unit.label for unit in units] == ["cell 1", "cell 3"]
    assert problems == ("cell 2 is not Python: invalid syntax at line 1",)


def test_a_folder_holds_topics_helpers_and_notebooks(tmp_path):
    (tmp_path / "zero.py").write_text("A = 1")
    (tmp_path / "helper.py").write_text("B = 2")
    (tmp_path / "two words.py").write_text("C = 3")
    (tmp_path / "page.ipynb").write_bytes(cells("D = 4"))
    (tmp_path / "notes.txt").write_text("no code")
    found = {unit.label: unit.module for unit in load(tmp_path, TOPICS).units}
    assert found == {"zero.py": "zero", "helper.py": "helper", "two words.py": None, "page.ipynb cell 1": None}


def test_files_that_are_named_unlike_any_topic_share_one_namespace(tmp_path):
    (tmp_path / "my_answers.py").write_text("A = 1")
    (unit,) = load(tmp_path, TOPICS).units
    assert unit.module is None


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [
        (["zero.py", "deep/er/zero.py"], ["zero.py"]),
        (["hand in/zero.py"], ["hand in/zero.py"]),
        (["a/b/zero.py", "a/b/collectives.py"], ["a/b/zero.py", "a/b/collectives.py"]),
        (["repo/labs/zero.py", "repo/zero.py", "repo/page.ipynb"], ["repo/labs/zero.py", "repo/page.ipynb"]),
        (["repo/labs/zero.py", "repo/tests/test_zero.py"], ["repo/labs/zero.py"]),
        (["__MACOSX/zero.py", ".git/zero.py", "labs/__init__.py"], []),
        (["zero.txt"], []),
    ],
)
def test_which_files_of_a_folder_count(paths, chosen):
    assert sorted(choose(paths).values()) == sorted(chosen)


def test_the_hash_names_the_content(tmp_path):
    (tmp_path / "zero.py").write_text("A = 1")
    first = load(tmp_path, TOPICS).sha256
    (tmp_path / "notes.txt").write_text("not code")
    assert load(tmp_path, TOPICS).sha256 == first
    (tmp_path / "zero.py").write_text("A = 2")
    assert load(tmp_path, TOPICS).sha256 != first
    assert len(first) == 64


# Answers


def test_answers_are_read_and_never_run(tmp_path):
    """Kills: evaluating what stands in ``predict(...)``."""
    source = "predict('a', 2 * 7 / 8)\npredict('b', open('x'), -1)\n"
    source += "x = predict('c', 'b d a', confidence=50)\npredict('a', 3)\n"
    (tmp_path / "a.py").write_text(source)
    (tmp_path / "a.ipynb").write_bytes(cells(source, "predict(name, 1)\npredict()"))
    wanted = {"a": (3,), "b": (None, -1), "c": ("b d a",)}
    assert load(tmp_path / "a.py", TOPICS).answers == wanted
    assert load(tmp_path / "a.ipynb", TOPICS).answers == wanted


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.75", 1.75),
        ("-3", -3),
        ("2*(8-1)/8", 1.75),
        ("2**10", 1024),
        ("7//2 + 7%2", 4),
        ("'b'", "b"),
        ("[1, 2.0]", [1, 2.0]),
    ],
)
def test_literals_and_arithmetic_of_literals(text, value):
    assert literal(ast.parse(text, mode="eval").body) == value


@pytest.mark.parametrize(
    "text",
    ["GB", "f(1)", "9**9**9", "10**401", "'a'*10**9", "[0]*10**9", "1/0", "(-8)**0.5", "1j", "True+1", "...",
     "1 if 2 else 3",      "1<<99", "2.0**10000", "b'x'", "f'{1}'", "x.y", "9e999//1"],
)  # fmt: skip
def test_what_is_no_literal_is_no_answer(text):
    """Kills: an answer that takes a year or a terabyte to compute."""
    assert literal(ast.parse(text, mode="eval").body) is None


def test_a_cell_with_very_many_statements_is_read_in_time(tmp_path):
    """Kills: blanking out that grows with the square of the cell."""
    (tmp_path / "a.ipynb").write_bytes(cells("x=1\n" * 50_000))
    (unit,) = load(tmp_path / "a.ipynb", TOPICS).units
    assert unit.source.count("x=1") == 50_000


def test_a_path_that_is_not_there():
    with pytest.raises(Unreadable, match="there is no file or folder"):
        load("/no/such/file.py", TOPICS)
