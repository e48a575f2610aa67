"""The scripts of the book: what pages need comes first, and what is missing is said as it is."""

from __future__ import annotations

import io
import tarfile
from types import SimpleNamespace

import pytest

from tools import vendor, vendor_editor


def pack(path) -> None:
    """An npm archive of one file."""
    with tarfile.open(path, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("package/a.js"), io.BytesIO())


def test_a_file_that_an_archive_lacks_is_named(tmp_path, monkeypatch):
    """Kills: a KeyError in place of the sentence."""
    pack(tmp_path / "one.tgz")
    with pytest.raises(FileNotFoundError, match=r"one\.tgz has no file dist/b\.js"):
        vendor.unpack(tmp_path / "one.tgz", ("a.js", "dist/b.js"), tmp_path / "one")
    assert not (tmp_path / "one").exists()

    def npm(command, cwd, **more):
        pack(f"{cwd}/one.tgz")
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(vendor.shutil, "which", lambda name: name)
    monkeypatch.setattr(vendor.subprocess, "run", npm)
    assert vendor.fetch("one", "1.0", ("dist/b.js",), tmp_path / "one") == "one.tgz has no file dist/b.js"


@pytest.mark.parametrize(
    ("fails", "said"),
    [
        ("axe-core", "no axe-core; the accessibility of pages is not tested"),
        ("reveal.js", "no reveal.js; no slides can be made"),
        ("vega", "no vega; built pages do without it"),
    ],
)
def test_what_no_page_has_comes_last(tmp_path, monkeypatch, capsys, fails, said):
    """Kills: pages without an editor because a test's script could not be fetched, and one sentence for all."""
    made = []
    monkeypatch.setattr(vendor, "VENDOR", tmp_path)
    monkeypatch.setattr(vendor, "mathjax", lambda: None)
    monkeypatch.setattr(vendor, "one_format", lambda sheet: made.append(sheet.name))
    monkeypatch.setattr(vendor_editor, "bundle", lambda: made.append("editor"))
    monkeypatch.setattr(vendor, "fetch", lambda name, *_: f"no {name}" if name == fails else made.append(name))
    assert vendor.main() == 1
    assert said in capsys.readouterr().out.splitlines()
    if fails in vendor.CHECKS:
        page = [*vendor.versions(), "katex.min.css", "editor"]
        assert made == [*page, *(name for name in vendor.CHECKS if name != fails)]


def test_the_editor_is_made_of_its_own_packages():
    """Kills: an installation of what only tests and slides use."""
    assert set(vendor_editor.packages()).isdisjoint(vendor.CHECKS)
    assert set(vendor.WITHOUT) == set(vendor.CHECKS)
