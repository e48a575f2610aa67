"""``duplicates DIR``: which submissions of a class share more than chance explains."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.commands.common import DONE, ExitStatus, Usage
from autograder.screen import say

if TYPE_CHECKING:
    from autograder.classroom.duplicates import Pair
    from autograder.commands.common import Commands
    from autograder.submission import Submission

#: How many functions are listed for one pair at most.
NAMED = 4
CAUTION = (
    "A pair is a reason to read both programs and to talk with both learners, never a verdict: people who learn "
    "together write alike."
)


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("duplicates", help="list submissions that share more than chance explains")
    parser.add_argument("folder", metavar="DIR", help="the folder or archive of a class")
    parser.add_argument(
        "--starter", metavar="PATH", help="what everybody was given (default: the course's labs and pages)"
    )
    parser.add_argument("--least", type=float, default=0.8, metavar="SHARE", help="least to report (default: 0.8)")
    parser.add_argument("--csv", metavar="FILE", help="write the pairs as a table")
    parser.set_defaults(command=_duplicates)


def _duplicates(options: argparse.Namespace) -> ExitStatus:
    from autograder.classroom import duplicates

    submissions, unread = _class(options.folder)
    try:
        pairs = duplicates.report(submissions, _starter(options.starter), options.least)
    except ValueError as error:
        raise Usage(str(error)) from None
    if options.csv:
        _write(options.csv, pairs)
    say("\n".join([*_lines(pairs), *unread]))
    count = f"{len(pairs)} pair{'' if len(pairs) == 1 else 's'} among {len(submissions)} submissions."
    say(f"{count} {CAUTION}" if pairs else count)
    return DONE


def _class(folder: str) -> tuple[dict[str, Submission], list[str]]:
    """The submissions by id, and a sentence for each that cannot be read."""
    from autograder.classroom import collecting
    from autograder.submission import Unreadable

    submissions: dict[str, Submission] = {}
    unread = []
    try:
        handed = collecting.collect(folder)
    except Unreadable as error:
        raise Usage(str(error)) from None
    for submission in handed:
        try:
            submissions[submission.id] = collecting.load(submission)
        except Unreadable as error:
            unread.append(f"not compared: {submission.id}: {error}")
    return submissions, unread


def _starter(path: str | None) -> Submission | None:
    """The code that everybody was given, which does not count: by default all that the course handed out."""
    from autograder import submission
    from autograder.classroom import duplicates

    if path is None:
        return duplicates.handed_out(Path(__file__).resolve().parents[2])
    try:
        return submission.load(path)
    except submission.Unreadable as error:
        raise Usage(f"the starter code cannot be read: {error}") from None


def _lines(pairs: Sequence[Pair]) -> list[str]:
    lines = []
    for pair in pairs:
        lines.append(f"{pair.first} and {pair.second}: {_percent(pair.similarity)}, evidence {pair.evidence:.0f}")
        lines += [f"  {one.first} and {one.second}: {_percent(one.similarity)}" for one in pair.shared[:NAMED]]
        more = len(pair.shared) - NAMED
        lines += [f"  and {more} more"] if more > 0 else []
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _write(path: str, pairs: Sequence[Pair]) -> None:
    from autograder import files
    from autograder.classroom import tables

    header = ["first", "second", "similarity", "evidence", "functions"]
    rows = [
        [pair.first, pair.second, round(pair.similarity, 4), round(pair.evidence, 1), _functions(pair)]
        for pair in pairs
    ]
    try:
        files.save(path, tables.text(header, rows))
    except OSError as error:
        raise Usage(f"the table cannot be written to {path}: {error.strerror}") from None


def _functions(pair: Pair) -> str:
    return "; ".join(f"{one.first} and {one.second}" for one in pair.shared)
