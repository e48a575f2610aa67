"""A class as CSV: every cell comes back as it was, and none of them is a formula."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
import toy_bank as toys

from autograder.bank import find
from autograder.classroom import tables
from autograder.classroom.collecting import Handed
from autograder.classroom.graded import Graded
from autograder.marking.marks import Answered, Grading, Mark, Share, refused
from autograder.submission import shown


def marked(item, state: str, score: float = 0.0, slip: str = "", hidden=()) -> Mark:
    shares = (Share("public cases", 1, 1, score, item.points),)
    return Mark(item, state, shares, (), (slip, *hidden) if slip else hidden, slip)


def row(name: str, *marks: Mark | Answered, late: bool = False, reason: str = "", **known: str) -> Graded:
    functions = tuple(mark for mark in marks if isinstance(mark, Mark))
    questions = tuple(mark for mark in marks if isinstance(mark, Answered))
    grading = Grading(name, "0" * 64, functions, questions, reason=reason) if marks else refused(name, reason)
    return Graded(Handed(f"id-{len(name)}", Path(name), name, known, late), grading)


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


NAMES = [
    "Ana Novak",
    "Novak, Ana",
    'Sean "Rusty" O\'Brien',
    "María José Peña",
    "李雷",
    "  blanks  ",
    "semi;colon",
    "",
]
FORMULAS = ['=HYPERLINK("http://x","y")', "+1", "-2+3", "@SUM(A1)"]
#: What hides a formula from the eye, begins a line, or steers the terminal that shows the table.
CONTROL = ["\t=1", "\r=1", "\n=1", "two\nlines", "both\r\nof them", "\x1b[2J", "\u202etxt.py"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_comes_back_as_it_was(name):
    header, line = read(tables.class_csv([row(name, marked(toys.SCALE, "right", 4.0))]))
    assert dict(zip(header, line, strict=True))["name"] == name


@pytest.mark.parametrize("name", FORMULAS)
def test_no_cell_begins_as_a_formula(name):
    """Kills: a name that a spreadsheet runs when the instructor opens the file; in every column that people fill."""
    text = tables.class_csv([row(name, email=name, sid=name, reason=name)])
    header, line = read(text)
    found = dict(zip(header, line, strict=True))
    for column in ("name", "email", "sid", "reason"):
        assert found[column] == f"'{name}", column
    assert not any(cell.startswith(tables.FORMULA) for line in read(text) for cell in line)


@pytest.mark.parametrize("name", CONTROL)
def test_no_cell_holds_a_control_character(name):
    header, line = read(tables.class_csv([row(name, email=name, sid=name, reason=name)]))
    found = dict(zip(header, line, strict=True))
    assert {found[column] for column in ("name", "email", "sid", "reason")} == {shown(name)}
    assert found["name"].isprintable()


def test_a_name_that_is_not_unicode_is_written_all_the_same():
    assert b"lone" in tables.class_csv([row("lone \udcff")]).encode("utf-8")


def test_one_row_for_each_submission_and_one_column_for_each_item():
    right, wrong = marked(toys.SCALE, "right", 4.0), marked(toys.SCALE, "wrong", 0.25)
    question = Answered(find("03-star"), "right")
    text = tables.class_csv(
        [
            row("Ana", right, marked(toys.TALLY, "right", 4.0), question, email="a@example.edu", sid="7"),
            row("Bo", wrong, late=True),
            row("Cy", reason="the archive is encrypted"),
            row("Di", marked(toys.SCALE, "unjudged"), reason="91-scale cannot be judged"),
        ]
    )
    header = ["id", "name", "email", "sid", "late", "gradable", "reason", "score", "points"]
    assert read(text) == [
        [*header, "91-scale", "92-tally", "03-star"],
        ["id-3", "Ana", "a@example.edu", "7", "no", "yes", "", "9", "5", "4", "4", "1"],
        ["id-2", "Bo", "", "", "yes", "yes", "", "0.25", "4", "0.25", "", ""],
        ["id-2", "Cy", "", "", "no", "no", "the archive is encrypted", "", "", "", "", ""],
        ["id-2", "Di", "", "", "no", "no", "91-scale cannot be judged", "0", "4", "", "", ""],
    ]


def test_an_empty_class_has_a_header():
    assert len(read(tables.class_csv([]))) == len(read(tables.items_csv([]))) == 1


def test_items_are_counted_by_state_with_their_commonest_mistake():
    rows = [
        row("a", marked(toys.SCALE, "right", 4.0)),
        row("b", marked(toys.SCALE, "wrong", 0.0, "The factor was added.")),
        row("c", marked(toys.SCALE, "partly", 2.0, "The factor was added.", ("factors below 0",))),
        row("d", marked(toys.SCALE, "partly", 2.0, "A negative factor must raise.")),
        row("e", marked(toys.SCALE, "missing")),
        row("f", marked(toys.SCALE, "unjudged"), reason="x"),
        row("g", reason="the archive is encrypted"),
    ]
    header, line = read(tables.items_csv(rows))
    found = dict(zip(header, line, strict=True))
    assert [found[state] for state in tables.STATES] == ["1", "2", "1", "1", "0", "1"]
    assert (found["item"], found["section"], found["concept"], found["points"]) == ("91-scale", "91.1", "scaling", "4")
    assert float(found["share"]) == 8 / 20
    assert (found["slip"], found["times"], found["hint"], found["given"]) == (
        "The factor was added.",
        "2",
        "factors below 0",
        "1",
    )


def test_counts_tell_who_tried():
    states = ["right", "wrong", "missing", "unwritten", "unjudged"]
    (count,) = tables.counts(row(state, marked(toys.SCALE, state)) for state in states)
    assert (count.judged, count.tried) == (4, 2)


def test_numbers_stay_numbers():
    """Kills: a quote before a score, which turns it into text, and the noise of adding floats."""
    assert tables.guarded(-1.5) == -1.5
    assert read(tables.class_csv([row("a", marked(toys.SCALE, "partly", 0.1 + 0.2))]))[1][-1] == "0.3"
