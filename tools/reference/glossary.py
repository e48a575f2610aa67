"""Glossary: the words of the field, in alphabetical order, with the sections that introduce them."""

from __future__ import annotations

from html import escape

from experiments.glossary import GLOSSARY, Term

from .markup import inline, section_link


def anchor(term: Term) -> str:
    """The id of a term: ``"term-world-size"``."""
    return "term-" + "".join(letter if letter.isalnum() else "-" for letter in term.name.lower())


def _entry(term: Term) -> str:
    also = f' data-also="{escape(", ".join(term.also))}"' if term.also else ""
    return (
        f'<dt id="{anchor(term)}"{also}>{inline(term.name)}</dt>\n'
        f"<dd>{inline(term.meaning)} <span>Section {section_link(term.section)}</span></dd>\n"
    )


def text() -> str:
    """The page's generated part."""
    terms = sorted(GLOSSARY, key=lambda term: term.name.lower())
    return f'<dl class="rz-glossary">\n{"".join(map(_entry, terms))}</dl>\n'
