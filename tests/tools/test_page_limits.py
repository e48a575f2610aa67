"""What pages ask of their readers: made-up pages whose counts are known, and the limits that they break."""

from __future__ import annotations

import nbformat
import pytest

from autograder import bank
from autograder.items import Build, Question
from autograder.sections import DEEPER
from rankzero.facts.chapters import CHAPTERS
from tools import pages
from tools.common import BOOK

THIRD = CHAPTERS[2]
RING = next(item for item in bank.builds() if item.id == "03-ring-reduce-scatter")
ASKED = next(item for item in bank.items() if isinstance(item, Question) and item.id.startswith("03-"))


def text(source: str, *tags: str):
    return nbformat.v4.new_markdown_cell(source, metadata={"tags": [*tags]})


def code(source: str, *tags: str):
    return nbformat.v4.new_code_cell(source, metadata={"tags": [*tags]})


IMPORTS = code("from experiments.ch03 import ring_trace\nfrom rankzero import figures, world")
QUESTION = code(f'predict("{ASKED.id}")')
BUILD = [code("def f(): ...", "exercise"), code(f"{RING.function} = check({RING.function})")]
RUN = code("print(ring_trace.traced_contributions(4))")
PICTURE = code('stepper(scene, steps=3, title="A ring", alt="A ring.")')
START = text("# 3. Rings\n\nReading takes about 20 minutes.")


def page(*cells):
    return pages.read(THIRD, [START, IMPORTS, text("## 3.1 A ring\n\nFour ranks stand in a ring."), *cells])


def broken(*cells) -> list[str]:
    return [one for one in page(*cells).breaks() if not one.startswith("it states")]


def test_a_task_before_its_picture_and_example():
    """Kills a count that looks at the whole section: what comes after the task does not count."""
    example = text("Rank 0 holds 3, rank 1 holds 4.", "example")
    late = broken(BUILD[0], BUILD[1], PICTURE, example)
    assert late == [
        "3.1 A ring: no picture before the first task",
        "3.1 A ring: no worked example before the first task",
    ]
    assert broken(PICTURE, example, *BUILD) == []
    assert broken(PICTURE, text("![a ring](ring.svg)")) == []
    tree = [code("from rankzero.figures import diagrams"), code("diagrams.trees([[None, 0]])")]
    assert page(*tree, example, *BUILD).sections[1].picture
    assert not page(tree[1], example, *BUILD).sections[1].picture


def test_a_page_may_open_with_a_run():
    """Kills a first program that has to wait for a question."""
    link = text("Its source is `experiments/ch03/ring_trace.py`.")
    found = pages.read(THIRD, [START, IMPORTS, RUN, text("## 3.1 A ring"), RUN, link])
    assert [section.groups for section in found.sections] == [0, 1]


def test_runs_and_predictions():
    """Runs in a row are one group; those after what the reader built use it, those after a question are predicted."""
    link = text("Its source is `experiments/ch03/ring_trace.py`.")
    found = page(RUN, text("And again."), RUN, QUESTION, RUN, *BUILD, RUN, link).sections[1]
    assert (found.groups, found.predicted) == (2, 1)
    assert "1 of 2 groups of runs without a prediction" in list(found.breaks())


@pytest.mark.parametrize(
    ("more", "hides"),
    [
        ([], {"ring_trace.traced_contributions"}),
        ([text("Its source is `experiments/ch03/ring_trace.py`.")], set()),
        ([code("print(inspect.getsource(ring_trace.traced_contributions))", "source")], set()),
        ([code("print(inspect.getsource(ring_trace.other))", "source")], {"ring_trace.traced_contributions"}),
    ],
)
def test_a_mechanism_is_shown_or_linked(more, hides):
    assert page(*more, RUN).sections[1].hidden == hides


def test_a_function_of_the_reader_is_in_view():
    """Kills a list that asks for the source of what the page itself sets as a task."""
    used = code(f"from solutions.ch03.ring import {RING.function}\nprint({RING.function}(x))")
    assert page(used).sections[1].hidden == {f"ring.{RING.function}"}
    assert page(*BUILD, used).sections[1].hidden == set()


def test_kinds_words_and_minutes():
    found = page(QUESTION, *BUILD, text("A word or two: $a + b$."))
    assert (found.counts["derive"], found.counts["build"], found.questions) == (1, 1, 1)
    assert sum(section.words for section in found.sections) == 3 + 5 + 9 + 5 - 1
    assert found.work == pages.MINUTES["derive"] + pages.MINUTES["build"]
    assert found.reading == pytest.approx(21 / pages.WORDS_A_MINUTE)
    assert found.stated == 20


def test_what_is_optional_is_not_on_the_path():
    extra = next(item for item in bank.builds() if item.bonus)
    found = page(code(f"{extra.function} = check({extra.function})"))
    assert (found.sections[1].tasks, found.work) == ([], 0)


def test_a_milestone_takes_time():
    """Kills a path whose longest task is not counted."""
    system = bank.systems()[0]
    found = page(text(f"    python -m autograder milestone labs --only {system.id}"))
    assert found.work == pages.MINUTES["line"] * system.lines
    assert page(text("Its levels are on the sheet.")).work == 0


def test_limits_of_a_page():
    """Sums, minutes and paper: each limit is named with its figure."""
    found = page(QUESTION, text("word " * 12_000))
    found.printed = 36
    said = [one for one in found.breaks() if not one.startswith("3.1")]
    assert said == [
        "1 of 1 questions derive a number, at most a third may",
        f"{found.reading:.0f} minutes of reading, at most 45",
        f"it states 20 minutes of reading, and the rule says {found.reading:.0f}",
        "36 printed pages, at most 35",
    ]


def test_a_rebuilt_page_fails_and_another_is_listed(monkeypatch, capsys):
    """Kills a command that cannot fail."""
    found = page(*BUILD)
    monkeypatch.setattr(pages, "REBUILT", frozenset())
    assert pages.report([found]) == []
    assert "03-collectives (not yet rebuilt)" in capsys.readouterr().out
    monkeypatch.setattr(pages, "REBUILT", frozenset({3}))
    assert "03-collectives: 3.1 A ring: no picture before the first task" in pages.report([found])


def test_a_part_has_its_hours(monkeypatch):
    """Kills four pages that each keep their limits and together take more than the part may."""
    four = [pages.Page(chapter, [pages.Section("1", words=24_001)]) for chapter in CHAPTERS[:4]]
    monkeypatch.setattr(pages, "REBUILT", frozenset({1, 2, 3}))
    assert list(pages.parts(four)) == []
    monkeypatch.setattr(pages, "REBUILT", frozenset({1, 2, 3, 4}))
    assert list(pages.parts(four)) == ["I. Foundations: 8.0 hours, at most 8"]
    assert list(pages.parts(four[:3])) == []


def test_the_opening_page_has_a_program_on_its_first_screen():
    assert pages.opening((BOOK / "intro.md").read_text(encoding="utf-8")) == ""
    assert pages.opening("# A course\n") == "intro: no program runs on it"
    late = "word " * 200 + pages.FIRST_RUN
    assert pages.opening(late) == "intro: 200 words before its first program, at most 150"


REBUILT = [chapter for chapter in CHAPTERS if chapter.number in pages.REBUILT]


def read(chapter):
    return pages.read(chapter, nbformat.read(BOOK / f"{chapter.page}.ipynb", 4).cells)


@pytest.mark.parametrize("chapter", REBUILT, ids=lambda chapter: chapter.page)
def test_a_rebuilt_page_keeps_its_limits(chapter):
    """What ``make pages`` says of it, but for the paper, which takes a built book."""
    assert pages.report([read(chapter)]) == []


def test_each_part_keeps_its_hours():
    assert list(pages.parts([read(chapter) for chapter in REBUILT])) == []


def test_arguments(capsys):
    assert pages.main(["99"]) == 1
    assert "numbers of chapters, 1 to 15, got 99" in capsys.readouterr().err


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.page)
def test_every_item_of_a_page_is_counted(chapter):
    """Kills a card that the count does not see."""
    cells = nbformat.read(BOOK / f"{chapter.page}.ipynb", 4).cells
    seen = {item.id for cell in cells if cell.cell_type == "code" and (item := pages.item_of(cell))}
    mine = [item for item in bank.of_chapter(chapter.package) if item.section not in DEEPER]
    assert seen == {item.id for item in mine}
    found = pages.read(chapter, cells)
    tasks = [one for section in found.sections for one in section.tasks]
    optional = {item.id for item in bank.items() if isinstance(item, Build) and item.bonus}
    assert {*tasks} == seen - optional
