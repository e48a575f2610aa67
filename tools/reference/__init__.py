"""The reference pages, made while the book is built. An extension of Sphinx, named in ``_config.yml``.

A page of ``book/reference/`` is a few lines of text around one mark, ``<!-- generated -->``; the module of this
package that :data:`PAGES` names for it writes what stands there, from code that is tested. The opening page and the
instructors' page have marks of their own (:data:`MARKS`). The chapters get what leads to those pages: an anchor at each
section, and links at the end of each section that has corrections.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes

from experiments.correction import Correction
from rankzero.facts.chapters import CHAPTERS

from . import (
    begin,
    bibliography,
    calculators,
    choices,
    corrections,
    first_run,
    formulas,
    glossary,
    hardware,
    ideas,
    models,
    programs,
    routes,
    rules,
    takeaways,
    teaching,
    why,
)

#: The pages in the order of the contents, and what writes the generated part of each.
PAGES: dict[str, Callable[[], str]] = {
    "rules-of-thumb": rules.text,
    "calculators": calculators.text,
    "choices": choices.text,
    "numbers-that-disagree": corrections.text,
    "formulas": formulas.text,
    "hardware": hardware.text,
    "models": models.text,
    "glossary": glossary.text,
    "programs": programs.text,
    "takeaways": takeaways.text,
    "bibliography": bibliography.text,
}
FOLDER = "book/reference/"
#: The opening page, its marks, and what writes what stands there.
OPENING = "book/intro"
OPENING_MARKS: dict[str, Callable[[], str]] = {
    "<!-- begin -->": begin.text,
    "<!-- first run -->": first_run.text,
    "<!-- why -->": why.text,
    "<!-- map -->": ideas.text,
    "<!-- routes -->": routes.text,
}
#: Pages with marks of their own.
MARKS: dict[str, dict[str, Callable[[], str]]] = {
    OPENING: OPENING_MARKS,
    "book/instructors": {
        "<!-- courses -->": teaching.courses,
        "<!-- worth -->": teaching.worth,
        "<!-- designs -->": teaching.designs,
        "<!-- reasons -->": teaching.reasons,
    },
}
MARK = "<!-- generated -->"
_NUMBER = re.compile(r"^(\d+\.\d+) ")


def fill(document: str, text: str, generated: str) -> str:
    """The text of a page with its generated part in place.

    Raises:
        ValueError: the page does not hold the mark exactly once.
    """
    if text.count(MARK) != 1:
        raise ValueError(f"{document}.md must hold {MARK} once, got it {text.count(MARK)} times")
    return text.replace(MARK, generated)


def _read(app: Any, document: str, source: list[str]) -> None:
    name = document.removeprefix(FOLDER)
    if document.startswith(FOLDER) and name in PAGES:
        source[0] = fill(document, source[0], PAGES[name]())
    for mark, write in MARKS.get(document, {}).items():
        if mark in source[0]:
            source[0] = source[0].replace(mark, write())


def _outdated(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """All generated pages, since any module may change what they say; reading them again takes a second or two."""
    return [name for name in (*MARKS, *(f"{FOLDER}{name}" for name in PAGES)) if name in env.found_docs]


def link(found: tuple[Correction, ...], folder: str = "") -> nodes.paragraph:
    """The paragraph that leads from the end of a section to its corrections; ``folder`` leads back to the chapters."""
    paragraph = nodes.paragraph("", "Where numbers disagree: ", classes=["rz-corrections"])
    for number, correction in enumerate(found, 1):
        target = f"{folder}reference/numbers-that-disagree.html#{corrections.anchor(correction.section, number)}"
        paragraph += nodes.reference("", correction.title, refuri=target, internal=True)
        paragraph += nodes.Text("; " if number < len(found) else ".")
    return paragraph


def _mark(app: Any, tree: nodes.document) -> None:
    """Give each section of a chapter its anchor, and its link to the corrections."""
    document = app.env.docname
    chapters = [chapter for chapter in CHAPTERS if document.removeprefix("book/") in (chapter.page, chapter.deeper)]
    for chapter in chapters:
        for file in Path(app.srcdir, "experiments", chapter.package).glob("*corrections.py"):
            app.env.note_dependency(str(file))
        by_section = corrections.by_section()
        for section in tree.findall(nodes.section):
            if title := _NUMBER.match(section[0].astext()):
                section["ids"].append(f"section-{title[1].replace('.', '-')}")
                if found := by_section.get(title[1]):
                    section += link(found, "../" * (document.count("/") - 1))


def _named(app: Any, config: Any) -> None:
    """The name of the book beside its mark, which the theme would show in place of the name."""
    config.html_theme_options.setdefault("logo", {"text": config.html_title})


def setup(app: Any) -> dict[str, bool]:
    """Connect the extension; called by Sphinx."""
    app.connect("config-inited", _named)
    app.connect("source-read", _read)
    app.connect("env-get-outdated", _outdated)
    app.connect("doctree-read", _mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
