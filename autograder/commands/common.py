"""What the commands share: the exit status, common options, the key, the chosen items, and results files."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from autograder.sandbox import LEVELS, Level

if TYPE_CHECKING:
    from autograder.items import Item
    from autograder.running.exam import Exam
    from autograder.sandbox import Sandbox

    #: What each module adds its commands to.
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

#: The environment variable that may hold the key.
VARIABLE = "AUTOGRADER_KEY"
#: Permissions that a file with the key must not give to other users.
OTHERS = 0o007
#: The option of ``prctl`` that says whether other processes of the user may read this one's memory.
PR_SET_DUMPABLE = 4

#: What the process ends with; ``python -m autograder`` says what each means.
ExitStatus = Literal[0, 1, 2, 3]
DONE: Final = 0
UNJUDGED: Final = 1
USAGE: Final = 2
NO_SANDBOX: Final = 3


class Usage(Exception):
    """The command line asks for something that cannot be done; the message is one line for the person who typed it."""


def add_exam_options(parser: argparse.ArgumentParser) -> None:
    """The options that say what is asked: ``--only``, ``--key``, ``--with-questions``."""
    parser.add_argument("--key", metavar="FILE", help="secret key for hidden inputs (- for standard input)")
    parser.add_argument("--only", nargs="+", action="extend", metavar="ID", help="items, or chapters such as 03 or cap")
    parser.add_argument("--with-questions", action="store_true", help="answers to questions count, 1 point each")


def add_sandbox_option(parser: argparse.ArgumentParser, default: Level = "best") -> None:
    """The option ``--sandbox``: how much isolation is asked for."""
    parser.add_argument("--sandbox", choices=LEVELS, default=default, help=f"default: {default}")


@dataclass(frozen=True)
class Key:
    """The secret key of a grading.

    Attributes:
        secret: the key itself.
        drawn: it was drawn at random, because none was given.
        exported: it was taken from the environment of this process, where the shell that started it has it too.
    """

    secret: bytes = field(repr=False)
    drawn: bool = False
    exported: bool = False

    @property
    def stamp(self) -> dict[str, str]:
        """The key as results show it: one that was drawn, which would otherwise be lost; never one that was given."""
        return {"key": self.secret.decode()} if self.drawn else {}


def read_key(source: str | None) -> Key:
    """The key from a file, from standard input (``-``) or from the environment; without any, a random one.

    Afterwards no other process of the same user can read this one's memory, and no child inherits the variable.

    Raises:
        Usage: the key cannot be read, is empty, or is in a file that other users can open.
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
        raise Usage(f"{command} needs --key: with it, any change since the grading is detected")
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
    """Keep other processes of this user from reading this one's memory and environment (Linux only)."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def check_exported(key: Key, sandbox: Sandbox) -> None:
    """Refuse a key from the environment if submissions could read it in ``/proc``, where it stays after removal.

    Raises:
        Usage: the key came from the environment, and the sandbox does not hide processes.
    """
    if key.exported and not sandbox.hides_processes:
        advice = "give the key on standard input (--key -), or grade where files are isolated"
        raise Usage(f"submissions could read {VARIABLE} in the environment of this process: {advice}")


def make_exam(only: Sequence[str] | None, key: bytes, with_questions: bool) -> Exam:
    """The exam that the options ``--only``, ``--key`` and ``--with-questions`` ask for.

    Raises:
        Usage: no such item, or only questions without ``--with-questions``.
    """
    from autograder import bank
    from autograder.items import Build
    from autograder.running.exam import Exam

    items = bank.items() if not only else tuple(chosen(only))
    builds = [item for item in items if isinstance(item, Build)]
    questions = [item for item in items if not isinstance(item, Build)] if with_questions else []
    if not builds and not questions:
        raise Usage("these items are questions: they count with --with-questions")
    return Exam(builds, key, questions)


def chosen(only: Sequence[str]) -> list[Item]:
    """The items with these ids; a chapter, such as 03, means all of its items.

    Raises:
        Usage: there is no such item or chapter.
    """
    from autograder import bank

    found: dict[str, Item] = {}
    for name in only:
        chapter = [item for item in bank.items() if item.id.split("-")[0] == name]
        try:
            found.update((item.id, item) for item in chapter or [bank.find(name)])
        except KeyError as error:
            raise Usage(_as_chapter(name) or error.args[0]) from None
    return list(found.values())


def _as_chapter(name: str) -> str:
    """What to type instead, if a name that no item has looks like a chapter or a list of names; else empty."""
    import re

    from rankzero.facts.chapters import CHAPTERS

    if "," in name:
        return f"no item {name!r}: put spaces between names, as in --only {' '.join(name.replace(',', ' ').split())}"
    match = re.fullmatch(r"(?:chapter|ch)?[ _-]?(\d{1,2})", name.lower())
    known = [chapter.prefix for chapter in CHAPTERS if match and chapter.number == int(match[1])]
    return f"no item {name!r}; did you mean {known[0]}, the whole chapter?" if known else ""


def text_of(path: str | os.PathLike[str]) -> str:
    """The text of a file as it is, line ends and byte-order mark included.

    Raises:
        Usage: it cannot be read, is a workbook, or is not in UTF-8.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Usage(f"{path} cannot be read: {error.strerror}") from None
    if data.startswith(b"PK"):
        raise Usage(f"{path} is a workbook or an archive: save it as CSV in UTF-8")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Usage(f"{path} is not in UTF-8: save it as CSV in UTF-8") from None


def save(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file that only its owner can read.

    Raises:
        Usage: it cannot be written.
    """
    from autograder import files

    try:
        files.save(path, content)
    except OSError as error:
        raise Usage(f"{path} cannot be written: {error.strerror}") from None


def write(path: str, content: dict[str, Any]) -> None:
    """Write a results file.

    Raises:
        Usage: it cannot be written.
    """
    from autograder.marking import report

    try:
        report.write(path, content)
    except OSError as error:
        raise Usage(f"the results cannot be written to {path}: {error.strerror}") from None
