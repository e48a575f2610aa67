"""Collects a class: finds what each learner handed in, inside one folder or archive.

The layout is recognized (``downloads``), so no option has to name it. Everything that may be somebody's work becomes a
row; what cannot be read is refused with a sentence when it is loaded. An archive is read in memory, without unpacking
it, and links are not followed.
"""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from autograder import submission
from autograder.classroom import class_files, downloads
from autograder.submission import Submission, Unreadable, archive, shown
from autograder.submission.units import OPENED, WANTED

#: Maximum length of an id, not counting the hash that makes it unique.
ID_LIMIT = 48
#: Ids that would collide with other files of a graded class, or with device names on Windows.
TAKEN = {"index", "class", "con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
#: Letters and marks that print nothing: Hangul fillers, inherent Khmer vowels, joiners and variation selectors.
UNSEEN = {"\u115f", "\u1160", "\u17b4", "\u17b5", "\u034f", *map(chr, range(0x180B, 0x1810))}
UNSEEN |= {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}


@dataclass(frozen=True)
class Handed:
    """What one learner handed in.

    Attributes:
        id: unique in the class and safe as a file name; the results, answers and page are named after it.
        path: the file or folder to load or, if ``files`` is not empty, the folder or archive of the class.
        name: the learner's name as the download gives it, else the id; the names of a group are joined by `` & ``.
        known: whatever else the download says, of ``{"canvas": user id, "moodle": participant, "gradescope": submission
            id, "email": ..., "sid": ..., "created": when}``. For a group, ``email`` and ``sid`` list all members,
            joined by ``; ``.
        late: whether the download marks it as late (Canvas does; Gradescope's export and Moodle's do not say).
        files: the path of each file within ``path``, by its path in the submission; empty if ``path`` is all of it.
        notes: sentences about what was ignored.
        problem: why it cannot be loaded at all; empty if no reason is known yet.
        order: names of files that were handed in one after another, as far as the download says.
    """

    id: str
    path: Path
    name: str
    known: Mapping[str, str] = field(default_factory=dict)
    late: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    problem: str = ""
    order: tuple[str, ...] = ()


def collect(folder: str | Path) -> list[Handed]:
    """Everyone in a class, sorted by id.

    ``folder`` is a download from Gradescope, Canvas or Moodle, unpacked or still zipped, or a folder with one file or
    folder per learner.

    Raises:
        Unreadable: it contains no class; the message is one sentence that says why.
    """
    return recognise(folder)[1]


def recognise(folder: str | Path) -> tuple[str, list[Handed]]:
    """What the folder was recognized as (``"Moodle's download"``), and what :func:`collect` returns."""
    path = Path(os.path.abspath(folder))
    try:
        if not path.exists():
            raise Unreadable(f"there is no folder or archive {str(folder)!r}")
        opened = class_files.open_class(path)
        if {"class.json", "finished.jsonl"} <= opened.entries.keys():
            raise Unreadable(f"{shown(path.name)} is a graded class: name the folder with what was handed in")
        kind, where, found = downloads.recognise(opened)
    except OSError as error:
        raise Unreadable(f"{shown(path.name)} cannot be opened: {error.strerror or error}") from None
    if not found:
        raise Unreadable(f"{shown(path.name)} holds no submission: name the folder or .zip archive of a class")
    ids = identify([_wanted(one) for one in found])
    rows = [_handed(id_, one, where) for id_, one in zip(ids, found, strict=True)]
    return kind, sorted(rows, key=lambda row: row.id)


def _wanted(found: downloads.Found) -> tuple[str, str]:
    """What an id is made of: the name with the platform's number, and a text that is unique in the class."""
    unique = "/".join([found.number, *(entry.name for entry in found.parts.values())])
    return (f"{found.name[:32]}-{found.number}" if found.number else found.name), unique


def _handed(id_: str, found: downloads.Found, where: class_files.Class) -> Handed:
    name = unicodedata.normalize("NFC", " ".join(shown(found.name).split())) or id_
    path, files = where.path, dict(downloads.files_of(found, where.zipped))
    files = {title: place for title, place in files.items() if title.lower().endswith(OPENED)} or files
    if not where.zipped and len(found.parts) == 1:
        ((title, entry),) = found.parts.items()
        path, files = where.path / entry.name, {} if title == entry.name else {title: ""}
    empty = where.zipped and not files and not found.problem
    problem = f"{shown(found.name)} is empty: {WANTED}" if empty else found.problem
    return Handed(id_, path, name, dict(found.known), found.late, files, found.notes, problem, found.order)


def identify(wanted: Sequence[tuple[str, str]]) -> list[str]:
    """An id for each pair of a preferred name and a text that is unique in the class.

    Ids consist of letters, marks and digits of any script, ``-`` and ``_``. They stay distinct on file systems that
    ignore case or normalize accents, and do not depend on the order of the pairs. A name that is too long, reserved or
    not unique gets twelve hexadecimal digits of a hash of its text, and so does a name that already ends like that.
    """
    slugs = [_slug(name) for name, _ in wanted]
    counts = Counter(map(_folded, slugs))
    return [
        slug if counts[_folded(slug)] == 1 and _is_plain(slug) else _hashed(slug, unique)
        for slug, (_, unique) in zip(slugs, wanted, strict=True)
    ]


def _slug(name: str) -> str:
    """A name with ``-`` for everything but letters, and without letters that file names cannot contain here."""
    text = "".join(letter if _is_letter(letter) else "-" for letter in unicodedata.normalize("NFKC", name))
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        text = "".join(letter for letter in text if _fits(letter))
    begin = next((index for index, letter in enumerate(text) if unicodedata.category(letter)[0] in "LN"), len(text))
    return re.sub(r"-+", "-", text[begin:]).strip("-_")


def _is_letter(letter: str) -> bool:
    return letter == "_" or (unicodedata.category(letter)[0] in "LMN" and letter not in UNSEEN)


def _fits(letter: str) -> bool:
    try:
        os.fsencode(letter)
    except UnicodeEncodeError:
        return False
    return True


def _folded(slug: str) -> str:
    """A normal form that is equal for names that some file system does not distinguish."""
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", slug).casefold())


def _is_plain(slug: str) -> bool:
    hashed = re.fullmatch(r"(.*-)?[0-9a-f]{12}", slug, re.I)
    return 0 < len(slug) <= ID_LIMIT and slug.casefold() not in TAKEN and not hashed


def _hashed(slug: str, unique: str) -> str:
    digits = hashlib.sha256(unique.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{slug[:ID_LIMIT].strip('-_')}-{digits}".lstrip("-")


def load(handed: Handed, topics: Collection[str] | None = None) -> Submission:
    """Read what a learner handed in, without running it; ``handed.notes`` are listed among its problems.

    Raises:
        Unreadable: it cannot be graded at all; the message is one sentence that says why.
    """
    if handed.problem:
        raise Unreadable(handed.problem)
    try:
        found = _found(handed, topics)
    except OSError as error:
        raise Unreadable(f"{handed.name} cannot be opened: {error.strerror or type(error).__name__}") from None
    return replace(found, problems=(*handed.notes, *found.problems))


def _found(handed: Handed, topics: Collection[str] | None) -> Submission:
    if not handed.files:
        return submission.load(handed.path, topics)
    with _reading(handed) as contents:
        (first, content), *more = contents.items()
        if not more and "/" not in first:
            return submission.load_file(first, content, topics)
        return submission.load_files(handed.name, contents, topics, handed.order)


@contextmanager
def _reading(handed: Handed) -> Iterator[dict[str, Callable[[], bytes]]]:
    """A function that reads each file of a submission, by the file's path in it."""
    if "" in handed.files.values() or handed.path.is_dir():
        yield {title: partial(submission.read, handed.path / place) for title, place in handed.files.items()}
        return
    with handed.path.open("rb") as file, archive.opened(file) as packed:
        entries = {title: packed.getinfo(place) for title, place in handed.files.items()}
        archive.check(list(entries.values()))
        yield {title: partial(archive.content, packed, entry) for title, entry in entries.items()}
