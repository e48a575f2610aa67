"""What maintenance scripts share: files are written whole, and git has to be there for what asks it."""

from __future__ import annotations

import nbformat
import pytest

from tools import common, edit, install_cells, sections, stubs, takeaways
from tools.common import ROOT
from tools.gates import proof, quick
from tools.release import check


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    """Kills: a page that is empty after a run that was interrupted."""
    page = tmp_path / "page.ipynb"
    common.write(page, "old")
    with pytest.raises(UnicodeEncodeError):
        common.write(page, "new \ud800")
    assert page.read_text() == "old"
    common.write(page, "new")
    assert page.read_text() == "new"
    assert list(tmp_path.iterdir()) == [page]


@pytest.mark.parametrize(
    ("tool", "found"), [(stubs, "stale"), (sections, "wanted"), (takeaways, "stale"), (install_cells, "stale")]
)
def test_what_is_generated_is_written_that_way(monkeypatch, tool, found):
    written = []
    monkeypatch.setattr(tool, found, lambda *_: {ROOT / "book" / "none.txt": "text"})
    monkeypatch.setattr(tool, "write", lambda path, text: written.append((path.name, text)))
    assert tool.main([]) == 0
    assert written == [("none.txt", "text")]


def test_an_edited_page_is_written_that_way(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(edit, "TEXTS", tmp_path)
    monkeypatch.setattr(edit, "write", lambda path, text: written.append(path.name))
    page = tmp_path / "one.ipynb"
    page.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x = 1", id="x")])))
    assert edit.main(["text", str(page)]) == 0
    assert written == ["one.py"]


def test_without_a_checkout_it_is_said(tmp_path, monkeypatch):
    assert common.no_checkout() == ""
    assert common.no_checkout(tmp_path).startswith("this needs a git checkout of the project: fatal: ")
    assert "\n" not in common.no_checkout(tmp_path)
    monkeypatch.setattr(common.shutil, "which", lambda name: None)
    assert common.no_checkout() == "this needs git and a checkout of the project: git is missing"


@pytest.mark.parametrize(
    "main", [quick.main, lambda: proof.main([]), lambda: check.main([])], ids=["quick", "proof", "release"]
)
def test_what_asks_git_ends_in_one_sentence_without_it(monkeypatch, capsys, main):
    """Kills: a traceback of git in a folder that was unpacked from an archive."""
    for module in (quick, proof, check):
        monkeypatch.setattr(module, "no_checkout", lambda: "no git")
    assert main() == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "no git\n")
