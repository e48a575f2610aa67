"""``collect`` says who is in a class; ``canvas`` and ``moodle`` fill scores into a platform's own file."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.common import DONE, ExitStatus, Usage, key_of_class, save, text_of
from autograder.commands.feedback import adjustments_of
from autograder.screen import say

if TYPE_CHECKING:
    from autograder.classroom.collecting import Handed
    from autograder.commands.common import Commands


def add(commands: Commands) -> None:
    """Add the commands to the parser."""
    collect = commands.add_parser("collect", help="list who is in a collected class, before it is graded")
    collect.add_argument("folder", help="a platform's download (unpacked, or the .zip as it is), or a folder of files")
    collect.set_defaults(command=_collect)
    for platform, file in (("canvas", "the gradebook that Canvas exported"), ("moodle", "Moodle's grading worksheet")):
        filling = commands.add_parser(platform, help=f"fill the scores of a graded class into {file}")
        filling.add_argument("export", help=f"{file}: a .csv file, which is not changed")
        filling.add_argument("out", help="the folder of the graded class (grade-class --out)")
        filling.add_argument("--key", metavar="FILE", help="the secret key of that grading (- for standard input)")
        filling.add_argument("--column", default="", metavar="TITLE", help="which one to fill, if there are several")
        filling.add_argument("--scale", action="store_true", help="turn points into shares of the platform's maximum")
        filling.add_argument("--cap", action="store_true", help="enter the platform's maximum for what is above it")
        filling.add_argument(
            "--to", metavar="FILE", help=f"where to write the filled file; default: OUT/{platform}.csv"
        )
        filling.add_argument("--adjust", metavar="FILE", help="points by hand: a CSV file with id, points, sentence")
        if platform == "moodle":
            filling.add_argument(
                "--comments",
                nargs="?",
                const="Feedback comments",
                metavar="TITLE",
                help="fill this column with a comment for each learner; default: Feedback comments",
            )
        filling.set_defaults(command=_fill, platform=platform)


def _collect(options: argparse.Namespace) -> ExitStatus:
    from autograder.classroom import collecting, downloads

    try:
        kind, rows = collecting.recognise(options.folder)
    except collecting.Unreadable as error:
        raise Usage(str(error)) from None
    table = [(row.id, "late" if row.late else "", row.name, _what(row)) for row in rows]
    widths = [max(len(line[column]) for line in table) for column in range(3)]
    for *cells, what in table:
        say("  ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)), what]).rstrip())
    unread = sum(what.startswith("cannot be read") for *_, what in table)
    late = sum(row.late for row in rows)
    say(f"{kind}: {len(rows)} submission{'s' * (len(rows) != 1)}, {late} late, {unread} that cannot be read")
    packed = any("/" in place for row in rows for place in row.files.values())
    if len(rows) == 1 and kind == downloads.PLAIN and (packed or rows[0].path.is_dir()):
        way = "unpack it and " * packed
        say(f"If {rows[0].name!r} is a class and not a learner, {way}name that folder itself.")
    return DONE


def _what(handed: Handed) -> str:
    """What was handed in, or why it cannot be read."""
    from autograder.classroom import collecting

    where = ", ".join(collecting.shown(place or handed.path.name) for place in list(handed.files.values())[:4])
    where = where + (", ..." if len(handed.files) > 4 else "") or collecting.shown(handed.path.name)
    try:
        found = collecting.load(handed)
    except collecting.Unreadable as error:
        return f"cannot be read: {error}"
    return where + "".join(f"; {problem}" for problem in found.problems)


def _fill(options: argparse.Namespace) -> ExitStatus:
    from autograder.classroom import adjustments, csv_file, feedback, gradebooks, storage

    key = key_of_class(options.key, options.platform)
    to = Path(options.to or Path(options.out) / f"{options.platform}.csv")
    if to.exists() and os.path.exists(options.export) and to.samefile(options.export):
        raise Usage(f"{to} is the export itself, which stays as it is: name another file with --to")
    fill = {"canvas": gradebooks.canvas, "moodle": gradebooks.moodle}[options.platform]
    try:
        rows = storage.opened(options.out).verify(key).rows()
        made = adjustments_of(options.adjust, rows)
        scores = gradebooks.read_scores(filter(str.strip, text_of(Path(options.out) / "finished.jsonl").split("\n")))
        scores = [replace(one, score=adjustments.adjusted(one.score, made.get(one.id, ()))) for one in scores]
        filled = fill(text_of(options.export), scores, options.column, options.scale, options.cap)
        if options.platform == "moodle" and options.comments:
            said = {one.graded.handed.id: one.comment for one in feedback.returned(rows, made) if one.graded}
            filled = gradebooks.commented(filled, scores, said, options.comments)
    except (storage.NotAClass, csv_file.Unfillable) as error:
        raise Usage(str(error)) from None
    save(to, filled.text)
    say("\n".join([*filled.notes, f"written to {to}"]))
    return DONE
