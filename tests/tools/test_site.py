"""The folder for static hosts: what it leaves out, what it adds."""

from __future__ import annotations

from pathlib import Path

from tools import site


def book(folder: Path, head: str = "") -> Path:
    """A built book of one page."""
    static = folder / "_static" / "scripts"
    static.mkdir(parents=True)
    (folder / "index.html").write_text(f'<html data-content_root="./"><head>{head}</head></html>')
    for name in ("bootstrap.js", "bootstrap.js.map", "fontawesome.js"):
        (static / name).write_text(name)
    return folder


def made(tmp_path: Path, head: str = "", name: str = "one") -> Path:
    return site.make(book(tmp_path / name / "html", head), tmp_path / name / "site")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*") if path.is_file()}


def test_leaves_out_what_no_page_asks_for(tmp_path):
    """Source maps and the script of the icons are larger than the book's own scripts."""
    assert names(made(tmp_path)) == {"index.html", "bootstrap.js", "offline-worker.js", ".nojekyll"}


def test_keeps_what_an_unfinished_page_asks_for(tmp_path):
    """Kills a site whose pages were built without node and lose their icons or formulas."""
    head = '<script src="_static/scripts/fontawesome.js?digest=1"></script>'
    assert "fontawesome.js" in names(made(tmp_path, head))


def test_pages_register_the_worker_of_this_site(tmp_path):
    """The stamp changes with the book, so that copies of an older book are dropped. The built book has no worker."""
    one, same, other = (
        made(tmp_path, head, name) for head, name in (("", "one"), ("", "two"), ("<title>x</title>", "three"))
    )
    assert '<script defer="defer" src="./_static/offline.js"></script>' in (one / "index.html").read_text()
    workers = [(folder / "offline-worker.js").read_text() for folder in (one, same, other)]
    assert workers[0] == workers[1] != workers[2]
    assert site.STAMP not in workers[0]
    assert "offline.js" not in (tmp_path / "one" / "html" / "index.html").read_text()


def test_a_second_site_replaces_the_first(tmp_path):
    """Kills a folder in which pages that left the book stay."""
    target = made(tmp_path)
    (target / "old.html").write_text("")
    site.make(tmp_path / "one" / "html", target)
    assert not (target / "old.html").exists()


def test_a_folder_that_is_no_site_stays(tmp_path, capsys):
    """Kills a command that removes whatever folder it is given."""
    html, target = book(tmp_path / "html"), tmp_path / "home"
    target.mkdir()
    command = ["--html", str(html), "--output", str(target)]
    assert site.main(command) == 0  # it was empty
    assert site.main(command) == 0  # it is a site
    (target / "offline-worker.js").unlink()
    for place in (target, html, html / "index.html"):
        assert site.main(["--html", str(html), "--output", str(place)]) == 1
        said = f"output must be a new or empty folder, or one with an earlier site, got {place}\n"
        assert capsys.readouterr().err == said
    assert (target / "index.html").exists()
    assert (html / "index.html").exists()
