"""Concepts: how they stand, in the order of the course, and where the book explains them."""

from __future__ import annotations

import json
import shutil

import pytest
import toy_bank as toys

from autograder import bank
from autograder.marking import concepts
from autograder.marking.concepts import Concept, anchor, reading
from autograder.marking.marks import Answered, Mark
from autograder.sections import SECTIONS
from rankzero.facts.chapters import CHAPTERS
from tools import sections as generator
from tools.common import ROOT


def mark(item, state: str, public=(), hidden=(), slip="") -> Mark:
    return Mark(item, state, (), public, hidden, slip)


# Where to read


def test_titles_are_those_of_the_notebooks():
    """Kills: a title that was changed in the book and not in what reports say."""
    for path, text in generator.wanted().items():
        assert path.read_text(encoding="utf-8") == text, "run python -m tools.sections"


def test_a_chapter_is_called_as_its_page():
    for chapter in CHAPTERS:
        page = json.loads((ROOT / "book" / f"{chapter.page}.ipynb").read_text(encoding="utf-8"))
        assert "".join(page["cells"][0]["source"]).startswith(f"# {chapter.number}. {chapter.title}\n")


def test_every_page_with_a_number_is_a_chapter():
    assert {path.stem for path in (ROOT / "book").glob("*.ipynb")} == {chapter.page for chapter in CHAPTERS}
    deeper = {f"deeper/{path.stem}" for path in (ROOT / "book" / "deeper").glob("*")}
    assert deeper <= {chapter.deeper for chapter in CHAPTERS}


def test_the_generator_says_what_is_stale(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / "book", tmp_path / "book", ignore=shutil.ignore_patterns("_static"))
    shutil.copy(ROOT / "_config.yml", tmp_path)
    (tmp_path / "autograder").mkdir()
    intro = tmp_path / "book" / "intro.md"
    before = intro.read_text(encoding="utf-8")
    intro.write_text(before.replace("[4. Topology](04-topology.ipynb)", "[4. Nets](nets.ipynb)"), encoding="utf-8")
    monkeypatch.setattr(generator, "ROOT", tmp_path)
    assert generator.main(["--check"]) == 1
    assert "autograder/sections.py, _toc.yml, book/intro.md" in capsys.readouterr().err
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    assert intro.read_text(encoding="utf-8") == before
    assert (tmp_path / "_toc.yml").read_text() == (ROOT / "_toc.yml").read_text()
    made: dict = {}
    exec((tmp_path / "autograder" / "sections.py").read_text(encoding="utf-8"), made)
    assert made["SECTIONS"] == SECTIONS


def test_every_item_stands_in_a_section_of_the_book():
    assert [item.id for item in bank.items() if item.section not in SECTIONS] == []
    assert {section.split(".")[0] for section in SECTIONS} == {str(chapter.number) for chapter in CHAPTERS}


def test_headings_are_named_as_the_built_pages_name_them():
    """The book's pages are made by docutils, which decides the names."""
    make_id = pytest.importorskip("docutils.nodes").make_id
    for number, title in SECTIONS.items():
        assert anchor(title) == make_id(f"{number} {title}"), title


def test_the_built_book_is_linked_where_its_address_is_known():
    page = reading("3.6", "https://example.edu/course/book/")
    assert page.address == "https://example.edu/course/book/03-collectives.html#ring-reduce-scatter"
    assert str(page) == "section 3.6, Ring reduce-scatter"


def test_reports_link_to_the_hosted_book(tmp_path, monkeypatch):
    """Kills: an address typed into the grader, and one that breaks where there is none."""
    config = tmp_path / "_config.yml"
    config.write_text('html:\n  baseurl: "https://example.org/course/"\nrepository:\n  url: https://example.org/a/b\n')
    assert generator.hosted(config) == "https://example.org/course/book"
    assert generator.hosted(ROOT / "_config.yml") == concepts.BOOK
    monkeypatch.setattr(concepts, "BOOK", "https://example.org/course/book")
    assert reading("3.6").address == "https://example.org/course/book/03-collectives.html#ring-reduce-scatter"
    assert concepts.hand_in() == "https://example.org/course/book/hand-in.html"
    config.write_text("repository:\n  url: https://example.org/a/b\n")
    assert generator.hosted(config) == ""
    monkeypatch.setattr(concepts, "BOOK", "")
    assert reading("3.6").address == concepts.hand_in() == ""


def test_an_unknown_section_has_its_number():
    where = reading("91.1", "https://example.edu")
    assert (str(where), where.address) == ("section 91.1", "")


@pytest.mark.parametrize("book", ["javascript:alert(1)", "https://x y", None, 3, ""])
def test_only_an_address_of_the_web_is_linked(book):
    assert concepts.book_of({"book": book}) == ""


# Concepts


@pytest.mark.parametrize(
    ("states", "state"),
    [
        (["right", "right"], "right"),
        (["right", "wrong"], "partly"),
        (["partly"], "partly"),
        (["wrong", "unwritten"], "not yet"),
        (["missing", "unwritten"], "not written"),
        (["right", "missing"], "partly"),
        (["right", "unjudged"], "not judged"),
    ],
)
def test_how_a_concept_stands(states, state):
    """Kills: calling a concept right while one of its functions is not, and wrong when nothing was handed in."""
    assert Concept("1.1", "t", tuple(mark(toys.SCALE, one) for one in states)).state == state
    assert state in concepts.STATES


def test_concepts_come_in_the_order_of_the_course():
    """Kills: the order of text, in which 3.17 comes before 3.6, and 15 before 3."""
    wanted = ["03-distributed-mean", "cap-parameter-count", "03-ring-reduce-scatter", "03-distributed-argmax"]
    listed = concepts.concepts(mark(bank.find(name), "wrong") for name in wanted)
    assert [concept.section for concept in listed] == ["3.6", "3.17", "15.11"]
    assert [len(concept.marks) for concept in listed] == [1, 2, 1]


def test_questions_of_a_section_are_one_concept():
    asked = [Answered(bank.find(name), "right") for name in ("03-steps", "03-whole-tensor-ring")]
    (concept,) = concepts.concepts(asked)
    assert (concept.section, concept.topic, concept.state) == ("3.14", "questions", "right")


def test_what_was_tried_comes_before_what_was_not():
    """Kills: sending someone who works on chapter 3 to the first page of the course."""
    absent, tried = mark(bank.find("01-join"), "missing"), mark(bank.find("03-ring-all-gather"), "wrong")
    right = mark(bank.find("02-relay"), "right")
    assert concepts.following(concepts.concepts([absent, tried, right])).section == "3.7"
    assert concepts.following(concepts.concepts([absent, right])).section == "1.4"
    assert concepts.following(concepts.concepts([right])) is None


def test_what_others_wait_for_comes_first(tmp_path):
    """Kills: sending someone to a function that cannot work before another is written."""
    source = "def spread(values):\n    low = lowest(values)\n    return [value - low for value in values]\n"
    marks = toys.marks(tmp_path, source, toys.LOWEST, toys.SPREAD)
    assert marks["spread"].state == "wrong"
    assert concepts.following(concepts.concepts(marks.values())).topic == "minimum"


# Ideas


def test_ideas_and_public_cases_are_told_apart(tmp_path):
    """Kills: an idea hidden among failing calls, and a call shown as an idea."""
    source = "def scale(value, factor):\n    return value + factor\n"
    added = toys.marks(tmp_path, source, toys.SCALE)["scale"]
    assert concepts.ideas(added) == (
        "The factor was added.",
        "factors below 0 (returned a value; raise ValueError)",
    )
    assert [one.split(":")[0] for one in concepts.failing(added)] == ["scale(2, 3)", "scale(0.5, 4)", "scale(1, 0)"]
    needy = mark(toys.SPREAD, "wrong", ("spread needs lowest (91-lowest), which is not there",))
    assert (concepts.ideas(needy), concepts.failing(needy)) == (needy.public, ())


def test_the_slip_is_kept_with_the_mark(tmp_path):
    source = "def scale(value, factor):\n    return value + factor\n"
    assert toys.marks(tmp_path, source, toys.SCALE)["scale"].slip == "The factor was added."
    assert toys.marks(tmp_path, toys.RIGHT, toys.SCALE)["scale"].slip == ""


def test_hints_are_counted_as_the_author_wrote_them(tmp_path):
    """Kills: a hint counted once for each way to fail, and a slip counted as a hint."""
    source = "def scale(value, factor):\n    return value * factor * 2\n"
    twice = toys.marks(tmp_path, source, toys.SCALE)["scale"]
    assert twice.hidden[1].endswith("(returned a value; raise ValueError)")
    assert concepts.hints(twice) == ["any value, factors above 1", "factors below 0"]
    slip = mark(toys.SCALE, "wrong", hidden=("a factor of 0", "factors below 0"), slip="a factor of 0")
    assert concepts.hints(slip) == ["factors below 0"]
