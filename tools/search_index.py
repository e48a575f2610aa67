"""The search index of the built book: its sections and the terms of its glossary, as one script that a page loads when
somebody searches.

A script, not JSON: a page that is opened from disk may load one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Tag

from rankzero.facts.chapters import CHAPTERS
from tools.plain_formulas import formula

#: What is not text of a section, by tag and class: drawings and formulas are not words, buttons and hints not its own.
APART = frozenset({"script", "style", "svg", "noscript", "annotation"})
APART_CLASSES = frozenset(
    {
        "headerlink",
        "katex-html",
        "rz-actions",
        "rz-everything",
        "rz-glossary",
        "rz-hint",
        "rz-hints",
        "rz-scorecard",
        "rz-veil",
    }
)
#: Where some of it begins that is long and can be cut out before the page is parsed, and the tags that lead to its end.
_DRAWN = re.compile(r'<(svg|script|style|noscript|annotation|span(?= class="katex-html"))\b')
_ENDS = {
    name: re.compile(rf"</?{name}\b[^>]*>") for name in ("svg", "script", "style", "noscript", "annotation", "span")
}
_CODE = re.compile(r"(<(pre|code)\b[^>]*>)(.*?)(?=</\2>)", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
#: What a reader may not have earned yet, beside what is veiled: a search finds it, but no excerpt shows it.
CLOSED_CLASSES = frozenset({"rz-derivation", "rz-reference"})
#: Elements whose parts are joined without blanks: a word may be spread over several of them.
CLOSE = frozenset({"pre", "code"})

#: Sections that close a chapter.
CLOSING = ("Summary", "Where the real systems do this", "Deeper")
#: What the sections of a page are, where that is not said by their titles.
KINDS = {
    **{f"book/{chapter.page}": "chapter" for chapter in CHAPTERS},
    **{f"book/{chapter.deeper}": "deeper" for chapter in CHAPTERS},
    "book/reference/hardware": "table",
    "book/reference/models": "table",
    "book/reference/rules-of-thumb": "table",
    "book/reference/programs": "program",
    "book/reference/bibliography": "sources",
}


def kind(page: str, title: str) -> str:
    """What a section is, by which results are ranked (``book/_static/search.js``)."""
    if title == "Sources":
        return "sources"
    if title.endswith("(optional)"):
        return "optional"
    found = KINDS.get(page, "other")
    if found == "chapter" and title.startswith(("Build ", "Debug ")):
        return "task"
    return "closing" if found == "chapter" and title in CLOSING else found


def terms(html: str) -> Iterator[dict[str, str]]:
    """Each term of a glossary: its ``id``, its name as the title, its meaning as the text, the number of the
    section that introduces it, and under which other names people look for it."""
    if "rz-glossary" not in html:
        return
    for name in BeautifulSoup(html, "html.parser").select("dl.rz-glossary > dt[id]"):
        meaning = name.find_next_sibling("dd")
        assert isinstance(meaning, Tag)
        links = [node.extract() for node in meaning.select("span:not(.math)")]
        number = re.search(r"\d+\.\d+", "".join(map(_words, links)))
        yield {
            "id": str(name["id"]),
            "title": _words(name),
            "also": str(name.get("data-also", "")),
            "section": number[0] if number else "",
            "text": _words(meaning),
            "closed": "",
        }


def _tags(node: Tag) -> list[Tag]:
    """The elements of a part of a page. A selector would ask each of them about its ancestors, and take most of a
    build's last step."""
    return [one for one in node.descendants if isinstance(one, Tag)]


def _apart(node: Tag) -> bool:
    """Whether it is not text of the section around it; a nested section is a section of its own, but for a card."""
    classes = node.get("class") or ()
    own = node.name == "section" and node.has_attr("id") and "rz-card" not in classes
    return own or node.name in APART or not APART_CLASSES.isdisjoint(classes)


def _closed(node: Tag) -> bool:
    return node.has_attr("data-veil") or not CLOSED_CLASSES.isdisjoint(node.get("class") or ())


def _heading(section: Tag) -> str:
    found = section.find(["h1", "h2", "h3", "h4"], recursive=False)
    return _words(found) if isinstance(found, Tag) else ""


def _words(node: Tag) -> str:
    return " ".join(node.get_text(" ").split())


def _words_only(html: str) -> str:
    """``html`` without scripts, styles, drawings, set formulas and the colours of code: most of a page, and slow to
    parse. A comment is left in the place of what is cut out, so that the words beside it stay apart."""
    parts, end = [], 0
    for match in _DRAWN.finditer(html):
        if match.start() < end:
            continue
        parts += [html[end : match.start()], "<!---->"]
        depth = 0
        for tag in _ENDS[match[1]].finditer(html, match.start()):
            depth += -1 if tag[0][1] == "/" else 1
            if depth == 0:
                end = tag.end()
                break
        else:
            end = len(html)
    return _CODE.sub(lambda code: code[1] + _TAG.sub("", code[3]), "".join([*parts, html[end:]]))


def sections(html: str) -> Iterator[dict[str, str]]:
    """Each section of a page, the last first: the ``id`` that links lead to, its title, its own text, and what is
    ``closed`` in it: results, explanations and explorers that wait for an answer, derivations, references."""
    begin = html.find("<article")
    text = _words_only(html[begin:]) if begin >= 0 else ""
    article = BeautifulSoup(text, "html.parser").select_one("article.bd-article")
    if article is None:
        return
    tags = _tags(article)
    titled = [node for node in tags if node.name == "section" and node.has_attr("id") and _heading(node)]
    for node in filter(_apart, tags):
        node.extract()
    for node in (node for node in tags if node.name == "math"):
        node.replace_with(formula(node))
    for node in (node for node in tags if node.name in CLOSE):
        node.replace_with(node.get_text())
    for section in reversed(titled):  # the inner ones first
        closed = " ".join(_words(node.extract()) for node in _tags(section) if _closed(node))
        title, text = _heading(section), _words(section)
        yield {"id": str(section["id"]), "title": title, "text": text.removeprefix(title).strip(), "closed": closed}


def collect(output: Path, pages: list[str]) -> list[dict[str, Any]]:
    """The sections and terms of ``pages``, names without suffix, in the order of the book; each with its page and with
    what it is."""
    result: list[dict[str, Any]] = []
    for page in pages:
        html = (output / f"{page}.html").read_text(encoding="utf-8")
        own = [*sections(html)][::-1]
        of = own[0]["title"] if own else ""
        result += [{"page": page, "of": of, "kind": kind(page, section["title"]), **section} for section in own]
        result += [{"page": page, "of": of, "kind": "term", **term} for term in terms(html)]
    return result


def script(found: list[dict[str, Any]]) -> str:
    """The script that hands the sections to ``search.js``."""
    return f"window.rankzeroSections = {json.dumps(found, ensure_ascii=False)};\n"
