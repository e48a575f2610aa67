"""What the commands share: the exit status, the key, the items chosen, and files written whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.exam import Exam

DONE, UNJUDGED, USAGE, NO_SANDBOX = range(4)


class Usage(Exception):
    """The command line asks for something that cannot be done; one line for its author."""


def add_exam_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is asked: ``--only``, ``--key``, ``--with-questions``."""
    parser.add_argument("--key", metavar="FILE", help="secret key for hidden inputs (- for standard input)")
    parser.add_argument("--only", nargs="+", action="extend", metavar="ID", help="items, or chapters such as 03 or cap")
    parser.add_argument("--with-questions", action="store_true", help="answers typed into predict count, 1 point each")


def read_key(source: str | None) -> tuple[bytes, dict[str, str]]:
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


def make_exam(only: Sequence[str] | None, key: bytes, with_questions: bool) -> Exam:
    from autograder import bank
    from autograder.exam import Exam
    from autograder.items import Build

    items = bank.items() if not only else tuple(chosen(only))
    builds = [item for item in items if isinstance(item, Build)]
    questions = [item for item in items if not isinstance(item, Build)] if with_questions else []
    if not builds and not questions:
        raise Usage("these items are questions: they count with --with-questions")
    return Exam(builds, key, questions)


def chosen(only: Sequence[str]) -> list[Any]:
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


def write(path: str, content: Any) -> None:
    from autograder import report

    try:
        report.write(path, content)
    except OSError as error:
        raise Usage(f"the results cannot be written to {path}: {error.strerror}") from None
