"""Broken submissions: each ends in a sentence, a result file and the right exit status, never in a traceback.

What attacks the child is tried in ``test_hostile.py``; here are the mistakes and accidents of honest learners, and
archives that nobody should unpack.
"""

from __future__ import annotations

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.__main__ import main

ITEM = "05-zero-memory"
USES_IT = "from solutions.ch05.zero import zero_memory\n"
RIGHT = (Path(__file__).parents[2] / "solutions/ch05/zero.py").read_text(encoding="utf-8")
HEAD = "def zero_memory(params, stage, ranks, weight_bytes=2.0, gradient_bytes=2.0, optimizer_bytes=12.0):\n"
GRADED, REFUSED, USAGE = 0, 1, 2


def body(text: str) -> str:
    return HEAD + f"    {text}\n"


def notebook(*sources, **more) -> bytes:
    cells = [{"cell_type": "code", "source": source, "outputs": [], "metadata": {}} for source in sources]
    return json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}, **more}).encode()


def archive(files, change: Callable[[zipfile.ZipInfo], None] = lambda _: None) -> bytes:
    """A zip of ``(name, content)`` pairs; ``change`` spoils each entry's header before it is written."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            change(info)
            packed.writestr(info, content)
    return buffer.getvalue()


def linked(info: zipfile.ZipInfo) -> None:
    info.external_attr = (stat.S_IFLNK | 0o777) << 16


def encrypted() -> bytes:
    """An archive whose one entry says that it is encrypted, in both of its headers."""
    data = bytearray(archive([("zero.py", RIGHT)]))
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def lying() -> bytes:
    """An archive whose entry holds 20 MB and says that it holds 10 bytes."""
    data = bytearray(archive([("zero.py", b"#" * 20_000_000)]))
    for header, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = data.index(header) + offset
        data[start : start + 4] = (10).to_bytes(4, "little")
    return bytes(data)


def old_format() -> bytes:
    """The format of 2014: cells in worksheets, their text under ``input``."""
    cell = {"cell_type": "code", "input": RIGHT, "language": "python", "outputs": []}
    return json.dumps({"worksheets": [{"cells": [cell]}], "nbformat": 3, "metadata": {}}).encode()


FULL, NONE = 4.0, 0.0

# name of the file, its content or what makes it, exit status, points, a part of what is said
FILES = {
    "empty file": ("a.py", b"", GRADED, NONE, "a.py has no code: is it the right hand-in?"),
    "another chapter": ("a.py", "def bubble_fraction(stages, n):\n    return stages / n\n",
                        GRADED, NONE, "none of the functions that were asked, but functions of chapter 7: is it"),
    "notes alone": ("a.py", "# To do.\nX = 1\n", GRADED, NONE, "a.py has none of the functions that were asked: is it"),
    "syntax error": ("a.py", "def zero_memory(:\n", GRADED, NONE, "SyntaxError at line 1"),
    "wrong indentation": ("a.py", HEAD + "return 1.0\n", GRADED, NONE, "IndentationError at line 2"),
    "tabs and blanks": ("a.py", HEAD + "    a = 1\n\treturn a\n", GRADED, NONE, "TabError at line 3"),
    "byte-order mark and CRLF": ("a.py", b"\xef\xbb\xbf" + RIGHT.replace("\n", "\r\n").encode(), GRADED, FULL, "4 / 4"),
    "old Macintosh line ends": ("a.py", RIGHT.replace("\n", "\r").encode(), GRADED, FULL, "4 / 4"),
    "UTF-16": ("a.py", RIGHT.encode("utf-16"), REFUSED, NONE, "saved as UTF-16"),
    "Latin-1": ("a.py", RIGHT.encode() + "\n# café\n".encode("latin-1"), REFUSED, NONE, "is not UTF-8 (line"),
    "null bytes": ("a.py", b"x = 1\0\n", REFUSED, NONE, "null bytes"),
    "nested too deeply": ("a.py", "zero_memory = " + "(" * 5000 + ")" * 5000, GRADED, NONE, "SyntaxError"),
    "a long sum": ("a.py", "zero_memory = " + "+1" * 100_000, GRADED, NONE, "there is no zero_memory"),
    "an endless sum": ("a.py", "zero_memory = " + "+1" * 200_000, REFUSED, NONE, "more code than a submission needs"),
    "a megabyte of code": ("a.py", "x = 1\n" * 200_000, REFUSED, NONE, "more than 1 MiB of code"),
    "a large file": ("a.py", b"#" * (17 << 20), REFUSED, NONE, "larger than 16 MiB"),
    "another function": ("a.py", "def zero_memory_2(x):\n    return x\n", GRADED, NONE, "named zero_memory"),
    "no arguments": ("a.py", "def zero_memory():\n    return 1.0\n", GRADED, NONE, "raised TypeError"),
    "an argument too many": ("a.py", body("return 1.0").replace("(", "(gpus, ", 1), GRADED, NONE, "TypeError"),
    "stub": ("a.py", body("raise NotImplementedError('05-zero-memory: ...')"), GRADED, NONE, "not implemented yet"),
    "ellipsis": ("a.py", body("..."), GRADED, NONE, "did you print instead of return?"),
    "printed answer": ("a.py", body("print(16 * params / ranks)"), GRADED, NONE, "did you print instead of return?"),
    "generator": ("a.py", body("yield 16 * params"), GRADED, NONE, "returned a generator"),
    "coroutine": ("a.py", "async " + body("return 16.0"), GRADED, NONE, "returned a coroutine"),
    "string with a unit": ("a.py", body("return f'{params} bytes'"), GRADED, NONE, "returned a str; return a float"),
    "fraction": ("a.py", "from fractions import Fraction\n" + body("return Fraction(16)"), GRADED, NONE, "Fraction"),
    "pair": ("a.py", body("return (1.0, 2.0)"), GRADED, NONE, "returned a tuple; return a float"),
    "not a number": ("a.py", body("return float('nan')"), GRADED, NONE, "returned nan"),
    "infinity": ("a.py", body("return float('inf')"), GRADED, NONE, "the value is wrong"),
    "wrong unit": ("a.py", RIGHT + "\nf = zero_memory\ndef zero_memory(*a, **k):\n    return f(*a, **k) / 1e9\n",
                   GRADED, NONE, "1e+09x too small"),
    "a number for a function": ("a.py", "zero_memory = 16.0\n", GRADED, NONE, "raised TypeError"),
    "missing import": ("a.py", body("return math.ceil(params)"), GRADED, NONE, "raised NameError at line 2"),
    "module that nobody has": ("a.py", "import no_such_thing\n" + RIGHT, GRADED, FULL, "ModuleNotFoundError at line 1"),
    "one import of several": ("a.py", RIGHT.replace("import checks", "import checks, world", 1),
                              GRADED, FULL, "only rankzero.checks"),
    "the reference": ("a.py", USES_IT, GRADED, NONE, "reference cannot be imported"),
    "the grader": ("a.py", "from autograder.bank import find\n" + RIGHT, GRADED, FULL, "autograder cannot be imported"),
    "error at import": ("a.py", "x = 1 / 0\n" + RIGHT, GRADED, NONE, "ZeroDivisionError at line 1"),
    "exit at import": ("a.py", "import sys\nsys.exit()\n" + RIGHT, GRADED, NONE, "SystemExit at line 2"),
    "input at import": ("a.py", "n = input('ranks? ')\n" + RIGHT, GRADED, NONE, "EOFError at line 1"),
    "exit in the call": ("a.py", "import sys\n" + body("sys.exit(0)"), GRADED, NONE, "raised SystemExit"),
    "endless recursion": ("a.py", body("return zero_memory(params, stage, ranks)"), GRADED, NONE, "RecursionError"),
    "broken decorator": ("a.py", "@no_such_decorator\n" + body("return 1.0"), GRADED, NONE, "NameError at line 1"),
    "a text file": ("a.txt", RIGHT, REFUSED, NONE, "is not a .py file, a notebook"),
    "no ending": ("submission", RIGHT, REFUSED, NONE, "is not a .py file, a notebook"),
    # notebooks
    "notebook that is empty": ("a.ipynb", b"", REFUSED, NONE, "is not JSON"),
    "notebook that is Python": ("a.ipynb", RIGHT, REFUSED, NONE, "is not a notebook but Python: rename it"),
    "notebook that is a text": ("a.ipynb", "my notes", REFUSED, NONE, "is not JSON"),
    "notebook that is a list": ("a.ipynb", b"[]", REFUSED, NONE, "no list of cells"),
    "notebook whose cells are a number": ("a.ipynb", b'{"cells": 3}', REFUSED, NONE, "no list of cells"),
    "notebook without code": ("a.ipynb", b'{"cells": [{"cell_type": "markdown"}, 7]}', REFUSED, NONE, "no code cell"),
    "notebook nested deeply": ("a.ipynb", b"[" * 200_000, REFUSED, NONE, "is not JSON"),
    "notebook with a huge number": ("a.ipynb", b'{"cells": ' + b"9" * 10_000 + b"}", REFUSED, NONE, "is not JSON"),
    "notebook in UTF-16": ("a.ipynb", notebook(RIGHT).decode().encode("utf-16"), REFUSED, NONE, "UTF-16"),
    "notebook with outputs": ("a.ipynb", lambda: notebook(RIGHT, junk="x" * (17 << 20)),
                              REFUSED, NONE, "clear the outputs"),
    "broken cell": ("a.ipynb", notebook("def f(:", RIGHT), GRADED, FULL, "cell 1 is not Python"),
    "cell of another type": ("a.ipynb", notebook(3, RIGHT), GRADED, FULL, "cell 1 has no text"),
    "cell with null bytes": ("a.ipynb", notebook("x = 1\0", RIGHT), GRADED, FULL, "cell 1 holds null bytes"),
    "cell with half a character": ("a.ipynb", notebook("x = '\ud800'", RIGHT), GRADED, FULL, "4 / 4"),
    "magics": ("a.ipynb", notebook("%matplotlib inline\n!ls\nx = !ls\nlen?\n?len\n" + RIGHT), GRADED, FULL, "4 / 4"),
    "cell for bash": ("a.ipynb", notebook("%%bash\nls | grep x", RIGHT), GRADED, FULL, "4 / 4"),
    "definition in a magic cell": ("a.ipynb", notebook("%%bash\n" + RIGHT), GRADED, NONE, "cell 1 starts with %%"),
    "definition in a timed cell": ("a.ipynb", notebook("%%time\n" + RIGHT), GRADED, FULL, "4 / 4"),
    "top-level await": ("a.ipynb", notebook("await something()", RIGHT), GRADED, FULL, "4 / 4"),
    "endless cell": ("a.ipynb", notebook("while True:\n    pass", RIGHT), GRADED, FULL, "4 / 4"),
    "the cell of check": ("a.ipynb", notebook(RIGHT, "zero_memory = check(zero_memory)"), GRADED, FULL, "4 / 4"),
    "format of 2014": ("a.ipynb", old_format(), GRADED, FULL, "4 / 4"),
    "lines in a list": ("a.ipynb", notebook(RIGHT.splitlines(keepends=True)), GRADED, FULL, "4 / 4"),
    # archives
    "no archive": ("a.zip", RIGHT, REFUSED, NONE, "damaged or is not a zip"),
    "empty archive": ("a.zip", archive([]), REFUSED, NONE, "holds no .py file"),
    "cut archive": ("a.zip", archive([("zero.py", RIGHT)])[:-30], REFUSED, NONE, "damaged"),
    "damaged content": ("a.zip", archive([("zero.py", RIGHT)]).replace(b"zero", b"hero", 1), REFUSED, NONE, "damaged"),
    "path outside": ("a.zip", archive([("../zero.py", RIGHT)]), REFUSED, NONE, "path outside itself"),
    "absolute path": ("a.zip", archive([("/zero.py", RIGHT)]), REFUSED, NONE, "path outside itself"),
    "path of another system": ("a.zip", archive([("C:/zero.py", RIGHT)]), REFUSED, NONE, "path outside itself"),
    "link": ("a.zip", archive([("zero.py", "/etc/passwd")], linked), REFUSED, NONE, "a link or a device"),
    "encrypted": ("a.zip", encrypted(), REFUSED, NONE, "encrypted"),
    "201 entries": ("a.zip", archive([(f"{n}.py", "") for n in range(201)]), REFUSED, NONE, "201 entries"),
    "bomb": ("a.zip", lambda: archive([(f"{n}.bin", bytes(33 << 20)) for n in range(2)]),
             REFUSED, NONE, "64 MiB unpacked"),
    "large file inside": ("a.zip", lambda: archive([("zero.py", b"#" * (17 << 20))]),
                          REFUSED, NONE, "larger than 16 MiB"),
    "lie about its size": ("a.zip", lying, REFUSED, NONE, "damaged"),
    "archive in an archive": ("a.zip", archive([("in.zip", archive([]))]), REFUSED, NONE, "holds no .py file"),
    "names that differ in case": ("a.zip", archive([("a.py", ""), ("A.py", "")]), REFUSED, NONE, "two entries of one"),
    "folder of a Mac": ("a.zip", archive([("m/labs/zero.py", RIGHT), ("__MACOSX/a.py", "\0")]), GRADED, FULL, "4 / 4"),
    "file that shadows a real module": ("a.zip", archive([("zero.py", RIGHT), ("json.py", "1/0"), ("math.py", "1/0")]),
                                        GRADED, FULL, "4 / 4"),
    "broken file beside": ("a.zip", archive([("zero.py", RIGHT), ("precision.py", "\0")]), GRADED, FULL, "null bytes"),
}  # fmt: skip


def graded(path: Path, tmp_path: Path, capsys, *more: str) -> tuple[int, dict, str]:
    """Exit status, results and everything that was said."""
    out = tmp_path / "results.json"
    status = main(["grade", str(path), "--only", ITEM, "--out", str(out), "--sandbox", "none", *more])
    captured = capsys.readouterr()
    results = json.loads(out.read_text())
    said = (
        captured.out + captured.err + results["output"] + "".join(test.get("output", "") for test in results["tests"])
    )
    assert "Traceback" not in said
    return status, results, said


@pytest.mark.parametrize("name", FILES)
def test_a_broken_submission_ends_in_a_sentence(name, tmp_path, capsys, key):
    file, content, status, points, sentence = FILES[name]
    path, content = tmp_path / file, content() if callable(content) else content
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    found, results, said = graded(path, tmp_path, capsys, "--key", key)
    assert sentence in said
    assert (found, results["score"]) == (status, points)
    assert results["extra_data"]["gradable"] is (status == GRADED)
    assert (results["extra_data"]["reason"] == "") is (status == GRADED)


def test_there_are_forty_and_more():
    assert len(FILES) >= 40


def test_a_hand_in_that_dies_is_not_called_another(tmp_path, capsys):
    """Kills: "none of the functions that were asked" about a function that is there and was never reached."""
    (tmp_path / "a.py").write_text("import os\nos._exit(3)\n" + RIGHT)
    status, results, said = graded(tmp_path / "a.py", tmp_path, capsys)
    assert (status, results["score"]) == (GRADED, 0)
    assert "none of the functions" not in said


def test_two_entries_of_one_name_are_refused(tmp_path, capsys):
    """Kills: grading one of two files of the same name, whichever that is."""
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = archive([("zero.py", "x = 1"), ("zero.py", RIGHT)])
    (tmp_path / "a.zip").write_bytes(data)
    status, _, said = graded(tmp_path / "a.zip", tmp_path, capsys)
    assert (status, "two entries of one name" in said) == (REFUSED, True)


def folder(tmp_path: Path, **files: str) -> Path:
    path = tmp_path / "handed in"
    path.mkdir()
    for name, content in files.items():
        (path / f"{name}.py").write_text(content)
    return path


def test_an_empty_folder(tmp_path, capsys):
    status, results, said = graded(folder(tmp_path), tmp_path, capsys)
    assert (status, results["score"]) == (REFUSED, 0)
    assert "holds no .py file and no notebook" in said


def test_links_in_a_folder_are_not_followed(tmp_path, capsys):
    """Kills: reading the reference, or a neighbour's work, through a link that was handed in."""
    path = folder(tmp_path, precision="")
    os.symlink(Path(__file__).parents[2] / "solutions/ch05/zero.py", path / "zero.py")
    status, results, said = graded(path, tmp_path, capsys)
    assert (status, results["score"]) == (GRADED, 0)
    assert "zero_memory is not in the submission" in said


def test_one_broken_file_of_a_folder_costs_only_itself(tmp_path, capsys):
    status, results, _ = graded(folder(tmp_path, zero=RIGHT, precision="def f(:"), tmp_path, capsys)
    assert (status, results["score"]) == (GRADED, 4)


def test_a_pipe_is_not_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "zero.py")
    status, _, said = graded(tmp_path / "zero.py", tmp_path, capsys)
    assert (status, "is not a regular file" in said) == (REFUSED, True)


def test_a_path_that_is_not_there_is_a_usage_error(tmp_path, capsys):
    status, results, said = graded(tmp_path / "nothing.py", tmp_path, capsys)
    assert (status, results["extra_data"]["gradable"]) == (USAGE, False)
    assert "there is no file or folder" in said
