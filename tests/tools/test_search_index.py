"""What the search finds: sections by what they are, and every term of the glossary."""

from __future__ import annotations

import pytest

from experiments.glossary import GLOSSARY, Term
from tools import search_index
from tools.reference import glossary

PAGE = """<article class="bd-article"><section id="words"><h1>Words</h1><p>In order.</p>
<dl class="rz-glossary">
<dt id="term-send" data-also="post, ship it">send</dt>
<dd>Hand a message over. <span>Section <a href="x">2.1 One</a></span></dd>
<dt id="term-n"><span class="math">N</span></dt>
<dd>How many.</dd>
</dl></section></article>"""


@pytest.mark.parametrize(
    ("page", "title", "kind"),
    [
        ("book/03-collectives", "3.7 Ring all-gather, then all-reduce", "chapter"),
        ("book/03-collectives", "Build ring_all_reduce", "task"),
        ("book/04-topology", "Debug debug_barrier", "task"),
        ("book/deeper/04-topology-deeper", "4.10 Two trees", "deeper"),
        ("book/deeper/04-topology-deeper", "Build best_chunks (optional)", "optional"),
        ("book/09-kv-cache", "Sources", "sources"),
        ("book/deeper/04-topology-deeper", "Sources", "sources"),
        ("book/reference/bibliography", "Papers, books and dated documents", "sources"),
        ("book/reference/programs", "deadlock", "program"),
        ("book/reference/hardware", "GPUs", "table"),
        ("book/01-first-program", "Summary", "closing"),
        ("book/reference/formulas", "Formulas", "other"),
        ("book/instructors", "Summary", "other"),
    ],
)
def test_what_a_section_is(page, title, kind):
    assert search_index.kind(page, title) == kind


def test_a_term_has_an_entry_of_its_own():
    """Kills a glossary that is found as a whole or not at all; the link to the section is no word of the meaning."""
    send, number = search_index.terms(PAGE)
    assert send == {
        "id": "term-send",
        "title": "send",
        "also": "post, ship it",
        "section": "2.1",
        "text": "Hand a message over.",
        "closed": "",
    }
    assert (number["id"], number["title"], number["also"], number["section"]) == ("term-n", "N", "", "")
    (section,) = search_index.sections(PAGE)
    assert section["text"] == "In order."


def test_pages_and_kinds_stand_in_the_index(tmp_path):
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "words.html").write_text(PAGE)
    found = search_index.collect(tmp_path, ["book/words"])
    assert [(one["kind"], one["page"], one["of"], one["id"]) for one in found] == [
        ("other", "book/words", "Words", "words"),
        ("term", "book/words", "Words", "term-send"),
        ("term", "book/words", "Words", "term-n"),
    ]


def test_every_term_of_the_glossary_is_there():
    page = f'<article class="bd-article"><section id="g"><h1>G</h1>{glossary.text()}</section></article>'
    found = {one["title"]: one["also"] for one in search_index.terms(page)}
    assert found == {term.name: ", ".join(term.also) for term in GLOSSARY}


def test_no_name_leads_to_two_terms():
    """Kills a search whose first result depends on the order of the glossary. Hyphens do not matter."""

    def plain(name: str) -> str:
        return "".join(filter(str.isalnum, name.lower()))

    names = [plain(name) for term in GLOSSARY for name in (term.name, *term.also)]
    assert sorted(names) == sorted(set(names))
    assert Term("a", "1.1", "A.").also == ()
