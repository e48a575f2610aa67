"""A graded class that was changed after it was graded is refused by every command that reads it, in one sentence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.__main__ import main
from autograder.classroom.seals import Seal
from tests.autograder import a_class

ONE = a_class.ITEMS[1]
WRONG = "def ring_all_reduce_time(message_bytes, ranks, bandwidth, latency=0.0):\n    return 1.0\n"
GRADEBOOK = "Student,ID,Section,Lab (7)\n    Points Possible,,,4\nAnna,101,A,\nBen,102,A,\nCarl,103,A,\n"
NAMES = ("anna_101_1_lab.py", "ben_102_2_lab.py", "carl_103_3_lab.py")


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> SimpleNamespace:
    """A class of three, as Canvas gives it: the first is right. ``out`` holds it, graded."""
    root = tmp_path_factory.mktemp("sealed")
    (root / "in").mkdir()
    for name, source in zip(NAMES, (a_class.reference(), WRONG, "# nothing\n"), strict=True):
        (root / "in" / name).write_text(source)
    (root / "gradebook.csv").write_text(GRADEBOOK)
    key = a_class.written_key(root / "key")
    assert main(grading(root, "out", "--key", key)) == 0
    return SimpleNamespace(root=root, key=key)


def grading(root: Path, out: str, *options: str) -> list[str]:
    command = ["grade-class", str(root / "in"), "--out", str(root / out), "--only", ONE, "--sandbox", "none"]
    return [*command, *options]


@pytest.fixture
def desk(graded, tmp_path) -> SimpleNamespace:
    """A copy that a test may change: ``commands`` read the class in ``out``, and ``before`` is what it holds."""
    shutil.copytree(graded.root, tmp_path / "desk")
    root, key = tmp_path / "desk", ["--key", graded.key]
    out = root / "out"
    commands = {
        "resume": grading(root, "out", "--resume", *key),
        "regrade": ["regrade", str(out), "--to", str(root / "new"), *key],
        "merge": ["merge", str(out), "--out", str(root / "new"), *key],
        "canvas": ["canvas", str(root / "gradebook.csv"), str(out), "--to", str(root / "new"), *key],
    }
    return SimpleNamespace(root=root, out=out, commands=commands, key=graded.key)


COMMANDS = ("resume", "regrade", "merge", "canvas")


def lines(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / "finished.jsonl").read_text().splitlines()]


def rewrite(out: Path, rows: list) -> None:
    (out / "finished.jsonl").write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def edited(path: Path, change) -> None:
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def refused(desk, command: str, capsys) -> str:
    """The one line with which a command refuses the class; it has written nothing."""
    capsys.readouterr()
    before = a_class.content(desk.out)
    assert main(desk.commands[command]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1), said.err
    assert not (desk.root / "new").exists()
    assert a_class.content(desk.out) == before
    return said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_a_class_as_it_was_graded_is_read(command, desk, capsys):
    assert main(desk.commands[command]) == 0
    if command == "canvas":
        assert "Anna,101,A,4" in (desk.root / "new").read_text()
    else:
        assert [row["score"] for row in lines(desk.out)] == [4.0, 0.0, 0.0]


# A line.

#: What somebody may do to the line of Ben, who was wrong.
CHANGES = {
    "a score": lambda row: row.update(score=4.0),
    "the marks": lambda row: row["marks"][ONE].update(state="right"),
    "a name": lambda row: row.update(name="Anna"),
    "the id of another": lambda row: row["known"].update(canvas="101"),
    "that it is late": lambda row: row.update(late=True),
    "the seal": lambda row: row.update(seal="0" * 64),
    "no seal": lambda row: row.pop("seal"),
    "a seal that is none": lambda row: row.update(seal=None),
    "a seal that is no text": lambda row: row.update(seal="\udce9"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_that_was_changed_is_refused(command, change, desk, capsys):
    """Kills: a grade that is whatever stands in ``finished.jsonl``."""
    rows = lines(desk.out)
    CHANGES[change](rows[1])
    rewrite(desk.out, rows)
    said = refused(desk, command, capsys)
    assert "finished.jsonl, line 2, was changed after it was graded" in said


@pytest.mark.parametrize("command", COMMANDS)
def test_the_line_of_another_class_is_refused(command, desk, capsys):
    """Kills: a seal that anybody can make, or that says nothing of the key."""
    rows = lines(desk.out)
    rows[1] = Seal(b"another key").sealed("line", rows[1] | {"score": 4.0})
    rewrite(desk.out, rows)
    assert "finished.jsonl, line 2, was changed" in refused(desk, command, capsys)


@pytest.mark.parametrize("text", ["[]", "{}", "null", "3", '"x"', "{", "[" * 99_999, '{"id": 7}', '{"id": "ben-102"}'])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_that_is_none_is_one_sentence(command, text, desk, capsys):
    """Kills: a ``KeyError`` for what is no line, and a learner who is dropped without a word."""
    rows = [json.dumps(row) for row in lines(desk.out)]
    (desk.out / "finished.jsonl").write_text("\n".join([rows[0], text, rows[2]]) + "\n")
    assert "finished.jsonl, line 2, " in refused(desk, command, capsys)


@pytest.mark.parametrize("command", ["regrade", "merge", "canvas"])
def test_lines_that_are_missing_are_noticed(command, desk, capsys):
    """Kills: a learner whose line somebody took out, and who is nowhere in the new grading."""
    rows = lines(desk.out)
    rewrite(desk.out, rows[:2])
    assert "finished.jsonl was changed after the class was graded" in refused(desk, command, capsys)
    rewrite(desk.out, [*rows, rows[0]])
    assert "finished.jsonl was changed" in refused(desk, command, capsys)
    assert main(desk.commands["resume"]) == 0  # grades again what is missing
    assert main(desk.commands[command]) == 0


@pytest.mark.parametrize("command", ["regrade", "merge", "canvas"])
def test_a_class_that_is_not_finished_is_not_passed_on(command, desk, capsys):
    """Kills: grades for the half of a class."""
    stamps = json.loads((desk.out / "class.json").read_text())
    del stamps["finished"]
    (desk.out / "class.json").write_text(json.dumps(Seal(b"sesame").sealed("class", stamps)))
    rewrite(desk.out, lines(desk.out)[:2])
    assert "is not finished: continue with grade-class --resume" in refused(desk, command, capsys)
    assert main(desk.commands["resume"]) == 0
    assert main(desk.commands[command]) == 0


# Answers and stamps.


def swapped(out: Path) -> None:
    (out / "answers" / "ben-102.json").write_text((out / "answers" / "anna-101.json").read_text())


ANSWERS = {
    "another's": swapped,
    "a value": lambda out: edited(out / "answers" / "ben-102.json", lambda a: a["outcomes"].popitem()),
    "no inputs": lambda out: edited(out / "answers" / "ben-102.json", lambda a: a.update(vectors={})),
    "no answers": lambda out: (out / "answers" / "ben-102.json").write_text("{}"),
    "a list": lambda out: (out / "answers" / "ben-102.json").write_text("[]"),
    "no JSON": lambda out: (out / "answers" / "ben-102.json").write_text("{"),
}


@pytest.mark.parametrize("change", ANSWERS)
@pytest.mark.parametrize("command", ["regrade", "merge", "canvas"])
def test_answers_that_were_changed_are_refused(command, change, desk, capsys):
    """Kills: a regrading of answers that nobody gave."""
    ANSWERS[change](desk.out)
    assert f"{desk.out}/answers/ben-102.json was changed after it was graded" in refused(desk, command, capsys)


@pytest.mark.parametrize("change", ANSWERS)
def test_answers_that_were_changed_are_asked_again(change, desk, capsys):
    """Kills: a class that cannot even be continued, and one that keeps the line of answers that nobody gave."""
    before = a_class.content(desk.out)
    ANSWERS[change](desk.out)
    assert main(desk.commands["resume"]) == 0
    assert "were changed after they were graded: ben-102\n" in capsys.readouterr().err
    assert a_class.content(desk.out) == before
    assert main(desk.commands["regrade"]) == 0


@pytest.mark.parametrize("command", ["regrade", "merge", "canvas"])
def test_answers_that_are_gone_are_named(command, desk, capsys):
    (desk.out / "answers" / "ben-102.json").unlink()
    assert "answers/ben-102.json cannot be read: No such file" in refused(desk, command, capsys)
    assert main(desk.commands["resume"]) == 0
    assert main(desk.commands[command]) == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_points_that_were_changed_in_the_stamps_are_refused(command, desk, capsys):
    """Kills: a regrading at points that somebody wrote into ``class.json``."""
    edited(desk.out / "class.json", lambda stamps: stamps.update(sandbox="sandbox: bubblewrap"))
    assert f"{desk.out}/class.json was changed after the class was graded" in refused(desk, command, capsys)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        '["items", "questions", "points", "key_hash", "vectors", "per_submission", "grader"]',
        '{"items": 3, "questions": 3, "points": 3, "key_hash": 3, "vectors": 3, "per_submission": 3, "grader": 3}',
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_stamps_that_are_none_are_one_sentence(command, text, desk, capsys):
    """Kills: a list of the right words that is taken for stamps."""
    (desk.out / "class.json").write_text(text)
    assert "is not a graded class" in refused(desk, command, capsys)


@pytest.mark.parametrize("command", ["merge", "canvas", "regrade"])
def test_who_reads_a_class_needs_its_key(command, desk, capsys, monkeypatch):
    monkeypatch.delenv("AUTOGRADER_KEY", raising=False)
    desk.commands[command] = desk.commands[command][:-2]
    assert f"{command} needs --key" in refused(desk, command, capsys)
    desk.commands[command] += ["--key", a_class.written_key(desk.root / "other", "other")]
    assert "was graded with another key" in refused(desk, command, capsys)


def test_diff_says_what_is_no_line(desk, capsys):
    """It shows and decides nothing, so it needs no key; but it has a sentence for what it cannot read."""
    rows = [json.dumps(row) for row in lines(desk.out)]
    for text in ("[]", "null", '{"id": "x"}', '{"id": "ben-102", "submission": 3}'):
        (desk.out / "finished.jsonl").write_text("\n".join([rows[0], text, rows[2]]) + "\n")
        assert main(["diff", str(desk.out), str(desk.out)]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
        assert "finished.jsonl, line 2, " in said.err


def test_a_seal_is_of_its_kind_its_content_and_its_key():
    sealed = Seal(b"key").sealed("line", {"id": "anna", "score": 0.1})
    assert Seal(b"key").holds("line", sealed)
    assert Seal(b"key").holds("line", json.loads(json.dumps(dict(reversed(sealed.items())))))
    assert not Seal(b"key").holds("class", sealed)
    assert not Seal(b"yek").holds("line", sealed)
    assert not Seal(b"key").holds("line", sealed | {"score": 0.2})
    assert not Seal(b"key").holds("line", {})
    assert "key" not in sealed["seal"]
