"""Scores in the platforms' own files: what their imports would read, and that nothing else changes.

``canvas_reads`` and ``moodle_reads`` are small readers of their own, written after the rules by which the two imports
read a file; they share no code with what writes it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder import bank
from autograder.__main__ import main
from autograder.classroom import csv_file, storage
from autograder.classroom.collecting import Handed
from autograder.classroom.csv_file import CsvFile, Unfillable
from autograder.classroom.gradebooks import Score, canvas, moodle, read_scores
from autograder.classroom.graded import Graded
from autograder.marking.answers import Answers
from autograder.marking.marks import Grading, Mark, Share
from autograder.running.exam import Exam

#: A busy machine is no failure.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
ITEM: Any = bank.find("03-ring-all-reduce-time")
NAMES = ['Doe, Jane "JD"', "=HYPERLINK(1)", "+1", "-2", "@sum", "Ünal, Zoë", "張偉", "\tTab", "two\nlines", "'quote"]


def table(rows, delimiter=",", end="\r\n", bom="", **more) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=end, **more).writerows(rows)
    return bom + buffer.getvalue()


def cells(text: str, delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter))


# What the platforms read


def canvas_reads(text: str) -> dict[str, dict[str, str]]:
    """By Canvas's user id, the grade of each assignment by its id: as Canvas's import reads them."""
    text = text.removeprefix("\ufeff")
    delimiter = max(",;", key=lambda mark: len(cells(text, mark)[0]))
    rows = [row for row in cells(text, delimiter) if any(cell.strip() for cell in row)]
    header, *rest = rows
    names = 2 if header[:2] == ["LastName", "FirstName"] else 1
    assert "Student" in header[0] or names == 2
    assert "ID" in header[names]
    identity = header[: header.index("Section") + 1]
    assert set(identity) <= {"Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID", "Section"}
    possible = [row for row in rest if "Points Possible" in row[0]]
    totals = "(Current|Final|Override) (Score|Points|Grade|Status)"
    grades: dict[str, dict[str, str]] = {}
    for row in rest:
        muted = all(re.fullmatch(r"\s*(Muted|Manual Posting.*)?\s*", cell, re.I) for cell in row)
        if row in possible or muted:
            continue
        grades[row[names]] = {}
        for title, cell, top in list(zip(header, row, possible[0], strict=True))[len(identity) :]:
            number = re.fullmatch(r".+ \((\d+)\)", title, re.DOTALL)
            if number and not re.search(totals, title) and "read only" not in top:
                *whole, last = re.split("[.,]", cell.strip()) if re.fullmatch(r"-?[0-9.,]+", cell.strip()) else [cell]
                grades[row[names]][number[1]] = ".".join(["".join(whole), last] if whole else [last])
    return grades


def moodle_reads(
    text: str, words=("Identifier", "Grade", "Last modified (grade)", "Participant "), mark=".", top=100.0
):
    """By participant, the grade that Moodle's import would store; what it passes over in silence is missing."""
    rows = cells(text, max(",;", key=text.split("\n")[0].count))
    identifier, grade, modified, participant = words
    places = [rows[0].index(word) for word in (identifier, grade, modified)]
    found = {}
    for row in filter(None, rows[1:]):
        number = row[places[0]][len(participant) :]
        value = row[places[1]].strip().replace(" ", "").replace(mark, ".")
        if value and 0 <= float(re.match(r"[0-9.]*", value)[0] or 0) <= top:  # PHP reads the number in front
            found[number] = float(re.match(r"[0-9.]*", value)[0] or 0)
    return found


# Canvas

HEADER = [
    "Student",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Section",
    "Notes",
    "Lab 1 (11)",
    "Lab, 2 (12)",
    "Final Score",
]
POSSIBLE = ["    Points Possible", "", "", "", "", "(read only)", "10.00", "5.00", "(read only)"]


def gradebook(rows=None) -> list[list[str]]:
    learners = [[name, str(100 + n), f"s{n}", f"u{n}@x.edu", "A", "", "", "", "0.00"] for n, name in enumerate(NAMES)]
    return [HEADER, ["", "", "", "", "", "", "Manual Posting", "", ""], POSSIBLE, *(learners if rows is None else rows)]


def score(number: float, name: str = "x", points: float = 10.0, reason: str = "", **known: str) -> Score:
    return Score(f"id-{name}", name, number, points, known, reason)


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_canvas_reads_what_is_filled_in_and_nothing_else_changes(end, bom, delimiter):
    export = table(gradebook(), delimiter, end, bom)
    filled = canvas(export, [score(n + 0.25, str(n), canvas=str(100 + n)) for n in range(9)], "Lab 1 (11)")
    assert {user: grades["11"] for user, grades in canvas_reads(filled.text).items()} == {
        **{str(100 + n): f"{n}.25" for n in range(9)},
        "109": "",
    }
    before, after = cells(export, delimiter), cells(filled.text, delimiter)
    assert [row[:6] + row[7:] for row in after] == [row[:6] + row[7:] for row in before]
    assert filled.text.startswith("\ufeff") is bool(bom)
    assert filled.text.count("\r\n") == export.count("\r\n")
    assert filled.text.count("\n") == export.count("\n")
    assert filled.notes == ("9 scores filled into 'Lab 1 (11)'", '"\'quote" has no submission')


def test_lines_that_do_not_change_are_kept_to_the_letter():
    """Kills: an export that is written anew, with other quotes."""
    odd = '"Doe, Jane","100",,u@x,A,"","","",0\r\n    "x" y,101 ,,,A,,,,\r\n\r\n'
    export = table([HEADER, POSSIBLE]) + odd
    assert canvas(export, [], "11").text == export
    changed = canvas(export, [score(3, canvas="101")], "11").text
    assert changed.startswith(table([HEADER, POSSIBLE]) + '"Doe, Jane","100",,u@x,A,"","","",0\r\n')
    assert changed.endswith("\r\n\r\n")


def test_canvas_finds_learners_by_other_names_where_the_id_is_not_known():
    rows = [
        ["A", "1", "007", "ann@x.edu", "", "", "", "", ""],
        ["B", "2", "", "BOB@x.edu", "", "", "", "", ""],
        ["C", "3", "", "twice@x.edu", "", "", "", "", ""],
        ["D", "4", "", "twice@x.edu", "", "", "", "", ""],
        ["E", "5", "", "eve", "", "", "", "", ""],
    ]
    scores = [
        score(1, "ann", sid="007", email="other@x.edu"),
        score(2, "bob", email="bob@X.edu"),
        score(3, "twice", email="twice@x.edu"),
        score(4, "eve", sid="eve"),
        score(5, "stranger", canvas="99"),
    ]
    filled = canvas(table(gradebook(rows)), scores, "11")
    assert [grades["11"] for grades in canvas_reads(filled.text).values()] == ["1", "2", "", "", "4"]
    assert "'twice' (id-twice) handed in but has no row" in filled.notes
    assert "'stranger' (id-stranger) handed in but has no row" in filled.notes
    assert "'C' has no submission" in filled.notes


def test_all_of_a_group_get_its_score():
    rows = [[name, str(n), f"s{n}", f"{name}@x", "", "", "", "", ""] for n, name in enumerate("abc")]
    filled = canvas(table(gradebook(rows)), [score(7, "pair", sid="s0", email="a@x; c@x")], "11")
    assert [grades["11"] for grades in canvas_reads(filled.text).values()] == ["7", "", "7"]


def test_what_is_not_graded_is_never_a_zero():
    """Kills: staking a zero on a file that could not be opened, or on one of two submissions."""
    rows = [[name, str(n), "", "", "", "", "8.50", "", ""] for n, name in enumerate("abcd")]
    rows[3][6] = "EX"
    scores = [
        score(0, "a", canvas="0", reason="a.zip is damaged:\n pack it again"),
        score(1, "b", canvas="1"),
        score(2, "b again", canvas="1"),
        score(0, "c", canvas="2"),
        score(4, "d", canvas="3"),
    ]
    filled = canvas(table(gradebook(rows)), scores, "11")
    assert [grades["11"] for grades in canvas_reads(filled.text).values()] == ["8.50", "8.50", "0", "EX"]
    assert filled.notes[0] == "1 scores filled into 'Lab 1 (11)'; 1 of them replaced another"
    assert "'a' is not graded: a.zip is damaged: pack it again" in filled.notes
    assert "'b' has several submissions (id-b, id-b again), and keeps the cell" in filled.notes
    assert "'d' keeps EX in Canvas" in filled.notes


def test_scores_are_turned_into_shares_only_when_asked():
    rows = [["a", "1", "", "", "", "", "", "", ""]]
    plain = canvas(table(gradebook(rows)), [score(10, points=40, canvas="1")], "11")
    scaled = canvas(table(gradebook(rows)), [score(10, points=40, canvas="1")], "11", scale=True)
    assert [canvas_reads(one.text)["1"]["11"] for one in (plain, scaled)] == ["10", "2.5"]
    assert any("Points Possible is 10 but submissions are out of 40" in note for note in plain.notes)
    assert not any("count 40" in note for note in scaled.notes)


def test_a_decimal_comma_stays_a_decimal_comma():
    rows = [["a", "1", "", "", "", "", "3,50", "", ""], ["b", "2", "", "", "", "", "", "", ""]]
    filled = canvas(table(gradebook(rows), ";"), [score(7.25, canvas="2")], "11")
    assert cells(filled.text, ";")[-1][6] == "7,25"
    assert canvas_reads(filled.text)["2"]["11"] == "7.25"


def test_last_and_first_names_in_two_columns():
    rows = [["LastName", "FirstName", "ID", "SIS Login ID", "Section", "Lab (1)"]]
    rows += [["Points Possible", "", "", "", "", "10"], ["Doe", "Jane", "5", "j", "A", ""]]
    assert canvas_reads(canvas(table(rows), [score(3, canvas="5")]).text) == {"5": {"1": "3"}}


@pytest.mark.parametrize("column", ["Lab, 2 (12)", "12", "Lab, 2"])
def test_the_column_may_be_named_in_three_ways(column):
    filled = canvas(table(gradebook()), [score(3, canvas="100")], column)
    assert canvas_reads(filled.text)["100"] == {"11": "", "12": "3"}


@pytest.mark.parametrize(
    ("rows", "column", "sentence"),
    [
        (gradebook(), "", "name the column to fill; the assignments are: 'Lab 1 (11)', 'Lab, 2 (12)'"),
        (gradebook(), "Lab 3", "no single column is called 'Lab 3'"),
        (gradebook(), "Final Score", "no single column is called 'Final Score'"),
        ([["Student", "ID", "Section", "Current Score (2026)"], ["a", "1", "", "5"]], "", "the assignments are: none"),
        ([["Name", "Mail"], ["a", "1"]], "", "not an export of Canvas"),
        ([["Student", "ID", "Section"], ["a", "1"]], "", "a row has 2 cells but the header has 3"),
        ([["Student", "ID"]], "", "has no rows"),
        ([], "", "has no rows"),
    ],
)
def test_what_is_no_export_of_canvas_is_refused(rows, column, sentence):
    with pytest.raises(Unfillable) as caught:
        canvas(table(rows), [], column)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


# Moodle

ENGLISH = ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed"]
ENGLISH += ["Last modified (submission)", "Last modified (grade)", "Feedback comments"]
GERMAN = ["Kennung", "Vollständiger Name", "E-Mail-Adresse", "Status", "Bewertung", "Bestwertung", "Änderbar"]
GERMAN += ["Zuletzt geändert (Abgabe)", "Zuletzt geändert (Bewertung)", "Feedback als Kommentar"]


def worksheet(header=ENGLISH, word="Participant ", top="100.00") -> list[list[str]]:
    dates = "Monday, 2 February 2026, 1:00 PM"
    return [header] + [
        [f"{word}{500 + n}", name, f"u{n}@x.edu", "Submitted - ", "", top, "Yes", dates, "-", "a, b"]
        for n, name in enumerate(NAMES)
    ]


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("rows", "words", "mark"),
    [
        (worksheet(), ("Identifier", "Grade", "Last modified (grade)", "Participant "), "."),
        (
            worksheet(GERMAN, "Teilnehmer/in ", "100,00"),
            ("Kennung", "Bewertung", "Zuletzt geändert (Bewertung)", "Teilnehmer/in "),
            ",",
        ),
        (worksheet(GERMAN, "参加者", "100.00"), ("Kennung", "Bewertung", GERMAN[8], "参加者"), "."),
    ],
)
def test_moodle_reads_what_is_filled_in_and_nothing_else_changes(rows, words, mark, end, bom):
    export = table(rows, ",", end, bom)
    filled = moodle(export, [score(n + 0.5, str(n), 100.0, moodle=str(500 + n)) for n in range(10)])
    assert moodle_reads(filled.text.removeprefix(bom), words, mark) == {str(500 + n): n + 0.5 for n in range(10)}
    before, after = cells(export), cells(filled.text)
    assert [row[:4] + row[5:] for row in after] == [row[:4] + row[5:] for row in before]
    assert filled.text.startswith("\ufeff") is bool(bom)
    assert (filled.text.count("\r"), filled.text.count("\n")) == (export.count("\r"), export.count("\n"))
    assert f"column of the participants: {rows[0][0]!r}; of the grades: {rows[0][4]!r}" in filled.notes


def test_what_moodle_would_pass_over_in_silence_is_said():
    rows = worksheet()
    rows[2][6] = "No"
    scores = [score(101, "0", 100.0, moodle="500"), score(5, "1", 100.0, moodle="501")]
    scores += [score(6, "2", 100.0, email="U2@x.edu"), score(7, "9", 100.0, moodle="9")]
    filled = moodle(table(rows), scores)
    assert moodle_reads(filled.text) == {"502": 6.0}
    assert cells(filled.text)[1][4] == ""
    said = "\n".join(filled.notes)
    assert "has 101, above the maximum grade (100), and keeps the cell: --cap enters the maximum" in said
    assert "'=HYPERLINK(1)' keeps the grade, which Moodle has locked" in said
    assert "'9' (id-9) handed in but has no row" in said
    assert "'Ünal, Zoë' has no submission" in said


def test_the_maximum_is_entered_for_what_is_above_it():
    """Kills: the best learner of a class, who gets no grade because optional items made it too good."""
    filled = moodle(table(worksheet()), [score(7, "0", 4.0, moodle="500")], scale=True, cap=True)
    assert moodle_reads(filled.text) == {"500": 100.0}
    assert "has 175, above the maximum grade (100), which is entered" in "\n".join(filled.notes)
    filled = canvas(table(gradebook()), [score(7, "0", 4.0, canvas="100")], "Lab 1 (11)", scale=True, cap=True)
    assert canvas_reads(filled.text)["100"]["11"] == "10"
    filled = canvas(table(gradebook()), [score(7, "0", 4.0, canvas="100")], "Lab 1 (11)", scale=True)
    assert canvas_reads(filled.text)["100"]["11"] == "17.5"


def test_points_become_shares_of_the_maximum_grade():
    filled = moodle(table(worksheet()), [score(30, points=40.0, moodle="500")], scale=True)
    assert moodle_reads(filled.text) == {"500": 75.0}


def test_grades_that_are_there_are_replaced_and_counted():
    rows = worksheet(GERMAN, "Teilnehmer/in ", "100,00")
    rows[1][4], rows[2][4] = "12,50", "3,00"
    filled = moodle(table(rows), [score(12.5, "a", 100.0, moodle="500"), score(4, "b", 100.0, moodle="501")])
    assert filled.notes[0] == "2 scores filled into 'Bewertung'; 1 of them replaced another"
    assert [row[4] for row in cells(filled.text)[1:3]] == ["12,5", "4"]


@pytest.mark.parametrize(
    ("rows", "column", "sentence"),
    [
        ([["a", "b"], ["1", "2"]], "", "not a grading worksheet of Moodle"),
        ([["a", "b"], ["Participant 1", "x"], ["Teilnehmer 2", "x"]], "", "not a grading worksheet of Moodle"),
        ([["Kennung", "x", "y"], ["P 1", "a", "b"]], "", "the column of grades is not found: name it"),
        ([["Kennung", "x", "y", "z"], ["P 1", "5", "5", "5"]], "", "the columns are: 'Kennung', 'x', 'y', 'z'"),
        (worksheet(), "Note", "no single column is called 'Note'"),
        (worksheet(top="Very good"), "", "next to 'Grade' some row has no maximum grade"),
        (worksheet(GERMAN, top="Sehr gut"), "", "the column of grades is not found"),
    ],
)
def test_what_is_no_worksheet_of_moodle_is_refused(rows, column, sentence):
    with pytest.raises(Unfillable) as caught:
        moodle(table(rows), [], column)
    assert sentence in str(caught.value)


def test_the_column_of_grades_may_be_named():
    rows = [["Kennung", "x", "y", "z"], ["P 1", "5", "5", "5"]]
    assert cells(moodle(table(rows), [score(3, points=5.0, moodle="1")], "y").text)[1] == ["P 1", "5", "3", "5"]


# The file

strings = st.text(alphabet=st.sampled_from(list("ab,;\"'=+-@\t\r\n é張 0")), max_size=6)


@PATIENT
@given(st.lists(st.lists(strings, min_size=4, max_size=4), min_size=2, max_size=5), st.sampled_from(["\r\n", "\n"]))
def test_any_table_survives_a_change_of_one_cell(rows, end):
    """Law: one cell changes, and every other is read back as it was, whatever stands in it."""
    rows = [["Student", "ID", *row[2:]] if n == 0 else row for n, row in enumerate(rows)]
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    text = table(rows, end=end, quoting=csv.QUOTE_ALL)
    if len(rows) < 2 or text.split("\n")[0].count(";") + text.split("\n")[0].count("\t") > 2:
        return
    file = CsvFile(text)
    assert file.text() == text
    file.change(file.rows[-1], 1, "7.5")
    assert cells(file.text()) == [*rows[:-1], [rows[-1][0], "7.5", *rows[-1][2:]]]


def test_long_texts_in_a_cell_are_read():
    """Kills: the limit of the library, 131,072 letters, which a text typed into Moodle goes beyond."""
    assert len(CsvFile("a,b\n" + "x" * 200_000 + ",c\n").rows[0][0]) == 200_000


@pytest.mark.parametrize("text", ['a,b\n"x', 'a,b\n"x"y,z\n', "a,b\n\x00\n", ""])
def test_what_is_no_table_is_refused(text):
    with pytest.raises(Unfillable):
        CsvFile(text)


def test_numbers_in_cells():
    assert [csv_file.number(cell) for cell in ("1", " 2.5 ", "3,25", "-1", "x", "", "1.2.3", "٣")] == [
        1.0,
        2.5,
        3.25,
        *[None] * 5,
    ]


# The lines of a graded class and the commands


def line(**more) -> str:
    row = {"id": "a", "name": "A", "known": {}, "score": 1.0, "points": 2.0, "reason": ""}
    return json.dumps(row | more)


def test_the_later_of_two_lines_counts():
    assert [one.score for one in read_scores([line(score=1), line(id="b"), line(score=3)])] == [3.0, 1.0]


@pytest.mark.parametrize(
    "text",
    ["{", "3", "[]", "{}", line(score="x"), line(known=3), line(score=-1), line(points=-1), line(id=None, score=[1])]
    + [line().replace("1.0", number) for number in ("NaN", "Infinity")],
)
def test_a_line_that_is_none_is_named(text):
    with pytest.raises(Unfillable, match=r"^line 2"):
        read_scores([line(), text])


@pytest.fixture
def graded(tmp_path, key):
    """A graded class of one, with 1 of 100 points."""
    known = {"canvas": "100", "moodle": "500"}
    mark = Mark(replace(ITEM, points=100.0), "partly", (Share("public cases", 1, 100, 1.0, 100.0),))
    row = Graded(Handed("a", Path("a.py"), "A", known), Grading("a.py", "ab" * 32, (mark,)))
    stamps = {"items": [ITEM.id], "questions": [], "points": {ITEM.id: 100.0}, "vectors": "v", "grader": "1"}
    stamps |= {"key_hash": Exam((), b"sesame").key_hash, "per_submission": False, "sandbox": "", "interpreter": ""}
    folder = storage.Folder(tmp_path / "out").begin(stamps, b"sesame")
    folder.put("a", folder.texts(row, Answers("a.py", "ab" * 32).to_json()))
    folder.finish([row])
    return tmp_path


@pytest.mark.parametrize(
    ("command", "rows", "reads"),
    [
        (["canvas", "--column", "Lab 1"], gradebook(), lambda text: canvas_reads(text)["100"]["11"] == "1"),
        (["moodle"], worksheet(), lambda text: moodle_reads(text) == {"500": 1.0}),
    ],
)
def test_the_commands_write_a_file_to_import(command, rows, reads, graded, key, capsys):
    command = [*command, "--key", key]
    export = graded / "export.csv"
    export.write_bytes(table(rows, bom="\ufeff").encode())
    before = export.read_bytes()
    assert main([command[0], str(export), str(graded / "out"), *command[1:]]) == 0
    assert reads((graded / "out" / f"{command[0]}.csv").read_bytes().decode())
    assert export.read_bytes() == before
    assert f"written to {graded / 'out' / command[0]}.csv" in capsys.readouterr().out
    assert main([command[0], str(export), str(graded / "out"), *command[1:], "--to", str(graded / "b.csv")]) == 0
    assert (graded / "b.csv").read_bytes() == (graded / "out" / f"{command[0]}.csv").read_bytes()
    assert sorted(path.name for path in graded.iterdir()) == ["b.csv", "export.csv", "key", "out"]


@pytest.mark.parametrize(
    ("content", "arguments", "sentence"),
    [
        (b"PK\x03\x04", [], "save it as CSV"),
        ("Ü".encode("latin-1"), [], "is not in UTF-8"),
        (b"a,b\n1,2\n", [], "not a grading worksheet"),
        (None, [], "cannot be read"),
        (table(worksheet()).encode(), ["--to", "{0}/export.csv"], "is the export itself"),
        (table(worksheet()).encode(), ["--to", "{0}/no/such/folder.csv"], "cannot be written"),
    ],
)
def test_the_commands_say_in_one_line_what_is_wrong(content, arguments, sentence, graded, key, capsys):
    there = sorted((graded / "out").rglob("*"))
    if content is not None:
        (graded / "export.csv").write_bytes(content)
    arguments = [*(argument.format(graded) for argument in arguments), "--key", key]
    assert main(["moodle", str(graded / "export.csv"), str(graded / "out"), *arguments]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert sentence in captured.err
    assert sorted((graded / "out").rglob("*")) == there
