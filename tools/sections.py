"""Generate the titles of the book's sections for reports: ``python -m tools.sections [--check]``.

A report names the section to read, and must do so where there is no book beside the grader. The headings of the
notebooks are the one source; ``autograder/sections.py`` is written from them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from tools.common import BOOK, ROOT, fail, say

TARGET = ROOT / "autograder" / "sections.py"
TEMPLATE = '''"""Chapters and sections of the book by number. Generated from the notebooks by tools/sections.py."""

#: A chapter's page and title.
CHAPTERS = {{
{chapters}}}

#: A section's title.
SECTIONS = {{
{sections}}}
'''
_CHAPTER = re.compile(r"^# (\d+)\. (.+)$", re.MULTILINE)
_SECTION = re.compile(r"^## (\d+\.\d+) (.+)$", re.MULTILINE)


def headings(book: Path = BOOK) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Chapters (number to page and title) and sections (number to title), in the order of the book."""
    chapters: dict[str, tuple[str, str]] = {}
    sections: dict[str, str] = {}
    for path in sorted(book.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        chapters |= {number: (path.stem, title.strip()) for number, title in _CHAPTER.findall(text)}
        sections |= {number: title.strip() for number, title in _SECTION.findall(text)}
    return chapters, sections


def module(book: Path = BOOK) -> str:
    """The source of ``autograder/sections.py``."""
    chapters, sections = headings(book)

    def text(thing: str) -> str:
        return json.dumps(thing, ensure_ascii=False)

    pages = [f"    {text(number)}: ({text(page)}, {text(title)}),\n" for number, (page, title) in chapters.items()]
    titles = [f"    {text(number)}: {text(title)},\n" for number, title in sections.items()]
    return TEMPLATE.format(chapters="".join(pages), sections="".join(titles))


def main(argv: list[str] | None = None) -> int:
    """Write the table, or with ``--check`` only say (status 1) that it is stale."""
    parser = argparse.ArgumentParser(prog="python -m tools.sections", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when the table is stale")
    arguments = parser.parse_args(argv)
    stale = not TARGET.exists() or TARGET.read_text(encoding="utf-8") != module()
    if stale and arguments.check:
        return fail("stale (python -m tools.sections): autograder/sections.py")
    if stale:
        TARGET.write_text(module(), encoding="utf-8")
        say(f"written: {TARGET.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
