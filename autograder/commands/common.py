"""What the commands share: the exit status, the key, the items chosen, and files written whole or not at all."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.exam import Exam
    from autograder.sandbox import Sandbox

#: The variable that may hold the key.
VARIABLE = "AUTOGRADER_KEY"
#: What other users must not do with a file that holds the key.
OTHERS = 0o007
#: Of ``prctl``: whether other processes of the same user may look into this one.
PR_SET_DUMPABLE = 4

DONE, UNJUDGED, USAGE, NO_SANDBOX = range(4)


class Usage(Exception):
    """The command line asks for something that cannot be done; one line for its author."""


def add_exam_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is asked: ``--only``, ``--key``, ``--with-questions``."""
    parser.add_argument("--key", metavar="FILE", help="secret key for hidden inputs (- for standard input)")
    parser.add_argument("--only", nargs="+", action="extend", metavar="ID", help="items, or chapters such as 03 or cap")
    parser.add_argument("--with-questions", action="store_true", help="answers typed into predict count, 1 point each")


@dataclass(frozen=True)
class Key:
    """The secret key of a grading.

    Attributes:
        secret: the key itself.
        drawn: nobody gave one; it was drawn at random.
        exported: it stands in the environment of this process, and so in that of the shell before it.
    """

    secret: bytes = field(repr=False)
    drawn: bool = False
    exported: bool = False

    @property
    def stamp(self) -> dict[str, str]:
        """What results say of it: a key that was drawn, since nobody has it otherwise; never one that was given."""
        return {"key": self.secret.decode()} if self.drawn else {}


def read_key(source: str | None) -> Key:
    """The key from a file, from standard input (``-``) or from the environment; else one that is drawn.

    From here on no other process of the same user can look into this one, and no child inherits the variable.

    Raises:
        Usage: it cannot be read, is empty, or stands in a file that other users can open.
    """
    _close_memory()
    exported = os.environ.pop(VARIABLE, "").strip()
    given = _given(source).strip() if source else exported
    if given:
        return Key(given.encode(), exported=given == exported)
    if source:
        raise Usage(f"the key in {'standard input' if source == '-' else source} is empty")
    import secrets

    return Key(secrets.token_hex(16).encode(), drawn=True)


def key_of_class(source: str | None, command: str) -> bytes:
    """The key with which a class was graded.

    Raises:
        Usage: none is given.
    """
    key = read_key(source)
    if key.drawn:
        raise Usage(f"{command} needs --key: with it, whatever was changed since the grading is found")
    return key.secret


def _given(source: str) -> str:
    """The text of a key file, or a line of standard input."""
    import stat

    try:
        if source == "-":
            return sys.stdin.readline()
        with open(source, encoding="utf-8") as file:
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and stat.S_ISREG(mode) and mode & OTHERS:
                raise Usage(f"other users can open the key in {source}: run chmod 600 {source}")
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"the key cannot be read from {source}: {getattr(error, 'strerror', None) or error}") from None


def _close_memory() -> None:
    """Close this process's memory and environment to other processes of its user, as far as the system can (Linux)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def check_exported(key: Key, sandbox: Sandbox) -> None:
    """Refuse a key from the environment where submissions could read it: taking it out leaves it in ``/proc``.

    Raises:
        Usage: they could.
    """
    if key.exported and not sandbox.hides_processes:
        advice = "give the key on standard input (--key -), or grade where files are isolated"
        raise Usage(f"submissions could read {VARIABLE} in the environment of this process: {advice}")


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
