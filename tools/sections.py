"""Generate the files that name chapters and sections: ``python -m tools.sections [--check]``.

The chapters are listed in :mod:`rankzero.facts.chapters`; the headings of the notebooks are the only source of
sections. From them come ``autograder/sections.py`` (with it, a report can name the section to read and link it in the
hosted book, whose address is in ``_config.yml``, and items have their order, even where the book is not installed),
``_toc.yml``, and the table of the opening page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import yaml

from rankzero.facts.chapters import CHAPTERS, PARTS, Chapter
from tools import reference as reference_pages
from tools.common import BOOK, ROOT, fail, say, write

SECTIONS = '''"""Sections of the book by number, and their items. Generated from the notebooks by tools/sections.py."""

#: Where the chapters of the hosted book are, from ``_config.yml``.
BOOK = "{hosted}"
#: A section's title.
SECTIONS = {{
{sections}}}
#: The sections that are not on their chapter's page but on the page below it.
DEEPER: tuple[str, ...] = ({deeper})
#: The ids of a section's questions and exercises, in the order of the page.
ITEMS = {{
{items}}}
'''
TOC = """# Generated from rankzero/facts/chapters.py by tools/sections.py.
format: jb-book
root: book/intro
parts:
{parts}  - caption: "Your work"
    chapters:
      - file: book/your-course
      - file: book/hand-in
  - caption: "Reference"
    chapters:
{reference}  - caption: "For instructors"
    chapters:
      - file: book/instructors
"""
HEADER = "| part | what you will be able to do | chapters |\n| --- | --- | --- |\n"
_SECTION = re.compile(r"^## (\d+\.\d+) (.+)$", re.MULTILINE)
_CARD = re.compile(r'^(?:predict|design)\("([\w-]+)"', re.MULTILINE)
_TABLE = re.compile(re.escape(HEADER) + r"(?:\|.*\n)*")


def headings(page: Path) -> dict[str, str]:
    """The titles of the sections of a notebook by number; none where there is no such notebook."""
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"] if page.exists() else []
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    return {number: title.strip() for number, title in _SECTION.findall(text)}


def items(page: Path) -> dict[str, list[str]]:
    """The ids of the cards of a notebook, section by section; none where there is no such notebook."""
    result: dict[str, list[str]] = {}
    section = ""
    for cell in json.loads(page.read_text(encoding="utf-8"))["cells"] if page.exists() else []:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            section = [section, *(number for number, _ in _SECTION.findall(source))][-1]
            continue
        exercise = cell["metadata"].get("rankzero", {}).get("id")
        if ids := [exercise] if exercise else _CARD.findall(source):
            result.setdefault(section, []).extend(ids)
    return result


def _row(section: str, ids: list[str]) -> str:
    """A section's ids as the formatter writes them."""
    quoted = [json.dumps(one) for one in ids]
    line = f'    "{section}": ({", ".join(quoted)}{"," if len(ids) == 1 else ""}),\n'
    if len(line) <= 121:
        return line
    return f'    "{section}": (\n' + "".join(f"        {one},\n" for one in quoted) + "    ),\n"


def hosted(config: Path) -> str:
    """Where the chapters of the hosted book are, by the course's settings; empty if they name no address."""
    address = yaml.safe_load(config.read_text(encoding="utf-8")).get("html", {}).get("baseurl", "")
    return f"{address.rstrip('/')}/book" if address else ""


def module(root: Path = ROOT) -> str:
    """The source of ``autograder/sections.py``."""
    book = root / "book"
    titles, deeper, cards = "", "", ""
    for chapter in CHAPTERS:
        beyond = headings(book / f"{chapter.deeper}.ipynb")
        for number, title in (headings(book / f"{chapter.page}.ipynb") | beyond).items():
            titles += f'    "{number}": {json.dumps(title, ensure_ascii=False)},\n'
        deeper += "".join(f'    "{number}",\n' for number in beyond)
        for page in (chapter.page, chapter.deeper):
            cards += "".join(_row(section, ids) for section, ids in items(book / f"{page}.ipynb").items())
    where = hosted(root / "_config.yml")
    return SECTIONS.format(hosted=where, sections=titles, deeper=deeper and f"\n{deeper}", items=cards)


def _entry(chapter: Chapter, book: Path) -> str:
    """A chapter in ``_toc.yml``, with the page below it where there is one."""
    entry = f"      - file: book/{chapter.page}\n"
    deeper = (book / f"{chapter.deeper}.ipynb").exists()
    return entry + (f"        sections:\n          - file: book/{chapter.deeper}\n" if deeper else "")


def contents(book: Path = BOOK) -> str:
    """The text of ``_toc.yml``."""
    parts = ""
    for part in PARTS:
        pages = "".join(_entry(chapter, book) for chapter in CHAPTERS if chapter.part == part)
        parts += f'  - caption: "{part}"\n    chapters:\n{pages}'
    reference = "".join(f"      - file: book/reference/{name}\n" for name in reference_pages.PAGES)
    return TOC.format(parts=parts, reference=reference)


def opening(text: str) -> str:
    """The opening page with its table of chapters regenerated."""
    rows = ""
    for part, use in PARTS.items():
        chapters = [chapter for chapter in CHAPTERS if chapter.part == part]
        rows += f"| {part} | {use} | {', '.join(f'[{c.number}. {c.title}]({c.page}.ipynb)' for c in chapters)} |\n"
    return _TABLE.sub(lambda _: HEADER + rows, text)


def wanted(root: Path = ROOT) -> dict[Path, str]:
    """Every generated file and what it should contain."""
    intro = root / "book" / "intro.md"
    return {
        root / "autograder" / "sections.py": module(root),
        root / "_toc.yml": contents(root / "book"),
        intro: opening(intro.read_text(encoding="utf-8")),
    }


def main(argv: list[str] | None = None) -> int:
    """Write the files, or with ``--check`` only report which are stale (status 1)."""
    parser = argparse.ArgumentParser(prog="python -m tools.sections", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a file is stale")
    arguments = parser.parse_args(argv)
    files = wanted(ROOT).items()
    stale = {path: text for path, text in files if not path.exists() or path.read_text(encoding="utf-8") != text}
    names = ", ".join(path.relative_to(ROOT).as_posix() for path in stale)
    if stale and arguments.check:
        return fail(f"stale (python -m tools.sections): {names}")
    for path, text in stale.items():
        write(path, text)
    if stale:
        say(f"written: {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
