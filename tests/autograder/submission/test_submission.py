"""Finding a submission's code: what is kept, and under which line. Most refusals stand in ``test_broken.py``."""

from __future__ import annotations

import ast
import io
import json
import re
import time
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from written_files import cells

from autograder import submission
from autograder.__main__ import main
from autograder.submission import Unreadable, load, load_files, notebook
from autograder.submission.archive import ENTRY_LIMIT, HEADER_LIMIT, unpack
from autograder.submission.literals import literal
from autograder.submission.units import candidates
from autograder.submission.versions import Version

#: A busy machine is no failure.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
TOPICS = ("zero", "collectives")


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
        "from rankzero.facts.units import GB",
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
        (
            ["repo/zero.py", "repo/page.ipynb", "repo/labs/zero.py"],
            ["repo/labs/zero.py", "repo/zero.py", "repo/page.ipynb"],
        ),
        (["repo/labs/zero.py", "repo/tests/test_zero.py"], ["repo/labs/zero.py"]),
        (["labs/ch05/zero.py", "labs/ch07/moe.py", "run.py"], ["labs/ch05/zero.py", "labs/ch07/moe.py", "run.py"]),
        (["labs/ch05/zero.py", "labs/ch05/__init__.py", "labs/old.py"], ["labs/ch05/zero.py", "labs/old.py"]),
        (["ch05/zero.py", "ch07/moe.py", "tests/test_moe.py"], ["ch05/zero.py", "ch07/moe.py"]),
        (["ch05/zero.py", "ch05/buckets.py"], ["ch05/zero.py", "ch05/buckets.py"]),
        (["labs/ch05/deep/zero.py", "labs/other/zero.py", "labs/ch05/a.py"], ["labs/ch05/a.py", "labs/other/zero.py"]),
        (["__MACOSX/zero.py", ".git/zero.py", "labs/__init__.py"], []),
        (["zero.txt"], []),
    ],
)
def test_which_files_of_a_folder_may_count(paths, chosen):
    """Those of labs come first: where nothing else decides, they count."""
    assert [path for _, path in candidates(paths)] == chosen


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
    wanted = {"a": (3,), "b": (None,), "c": ("b d a",)}
    assert load(tmp_path / "a.py", TOPICS).answers == wanted
    assert load(tmp_path / "a.ipynb", TOPICS).answers == wanted


def test_the_choices_of_a_design_are_read(tmp_path):
    """The last call counts, its confidence does not, and a choice that is no literal is no answer."""
    source = "design('a', tp=2, dp=4)\ndesign('a', tp=2 * 4, dp=open('x'), confidence=80)\ndesign('b')\n"
    (tmp_path / "a.py").write_text(source)
    assert load(tmp_path / "a.py", TOPICS).answers == {"a": (None,), "b": ()}


def test_an_estimate_and_a_design_are_graded(tmp_path, capsys):
    """Kills: a kind of question that only the page can judge."""
    for guess, stage, points in ((0.6, 3, 1), (6.0, 1, 0)):
        source = (
            f"predict('03-ring-guess', {guess})\ndesign('05-design-30b', stage={stage}, ranks=128, micro_batch=8)\n"
        )
        (tmp_path / "a.py").write_text(source)
        for item in ("03-ring-guess", "05-design-30b"):
            out = tmp_path / "out.json"
            assert main(["grade", str(tmp_path / "a.py"), "--only", item, "--with-questions", "--out", str(out)]) == 0
            (test,) = json.loads(out.read_text())["tests"]
            assert test["score"] == points, item


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


@pytest.mark.proof(part="corpus")
def test_a_cell_with_very_many_statements_is_read_whole(tmp_path):
    (tmp_path / "a.ipynb").write_bytes(cells("x=1\n" * 50_000))
    (unit,) = load(tmp_path / "a.ipynb", TOPICS).units
    assert unit.source.count("x=1") == 50_000


POWER = "predict('a',(10**120)**400)\n"
POWERS = "predict('a'," + "(" * 80 + "10" + "**400)" * 80 + ")\n"
#: Cells, others to measure them by, and how many times as long as those they may take. Against a hundredth of the same
#: they take 100 times as long, and 10,000 times where time grows with the square. A sum is read as a power is.
MANY = {
    "statements on lines of their own": (["x=1\n" * 40_000], ["x=1\n" * 400], 1000),
    "statements on one line": (["a=1;" * 40_000], ["a=1;" * 400], 1000),
    "definitions on one line": (["x=lambda:0;" * 40_000], ["x=lambda:0;" * 400], 1000),
    "powers": ([POWER * 15_000], [POWER.replace("**", "+") * 15_000], 5),
    "powers of powers": ([POWERS] * 100, [POWERS.replace("**", "+")] * 100, 5),
    "cells of a line": (["\n"] * 10_000, ["\n"] * 100, 1000),
}


CHEAP = ("powers of powers", "cells of a line")


@pytest.mark.parametrize(
    "kind", [kind if kind in CHEAP else pytest.param(kind, marks=pytest.mark.proof(part="corpus")) for kind in MANY]
)
def test_a_hostile_notebook_costs_the_grader_no_more_than_its_size(kind):
    """Kills what takes minutes in the grader itself, where no limit of a child holds."""
    hostile, plain, times = MANY[kind]
    _spent(["a=1"])  # what the first notebook of a process takes is nobody's
    assert _spent(hostile) < times * _spent(plain)


def _spent(sources):
    """Processor seconds for a notebook of these cells."""
    data = cells(*sources)
    began = time.process_time()
    assert submission.load_file("ada.ipynb", lambda: data).problems == ()
    return time.process_time() - began


def test_very_many_cells_are_refused_unread(monkeypatch):
    """Kills a refusal that comes after each cell was parsed."""
    monkeypatch.setattr(notebook, "read", None)
    with pytest.raises(Unreadable, match="holds more than 10,000 cells: hand in your labs alone"):
        submission.load_file("ada.ipynb", lambda: cells(*["\0"] * 10_001))


def test_a_path_that_is_not_there():
    with pytest.raises(Unreadable, match="there is no file or folder"):
        load("/no/such/file.py", TOPICS)


# Files


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_utf_8_is_read_with_any_mark_and_any_line_ends(mark, end, tmp_path):
    (tmp_path / "a.py").write_bytes(mark + f"A = 'é'{end}B = 2{end}".encode())
    assert load(tmp_path / "a.py", TOPICS).units[0].source == "A = 'é'\nB = 2\n"
    (tmp_path / "a.ipynb").write_bytes(mark + cells(f"A = 'é'{end}B = 2").replace(b"}", end.encode() + b"}"))
    assert load(tmp_path / "a.ipynb", TOPICS).units[0].source == "A = 'é'\nB = 2"


def packed(*files: tuple[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return buffer.getvalue()


LARGE = b"#" * (submission.FILE_LIMIT + 1)
REFUSED = {
    "a.py": ["A = 1".encode("utf-16"), "A = 1".encode("utf-16-le"), "é".encode("latin-1"), b"\0", LARGE]
    + [packed(), cells()],
    "a.ipynb": [b"", b"A = 1", b"[]", b"{}", cells(), LARGE, packed(("a.py", "")), b'{"cells": 1}']
    + [b'{"worksheets": 1}'],
    "a.zip": [b"", b"PK", LARGE, packed(), packed(("a.txt", "")), packed(("a.zip", packed(("a.py", ""))))]
    + [packed((name, "")) for name in ("../a.py", "/a.py", "C:/a.py", "x/../../a.py", "..\\a.py")]
    + [packed(*((f"{n}.py", "") for n in range(ENTRY_LIMIT + 1))), packed(("x/a.py", ""), ("./x//A.py", ""))],
    "a.txt": [b"A = 1"],
    "a": [b"A = 1"],
    "a.tar.gz": [b""],
}  # fmt: skip


@pytest.mark.parametrize(
    ("file", "content"), [(file, content) for file, contents in REFUSED.items() for content in contents]
)
def test_a_refusal_is_one_sentence_that_says_what_to_do(file, content, tmp_path):
    """Kills: a refusal that leaves the learner with nothing to do, and one that ends in a traceback."""
    (tmp_path / file).write_bytes(content)
    with pytest.raises(Unreadable) as caught:
        load(tmp_path / file, TOPICS)
    verbs = "hand in|save|pack|clear|rename"
    assert re.fullmatch(rf"(a\.|a |the archive )[^\n]+[:;] ({verbs}) [^\n]+[^.]", str(caught.value))


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("a.py", packed(("b.py", "")), "a.py is a zip archive: rename it so that it ends in .zip"),
        ("a.ipynb", packed(("b.py", "")), "a.ipynb is a zip archive: rename it so that it ends in .zip"),
        ("a.py", cells("A = 1"), "a.py is a notebook: rename it so that it ends in .ipynb"),
        ("a.py", b'\xef\xbb\xbf\n{"worksheets": []}', "a.py is a notebook"),
    ],
)
def test_a_wrong_ending_is_named(file, content, sentence, tmp_path):
    (tmp_path / file).write_bytes(content)
    with pytest.raises(Unreadable, match=f"^{re.escape(sentence)}"):
        load(tmp_path / file, TOPICS)


@pytest.mark.parametrize("source", ["", "# only a comment\n", '"""Words."""', "{'cells': []}", '{"a": 1}', "{"])
def test_what_holds_no_function_is_read_all_the_same(source, tmp_path):
    """Kills: taking a dictionary for a notebook, and an empty file for a broken one."""
    (tmp_path / "a.py").write_text(source)
    assert [unit.source for unit in load(tmp_path / "a.py", TOPICS).units] == [source]


def test_endings_may_be_in_capitals(tmp_path):
    (tmp_path / "A.PY").write_text("A = 1")
    (tmp_path / "B.ZIP").write_bytes(packed(("ZERO.PY", "B = 1"), ("C.IPYNB", cells("C = 1"))))
    assert [unit.source for unit in load(tmp_path / "A.PY", TOPICS).units] == ["A = 1"]
    assert [unit.source for unit in load(tmp_path / "B.ZIP", TOPICS).units] == ["C = 1", "B = 1"]


def test_loading_neither_runs_nor_unpacks_anything(tmp_path, monkeypatch):
    """Kills: an import to find the functions, and a temporary folder."""
    made = tmp_path / "made"
    code = f"open({str(made)!r}, 'w')\npredict('a', open({str(made)!r}, 'w'))\n"
    (tmp_path / "a.py").write_text(code)
    (tmp_path / "a.ipynb").write_bytes(cells(code, f"!touch {made}", f"%%bash\ntouch {made}"))
    (tmp_path / "a.zip").write_bytes(packed(("zero.py", code), ("labs/ring.py", code)))
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr("tempfile.mkdtemp", None)
    monkeypatch.setattr("zipfile.ZipFile.extract", None)
    for name in ("a.py", "a.ipynb", "a.zip", "."):
        load(tmp_path / name, TOPICS)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("file", ["a.py", "a.ipynb"])
def test_a_submission_is_not_the_main_module(file, tmp_path, capsys):
    """Kills: running what stands under ``if __name__ == "__main__"`` while grading."""
    source = "def zero_memory(*_, **__):\n    return 1.0\nif __name__ == '__main__':\n    def zero_memory(): pass\n"
    (tmp_path / file).write_bytes(source.encode() if file == "a.py" else cells(source))
    status = main(["grade", str(tmp_path / file), "--only", "05-zero-memory", "--sandbox", "none"])
    assert status == 0
    assert "TypeError" not in capsys.readouterr().out


# Notebooks


@pytest.mark.parametrize(
    "source",
    [
        "%matplotlib inline\nX = 1",
        "  \n!pip install torch\nX = 1",
        "?print\nX = 1",
        "print??\nX = 1",
        "files = !ls\nX = 1",
        "a, b = %timeit -o f()\nX = 1",
        "!pip install \\\n  torch \\\n  numpy\nX = 1",
        "out = !ls \\\n  -la\nX = 1",
        "def f():\n    %time g()\n    return 1\nX = 1",
    ],
)
def test_lines_for_ipython_are_dropped_and_count_as_lines(source):
    found = kept(source)
    assert "X = 1" in found
    assert not re.search("[%!?]", found)
    assert found.count("\n") == source.count("\n")


def test_cells_of_other_languages_are_skipped_and_named_when_they_define_something():
    sources = ("%%bash\nls |", "\n%%writefile a.py\ndef f():\n    return 1", "X = 1")
    units, problems, _ = notebook.parts("a.ipynb", cells(*sources))
    assert [unit.label for unit in units] == ["cell 3"]
    assert problems == ("cell 2 starts with %%writefile and is skipped, with the definitions in it",)


def test_cells_of_the_format_of_2014_are_read_from_their_worksheets():
    cell = {"cell_type": "code", "input": ["X = 1\n", "Y = 2"], "language": "python"}
    text = json.dumps({"nbformat": 3, "worksheets": [{"cells": [cell]}, 3, {"cells": 4}, {"cells": [cell, None]}]})
    assert [unit.source for unit in notebook.parts("a.ipynb", text.encode())[0]] == ["X = 1\nY = 2"] * 2


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
code = st.sampled_from(["X = 1", "def f(:", "%time", "\0", "\ud800", "predict('a', 1)", ["X = 1\n", "Y"], ["X", 3], []])
keys = st.sampled_from(["cells", "cell_type", "source", "input", "worksheets", "nbformat"])
values = st.recursive(
    leaves | code | st.just("code"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
code_cells = st.fixed_dictionaries({"cell_type": st.just("code")}, optional={"source": values, "input": values})
notebooks = st.fixed_dictionaries({"cells": st.lists(code_cells | values, max_size=4)}) | values


@PATIENT
@given(notebooks)
def test_whatever_stands_in_a_notebook_it_is_read_or_refused_with_a_sentence(content):
    """Law: any JSON gives source that Python compiles, sentences, or one refusal; never another error."""
    try:
        units, problems, _ = notebook.parts("a.ipynb", json.dumps(content).encode())
    except Unreadable as error:
        problems = (str(error),)
        units = ()
    for unit in units:
        compile(unit.source, unit.label, "exec", dont_inherit=True)
    assert all(sentence and "\n" not in sentence for sentence in problems)


# Archives

GOOD = packed(("labs/zero.py", "A = 1\n" * 50), ("labs/ring.py", "B = 1\n" * 50), ("__MACOSX/labs/._zero.py", "\0"))


@PATIENT
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=6), st.integers(0, 40))
def test_a_damaged_archive_is_read_or_refused_with_a_sentence(changes, cut):
    """Law: whatever bytes are changed or cut off, the archive is read, or refused as one that cannot be."""
    data = bytearray(GOOD)
    for place, byte in changes:
        data[place] = byte
    try:
        files = unpack(bytes(data[: len(data) - cut]))
    except Unreadable as error:
        assert str(error).startswith("the archive ")  # noqa: PT017
        return
    assert all(isinstance(version.data, bytes) for version in files)


def test_archives_of_windows_and_of_a_mac_are_read():
    windows = unpack(packed(("hand in\\labs\\zero.py", "A"), ("hand in\\notes.txt", "")))
    mac = unpack(packed(("x/zero.py", "A"), ("__MACOSX/x/._zero.py", "\0"), ("x/.DS_Store", "")))
    assert windows == [Version("zero.py", "hand in/labs/zero.py", b"A")]
    assert mac == [Version("zero.py", "x/zero.py", b"A")]


def test_what_python_and_jupyter_leave_beside_the_files_is_passed_over():
    """Kills: labs that were tried out, packed as the page says, and refused for their 200 compiled modules."""
    compiled = [(f"labs/ch01/__pycache__/{n}.pyc", "") for n in range(ENTRY_LIMIT)]
    saved = [(f"labs/ch01/.ipynb_checkpoints/{n}-checkpoint.py", "B = 1") for n in range(ENTRY_LIMIT)]
    assert unpack(packed(("labs/ch01/zero.py", "A"), *compiled, *saved)) == [
        Version("zero.py", "labs/ch01/zero.py", b"A")
    ]


def test_very_many_entries_are_refused_before_they_are_listed(monkeypatch):
    """Kills: an object in memory for each of 300,000 entries."""
    data = packed(*((f"{n}", "") for n in range(HEADER_LIMIT + 1)))
    monkeypatch.setattr("zipfile.ZipFile", None)
    with pytest.raises(
        Unreadable, match=f"the archive holds {HEADER_LIMIT + 1} entries; at most {ENTRY_LIMIT} are read"
    ):
        unpack(data)


def test_an_archive_in_a_folder_counts_like_the_files_in_it(tmp_path):
    (tmp_path / "labs.zip").write_bytes(packed(("labs/zero.py", "OLD = 1"), ("labs/ring.py", "B = 1")))
    alone = load(tmp_path, TOPICS)
    assert [(unit.label, unit.source) for unit in alone.units] == [("ring.py", "B = 1"), ("zero.py", "OLD = 1")]
    (tmp_path / "zero.py").write_text("NEW = 1")
    (tmp_path / "data.zip").write_text("no archive")
    both = load(tmp_path, TOPICS)
    assert [unit.source for unit in both.units] == ["B = 1", "NEW = 1"]
    assert both.problems == (
        "data.zip: the archive is damaged or is not a zip file: pack it again",
        "labs.zip/labs/zero.py has the same name as zero.py, which counts",
    )


def test_many_large_files_are_not_all_read():
    """Kills: gigabytes in the grader's memory for a folder of notebooks with their outputs."""
    opened = []
    files = {f"{n}.ipynb": lambda n=n: opened.append(n) or bytes(submission.FILE_LIMIT) for n in range(50)}
    with pytest.raises(Unreadable, match="ann holds more than 64 MiB: clear the outputs"):
        load_files("ann", files, TOPICS)
    assert len(opened) == 5


def test_reading_has_a_deadline_of_its_own(monkeypatch):
    """Kills: many files, each small enough, that keep the grader busy where no limit of a child applies."""
    source = b"predict('01-q', 1)\na = [" + b"1, " * 100_000 + b"]\n"
    files = {f"f{number:02}.py": lambda: source for number in range(60)}
    monkeypatch.setattr("autograder.submission.loading.READING", 0.2)
    began = time.thread_time()
    with pytest.raises(Unreadable, match=r"many takes more than 0 s to be read: hand in your labs alone"):
        load_files("many", files, TOPICS)
    assert time.thread_time() - began < 10


def test_one_file_of_several_that_cannot_be_read_costs_only_itself():
    def broken():
        raise PermissionError(13, "Permission denied")

    files = {"zero.py": lambda: b"A = 1", "big.py": lambda: LARGE, "no.ipynb": broken, "null.py": lambda: b"\0"}
    found = load_files("ann", files, TOPICS)
    assert [unit.label for unit in found.units] == ["zero.py"]
    assert len(found.problems) == 3
    with pytest.raises(Unreadable, match=r"^no\.ipynb cannot be opened: Permission denied$"):
        load_files("ann", {"no.ipynb": broken}, TOPICS)
