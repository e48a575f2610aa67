"""What counts of several files, and what is said of those that do not; answers and functions from the book."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from written_files import cells, packed

from autograder import bank, submission, syntax
from autograder.__main__ import main
from autograder.learner import in_page
from autograder.marking import questions
from autograder.running import judging
from autograder.running.exam import Exam
from autograder.sandbox import Sandbox
from autograder.submission import Unreadable, load, load_files, notebook
from autograder.submission.units import candidates
from tools.common import ROOT

ITEM = bank.find("02-message-time")
HEAD = "def message_time(message_bytes, bandwidth, latency=0.0):\n"
STUB = HEAD + "    raise NotImplementedError('02-message-time: not written yet')\n"
RIGHT = f"""import math


{HEAD}    for x in (message_bytes, bandwidth, latency):
        if not 0 <= x < math.inf or x == bandwidth == 0:
            raise ValueError("range")
    return latency + message_bytes / bandwidth
"""
OTHER = RIGHT.replace("latency + message_bytes / bandwidth", "message_bytes / bandwidth + latency")
LAB = (ROOT / "labs/ch02/times.py").name


def graded(files: dict[str, bytes]) -> tuple[float, tuple[str, ...]]:
    handed = load_files("ann", {name: lambda data=data: data for name, data in files.items()})
    with Exam([ITEM], b"handing in") as exam:
        grading = judging.judge(handed, exam, Sandbox.measure("best"))
    return grading.score, grading.problems


TOPIC = f"{ITEM.module}.py"
UNTOUCHED = (ROOT / "labs" / ITEM.file).read_bytes()
BESIDE = {
    "a notebook beside labs": {"02.ipynb": cells(RIGHT), f"labs/ch02/{TOPIC}": UNTOUCHED},
    "a notebook that imports the stub first": {
        "02.ipynb": cells(f"from labs.ch02.{ITEM.module} import message_time", RIGHT),
        f"labs/ch02/{TOPIC}": UNTOUCHED,
    },
    "a script beside labs": {"page.py": ("# %%\n" + RIGHT).encode(), f"labs/{TOPIC}": UNTOUCHED},
    "a solution beside a stub": {"solution.py": RIGHT.encode(), TOPIC: UNTOUCHED},
    "a file with the learner's name": {f"{ITEM.module}-ann.py": RIGHT.encode(), TOPIC: STUB.encode()},
    "a notebook that sorts before a stub": {"a.ipynb": cells(RIGHT), "b.ipynb": cells(STUB)},
    "a notebook that sorts after a stub": {"a.ipynb": cells(STUB), "b.ipynb": cells(RIGHT)},
    "a file that sorts before a stub": {"a.py": RIGHT.encode(), "b.py": STUB.encode()},
    "a stub that only passes": {"a.py": RIGHT.encode(), "b.ipynb": cells(HEAD + "    '''Words.'''\n    pass\n")},
    "a stub with the given checks": {
        "a.py": RIGHT.encode(),
        "b.py": (HEAD + "    checks.count(ranks=1)\n    raise NotImplementedError\n").encode(),
    },
    "a wrapped function": {
        "a.ipynb": cells(RIGHT.replace("message_time", "_m"), "message_time = _m"),
        TOPIC: UNTOUCHED,
    },
    "labs written, a notebook with the stub": {"a.ipynb": cells(STUB), f"labs/ch02/{TOPIC}": RIGHT.encode()},
    "twice the same": {"a.ipynb": cells(RIGHT), "b.ipynb": cells("import math", RIGHT)},
    "a lab alone under src": {f"src/{TOPIC}": RIGHT.encode(), "tests/test_it.py": b"import x"},
}


@pytest.mark.parametrize("kind", BESIDE)
def test_a_written_function_beats_a_stub_wherever_it_stands(kind):
    """Kills: no point for a right function, silently, because a stub was found first or ran last."""
    assert graded(BESIDE[kind]) == (4.0, ())


@pytest.mark.parametrize(
    ("files", "first", "second"),
    [
        ({"a.ipynb": cells(OTHER), f"labs/ch02/{TOPIC}": RIGHT.encode()}, TOPIC, "a.ipynb"),
        ({"a.ipynb": cells(OTHER), "b.ipynb": cells(RIGHT)}, "b.ipynb", "a.ipynb"),
        ({"mine.py": OTHER.encode(), TOPIC: RIGHT.encode()}, TOPIC, "mine.py"),
    ],
)
def test_of_two_that_are_written_and_differ_the_report_names_both(files, first, second):
    said = f"message_time is written in {first} and, differently, in {second}: {first} counts, {second} does not"
    assert graded(files) == (4.0, (said,))


def test_within_a_notebook_the_last_one_counts_as_in_python():
    assert graded({"a.ipynb": cells(OTHER.replace("+", "-"), RIGHT)}) == (4.0, ())
    assert graded({"a.ipynb": cells(RIGHT, STUB)})[0] == 0


# Where files are looked for


@pytest.mark.parametrize(
    ("paths", "chosen"),
    [
        (["submission/zero.py", "tests/test_zero.py"], ["submission/zero.py"]),
        (["src/ch05/zero.py", "docs/conf.py"], ["src/ch05/zero.py"]),
        (["x/Labs/Ch05/zero.py", "x/readme.ipynb"], ["x/Labs/Ch05/zero.py", "x/readme.ipynb"]),
        (["LABS/zero.py", "SRC/zero.py"], ["LABS/zero.py", "SRC/zero.py"]),
        (["src/zero.py", "labs/ch05/zero.py"], ["labs/ch05/zero.py", "src/zero.py"]),
        (["Chapter 5/zero.py", "Chapter 6/moe.py"], ["Chapter 5/zero.py", "Chapter 6/moe.py"]),
        (["tests/zero.py", "docs/zero.py"], []),
    ],
)
def test_places_that_count(paths, chosen):
    assert [path for _, path in candidates(paths)] == chosen


@pytest.mark.parametrize("packing", ["archive", "folder"])
def test_what_is_found_in_the_wrong_place_is_named(packing, tmp_path):
    """Kills: "holds no .py file" about a hand-in that holds two."""
    files = {"mine/deep/zero.py": b"A = 1", "tests/test_zero.py": b"import zero"}
    if packing == "archive":
        (tmp_path / "a.zip").write_bytes(packed(files))
    for name, content in files.items() if packing == "folder" else ():
        (tmp_path / "a.zip" / name).parent.mkdir(parents=True)
        (tmp_path / "a.zip" / name).write_bytes(content)
    where = "at the top, in folders there such as labs, src or book, and in their chapters"
    with pytest.raises(Unreadable, match=rf"holds mine/deep/zero\.py and 1 more, but code is looked for only {where}"):
        load(tmp_path / "a.zip")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("lab5.ipynb.json", "lab5.ipynb"),
        ("lab5.IPYNB.txt", "lab5.IPYNB"),
        ("zero.py.txt", "zero.py"),
        ("a.b.py.docx", "a.b.py"),
    ],
)
def test_a_name_with_a_second_ending_says_what_to_rename(name, wanted):
    with pytest.raises(Unreadable, match=f": rename it to {wanted}$"):
        submission.load_file(name, lambda: cells("X = 1"))


def test_a_notebook_that_ends_in_json_says_what_to_rename():
    with pytest.raises(Unreadable, match=r"^lab5\.json is a notebook: rename it so that it ends in \.ipynb$"):
        submission.load_file("lab5.json", lambda: cells("X = 1"))
    with pytest.raises(Unreadable, match=r"^lab5\.json is not a \.py file"):
        submission.load_file("lab5.json", lambda: b'{"a": 1}')


# The file of Your course


def saved(work: dict[str, str], given: dict[str, object] | None = None) -> bytes:
    """As ``book/_static/your-course.js`` writes it."""
    items = {
        name: {"right": True, "first": True, "confidence": None, "given": text} for name, text in (given or {}).items()
    }
    content = {
        "rankzero": 1,
        "saved": "2026-11-28T05:00:00.000Z",
        "progress": {"version": 1, "items": items, "pages": {}},
    }
    content |= {
        "work": {"version": 1, "items": {name: {"source": text, "state": "right"} for name, text in work.items()}}
    }
    return json.dumps(content | {"time": {"version": 1, "pages": {}}}, indent=1).encode()


def test_functions_of_the_book_are_graded_each_with_helpers_of_its_own():
    """Kills: two editors whose private helpers have one name, and one that uses the function of another."""
    first = RIGHT.replace("message_bytes / bandwidth", "_rest(message_bytes, bandwidth)")
    first += "\n\ndef _rest(size, rate):\n    return size / rate\n"
    second = "def _rest(x):\n    return 0\n\n\ndef zero_memory(*a):\n    return message_time(1, 1) + _rest(a)\n"
    file = saved({"02-message-time": first, "05-zero-memory": second, "no-such": "X = 1", "03-steps": "X"})
    assert graded({"rank-zero-course.json": file}) == (4.0, ())
    assert graded({"rank-zero-course (1).json": file, TOPIC: UNTOUCHED, "package.json": b"{}"}) == (4.0, ())


def test_answers_of_the_book_are_graded(tmp_path, capsys):
    item = bank.find("03-steps")
    choice = next(one for one in bank.items() if type(one).__name__ == "Choice" and one.id.startswith("03"))
    design = bank.find("05-design-30b")
    best = dict(zip((knob.name for knob in design.knobs), (3, 128, 8), strict=True))
    letter = questions.letter(choice, choice.correct)
    numbers = [repr(float(part.answer())) for part in item.parts]
    answers = {"03-steps": numbers, choice.id: [letter], design.id: [str(value) for value in best.values()]}
    file = saved({}, answers | {"01-nothing": ["3"], "02-latency-share": 3})
    found = submission.load_file("ada.json", lambda: file)
    assert found.answers == {"03-steps": tuple(numbers), choice.id: (letter,), design.id: (best,)}
    (tmp_path / "ada.json").write_bytes(file)
    out = tmp_path / "out.json"
    only = ["--only", "03-steps", choice.id, design.id, "--with-questions", "--out", str(out)]
    assert main(["grade", str(tmp_path / "ada.json"), *only]) == 0
    assert [test["status"] for test in json.loads(out.read_text())["tests"]] == ["passed"] * 3
    capsys.readouterr()


@pytest.mark.parametrize(
    "change",
    [{"rankzero": 2}, {"work": 3}, {"work": {"items": []}}, {"progress": None}, {"progress": {"version": 1}}],
)
def test_a_file_of_the_book_that_is_damaged_is_refused_in_words(change):
    content = json.loads(saved({"02-message-time": RIGHT})) | change
    with pytest.raises(Unreadable, match=r"^a\.json is .*: download it again from the page Your course$"):
        submission.load_file("a.json", lambda: json.dumps(content).encode())


def test_whatever_stands_in_a_file_of_the_book_nothing_of_it_runs(tmp_path):
    made = tmp_path / "made"
    file = saved({"02-message-time": f"open({str(made)!r}, 'w')"}, {"03-steps": [[1]], "01-x": {"a": 1}})
    found = submission.load_file("a.json", lambda: file)
    assert found.answers == {"03-steps": (None,)}
    assert not made.exists()


# Answers


def read(source: str) -> dict[str, tuple[object, ...]]:
    return notebook.answers(source)


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("x = 112\npredict('a', x)", (112,)),
        ("x = 2\ny = x * 8 - 1\npredict('a', y, x)", (15, 2)),
        ("x: int = 4\npredict('a', -x, confidence=80)", (-4,)),
        ("import autograder\nautograder.predict('a', 3)", (3,)),
        ("import autograder as ag\nag.predict('a', 3)", (3,)),
        ("from autograder import predict as ask\nask('a', 'b')", ("b",)),
        ("from autograder import *\nsay = predict\nsay('a', 3)", (3,)),
        ("from rankzero.facts.units import GB\npredict('a', 14 * GB)", (14e9,)),
        ("name = 'a'\npredict(name, 3)", (3,)),
        ("design(identifier='a', tp=2)", ({"tp": 2},)),
        ("mine = {'tp': 2, 'dp': 4}\ndesign('a', **mine)", ({"tp": 2, "dp": 4},)),
        ("x = 1\nx = 2\npredict('a', x)", (2,)),
        ("predict('a', 3)\npredict('a')", (3,)),
        ("predict('a', ...)", ()),
        ("predict('a', f(3))", (None,)),
        ("x = f()\npredict('a', x)", (None,)),
        ("x = 1\nfor x in y:\n    predict('a', x)", (None,)),
        ("x = 1\nx += 1\npredict('a', x)", (None,)),
        ("def f(:\npredict('a', 3)", (None,)),
        ("design('a', tp=f())", (None,)),
        ("predict('a', *xs)", (None,)),
        ("x = 'a' * 10**9\npredict('a', x)", (None,)),
    ],
)
def test_answers_under_other_names_and_through_variables(source, answer):
    """Kills: "got NoneType" and "not answered" about an answer that is there."""
    assert read(source) == {"a": answer}


def test_names_of_one_cell_hold_in_the_next_and_a_broken_cell_is_no_silence():
    _, _, typed = notebook.parts("a.ipynb", cells("x = 7", "predict('a', x)", "def f(:\npredict('b', 3)"), set())
    assert typed == {"a": (7,), "b": (None,)}


CORPUS = pytest.mark.proof(part="corpus")
HUGE = {
    "letters": "'" + "y" * (5 * 10**5) + "'",
    "through a name": "z",
    "digits": "0x" + "f" * 10**5,
    "a list": "[" + "1, " * 10**5 + "]",
}


@pytest.mark.parametrize("kind", HUGE)
@pytest.mark.parametrize(
    "item", ["03-steps", *(pytest.param(item, marks=CORPUS) for item in ("05-design-30b", "03-ring-guess"))]
)
def test_of_a_huge_answer_at_most_eighty_letters_are_repeated(kind, item, tmp_path, capsys):
    """Kills: a megabyte on the screen of the instructor, and a grader that fails at a number of many digits."""
    call = f"design('{item}', stage={HUGE[kind]})" if "design" in item else f"predict('{item}', {HUGE[kind]})"
    (tmp_path / "a.py").write_text(f"z = {HUGE['letters']}\n{call}\n")
    out = tmp_path / "out.json"
    assert main(["grade", str(tmp_path / "a.py"), "--only", item, "--with-questions", "--out", str(out)]) == 0
    assert "y" * 81 not in capsys.readouterr().out + out.read_text()
    assert len(out.read_text()) < 3000


def test_an_answer_that_cannot_be_read_is_called_so(tmp_path, capsys):
    (tmp_path / "a.py").write_text("predict('03-steps', f(3))\n")
    assert main(["grade", str(tmp_path / "a.py"), "--only", "03-steps", "--with-questions"]) == 0
    shown = capsys.readouterr().out
    assert "the answer could not be read: type a number or a text" in shown
    assert "NoneType" not in shown
    assert "not answered" not in shown


# What the grader itself may spend


@pytest.mark.parametrize(
    "line", ["import {}", "from {} import b", "from .{} import b", "x = [{}]", "import {0} as b\nimport {0} as c"]
)
def test_a_name_of_very_many_parts_is_refused_before_its_tree_is_built(line):
    """Kills: gigabytes in the grader for an import of 100,000 dots, whose parts the parser joins one by one."""
    source = line.format("a." * 20_000 + "a")
    with pytest.raises(SyntaxError, match="a name of very many parts"):
        syntax.parse(source)
    _, problems, _ = notebook.parts("a.ipynb", cells("X = 1", source))
    assert problems == ("cell 2 is not Python: a name of very many parts at line 1",)
    assert submission.load_file("a.py", lambda: source.encode()).units


def test_names_of_some_parts_are_read():
    assert syntax.parse("import a.b.c\n" * 300 + "x" + ".a" * 90)


# A newer Python


@pytest.mark.parametrize(
    "source",
    ["x = 3\ny = f'{f'{x}'}'\n", "def f[T](x: T) -> T:\n    return x\n", "class A[T]:\n    pass\n", "type X = int\n"],
)
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this Python reads them")
def test_what_a_newer_python_reads_names_the_version_of_the_grader(source):
    """Kills: "SyntaxError" about a program that is right in the page."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    said = f" (graded with Python {version}; it may be right in a newer Python: write it for {version})"
    _, problems, _ = notebook.parts("a.ipynb", cells(source))
    assert problems[0].endswith(said)
    _, problems = graded({"a.py": (source + RIGHT).encode()})
    assert problems[0].endswith(said)


def test_what_no_python_reads_does_not(tmp_path: Path):
    for source in ("def f(:\n", "x = (", "1 +\n", "for x in y\n    pass\n"):
        assert "newer" not in notebook.parts("a.ipynb", cells(source))[1][0]


# An endless loop


@pytest.mark.parametrize(
    "body",
    [
        "    import time\n    while True:\n        time.sleep(1)\n",
        "    return message_time(message_bytes, bandwidth)\n",
    ],
)
def test_a_function_without_end_is_said_once_and_without_hints(body):
    """Kills: fifteen lines of hints about cases that were never tried."""
    handed = load_files("ann", {"a.py": lambda: (HEAD + body).encode()})
    with Exam([ITEM], b"endless") as exam:
        (mark,) = judging.judge(handed, exam, Sandbox.measure("best")).marks
    if "while" in body:
        assert (mark.state, mark.public, mark.hidden) == ("wrong", ("message_time does not return within 2 s",), ())
    else:
        assert "RecursionError" in mark.public[0]


def test_the_page_has_a_file_name_too():
    """Kills: ``__file__`` that is defined in grading and not where the reader checks."""
    assert in_page.defined("f", "NAME = __file__\ndef f():\n    return NAME\n", {})() == "f.py"
