"""``feedback OUT``: what learners get back, apart from answers and key; packed for Moodle or Canvas if one is named."""

from __future__ import annotations

import argparse
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.common import DONE, ExitStatus, Usage, key_of_class, save, text_of
from autograder.screen import say

if TYPE_CHECKING:
    from autograder.classroom.adjustments import Adjustments
    from autograder.classroom.feedback import Returned
    from autograder.commands.common import Commands


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("feedback", help="pages, comments and an archive that a platform takes back")
    parser.add_argument("out", metavar="OUT", help="the folder of the graded class (grade-class --out)")
    parser.add_argument(
        "--for", default="", choices=("moodle", "canvas"), dest="platform", help="the platform of an archive"
    )
    parser.add_argument("--to", required=True, metavar="FOLDER", help="where to write; nothing else belongs there")
    parser.add_argument(
        "--download", metavar="DIR", help="Canvas's download that was graded: its names are needed again"
    )
    parser.add_argument("--gradebook", metavar="FILE", help="the platform's export: names, and who handed in nothing")
    parser.add_argument("--adjust", metavar="FILE", help="points by hand: a CSV file with id, points, sentence")
    parser.add_argument("--key", metavar="FILE", help="the secret key of that grading (- for standard input)")
    parser.set_defaults(command=_feedback)


def _feedback(options: argparse.Namespace) -> ExitStatus:
    from autograder import files, submission
    from autograder.classroom import collecting, csv_file, feedback, gradebooks, storage

    key, to = key_of_class(options.key, "feedback"), Path(options.to)
    if options.platform == "canvas" and not options.download:
        raise Usage("--for canvas needs --download: Canvas finds a learner by the file names of its own download")
    if options.gradebook and not options.platform:
        raise Usage("--gradebook needs --for: say which platform exported it")
    if to.resolve() == Path(options.out).resolve():
        raise Usage(f"{to} holds answers and results, which are not for learners: name another folder with --to")
    try:
        folder = storage.opened(options.out).verify(key)
        rows = folder.rows()
        scores = gradebooks.read_scores(filter(str.strip, text_of(folder.path / "finished.jsonl").split("\n")))
        listed = gradebooks.learners(text_of(options.gradebook), scores, options.platform) if options.gradebook else ()
        download = collecting.collect(options.download) if options.download else ()
    except (storage.NotAClass, csv_file.Unfillable, submission.Unreadable) as error:
        raise Usage(str(error)) from None
    returning = feedback.returned(rows, adjustments_of(options.adjust, rows), listed)
    stamps = feedback.stamps_of(folder.stamps)
    packed, left = b"", list[str]()
    if options.platform == "moodle":
        packed, left = feedback.moodle(returning, stamps)
    elif options.platform:
        packed, left = feedback.canvas(returning, download, stamps)
    files.make_private(to)
    files.make_private(to / "pages")
    for one in returning:
        if one.graded:
            save(to / "pages" / f"{one.graded.handed.id}.html", one.page(stamps))
    save(to / "comments.csv", feedback.comments(returning))
    if options.platform:
        save(to / f"{options.platform}.zip", packed)
    _tell(returning, left, to, options.platform)
    return DONE


def adjustments_of(path: str | None, known: Collection[str]) -> Adjustments:
    """The adjustments in a file, by id; none without a file.

    Raises:
        Usage: the file cannot be read, or a line in it is wrong.
    """
    from autograder.classroom import adjustments

    if not path:
        return {}
    try:
        return adjustments.read(text_of(path), known)
    except adjustments.NoAdjustments as error:
        raise Usage(f"{path}, {error}") from None


def _tell(returning: list[Returned], left: list[str], to: Path, platform: str) -> None:
    """What was written, and who is not in the archive."""
    without = [returned.name for returned in returning if returned.graded is None]
    graded = len(returning) - len(without)
    archive = f"{to}/{platform}.zip, " if platform else ""
    say(f"{graded} learner{'s' * (graded != 1)}: {archive}{to}/comments.csv, {to}/pages")
    for names, why in ((without, "handed in nothing"), (left, f"not in {platform}.zip: the download has no number")):
        for name in names:
            say(f"{name!r} {why}" if names is without else f"{name!r} is {why}")
