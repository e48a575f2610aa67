"""``grade SUBMISSION``: grade one submission."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from autograder.commands.common import (
    DONE,
    NO_SANDBOX,
    UNJUDGED,
    ExitStatus,
    Usage,
    add_exam_options,
    add_sandbox_option,
    check_exported,
    make_exam,
    read_key,
    write,
)
from autograder.marking import marks
from autograder.running import judging
from autograder.screen import complain, say

if TYPE_CHECKING:
    from autograder.commands.common import Commands
    from autograder.marking.marks import Grading
    from autograder.running.exam import Exam
    from autograder.sandbox import Sandbox


def add(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("grade", help="grade one submission")
    parser.add_argument(
        "submission", help="a .py file, a notebook, a folder, a .zip, or what the page Your course saves"
    )
    parser.add_argument("--out", metavar="FILE", help="write Gradescope's results.json here")
    add_sandbox_option(parser)
    add_exam_options(parser)
    parser.set_defaults(command=_grade)


def _grade(options: argparse.Namespace) -> ExitStatus:
    from autograder.marking import report
    from autograder.sandbox import Sandbox, SandboxRefused

    if options.out:
        write(options.out, report.unfinished())
    key = read_key(options.key)
    exam = make_exam(options.only, key.secret, options.with_questions)
    try:
        sandbox = Sandbox.measure(options.sandbox)
    except SandboxRefused as error:
        if options.out:
            write(options.out, report.results(marks.refused(name_of(options.submission), str(error)), {}))
        complain(error)
        return NO_SANDBOX
    check_exported(key, sandbox)
    with exam:
        grading = graded(options.submission, exam, sandbox)
    stamps = {"sandbox": sandbox.line, "key_hash": exam.key_hash, "vectors": exam.vectors_hash, **key.stamp}
    if options.out:
        write(options.out, report.results(grading, stamps))
    say(report.table(grading, sandbox.line))
    if key.drawn:
        say(f"key: {key.secret.decode()} (drawn at random; give it to --key to grade with the same inputs)")
    return UNJUDGED if grading.reason else DONE


def graded(path: str, exam: Exam, sandbox: Sandbox) -> Grading:
    """Grade the submission at ``path``. If it cannot be read, the grading says why.

    Raises:
        Usage: there is no such file or folder.
    """
    from autograder import submission

    if not os.path.exists(path):
        raise Usage(f"there is no file or folder {path}")
    try:
        return judging.judge(submission.load(path), exam, sandbox)
    except submission.Unreadable as error:
        return marks.refused(name_of(path), str(error))


def name_of(path: str) -> str:
    """What was handed in, as reports call it."""
    from autograder.submission import shown

    return shown(os.path.basename(os.path.abspath(path)))
