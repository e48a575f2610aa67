"""The build itself, on a little book of its own: what runs, what runs again, and how it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from tools import build_book, common, execute
from tools.build_book import notebooks, pages
from tools.common import ROOT

TOC = {
    "format": "jb-book",
    "root": "book/intro",
    "parts": [{"caption": "Part", "chapters": [{"file": "book/01-page"}]}],
}


def notebook(*sources: str, tags: dict[int, list[str]] | None = None) -> nbformat.NotebookNode:
    """A notebook of code cells."""
    cells = [nbformat.v4.new_markdown_cell("# A page", id="title")]
    for index, source in enumerate(sources):
        metadata = {"tags": (tags or {}).get(index, [])}
        cells.append(nbformat.v4.new_code_cell(source, id=f"cell-{index}", metadata=metadata))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture
def little(tmp_path: Path) -> Path:
    """A book with an entrance and one page, under the course's own settings."""
    source = tmp_path / "course"
    (source / "book").mkdir(parents=True)
    (source / "_config.yml").write_text((ROOT / "_config.yml").read_text(encoding="utf-8"), encoding="utf-8")
    (source / "_toc.yml").write_text(yaml.safe_dump(TOC), encoding="utf-8")
    (source / "book" / "intro.md").write_text("# A course\n\n[A page](01-page.ipynb)\n", encoding="utf-8")
    nbformat.write(notebook("print(6 * 7)"), source / "book" / "01-page.ipynb")
    return source


def build(source: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Build it with the command that ``make book`` calls."""
    command = [sys.executable, "-m", "tools.build_book", "--source", str(source), "--output", str(source / "html")]
    command += ["--cache", str(source / "cache"), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def add(source: Path, page: nbformat.NotebookNode) -> None:
    """A second page of the book."""
    toc = {**TOC, "parts": [{"caption": "Part", "chapters": [{"file": "book/01-page"}, {"file": "book/02-page"}]}]}
    (source / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    nbformat.write(page, source / "book" / "02-page.ipynb")


@pytest.mark.proof(part="pages")
def test_builds_and_then_executes_nothing(little):
    """The second build finds the outputs of the first; after a change to the text too. A cell starts in an empty
    folder, since a page that reads a file beside it would not work in Colab, and with the tag ``raises-exception`` it
    shows its error on the page."""
    empty = "import os\nassert os.listdir() == [], os.listdir()"
    add(little, notebook(empty, "1 / 0", tags={1: ["raises-exception"]}))
    first = build(little)
    assert first.returncode == 0, first.stderr
    assert "executed 01-page.ipynb" in first.stdout
    assert "42" in (little / "html" / "book" / "01-page.html").read_text(encoding="utf-8")
    assert "ZeroDivisionError" in (little / "html" / "book" / "02-page.html").read_text(encoding="utf-8")
    page = nbformat.read(little / "book" / "01-page.ipynb", as_version=4)
    page.cells[0].source = "# A better page"
    nbformat.write(page, little / "book" / "01-page.ipynb")
    second = build(little)
    assert second.returncode == 0, second.stderr
    assert "executed" not in second.stdout
    html = (little / "html" / "book" / "01-page.html").read_text(encoding="utf-8")
    assert "A better page" in html
    assert "42" in html


@pytest.mark.proof(part="pages")
def test_one_page_alone(little):
    """A page is built without the others that stand in the book: neither are they executed, nor does a link fail."""
    page = notebook("print(6 * 7)")
    page.cells[0].source = "# A page\n\n[the next](02-page.ipynb)"
    nbformat.write(page, little / "book" / "01-page.ipynb")
    add(little, notebook("1 / 0"))
    done = build(little, "--page", str(little / "book" / "01-page.ipynb"))
    assert done.returncode == 0, done.stderr
    assert "42" in (little / "html" / "book" / "01-page.html").read_text(encoding="utf-8")
    assert not (little / "html" / "book" / "02-page.html").exists()


@pytest.mark.proof(part="pages")
def test_a_broken_cell_speaks_for_itself(little):
    """Kills a build that goes on, or that answers with a riddle of Sphinx: the cell's name and its own error. What will
    break next year breaks today, in cells and in what they start: a future warning is an error."""
    nbformat.write(notebook("x = 1", "1 / 0"), little / "book" / "01-page.ipynb")
    add(little, notebook("import warnings\nwarnings.warn('soon', FutureWarning)"))
    done = build(little)
    assert done.returncode == 1
    assert "01-page.ipynb, cell 'cell-1': ZeroDivisionError: division by zero" in done.stderr
    assert "----> 1 1 / 0" in done.stderr
    assert "FutureWarning: soon" in done.stderr
    assert "sphinx" not in done.stderr.lower()
    assert not (little / "html" / "index.html").exists()


@pytest.mark.proof(part="pages")
def test_a_warning_is_an_error(little):
    """A link that leads nowhere ends the build and is named. (A book without notebooks.)"""
    (little / "_toc.yml").write_text(yaml.safe_dump({"format": "jb-book", "root": "book/intro"}), encoding="utf-8")
    (little / "book" / "01-page.ipynb").unlink()
    (little / "book" / "intro.md").write_text("# A course\n\n[A page](02-nowhere.ipynb)\n", encoding="utf-8")
    done = build(little)
    assert done.returncode == 1
    assert "02-nowhere.ipynb" in done.stderr


def test_old_copies_go(tmp_path):
    """An executed copy per state of the course, and only the last few of them."""
    for age, state in enumerate("abcde"):
        kept = tmp_path / "01-page" / f"{state}.ipynb"
        execute.keep(notebook("print(6 * 7)"), kept)
        os.utime(kept, (age, age))
    assert sorted(path.stem for path in kept.parent.iterdir()) == ["c", "d", "e"]


@pytest.mark.proof(part="pages")
def test_a_run_that_could_grow_stale_is_not_kept(tmp_path):
    """Kills a store that trusts what was read: a module of a chapter that no text names is loaded all the same, and a
    course that changes while a page runs belongs to neither state."""
    page = tmp_path / "book" / "12-page.ipynb"
    page.parent.mkdir()
    hidden = 'import importlib as found\ngetattr(found, "import" + "_module")("solutions.c" + "h03.ring_walk")'
    nbformat.write(notebook(hidden), page)
    stored = execute.places([page], tmp_path / "store")
    (run,) = execute.fill(stored)
    assert "12-page.ipynb loads solutions.ch03, solutions.ch03.ring_walk, which its code does not name" in run.failure
    nbformat.write(notebook("print(6 * 7)"), page)
    (run,) = execute.fill(stored)
    assert "the course changed while 12-page.ipynb ran: build again" in run.failure
    assert not stored[page].exists()


@pytest.mark.parametrize("tags", [[], ["nbval-ignore-output"], ["source"]])
@pytest.mark.parametrize("length", [88, 89])
def test_a_printed_line_that_is_wider_than_a_page_is_named(length, tags):
    page = notebook("print()", tags={0: tags})
    page.cells[1].outputs = [nbformat.v4.new_output("stream", text=f"short\n{'x' * length}\n")]
    told = execute.too_wide(Path("01-page.ipynb"), page)
    assert bool(told) == (length == 89 and not tags)
    assert not told or told.startswith("01-page.ipynb, cell 'cell-0': 89 characters of at most 88")


def test_new_outputs_are_read_again(tmp_path):
    """Kills a build that shows older outputs: Sphinx looks at the page's file, which is the same."""
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.doctree").touch()
    (tmp_path / "states.json").write_text('{"one": "a", "two": "a"}')
    record = build_book.forget(tmp_path, {"one": "a", "two": "b", "three": ""})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.doctree"]
    assert not record.exists()


def test_another_book_leaves_the_bundles_of_the_course_alone(tmp_path, monkeypatch):
    """Kills the course's cells that lack a module in the page because a little book was built beside it."""
    monkeypatch.setattr(build_book, "VENDOR", tmp_path / "vendor")
    build_book.write_bundles(tmp_path)
    assert list((tmp_path / "vendor").iterdir()) == []


def test_contents_are_there():
    """Every file of the table of contents exists, and every notebook of the book is in it."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    chapters = [chapter for part in toc["parts"] for chapter in part["chapters"]]
    names = [toc["root"], *(one["file"] for chapter in chapters for one in (chapter, *chapter.get("sections", ())))]
    assert [path.relative_to(ROOT).with_suffix("").as_posix() for path in pages()] == names
    assert sorted(notebooks()) == sorted(common.notebooks())
