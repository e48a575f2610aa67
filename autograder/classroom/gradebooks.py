"""Fills scores into the files that course platforms export and import: Canvas's gradebook and Moodle's worksheet.

Only cells of one column change, and only to numbers. Every other line and cell stays as the platform wrote it, with its
quotes, line ends and byte-order mark. The cell of a learner who is not in the class, or whose work could not be graded,
keeps its content. Notes say what a person should look at.

What the platforms import: Canvas identifies learners by ``ID``, or else by ``SIS User ID`` and ``SIS Login ID``, and
reads the assignments' columns, called ``Title (123)``; it ignores totals and columns marked "(read only)" (see its
``GradebookImporter``). Moodle reads ``Identifier``, ``Grade`` and ``Last modified (grade)``, under their names in the
user's language; it silently ignores locked grades and those above the maximum
(``assignfeedback_offline_grade_importer``).
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from autograder.classroom.csv_file import CsvFile, Unfillable, number
from autograder.classroom.downloads import BETWEEN

#: An assignment's column in Canvas.
ASSIGNMENT = re.compile(r"(?P<title>.+) \((?P<number>\d+)\)", re.DOTALL)
#: Titles of the columns that Canvas calculates itself.
TOTALS = re.compile(r"(Current|Final|Override) (Score|Points|Grade|Status)")
#: Contents of Canvas's cells that a score must not replace: excused, and not assigned.
KEPT = ("EX", "N/A")
#: How Moodle identifies a learner: a word in the user's language, then a number.
PARTICIPANT = re.compile(r"(?P<word>.*\D)(?P<number>\d+)", re.DOTALL)


@dataclass(frozen=True)
class Score:
    """The score of one submission, from a line of ``finished.jsonl``. ``known`` is :attr:`Handed.known`."""

    id: str
    name: str
    score: float
    points: float
    known: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""

    def told(self, key: str) -> list[str]:
        """What the download says under ``key``; several texts for a group."""
        return [text for text in self.known.get(key, "").split(BETWEEN) if text]


@dataclass(frozen=True)
class Learner:
    """One row of a gradebook: the name as the platform spells it, and the id in the class, empty if there is none."""

    name: str
    id: str


@dataclass(frozen=True)
class Filled:
    """The file to import, and notes on what a person should look at."""

    text: str
    notes: tuple[str, ...]


def read_scores(lines: Iterable[str]) -> list[Score]:
    """The scores of a graded class, from the lines of its ``finished.jsonl``; the last line of an id counts.

    Raises:
        Unfillable: a line is not from such a file.
    """
    found = {}
    for count, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            score, points = float(row["score"] or 0), float(row["points"] or 0)
            known = {str(key): str(value) for key, value in row["known"].items()}
            found[row["id"]] = Score(row["id"], str(row["name"]), score, points, known, str(row.get("reason", "")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Unfillable(f"line {count} is not one of a graded class: {type(error).__name__}: {error}") from None
        if not (math.isfinite(score) and math.isfinite(points) and score >= 0 <= points):
            raise Unfillable(f"line {count}: score and points must be numbers >= 0, got {score} of {points}")
    return list(found.values())


def canvas(export: str, scores: Sequence[Score], column: str = "", scale: bool = False, cap: bool = False) -> Filled:
    """Canvas's exported gradebook, with the scores filled into the column of one assignment.

    Args:
        export: the text of the file, including its byte-order mark.
        scores: the scores of the class.
        column: ``Title (123)``, the title, or the number; can be omitted if there is only one assignment.
        scale: rescale the scores to "Points Possible".
        cap: enter "Points Possible" for a score above it.

    Raises:
        Unfillable: it is not such an export, or the column does not exist.
    """
    file = CsvFile(export)
    possible = next((row for row in file.rows if "Points Possible" in row[0]), None)
    learners, keys = _canvas_rows(file)
    index = _assignment(file.header, possible or [], column)
    most = number(possible[index]) if possible else None
    fill = _Filling(file, index, "Points Possible", scale, cap=cap)
    for row, score in fill.matched(learners, keys, scores):
        if row[index].strip() in KEPT:
            fill.notes.append(f"{fill.called(row)} keeps {row[index].strip()} in Canvas")
        else:
            fill.put(row, score, most)
    return fill.done(file.header[index])


def _canvas_rows(file: CsvFile) -> tuple[list[list[str]], list[Key]]:
    """The rows of the learners, and how to identify them.

    Raises:
        Unfillable: it is not an export of Canvas's gradebook.
    """
    header, first = file.header, 2 if file.header[:2] == ["LastName", "FirstName"] else 1
    if header[0] not in ("Student", "LastName") or header[first : first + 1] != ["ID"]:
        raise Unfillable("this is not an export of Canvas's gradebook: its first columns are not Student and ID")
    learners = [row for row in file.rows if "Points Possible" not in row[0] and row[first].strip()]
    keys: list[Key] = [("canvas", itemgetter(first))]
    others = (("sid", "SIS User ID"), ("email", "SIS Login ID"), ("sid", "SIS Login ID"))
    return learners, keys + [(told, itemgetter(header.index(title))) for told, title in others if title in header]


def _moodle_rows(file: CsvFile) -> tuple[list[list[str]], list[Key]]:
    """The rows of the learners, and how to identify them.

    Raises:
        Unfillable: it is not a grading worksheet of Moodle.
    """
    who = _participants(file)
    keys: list[Key] = [("moodle", lambda row: _numbered(row[who]))]
    addresses = [i for i in range(len(file.header)) if all("@" in row[i] or not row[i] for row in file.rows)]
    return file.rows, keys + [("email", itemgetter(i)) for i in addresses if any(row[i] for row in file.rows)]


def commented(filled: Filled, scores: Sequence[Score], comments: Mapping[str, str], column: str) -> Filled:
    """A filled worksheet of Moodle with comments in ``column``, by the id of the learner.

    Raises:
        Unfillable: there is no such column.
    """
    file = CsvFile(filled.text)
    if column not in file.header:
        raise Unfillable(f"no column is called {column!r}; the columns are: {', '.join(map(repr, file.header))}")
    for row, learner in zip(file.rows, learners(filled.text, scores, "moodle"), strict=True):
        if learner.id in comments:
            file.change(row, file.header.index(column), comments[learner.id])
    return Filled(file.text(), (*filled.notes, f"comments filled into {column!r}"))


def learners(export: str, scores: Sequence[Score], platform: str) -> list[Learner]:
    """Everybody in an export of ``"canvas"`` or a worksheet of ``"moodle"``, in its order.

    Raises:
        Unfillable: it is another file.
    """
    file = CsvFile(export)
    rows, keys = _canvas_rows(file) if platform == "canvas" else _moodle_rows(file)
    name = _participants(file) == 0 if platform == "moodle" else 0
    last = platform == "canvas" and file.header[0] == "LastName"
    indexes = [(told, _unique(rows, cell)) for told, cell in keys]
    found = {index: score.id for score in scores for index in _places(score, indexes)}
    called = [f"{row[0]}, {row[1]}" if last else row[name] for row in rows]
    return [Learner(" ".join(one.split()), found.get(index, "")) for index, one in enumerate(called)]


def _assignment(header: Sequence[str], possible: Sequence[str], wanted: str) -> int:
    """The index of an assignment's column."""
    found = {
        index: match
        for index, title in enumerate(header)
        if (match := ASSIGNMENT.fullmatch(title)) and not TOTALS.search(title)
        if "read only" not in (possible[index] if index < len(possible) else "")
    }
    chosen = [i for i, match in found.items() if wanted in ("", match[0], match["number"], match["title"])]
    if len(chosen) == 1:
        return chosen[0]
    listed = ", ".join(repr(match[0]) for match in found.values()) or "none"
    asked = f"no single column is called {wanted!r}" if wanted else "name the column to fill"
    raise Unfillable(f"{asked}; the assignments are: {listed}")


def moodle(worksheet: str, scores: Sequence[Score], column: str = "", scale: bool = False, cap: bool = False) -> Filled:
    """Moodle's offline grading worksheet, with the scores filled into its column of grades.

    The header is in the language of whoever downloaded the worksheet. The participants' column is found by its cells
    (a word and a number), the column of grades by the maximum next to it, which is the same number in every row.

    Args:
        worksheet: the text of the file, including its byte-order mark.
        scores: the scores of the class.
        column: the header of the column of grades, if it cannot be found.
        scale: rescale the scores to the maximum grade.
        cap: enter the maximum grade for a score above it, which Moodle would ignore.

    Raises:
        Unfillable: it is not such a worksheet, or the columns are not found.
    """
    file = CsvFile(worksheet)
    who = _participants(file)
    index = _grades(file, column)
    if any(number(row[index + 1]) is None for row in file.rows):
        raise Unfillable(f"next to {file.header[index]!r} some row has no maximum grade: is it graded by a scale?")
    fill = _Filling(file, index, "the maximum grade", scale, name=1 if who == 0 else 0, limit=True, cap=cap)
    fill.notes.append(f"column of the participants: {file.header[who]!r}; of the grades: {file.header[index]!r}")
    for row, score in fill.matched(*_moodle_rows(file), scores):
        if _cell(file, row, "Grade can be changed") == "No":
            fill.notes.append(f"{fill.called(row)} keeps the grade, which Moodle has locked")
        else:
            fill.put(row, score, number(row[index + 1]))
    return fill.done(file.header[index])


def _participants(file: CsvFile) -> int:
    for index in range(len(file.header)):
        found = [PARTICIPANT.fullmatch(row[index]) for row in file.rows]
        if all(found) and len({match["word"] for match in found if match}) == 1:
            return index
    raise Unfillable("this is not a grading worksheet of Moodle: no column has a word and a number in every row")


def _numbered(cell: str) -> str:
    match = PARTICIPANT.fullmatch(cell)
    return match["number"] if match else ""


def _grades(file: CsvFile, wanted: str) -> int:
    """The index of the column of grades, which is the one before the maximum."""
    named = [index for index, title in enumerate(file.header[:-1]) if title == (wanted or "Grade")]
    if len(named) == 1:
        return named[0]
    found = [i for i in range(len(file.header) - 1) if _is_maximum(file, i + 1) and _may_be_grades(file, i)]
    if wanted or len(found) != 1:
        asked = f"no single column is called {wanted!r}" if wanted else "the column of grades is not found: name it"
        raise Unfillable(f"{asked}; the columns are: {', '.join(map(repr, file.header))}")
    return found[0]


def _is_maximum(file: CsvFile, index: int) -> bool:
    cells = {row[index].strip() for row in file.rows}
    return len(cells) == 1 and (number(*cells) or 0) > 0


def _may_be_grades(file: CsvFile, index: int) -> bool:
    return all(number(cell) is not None for row in file.rows if (cell := row[index].strip()))


def _cell(file: CsvFile, row: Sequence[str], title: str) -> str:
    return row[file.header.index(title)].strip() if title in file.header else ""


# Filling.

#: A key of :attr:`Score.known`, and the function that reads the same fact from a row.
Key = tuple[str, Callable[[Sequence[str]], str]]


@dataclass
class _Filling:
    """One column of a file while it is being filled, and the notes about it.

    ``maximum`` is what the platform calls the maximum of points, ``limit`` whether it rejects higher scores, ``cap``
    whether the maximum is entered for them, and ``name`` the index of the column with the learners' names.
    """

    file: CsvFile
    place: int
    maximum: str
    scale: bool
    name: int = 0
    limit: bool = False
    cap: bool = False
    notes: list[str] = field(default_factory=list)
    filled: int = 0
    replaced: int = 0

    def __post_init__(self) -> None:
        cells = (cell for row in self.file.rows for cell in row[self.place : self.place + 2])
        self.mark = "," if any(re.fullmatch(r"\d+,\d+", cell.strip()) for cell in cells) else "."

    def called(self, row: Sequence[str]) -> str:
        """A learner's name, as the file spells it."""
        return repr(" ".join(row[self.name].split()))

    def matched(
        self, rows: Sequence[list[str]], keys: Sequence[Key], scores: Sequence[Score]
    ) -> Iterator[tuple[list[str], Score]]:
        """Each row with its score, matched by the first key that identifies a single row; notes on all others."""
        indexes = [(told, _unique(rows, cell)) for told, cell in keys]
        found: dict[int, list[Score]] = defaultdict(list)
        for score in scores:
            places = _places(score, indexes)
            if not places:
                self.notes.append(f"{score.name!r} ({score.id}) handed in but has no row")
            for index in places:
                found[index].append(score)
        for index, row in enumerate(rows):
            claims = found.get(index, [])
            if len(claims) == 1 and not claims[0].reason:
                yield row, claims[0]
            else:
                self.notes.append(f"{self.called(row)} {_unclaimed(claims)}")

    def put(self, row: list[str], score: Score, most: float | None) -> None:
        """Write a score into its row, rounded to two decimals."""
        value = score.score
        if self.scale:
            if not most or not score.points:
                raise Unfillable(f"{self.called(row)} cannot be scaled: {self.maximum} or the points are 0 or missing")
            value *= most / score.points
        elif most is not None and abs(most - score.points) > 1e-9:
            self._note(
                f"{self.maximum} is {most:g} but submissions are out of {score.points:g}: scale converts the scores"
            )
        if most is not None and value > most + 0.005:
            keeps = self.limit and not self.cap
            ending = ", and keeps the cell: --cap enters the maximum" if keeps else ", which is entered" * self.cap
            self._note(f"{self.called(row)} has {value:g}, above {self.maximum} ({most:g}){ending}")
            if keeps:
                return
            value = most if self.cap else value
        before = number(row[self.place])
        self.filled += 1
        self.replaced += before is not None and abs(before - value) > 0.006
        self.file.change(row, self.place, (f"{value:.2f}".rstrip("0").rstrip(".")).replace(".", self.mark))

    def _note(self, sentence: str) -> None:
        self.notes += [sentence] if sentence not in self.notes else []

    def done(self, title: str) -> Filled:
        """The file, with a first note on how many scores were filled in."""
        replaced = f"; {self.replaced} of them replaced another" if self.replaced else ""
        return Filled(self.file.text(), (f"{self.filled} scores filled into {title!r}{replaced}", *self.notes))


def _unclaimed(claims: Sequence[Score]) -> str:
    """Why a row is not filled in."""
    if not claims:
        return "has no submission"
    if len(claims) > 1:
        return f"has several submissions ({', '.join(claim.id for claim in claims)}), and keeps the cell"
    return f"is not graded: {' '.join(claims[0].reason.split())}"


def _unique(rows: Sequence[Sequence[str]], cell: Callable[[Sequence[str]], str]) -> dict[str, int]:
    """The index of each row by the content of a cell, where no other row has the same content."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, row in enumerate(rows):
        places[cell(row).strip().casefold()].append(index)
    return {text: found[0] for text, found in places.items() if text and len(found) == 1}


def _places(score: Score, indexes: Sequence[tuple[str, Mapping[str, int]]]) -> list[int]:
    """The row of a learner, by the first key that finds it, or the rows of all members of a group."""
    by_key = [
        {places[text] for text in map(str.casefold, score.told(told)) if text in places} for told, places in indexes
    ]
    if any(len(score.told(told)) > 1 for told, _ in indexes):
        return sorted(set().union(*by_key))
    return sorted(next(filter(None, by_key), ()))
