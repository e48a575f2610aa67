"""Generate what names chapters and sections: ``python -m tools.sections [--check]``.

The chapters stand in :mod:`rankzero.chapters`; the headings of the notebooks are the one source of sections. From them
come ``autograder/sections.py`` (a report names the section to read, also where there is no book beside the grader),
``_toc.yml``, and the table of the opening page.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from rankzero.chapters import CHAPTERS, PARTS
from tools.common import BOOK, ROOT, fail, say

SECTIONS = '''"""Sections of the book by number. Generated from the notebooks by tools/sections.py."""

#: A section's title.
SECTIONS = {{
{sections}}}
'''
TOC = """# Generated from rankzero/chapters.py by tools/sections.py.
format: jb-book
root: book/intro
parts:
{parts}  - caption: "For instructors"
    chapters:
      - file: book/instructors
"""
HEADER = "| part | what you will be able to do | chapters |\n| --- | --- | --- |\n"
_SECTION = re.compile(r"^## (\d+\.\d+) (.+)$", re.MULTILINE)
_TABLE = re.compile(re.escape(HEADER) + r"(?:\|.*\n)*")


def headings(book: Path = BOOK) -> dict[str, str]:
    """The titles of the sections by number, in the order of the book."""
    sections: dict[str, str] = {}
    for chapter in CHAPTERS:
        cells = json.loads((book / f"{chapter.page}.ipynb").read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        sections |= {number: title.strip() for number, title in _SECTION.findall(text)}
    return sections


def module(book: Path = BOOK) -> str:
    """The source of ``autograder/sections.py``."""
    titles = [f'    "{number}": {json.dumps(title, ensure_ascii=False)},\n' for number, title in headings(book).items()]
    return SECTIONS.format(sections="".join(titles))


def contents() -> str:
    """The text of ``_toc.yml``."""
    parts = ""
    for part in PARTS:
        pages = "".join(f"      - file: book/{chapter.page}\n" for chapter in CHAPTERS if chapter.part == part)
        parts += f'  - caption: "{part}"\n    chapters:\n{pages}'
    return TOC.format(parts=parts)


def opening(text: str) -> str:
    """The opening page with its table of chapters written anew."""
    rows = ""
    for part, use in PARTS.items():
        chapters = [chapter for chapter in CHAPTERS if chapter.part == part]
        rows += f"| {part} | {use} | {', '.join(f'[{c.number}. {c.title}]({c.page}.ipynb)' for c in chapters)} |\n"
    return _TABLE.sub(lambda _: HEADER + rows, text)


def wanted(root: Path = ROOT) -> dict[Path, str]:
    """Every generated file and what it should be."""
    intro = root / "book" / "intro.md"
    return {
        root / "autograder" / "sections.py": module(root / "book"),
        root / "_toc.yml": contents(),
        intro: opening(intro.read_text(encoding="utf-8")),
    }


def main(argv: list[str] | None = None) -> int:
    """Write the files, or with ``--check`` only say (status 1) which are stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.sections", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when a file is stale")
    arguments = parser.parse_args(argv)
    files = wanted(ROOT).items()
    stale = {path: text for path, text in files if not path.exists() or path.read_text(encoding="utf-8") != text}
    names = ", ".join(path.relative_to(ROOT).as_posix() for path in stale)
    if stale and arguments.check:
        return fail(f"stale (python -m tools.sections): {names}")
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
    if stale:
        say(f"written: {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
