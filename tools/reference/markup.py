"""What the reference pages are written with: HTML for records, Markdown for headings and tables."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from autograder.marking.concepts import page_of
from autograder.sections import SECTIONS
from rankzero.facts.chapters import CHAPTERS, Chapter
from tools.common import pages_of
from tools.prose_numbers import stripped

_CODE = re.compile(r"`+([^`]+)`+")
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})")
_DOI = re.compile(r"doi:(10\.\d{4,}/[^\s,;]*[^\s,;.:])")
_NAMED = re.compile(r"\[([^\]]+)\]\((https?://[^)\s]+)\)")
_ADDRESS = re.compile(r"(?<!\")\bhttps?://[^\s,;<]*[^\s,;:.<]")


class Fact(Protocol):
    """A record with a source."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...


def inline(text: str) -> str:
    """A sentence as HTML: escaped, with `code`, and with links for arXiv numbers, DOIs and addresses, named or not."""
    text = _CODE.sub(r"<code>\1</code>", html.escape(text, quote=False))
    text = _NAMED.sub(lambda found: _anchor(found[2], found[1]), text)
    text = _ADDRESS.sub(lambda found: _anchor(found[0], found[0]), text)
    text = _ARXIV.sub(lambda found: _anchor(f"https://arxiv.org/abs/{found[1]}", found[0]), text)
    return _DOI.sub(lambda found: _anchor(f"https://doi.org/{found[1]}", found[0]), text)


def command(text: str) -> str:
    """A line for the shell, or a call, as HTML; no line of the page ends at the hyphen of an option or a number."""
    words = map(html.escape, text.split(" "))
    kept = (f'<span class="rz-together">{word}</span>' if "-" in word else word for word in words)
    return f"<code>{' '.join(kept)}</code>"


def dotted(name: str) -> str:
    """The full name of something in a module as HTML; where it is too long for a line, that ends after a dot."""
    return f"<code>{html.escape(name).replace('.', '.<wbr>')}</code>"


def _anchor(address: str, text: str) -> str:
    return f'<a href="{html.escape(address)}">{text}</a>'


def chapter_of(section: str) -> Chapter:
    """The chapter of a section: ``"3.7"`` is in chapter 3."""
    return CHAPTERS[int(section.partition(".")[0]) - 1]


def texts(chapter: Chapter) -> list[str]:
    """The text of a chapter's page without its code, and that of what lies deeper where there is something."""
    cells = [json.loads(path.read_text(encoding="utf-8"))["cells"] for path in pages_of(chapter)]
    return [
        stripped("\n".join("".join(one["source"]) for one in page if one["cell_type"] == "markdown")) for page in cells
    ]


def address(section: str) -> str:
    """Where a section begins in the built book, seen from its opening page."""
    return f"{page_of(section)}.html#section-{section.replace('.', '-')}"


def section_link(section: str, text: str = "") -> str:
    """A link from a reference page to a section of a chapter."""
    return f'<a href="../{address(section)}">{text or section}</a>'


def title(section: str) -> str:
    """Number and title of a section."""
    return f"{section} {SECTIONS[section]}"


def records(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of named parts, each already HTML; parts without text are left out."""
    rows = "".join(f"<dt>{name}</dt><dd>{text}</dd>\n" for name, text in pairs if text)
    return f'<dl class="rz-record">\n{rows}</dl>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns after the first whose cells begin with a digit are aligned to the right."""
    body = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    numeric = [
        at > 0 and all(row[at][:1].isdigit() or row[at] in ("", "–") for row in body) for at in range(len(header))
    ]
    lines = [header, ["---:" if right else "---" for right in numeric], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def sources(facts: Iterable[Fact]) -> str:
    """Where the figures of a table are from: each source once, with what it gives."""
    found: dict[str, list[str]] = {}
    for fact in facts:
        found.setdefault(fact.source, []).append(fact.name)
    return "".join(f"- {', '.join(names)}: {inline(source)}\n" for source, names in found.items())
