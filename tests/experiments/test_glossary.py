"""Glossary: the terms are those of the pages, and each has a section."""

import json

import pytest

from autograder.marking.concepts import page_of
from autograder.sections import SECTIONS
from experiments.glossary import GLOSSARY
from tools.common import BOOK


@pytest.mark.parametrize("term", GLOSSARY, ids=lambda term: term.name)
def test_a_term_is_one_that_its_chapter_uses(term):
    """Kills a term that no page uses, and one that names another chapter's section."""
    assert term.section in SECTIONS
    cells = json.loads((BOOK / f"{page_of(term.section)}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = " ".join("".join(cell["source"]) for cell in cells).lower()
    words = term.name.lower().replace("-", " ").split()
    assert all(word in text for word in words)


@pytest.mark.parametrize("term", GLOSSARY, ids=lambda term: term.name)
def test_a_meaning_is_made_of_sentences(term):
    assert term.meaning[0].isupper()
    assert term.meaning.endswith(".")


def test_names_are_said_once():
    assert len({term.name.lower() for term in GLOSSARY}) == len(GLOSSARY)
