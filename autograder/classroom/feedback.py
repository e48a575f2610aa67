"""Feedback that returns to the learners: pages in the archive that a platform takes back, and a table of comments.

Only what learners may read is written, apart from the folder of the graded class, which holds answers and results.

Moodle ("Upload multiple feedback files in a zip") finds a learner by the folder
``Full name_123456_assignsubmission_file_`` of its own download: the second part is the participant's number
(``mod/assign/feedback/file/importziplib.php``, ``is_valid_filename_for_import``).

Canvas ("Re-Upload Submissions") takes files named as in its download, ``lastfirst_userid_fileid_name``; both numbers
must be those of a submission (``app/models/assignment.rb``, ``generate_comments_from_files`` and
``infer_comment_context_from_filename``). It shows such a file under the name that the learner gave to it, so that its
content must be readable under that name: a notebook for a notebook, an archive for an archive, text for all else.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.classroom import adjustments, pages, tables
from autograder.classroom.adjustments import Adjustment, Adjustments
from autograder.classroom.collecting import Handed
from autograder.classroom.gradebooks import Learner
from autograder.classroom.graded import Graded
from autograder.marking import concepts, report
from autograder.marking.marks import Answered, Mark

#: The name of a learner's page in Moodle.
PAGE = "feedback.html"
#: What is said about a learner who is in the gradebook and handed in nothing.
NOTHING = "Nothing was handed in."
#: How many notes about files a comment repeats; the page has all.
NOTES = 3
#: The date of every entry: equal feedback makes equal archives.
WHEN = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Returned:
    """What one learner gets back: the graded submission (None without one), under the gradebook's name."""

    name: str
    graded: Graded | None
    made: Sequence[Adjustment] = ()

    @property
    def score(self) -> float | str:
        """Points, adjusted; empty if nothing could be graded."""
        if self.graded is None or not self.graded.grading.all:
            return ""
        return adjustments.adjusted(self.graded.grading.score, self.made)

    @property
    def comment(self) -> str:
        """The feedback in plain sentences on one line, as a cell of a spreadsheet may hold it."""
        return str(tables.guarded(" ".join(self.lines)))

    @property
    def lines(self) -> list[str]:
        """The feedback in plain sentences: the points, notes about the files, what is not right, optional items that
        are not there, and adjustments."""
        if self.graded is None:
            return [NOTHING]
        grading = self.graded.grading
        if not grading.all:
            return [f"Not graded: {grading.reason}."]
        total = f"{self.score:g} of {grading.points:g} points" if self.made else report.total(grading)
        left = [mark for mark in grading.all if mark.item.bonus and mark.state in ("missing", "unwritten")]
        wrong = [mark for mark in grading.all if mark.state != "right" and mark not in left]
        optional = [f"Optional, not handed in: {', '.join(map(_called, left))}."] * bool(left)
        notes = [f"Note: {problem}{'' if problem.endswith('?') else '.'}" for problem in grading.problems[:NOTES]]
        return [f"{total}.", *notes, *map(_explained, wrong), *optional, *map(str, self.made)]

    def page(self, stamps: Mapping[str, str]) -> str:
        """The learner's page.

        Raises:
            ValueError: nothing was handed in.
        """
        if self.graded is None:
            raise ValueError(f"{self.name} handed in nothing, and has no page")
        named = replace(self.graded, handed=replace(self.graded.handed, name=self.name))
        return pages.learner(named, stamps, self.made)


def _called(mark: Mark | Answered) -> str:
    return mark.item.title if isinstance(mark, Answered) else mark.item.function


def _explained(mark: Mark | Answered) -> str:
    """What is not right about an item, as a sentence that ends."""
    optional = ", optional" if mark.item.bonus else ""
    text = f"{_called(mark)} ({mark.score:g} of {mark.points:g}{optional}): {' '.join(concepts.ideas(mark))}"
    return text if text.endswith((".", ")", "?")) else f"{text}."


def returned(rows: Mapping[str, Graded], made: Adjustments, gradebook: Sequence[Learner] = ()) -> list[Returned]:
    """What everybody gets back: the gradebook's learners in its order, then those who are only in the class.

    Without a gradebook, everybody in the class under the name that the download gives.
    """
    listed = [Returned(learner.name, rows.get(learner.id), made.get(learner.id, ())) for learner in gradebook]
    there = {learner.id for learner in gradebook}
    others = [Returned(row.handed.name, row, made.get(row.handed.id, ())) for row in rows.values()]
    return listed + [one for one in others if one.graded and one.graded.handed.id not in there]


def comments(returning: Sequence[Returned]) -> str:
    """A row for each learner: who it is, the score and a comment."""
    header = ["id", "name", "email", "sid", "score", "points", "comment"]
    return tables.text(header, (_comment_line(one) for one in returning))


def _comment_line(one: Returned) -> list[object]:
    if one.graded is None:
        return ["", one.name, "", "", "", "", one.comment]
    handed, grading = one.graded.handed, one.graded.grading
    who = [handed.id, one.name, handed.known.get("email", ""), handed.known.get("sid", "")]
    return [*who, one.score, grading.points if grading.all else "", one.comment]


def moodle(returning: Sequence[Returned], stamps: Mapping[str, str]) -> tuple[bytes, list[str]]:
    """The archive for Moodle, and the names of those who are not in it."""
    entries, left = {}, []
    for one in returning:
        number = one.graded.handed.known.get("moodle", "") if one.graded else ""
        if number:
            entries[f"{_folder(one.graded.handed.name)}_{number}_assignsubmission_file_/{PAGE}"] = one.page(stamps)  # type: ignore[union-attr]
        elif one.graded:
            left.append(one.name)
    return _packed(entries), left


def _folder(name: str) -> str:
    """A name as Moodle writes it: an underscore or a slash would end it."""
    return name.replace("_", " ").replace("/", " ").strip() or "Learner"


def canvas(
    returning: Sequence[Returned], download: Sequence[Handed], stamps: Mapping[str, str]
) -> tuple[bytes, list[str]]:
    """The archive for Canvas, whose names are those of ``download``, and the names of those who are not in it."""
    files = {
        handed.id: [Path(place or handed.path.name).name for place in handed.files.values()] for handed in download
    }
    entries: dict[str, str | bytes] = {}
    left = []
    for one in returning:
        names = files.get(one.graded.handed.id, []) if one.graded and "canvas" in one.graded.handed.known else []
        if names:
            entries[names[0]] = _readable(names[0], one, stamps)
        elif one.graded:
            left.append(one.name)
    return _packed(entries), left


def _readable(name: str, one: Returned, stamps: Mapping[str, str]) -> str | bytes:
    """The feedback in the form that the ending of ``name`` promises."""
    ending = PurePosixPath(name).suffix.lower()
    if ending == ".zip":
        return _packed({PAGE: one.page(stamps)})
    if ending != ".ipynb":
        return "\n".join([f"Feedback for {one.name}", "", *one.lines, ""])
    text = "\n\n".join([f"# Feedback for {one.name}", *one.lines])
    cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": text}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _packed(entries: Mapping[str, str | bytes]) -> bytes:
    """A zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries.items():
            packed.writestr(zipfile.ZipInfo(name, WHEN), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def stamps_of(kept: Mapping[str, object]) -> dict[str, str]:
    """The stamps that a page repeats, from those of a graded class."""
    return {"grader": report.version()} | {
        name: str(kept.get(name, "")) for name in ("sandbox", "interpreter", "vectors")
    }
