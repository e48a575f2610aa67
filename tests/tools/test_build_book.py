"""The command line of the build: a file that is not there is named before anything is executed."""

from __future__ import annotations

import pytest

from tools import build_book
from tools.common import ROOT


def told(arguments: list[str], capsys) -> str:
    """The last line of a command line that is refused."""
    with pytest.raises(SystemExit) as stopped:
        build_book.main(arguments)
    assert stopped.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_what_is_missing_is_named(tmp_path, monkeypatch, capsys):
    """Kills: a traceback for a page that is misspelt, one that is elsewhere, and a folder that holds no book."""
    monkeypatch.setattr(build_book, "build", lambda *_: pytest.fail("it was built"))
    assert told(["--page", "book/99-x.ipynb"], capsys).endswith(f"there is no file {ROOT / 'book' / '99-x.ipynb'}")
    contents = f"{tmp_path / '_config.yml'} or {tmp_path / '_toc.yml'}"
    assert told(["--source", str(tmp_path)], capsys).endswith(f"there is no file {contents}")
    (tmp_path / "one.ipynb").touch()
    elsewhere = told(["--page", str(tmp_path / "one.ipynb")], capsys)
    assert elsewhere.endswith(f"page must be in {ROOT}, got {tmp_path / 'one.ipynb'}")
