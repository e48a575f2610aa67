"""The folder of a graded class: whole files, rows that come back as they were, and nothing that a kill can spoil."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import toy_bank as toys

from autograder import bank
from autograder.classroom import graded, storage
from autograder.classroom.collecting import Handed
from autograder.classroom.graded import Graded
from autograder.items import Build
from autograder.marking.answers import Answers
from autograder.marking.marks import Answered, Grading, Mark, Share, refused
from autograder.running.exam import Exam

ITEM, KEY = "03-ring-all-reduce-time", b"sesame"
STAMPS = {
    "items": [ITEM],
    "questions": ["03-steps"],
    "points": {ITEM: 6.0},
    "key_hash": Exam((), KEY).key_hash,
    "vectors": "v" * 16,
    "per_submission": False,
    "grader": "1",
    "interpreter": "cpython",
    "sandbox": "sandbox: none",
}
KNOWN = {"canvas": "77", "email": "a@b.c"}


def row(name: str = "anna", **changes) -> Graded:
    """A row with everything in it."""
    item = bank.find(ITEM)
    assert isinstance(item, Build)
    shares = (Share("public cases", 3, 3, 1.5, 1.5), Share("one rank", 0, 2, 0.0, 0.9))
    mark = Mark(replace(item, points=6.0), "partly", shares, ("f(1): wrong",), ("A slip.", "A hint."), "A slip.")
    answered = Answered(bank.find("03-steps"), "wrong", ("No.",))  # type: ignore[arg-type]
    grading = Grading("a.py", "ab" * 32, (mark,), (answered,), ("cell 3: broken",), "", 0.125)
    return Graded(Handed(name, Path("a.py"), f'{name}, O\'Neil "Ünal" =1+1', KNOWN, True), replace(grading, **changes))


def begun(path: Path, resume: bool = False, **changes) -> storage.Folder:
    return storage.Folder(path, resume).begin(STAMPS | changes, KEY)


def kept(folder: storage.Folder, graded: Graded) -> None:
    answers = Answers(graded.grading.name, graded.grading.sha256, sandbox="sandbox: x", vectors={ITEM: "1"})
    folder.put(graded.handed.id, folder.texts(graded, answers.to_json()))


@pytest.mark.parametrize(
    "graded",
    [row(), row(reason="the item cannot be judged"), Graded(row().handed, refused("a.py", "it is empty"), True)],
    ids=["graded", "unjudged", "refused"],
)
def test_a_row_comes_back_as_it_was(graded, tmp_path):
    """Kills: a field that is forgotten, and marks of other points than those they were given at."""
    kept(begun(tmp_path), graded)
    (back,) = storage.opened(tmp_path).rows().values()
    assert back == graded
    assert (back.grading.score, back.grading.points) == (graded.grading.score, graded.grading.points)


@pytest.mark.parametrize("cut", [2, 40, 400])
def test_a_line_that_a_kill_has_torn_is_dropped(cut, tmp_path):
    """Kills: a reader that stops at it, and a writer that glues the next line to it."""
    folder = begun(tmp_path)
    for name in ("anna", "ben"):
        kept(folder, row(name))
    file = tmp_path / "finished.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    folder.close()
    again = begun(tmp_path, resume=True)
    assert list(again.rows()) == ["anna"]
    kept(again, row("carl"))
    assert list(storage.opened(tmp_path).rows()) == ["anna", "carl"]


def test_the_later_of_two_lines_counts(tmp_path):
    folder = begun(tmp_path)
    kept(folder, row())
    kept(folder, row(sha256="cd" * 32))
    assert [one.grading.sha256 for one in folder.rows().values()] == ["cd" * 32]


def test_the_line_is_written_after_the_files(tmp_path, monkeypatch):
    """Kills: a row that is taken for finished although a kill has kept its result from being written."""
    folder = begun(tmp_path)
    monkeypatch.setattr(storage.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        kept(folder, row())
    assert not folder.rows()
    there = sorted(file.name for file in tmp_path.rglob("*") if file.is_file())
    assert there == [".lock", "class.json", "finished.jsonl"]


@pytest.mark.parametrize("resume", [False, True])
def test_one_grader_at_a_time_writes_into_a_folder(resume, tmp_path):
    """Kills: two graders of one class, of which one leaves the answers and the other their digest."""
    folder = begun(tmp_path / "out")
    with pytest.raises(storage.NotAClass, match=r"another grader writes into .*out: wait"):
        storage.Folder(tmp_path / "out", resume).begin(STAMPS, KEY)
    kept(folder, row())
    folder.close()
    assert list(begun(tmp_path / "out", resume=True).rows()) == ["anna"]


def test_a_file_system_without_locks_is_written_all_the_same(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    kept(begun(tmp_path), row())
    assert list(storage.opened(tmp_path).rows()) == ["anna"]


LOSSES = {
    "no answers": lambda out: (out / "answers" / "ben.json").unlink(),
    "empty answers": lambda out: (out / "answers" / "ben.json").write_text(""),
    "the answers of another": lambda out: shutil.copy(out / "answers" / "anna.json", out / "answers" / "ben.json"),
    "no page": lambda out: (out / "pages" / "ben.html").unlink(),
    "an empty result": lambda out: (out / "results" / "ben.json").write_text(""),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_line_whose_files_are_lost_is_dropped(loss, tmp_path, capsys):
    """Kills: a class that a power cut has made unusable, and a result that stays empty."""
    folder = begun(tmp_path)
    for name in ("anna", "ben", "carl"):
        kept(folder, replace(row(name), grading=replace(row().grading, name=f"{name}.py")))
    folder.close()
    LOSSES[loss](tmp_path)
    again = begun(tmp_path, resume=True)
    assert list(again.rows()) == ["anna", "carl"]
    assert capsys.readouterr().err == (
        "autograder: graded again, because their files are missing or were changed after they were graded: ben\n"
    )
    kept(again, row("ben"))
    again.finish(list(again.rows().values()))
    storage.opened(tmp_path).verify(KEY)


def test_a_line_that_a_full_disk_cuts_is_said_and_dropped(tmp_path, monkeypatch):
    """Kills: a write that the disk takes half of, in silence, and after which no line can be read."""
    folder = begun(tmp_path)
    kept(folder, row("anna"))

    class Full(io.FileIO):
        def write(self, data):
            return super().write(data[:40])

    monkeypatch.setattr(storage, "open", lambda path, mode, buffering: Full(path, mode[:1]), raising=False)
    with pytest.raises(storage.NotStored, match="No space left"):
        kept(folder, row("ben"))
    monkeypatch.undo()
    folder.close()
    assert list(begun(tmp_path, resume=True).rows()) == ["anna"]


def test_a_line_says_what_gradebooks_need(tmp_path):
    kept(begun(tmp_path), row())
    (line,) = (tmp_path / "finished.jsonl").read_text(encoding="utf-8").splitlines()
    content = json.loads(line)
    assert {"id", "name", "sha256", "score", "points", "seconds", "reason", "known", "late"} <= set(content)
    assert (content["known"], content["late"], content["score"]) == (KNOWN, True, 1.5)


def test_a_name_that_is_no_text_survives(tmp_path):
    """Kills: a class that ends because one file name is not UTF-8."""
    odd = replace(row().handed, name="caf\udce9")
    folder = begun(tmp_path)
    kept(folder, replace(row(), handed=odd))
    folder.finish(list(folder.rows().values()))
    assert storage.opened(tmp_path).rows()["anna"].handed.name == "caf\udce9"
    assert "caf" in (tmp_path / "pages" / "anna.html").read_text(encoding="utf-8")


def test_results_say_how_each_submission_was_graded(tmp_path):
    """The sandbox it ran in, which on several machines is not that of the class."""
    kept(begun(tmp_path), row())
    extra = json.loads((tmp_path / "results" / "anna.json").read_text())["extra_data"]
    assert (extra["sandbox"], extra["key_hash"], extra["grader"]) == ("sandbox: x", STAMPS["key_hash"], "1")
    assert extra["vectors"] not in ("", "v" * 16)


@pytest.mark.parametrize("there", [False, True])
def test_a_graded_class_is_its_owners_alone(there, tmp_path):
    """Kills: answers to hidden inputs, and grades, that every user of the machine can read."""
    before = os.umask(0)
    try:
        out = tmp_path / "graded"
        if there:
            out.mkdir()
        folder = begun(out)
        folder.expect([row().handed])
        kept(folder, row())
        folder.finish(list(folder.rows().values()))
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in (out, *out.rglob("*")) if path.is_dir()}
    assert modes == {0o700}
    assert {path.stat().st_mode & 0o777 for path in out.rglob("*") if path.is_file()} == {0o600}


def test_a_folder_with_other_things_in_it_stays_as_open_as_it_was(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    tmp_path.chmod(0o755)
    begun(tmp_path)
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "answers").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("content", [None, "{", "[]", "{}", '{"items": []}'])
def test_another_folder_is_no_graded_class(content, tmp_path):
    if content is not None:
        (tmp_path / "class.json").write_text(content)
    with pytest.raises(storage.NotAClass, match="is not a graded class"):
        storage.opened(tmp_path)


def test_a_class_of_another_bank_is_named(tmp_path):
    begun(tmp_path, items=["03-long-gone"], points={"03-long-gone": 4.0})
    with pytest.raises(storage.NotAClass, match=r"graded with another bank: .*03-long-gone"):
        storage.opened(tmp_path).rows()


def test_answers_that_are_gone_are_named(tmp_path):
    begun(tmp_path)
    with pytest.raises(storage.NotAClass, match=r"anna.json cannot be read"):
        storage.opened(tmp_path).answers("anna")


def test_rows_share_what_they_have_in_common():
    """Kills: a class whose memory grows with every mark of every learner."""
    seen: dict = {}
    one, two = (graded.lean(row(name), seen) for name in ("anna", "ben"))
    assert one.grading.marks[0] is two.grading.marks[0]
    assert (one, two) == (row("anna"), row("ben"))


def test_an_exam_of_one_submission_shares_the_bench_and_asks_otherwise():
    with Exam([toys.SCALE], toys.KEY) as exam:
        own = exam.for_submission("ab")
        assert own._slip_runner is exam._slip_runner
        others = {one.sheet(toys.SCALE).hash for one in (exam, exam.for_submission("ac"))}
        assert own.sheet(toys.SCALE).hash not in others
