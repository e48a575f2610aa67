"""Nothing that a submission chose steers the terminal of whoever grades it, or stands there as a line of its own."""

from __future__ import annotations

import csv
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest

from autograder import screen
from autograder.__main__ import main
from autograder.gradescope import inside
from tests.autograder import a_class

ONE = a_class.ITEMS[1]
#: Clears the screen, turns the direction of writing, and prints a verdict of its own.
EVIL = "a\x1b[2J\x1b]0;x\x07\u202e\x9b31m\r\n4 of 4 points"
GRADEBOOK = "Student,ID,Section,Lab (7)\n    Points Possible,,,4\nAnna,101,A,\n"

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="names of files are Unicode there")


def nasty_notebook() -> str:
    """A notebook whose every text tries."""
    sources = [
        f"def {EVIL}",
        f'predict("03-steps", {EVIL!r})',
        f"raise ValueError({EVIL!r})",
        f"# {EVIL}\nx = (",
        "%%bash",
    ]
    cells = [{"cell_type": "code", "id": EVIL, "source": source} for source in sources]
    return json.dumps({"cells": cells, "metadata": {EVIL: EVIL}, "nbformat": 4, "nbformat_minor": 5})


def says(what: str) -> str:
    """A function that tells something in the way of ``what``."""
    bodies = {"raises": f"raise ValueError({EVIL!r})", "returns": f"return {EVIL!r}", "prints": f"print({EVIL!r})"}
    return f"def ring_all_reduce_time(*args, **kwargs):\n    {bodies[what]}\n"


@pytest.fixture
def nasty(tmp_path) -> Path:
    """A class of names that try to steer the terminal: files, folders, archives, and what stands in them."""
    folder = tmp_path / "class"
    folder.mkdir()
    for number, what in enumerate(("raises", "returns", "prints")):
        (folder / f"{number}{EVIL}.py").write_text(says(what))
    (folder / f"x{EVIL}.txt").write_text("x")
    (folder / f"n{EVIL}.ipynb").write_text(nasty_notebook())
    (folder / f"f{EVIL}").mkdir()
    (folder / f"f{EVIL}" / f"{EVIL}.ipynb").write_text(nasty_notebook())
    (folder / f"f{EVIL}" / f"{EVIL}.py").write_bytes(b"\xff")
    with zipfile.ZipFile(folder / f"z{EVIL}.zip", "w") as archive:
        archive.writestr(f"{EVIL}.py", says("raises"))
        archive.writestr(f"{EVIL}.zip", b"no archive")
        archive.writestr(f"labs/{EVIL}.py", "\0")
    (folder / f"l{EVIL}.py").symlink_to("/etc/passwd")
    return folder


def checked(text: str) -> str:
    """What was printed: printable lines, none of which begins as a submission's own."""
    lines = text.split("\n")
    assert [line for line in lines if not line.isprintable()] == []
    assert not any(line.startswith("4 of 4 points") for line in lines)
    return text


def test_no_command_prints_what_steers_the_terminal(nasty, tmp_path, key, capsys):
    """Kills: an escape code in a name that hides a line, or writes one, on the instructor's screen."""
    only, out = ["--only", ONE, "03-steps", "--with-questions", "--key", key], tmp_path / "out"
    grade = ["grade-class", str(nasty), "--out", str(out), "--sandbox", "none", *only]
    (tmp_path / "gradebook.csv").write_text(GRADEBOOK)
    commands = [["grade", str(path), *only, "--sandbox", "none"] for path in sorted(nasty.iterdir())]
    commands += [
        ["collect", str(nasty)],
        grade,
        ["regrade", str(out), "--to", str(tmp_path / "new"), "--key", key],
        ["merge", str(out), "--out", str(tmp_path / "whole"), "--key", key],
        ["diff", str(out), str(tmp_path / "new")],
        ["canvas", str(tmp_path / "gradebook.csv"), str(out), "--key", key],
        ["duplicates", str(nasty), "--csv", str(tmp_path / "pairs.csv")],
        ["milestone", str(nasty / f"x{EVIL}.txt")],
    ]
    for command in commands:
        assert main(command) in (0, 1), command
        said = capsys.readouterr()
        assert checked(said.out) + checked(said.err) != ""


def test_a_refusal_is_one_line_whatever_it_names(nasty, tmp_path, capsys):
    for command in (["grade", EVIL], ["collect", EVIL], ["diff", EVIL, EVIL], ["release", str(nasty)]):
        assert main(command) == 2
        said = capsys.readouterr()
        assert checked(said.err).count("\n") == 1
        assert said.out == ""


def test_no_table_steers_the_terminal_that_shows_it(nasty, tmp_path, key):
    """Kills: an escape code that waits in ``class.csv`` for ``cat``."""
    out = tmp_path / "out"
    main(["grade-class", str(nasty), "--out", str(out), "--sandbox", "none", "--only", ONE, "--key", key])
    for name in ("class.csv", "items.csv"):
        rows = list(csv.reader(io.StringIO((out / name).read_text(encoding="utf-8"), newline="")))
        assert all(cell.isprintable() for row in rows for cell in row)
    assert all(path.name.isprintable() for path in out.rglob("*"))


def test_what_gradescope_shows_is_printable(tmp_path, monkeypatch, capsys):
    for folder in ("submission", "source", "results"):
        (tmp_path / folder).mkdir()
    (tmp_path / "submission" / f"{EVIL}.py").write_text(says("raises"))
    settings = {"grader": "1", "sandbox": "none", "chapters": ["ch03"], "items": [ONE], "points": {ONE: 4.0}}
    (tmp_path / "source" / "exam.json").write_text(json.dumps(settings | {"topics": []}))
    (tmp_path / "source" / "key").write_text("sesame")
    monkeypatch.setattr(inside.bank, "CHAPTERS", inside.bank.CHAPTERS)
    assert inside.main(tmp_path) == 0
    said = capsys.readouterr()
    assert ONE in checked(said.out)
    checked(said.err)


class Narrow(io.StringIO):
    """A terminal that knows ASCII only."""

    encoding = "ascii"


def test_a_terminal_that_lacks_a_letter_shows_another():
    """Kills: a class that ends because a learner is called Zoë."""
    stream = Narrow()
    screen.say("Zoë\nДима", stream)
    assert stream.getvalue() == "Zo?\n????\n"
