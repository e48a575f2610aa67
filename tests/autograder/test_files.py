"""Files of the grader: whole or not at all, and closed to other users."""

from __future__ import annotations

import os

import pytest

from autograder import files


def mode(path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture(autouse=True)
def open_umask():
    """New files are open to everybody unless their writer closes them."""
    before = os.umask(0)
    yield
    os.umask(before)


def test_a_file_is_its_owners_alone(tmp_path):
    """Kills: answers to hidden inputs that every user of the machine can read, also where an open file is replaced."""
    path = tmp_path / "answers.json"
    path.write_text("old")
    path.chmod(0o644)
    files.save(path, "new")
    assert (path.read_text(), mode(path)) == ("new", 0o600)
    files.save(path, b"\xff")
    assert path.read_bytes() == b"\xff"


def test_what_cannot_be_written_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "answers.json"
    files.save(path, "old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        files.save(path, "new")
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("answers.json", "old")]


def test_a_text_that_is_no_unicode_is_written_as_escapes(tmp_path):
    files.save(tmp_path / "a", "caf\udce9")
    assert (tmp_path / "a").read_text() == "caf\\udce9"


def test_a_private_folder_is_closed_even_when_it_was_open(tmp_path):
    (tmp_path / "there").mkdir()
    for name in ("there", "new/inner"):
        files.make_private(tmp_path / name)
        assert mode(tmp_path / name) == 0o700
