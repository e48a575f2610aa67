"""The whole book as one PDF: ``python -m tools.handouts.pdf [--html FOLDER] [--out FILE]``.

Chromium prints the built pages in the order of the table of contents, each with its headings as bookmarks, and pypdf
joins them: a part of the book is a bookmark that holds its pages, and a chapter's page holds the one that lies deeper.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.browser import chromium
from tools.common import HTML, ROOT, fail, say
from tools.handouts.screenshot import served

#: The heading of the contents that the theme prints on each page.
CONTENTS = "Contents"
#: The texts of the headings of a page, without the sign that links to each.
HEADINGS = """() => [...document.querySelectorAll("h1, h2, h3, h4, h5")].map(heading => {
  const copy = heading.cloneNode(true);
  copy.querySelectorAll(".headerlink").forEach(link => link.remove());
  return copy.textContent.trim().replace(/\\s+/g, " "); })"""
OUT = ROOT / "_build" / "rank-zero.pdf"


@dataclass(frozen=True)
class Entry:
    """A page of the book: its part (empty for the opening page), its name, and how deep it lies below its part."""

    part: str
    page: str
    depth: int = 0


def entries(toc: dict[str, Any]) -> Iterator[Entry]:
    """The pages of a table of contents, in its order."""
    yield Entry("", toc["root"])
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            yield Entry(part["caption"], chapter["file"])
            for below in chapter.get("sections", ()):
                yield Entry(part["caption"], below["file"], 1)


@dataclass(frozen=True)
class Print:
    """A page as Chromium prints it, and the texts of its headings."""

    sheets: bytes
    headings: tuple[str, ...] = ()


def printed(page: Any, address: str) -> Print:
    """A page in light colours; what is folded stays folded."""
    page.goto(address, wait_until="load")
    headings = page.evaluate(HEADINGS)
    return Print(page.pdf(format="A4", print_background=True, tagged=True, outline=True), tuple(headings))


def _title(text: str, headings: Iterable[str]) -> str:
    """The heading that a bookmark of Chromium stands for: where a line ends it lacks a space, and a heading that a line
    or a sheet divides is written twice.

    >>> _title("3.8 Timeto send3.8 Timeto send", ["3.8 Time to send"]), _title("3.9 Bits", [])
    ('3.8 Time to send', '3.9 Bits')
    """
    bare = _bare(text)
    return next((heading for heading in headings if bare in (_bare(heading), 2 * _bare(heading))), text)


def _bare(text: str) -> str:
    return "".join(text.split())


def _bookmarks(
    writer: Any, reader: Any, outline: Sequence[Any], headings: Sequence[str], first: int, parent: Any
) -> Any:
    """Add the bookmarks of one print, whose first sheet is the book's sheet ``first``; returns the first of them."""
    result = above = None
    for one in outline:
        if isinstance(one, list):
            _bookmarks(writer, reader, one, headings, first, above)
            continue
        if one.title == CONTENTS:
            continue
        sheet = first + (reader.get_destination_page_number(one) or 0)
        above = writer.add_outline_item(title=_title(one.title, headings), page_number=sheet, parent=parent)
        result = result or above
    return result


def join(prints: Iterable[tuple[Entry, Print]], title: str) -> bytes:
    """One PDF of printed pages, with bookmarks for parts, pages and sections."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter()
    writer.add_metadata({"/Title": title})
    parts: dict[str, Any] = {"": None}
    above: Any = None
    for entry, one in prints:
        reader, first = PdfReader(io.BytesIO(one.sheets)), len(writer.pages)
        writer.append(io.BytesIO(one.sheets), import_outline=False)
        if entry.part not in parts:
            parts[entry.part] = writer.add_outline_item(title=entry.part, page_number=first)
        parent = above if entry.depth else parts[entry.part]
        mark = _bookmarks(writer, reader, reader.outline, one.headings, first, parent)
        above = above if entry.depth else mark
    result = io.BytesIO()
    writer.write(result)
    return result.getvalue()


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.handouts.pdf", description="The whole book as one PDF.")
    parser.add_argument("--html", type=Path, default=HTML, help="the built book")
    parser.add_argument("--out", type=Path, default=OUT, help="file to write")
    parser.add_argument("--only", nargs="+", metavar="PAGE", help="pages such as book/intro; default: all")
    chosen = parser.parse_args(argv)
    pages = list(entries(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))
    if unknown := {*(chosen.only or ())} - {entry.page for entry in pages}:
        missing = " or ".join(sorted(unknown))
        return fail(f"there is no page {missing}; pages are named as in _toc.yml, such as {pages[1].page}")
    if not (chosen.html / "index.html").is_file():
        return fail(f"there is no built book in {chosen.html}: run make book")
    title = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    wanted = [entry for entry in pages if chosen.only is None or entry.page in chosen.only]
    prints = []
    try:
        with served(chosen.html) as book, chromium() as browser:
            page = browser.new_page(color_scheme="light")
            for number, entry in enumerate(wanted, 1):
                prints.append(printed(page, f"{book}/{entry.page}.html"))
                say(f"printed {number} of {len(wanted)}: {entry.page}")
    except FileNotFoundError as error:
        return fail(str(error))
    data = join(zip(wanted, prints, strict=True), title)
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    chosen.out.write_bytes(data)
    say(f"wrote {chosen.out} ({len(data) / 1e6:.0f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
