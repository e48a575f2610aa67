"""A class as it was collected: one folder or archive, and in it what each learner handed in.

What stands there is recognised (:mod:`autograder.downloads`); no option says what it is. Everything that may be
somebody's work becomes a row: what cannot be read is refused with a sentence when it is loaded. An archive of a class
is read as it is, in memory; links are not followed.
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

from autograder import archive, downloads, places, submission
from autograder.submission import Submission, Unreadable, shown

#: Most letters of an id, before what tells it from others.
ID_LIMIT = 48
#: Ids that would be taken for other files: of a graded class, or of devices in Windows.
TAKEN = {"index", "class", "con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
#: Letters and marks that leave no ink: fillers of Hangul, vowels of Khmer, joiners and selectors of variants.
UNSEEN = {"\u115f", "\u1160", "\u17b4", "\u17b5", "\u034f", *map(chr, range(0x180B, 0x1810))}
UNSEEN |= {*map(chr, range(0xFE00, 0xFE10)), *map(chr, range(0xE0100, 0xE01F0))}


@dataclass(frozen=True)
class Handed:
    """What one learner handed in.

    Attributes:
        id: unique in the class and safe as a file name: its results, answers and page are called after it.
        path: the file or folder to load; where ``files`` says more, the folder or archive of the class.
        name: the learner's, as the collection says it; the id where it does not. Of a group, all with `` & `` between.
        known: what else the collection says: ``{"canvas": user id, "moodle": participant, "gradescope": submission id,
            "email": ..., "sid": ..., "created": when}``, as far as it is there. Of a group, ``email`` and ``sid`` hold
            all of them with ``; `` between.
        late: whether the collection marks it as late (Canvas does; Gradescope's export and Moodle's do not say).
        files: where each file stands in ``path``, by its own path in the submission; empty when ``path`` is all of it.
        notes: sentences about what was passed over.
        problem: why it cannot be loaded at all; empty when that is not known yet.
        order: names of files that were handed in one after the other, as far as the collection says it.
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
    """Everyone in a class, sorted by id: Gradescope's, Canvas's or Moodle's download, or a file or folder for each.

    ``folder`` may be the zip archive that the platform gave: it is read as it is.

    Raises:
        Unreadable: there is no class, with one sentence that says why.
    """
    return recognise(folder)[1]


def recognise(folder: str | Path) -> tuple[str, list[Handed]]:
    """What the collection was taken for (``"Moodle's download"``), and what :func:`collect` gives."""
    path = Path(os.path.abspath(folder))
    try:
        if not path.exists():
            raise Unreadable(f"there is no folder or archive {str(folder)!r}")
        kind, where, found = downloads.recognise(places.open_class(path))
    except OSError as error:
        raise Unreadable(f"{shown(path.name)} cannot be opened: {error.strerror or error}") from None
    if not found:
        raise Unreadable(f"{shown(path.name)} holds no submission: name the folder or .zip archive of a class")
    ids = identify([_wanted(one) for one in found])
    rows = [_handed(id_, one, where) for id_, one in zip(ids, found, strict=True)]
    return kind, sorted(rows, key=lambda row: row.id)


def _wanted(found: downloads.Found) -> tuple[str, str]:
    """What an id is made of: the name with the platform's number, and what nobody else in the class has."""
    unique = "/".join([found.number, *(entry.name for entry in found.parts.values())])
    return (f"{found.name[:32]}-{found.number}" if found.number else found.name), unique


def _handed(id_: str, found: downloads.Found, where: places.Class) -> Handed:
    name = unicodedata.normalize("NFC", " ".join(shown(found.name).split())) or id_
    path, files = where.path, dict(downloads.files_of(found, where.zipped))
    files = {title: place for title, place in files.items() if title.lower().endswith(submission.OPENED)} or files
    if not where.zipped and len(found.parts) == 1:
        ((title, entry),) = found.parts.items()
        path, files = where.path / entry.name, {} if title == entry.name else {title: ""}
    empty = where.zipped and not files and not found.problem
    problem = f"{shown(found.name)} is empty: {submission.WANTED}" if empty else found.problem
    return Handed(id_, path, name, dict(found.known), found.late, files, found.notes, problem, found.order)


def identify(wanted: Sequence[tuple[str, str]]) -> list[str]:
    """For each pair of a wanted name and a text that nobody else has, an id.

    Ids are letters, marks and digits of any script, ``-`` and ``_``. They differ also where a file system tells neither
    capitals nor ways to write an accent apart, and do not depend on the order. A name that is long, taken, or another's
    gets twelve digits of a hash of its text; so does one that looks as if it had them.
    """
    slugs = [_slug(name) for name, _ in wanted]
    counts = Counter(map(_folded, slugs))
    return [
        slug if counts[_folded(slug)] == 1 and _is_plain(slug) else _hashed(slug, unique)
        for slug, (_, unique) in zip(slugs, wanted, strict=True)
    ]


def _slug(name: str) -> str:
    """A name with its letters, and ``-`` for the rest; without those that names of files cannot have here."""
    text = "".join(letter if _is_letter(letter) else "-" for letter in unicodedata.normalize("NFKC", name))
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        text = "".join(letter for letter in text if _fits(letter))
    begin = next((place for place, letter in enumerate(text) if unicodedata.category(letter)[0] in "LN"), len(text))
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
    """The same for names that some file system takes for one."""
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", slug).casefold())


def _is_plain(slug: str) -> bool:
    hashed = re.fullmatch(r"(.*-)?[0-9a-f]{12}", slug, re.I)
    return 0 < len(slug) <= ID_LIMIT and slug.casefold() not in TAKEN and not hashed


def _hashed(slug: str, unique: str) -> str:
    digits = hashlib.sha256(unique.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{slug[:ID_LIMIT].strip('-_')}-{digits}".lstrip("-")


def load(handed: Handed, topics: Collection[str] | None = None) -> Submission:
    """What a learner handed in, found and never run; ``handed.notes`` stand among its problems.

    Raises:
        Unreadable: it cannot be graded at all, with one sentence that says why.
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
    """What reads each file of a submission, by its path in it."""
    if "" in handed.files.values() or handed.path.is_dir():
        yield {title: partial(submission.read, handed.path / place) for title, place in handed.files.items()}
        return
    with handed.path.open("rb") as file, archive.opened(file) as packed:
        entries = {title: packed.getinfo(place) for title, place in handed.files.items()}
        archive.check(list(entries.values()))
        yield {title: partial(archive.content, packed, entry) for title, entry in entries.items()}
