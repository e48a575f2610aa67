"""``python -m autograder grade SUBMISSION``: grade one submission; ``list`` the items; ``probe`` this host's isolation.

Exit status of ``grade``: 0 graded (any score), 1 an item or the submission could not be judged, 2 usage, 3 refused for
lack of a sandbox. Errors are one line on standard error.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.exam import Exam
    from autograder.judge import Grading
    from autograder.sandbox import Sandbox

GRADED, UNJUDGED, USAGE, NO_SANDBOX = range(4)


class Usage(Exception):
    """The command line asks for something that cannot be done; one line for its author."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    options = _parser().parse_args(argv)
    try:
        return options.command(options)
    except Usage as error:
        print(f"autograder: {error}", file=sys.stderr)
        return USAGE
    except BrokenPipeError:  # whoever read the table has seen enough; the result file is written
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return GRADED
    except Exception as error:
        print(f"autograder: the grader failed: {type(error).__name__}: {error}", file=sys.stderr)
        return UNJUDGED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m autograder", description="Grade submissions of the course.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    grade = commands.add_parser("grade", help="grade one submission", description=__doc__.split("\n\n")[1])
    grade.add_argument("submission", help="a .py file, a notebook, a folder or a .zip archive")
    grade.add_argument("--out", metavar="FILE", help="write Gradescope's results.json here")
    grade.add_argument("--key", metavar="FILE", help="secret key for hidden inputs (- for standard input)")
    grade.add_argument("--only", nargs="+", action="extend", metavar="ID", help="items, or chapters such as 03 or cap")
    grade.add_argument("--sandbox", choices=("best", "required", "none"), default="best", help="default: best")
    grade.add_argument("--with-questions", action="store_true", help="answers typed into predict count, 1 point each")
    grade.set_defaults(command=_grade)
    listing = commands.add_parser("list", help="list every item of the course")
    listing.add_argument("--json", action="store_true", help="as JSON: id, chapter, kind, topic, function")
    listing.set_defaults(command=_list)
    commands.add_parser("probe", help="say what this host can isolate").set_defaults(command=_probe)
    return parser


# grade


def _grade(options: argparse.Namespace) -> int:
    from autograder import judge, report
    from autograder.sandbox import Sandbox, SandboxRefused

    if options.out:
        _write(options.out, report.unfinished())
    key, stamp = _key(options.key)
    exam = _exam(options.only, key, options.with_questions)
    try:
        sandbox = Sandbox.measure(options.sandbox)
    except SandboxRefused as error:
        if options.out:
            _write(options.out, report.results(judge.refused(os.path.basename(options.submission), str(error)), {}))
        print(f"autograder: {error}", file=sys.stderr)
        return NO_SANDBOX
    with exam:
        grading = _graded(options.submission, exam, sandbox)
    stamps = {"sandbox": sandbox.line, "key_hash": exam.key_hash, "vectors": exam.vectors_hash, **stamp}
    if options.out:
        _write(options.out, report.results(grading, stamps))
    print(report.table(grading, sandbox.line))
    if stamp:
        print(f"key: {stamp['key']} (drawn at random; give it to --key to grade with the same inputs)")
    return UNJUDGED if grading.reason else GRADED


def _graded(path: str, exam: Exam, sandbox: Sandbox) -> Grading:
    from autograder import judge, submission

    if not os.path.exists(path):
        raise Usage(f"there is no file or folder {path}")
    try:
        return judge.judge(submission.load(path), exam, sandbox)
    except submission.Unreadable as error:
        return judge.refused(os.path.basename(path), str(error))


def _key(source: str | None) -> tuple[bytes, dict[str, str]]:
    """The key, and what the results say of it. It is taken out of the environment before any child starts."""
    given = os.environ.pop("AUTOGRADER_KEY", "")
    try:
        if source == "-":
            given = sys.stdin.readline()
        elif source:
            with open(source, encoding="utf-8") as file:
                given = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"the key cannot be read from {source}: {getattr(error, 'strerror', None) or error}") from None
    if given.strip():
        return given.strip().encode(), {}
    if source:
        raise Usage(f"the key in {'standard input' if source == '-' else source} is empty")
    import secrets

    key = secrets.token_hex(16)
    return key.encode(), {"key": key}


def _exam(only: Sequence[str] | None, key: bytes, with_questions: bool) -> Exam:
    from autograder import bank
    from autograder.exam import Exam
    from autograder.items import Build

    chosen = bank.items() if not only else tuple(_chosen(only))
    builds = [item for item in chosen if isinstance(item, Build)]
    questions = [item for item in chosen if not isinstance(item, Build)] if with_questions else []
    if not builds and not questions:
        raise Usage("these items are questions: they count with --with-questions")
    return Exam(builds, key, questions)


def _chosen(only: Sequence[str]) -> list[Any]:
    """Items by id, or all items of a chapter."""
    from autograder import bank

    found: dict[str, Any] = {}
    for name in only:
        chapter = [item for item in bank.items() if item.id.split("-")[0] == name]
        try:
            found.update((item.id, item) for item in chapter or [bank.find(name)])
        except KeyError as error:
            raise Usage(error.args[0]) from None
    return list(found.values())


def _write(path: str, content: Any) -> None:
    from autograder import report

    try:
        report.write(path, content)
    except OSError as error:
        raise Usage(f"the results cannot be written to {path}: {error.strerror}") from None


# list and probe


def _list(options: argparse.Namespace) -> int:
    from autograder import bank

    rows = [_description(item) for item in bank.items()]
    if options.json:
        import json

        print(json.dumps(rows, indent=1))
        return GRADED
    widths = [max(len(row[name]) for row in rows) for name in ("id", "kind")]
    for row in rows:
        print(f"{row['id'].ljust(widths[0])}  {row['kind'].ljust(widths[1])}  {row['topic']}")
    return GRADED


def _description(item: Any) -> dict[str, str]:
    from autograder.items import Build, Debug

    kind = "debug" if isinstance(item, Debug) else "build" if isinstance(item, Build) else item.kind
    topic = item.topic if isinstance(item, Build) else item.title
    function = f"{item.module}.{item.function}" if isinstance(item, Build) else ""
    return {"id": item.id, "chapter": item.id.split("-")[0], "kind": kind, "topic": topic, "function": function}


def _probe(_options: argparse.Namespace) -> int:
    from autograder import sandbox

    print("\n".join(sandbox.probe()))
    return GRADED


if __name__ == "__main__":
    sys.exit(main())
