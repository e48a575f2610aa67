"""What a course platform's download looks like, and what it says of each learner: names and marks, never contents.

Gradescope's export holds a folder ``submission_NNN`` for each submission, and ``submission_metadata.yml``, which names
its submitters (several for a group). Canvas puts all files into one folder and names each
``lastfirst_LATE_userid_fileid_name`` (or ``lastfirst_userid_text.html`` for typed text), in an anonymous class
``LATE_anon_aB3dE_fileid_name``. Moodle makes a folder ``Full Name_123456_assignsubmission_file_`` for each learner, or
puts that before the name of each file. Everything else is a plain class: one file or folder for each learner.

Learners choose their names and those of their files, so a name that can be read as two learners' is nobody's. Canvas
takes ``_12_`` out of a learner's name and leaves ``_12`` at its end; it writes LATE, in capitals, right before the
user's number (its ``ContentZipper``). Moodle puts blanks for the underscores of a name.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.places import Class, Entry
from autograder.submission import Unreadable, shown

METADATA = "submission_metadata.yml"
#: Longest name that is looked at for what a platform puts before it, letters.
NAME_LIMIT = 500
#: Several of one kind, such as the addresses of a group, stand in one text with this between them.
BETWEEN = "; "
MOODLE = re.compile(
    r"(?P<name>[^_]+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.A | re.DOTALL
)
#: A class that is graded without names has none here either.
_WHO = r"(?:(?P<name>.+?)_)??(?P<late>late_)?(?P<user>\d+)_"
CANVAS = re.compile(_WHO + r"(?P<number>\d+)_(?P<file>.+)", re.I | re.A | re.DOTALL)
CANVAS_TYPED = re.compile(_WHO + r"(?:text|link)\.html", re.I | re.A)
#: The same in an anonymous class: five letters and digits in place of a user's number.
_NOBODY = r"(?P<late>LATE_)?(?P<name>anon)_(?P<user>[0-9A-Za-z]{5})_"
ANONYMOUS = re.compile(_NOBODY + r"(?P<number>\d+)_(?P<file>.+)", re.A | re.DOTALL)
ANONYMOUS_TYPED = re.compile(_NOBODY + r"(?:text|link)\.html")
#: A file's own name that may begin with the file's number, or a typed text: then the two numbers before it are those of
#: a name and of a user.
TWO_WAYS = re.compile(r"\d+_.+|(?:text|link)\.html", re.I | re.A | re.DOTALL)
#: Canvas's name for a file of a name that the learner had handed in before.
AGAIN = re.compile(r"(?P<stem>.+)-\d+(?P<ending>\.\w+)")
TYPED = "typed as text or given as a link, which is not graded: hand in a file"
#: An entry, and what its name says.
Fit = tuple[Entry, re.Match[str]]


@dataclass(frozen=True)
class Found:
    """What one learner, or one group, handed in: ``parts`` are the entries by their names in the submission.

    ``order`` names parts that were handed in one after the other, as far as the platform says it.
    """

    name: str
    parts: Mapping[str, Entry]
    known: Mapping[str, str] = field(default_factory=dict)
    number: str = ""
    late: bool = False
    notes: tuple[str, ...] = ()
    problem: str = ""
    order: tuple[str, ...] = ()


def recognise(found: Class) -> tuple[str, Class, list[Found]]:
    """The kind of download, where it lies, and everyone in it.

    An archive may hold all in one folder. A folder that holds one folder or one archive is a class of one, and nothing
    that stands in it, which a learner may have made, speaks for others.

    Raises:
        Unreadable: it cannot be read, or lies one folder or archive deeper.
    """
    kind, rows = _read(found)
    if kind != PLAIN:
        return kind, found, rows
    if len(found.entries) == 1:
        (entry,) = found.entries.values()
        inner = found.within(entry) if entry.folder and not entry.link else None
        kind_there = _read(inner)[0] if inner else _packed(found, entry, 1)
        if inner and found.zipped and (kind_there != PLAIN or entry.name.casefold() == found.path.stem.casefold()):
            return kind_there, inner, _alone(inner, _read(inner)[1])
        if kind_there != PLAIN:
            way = "name that folder" if inner else f"{'unpack it and ' * found.zipped}name that file"
            raise Unreadable(f"{shown(found.path.name)} holds {kind_there} in {shown(entry.name)!r}: {way}")
    return kind, found, _alone(found, rows)


def _packed(found: Class, entry: Entry, least: int) -> str:
    """Which platform's download of at least so many learners an archive in the class is; PLAIN where it is none."""
    inner = found.opened(entry)
    while inner and len(inner.entries) == 1 and (only := next(iter(inner.entries.values()))).folder:
        inner = inner.within(only)
    if inner is None:
        return PLAIN
    if METADATA in inner.entries:
        return GRADESCOPE
    kind, rows = _read(inner)
    return kind if sum(bool(row.number) for row in rows) >= least else PLAIN


def _alone(found: Class, rows: Iterable[Found]) -> list[Found]:
    """The rows; of a file that is the archive of a whole class, one that says so."""
    return [replace(row, problem=row.problem or _class_in(found, row)) for row in rows]


def _class_in(found: Class, row: Found) -> str:
    """A sentence where a row of a plain class is the archive of a whole class."""
    for entry in row.parts.values() if not row.number else ():
        if (kind := _packed(found, entry, 2)) != PLAIN:
            return f"{shown(entry.name)} holds {kind} of a class, not one submission: grade that archive itself"
    return ""


def _read(found: Class) -> tuple[str, list[Found]]:
    for kind, reader in READERS.items():
        if (rows := reader(found)) is not None:
            return kind, rows
    return PLAIN, plain(found.entries.values())


def plain(entries: Collection[Entry]) -> list[Found]:
    """Learners who are called after their file or folder; with its ending where another is called the same."""
    stems = Counter(_stem(entry).casefold() for entry in entries)
    names = {entry.name: _stem(entry) if stems[_stem(entry).casefold()] == 1 else entry.name for entry in entries}
    return [Found(names[entry.name], {entry.name: entry}, problem=_link(entry)) for entry in entries]


def _stem(entry: Entry) -> str:
    return entry.name if entry.folder else os.path.splitext(entry.name)[0]


def _link(entry: Entry) -> str:
    return f"{shown(entry.name)} is a link, and links are not followed: put the file itself there" if entry.link else ""


def _mostly(found: Class, *patterns: re.Pattern[str], folders: bool) -> tuple[list[Fit], list[Entry]] | None:
    """The entries that one of the patterns fits, and the others; None when those are more."""
    fits, others = [], []
    for entry in found.entries.values():
        matches = (pattern.fullmatch(entry.name) for pattern in patterns if len(entry.name) <= NAME_LIMIT)
        match = next(filter(None, matches), None)
        if match and not entry.link and (folders or not entry.folder):  # a link is a row of its own, which says so
            fits.append((entry, match))
        else:
            others.append(entry)
    return (fits, others) if fits and len(fits) >= len(others) else None


def _by(fits: Iterable[Fit], group: str) -> Iterator[tuple[str, list[Fit], str]]:
    """What belongs to each learner, by the number in their names, and why it cannot be graded.

    A platform gives one number to one name: two names under one number are two rows, and neither is graded.
    """
    learners: dict[str, dict[str, list[Fit]]] = defaultdict(lambda: defaultdict(list))
    for fit in fits:
        number = fit[1][group]
        learners[number][fit[1]["name"] or f"user {number}"].append(fit)
    for number, called in learners.items():
        names = " and ".join(sorted(map(shown, called)))
        problem = f"{names} both stand with the number {number}: take away what is not that learner's"
        yield from ((number, entries, problem if len(called) > 1 else "") for entries in called.values())


# Gradescope


def gradescope(found: Class) -> list[Found] | None:
    """Everyone in Gradescope's export."""
    described = found.entries.get(METADATA)
    if described is None or described.folder or described.link:
        return None
    told = _metadata(found.text(METADATA))
    entries = {name: entry for name, entry in found.entries.items() if name != METADATA}
    rows = [_submitted(name, record, entries.pop(name, None)) for name, record in told.items()]
    unnamed = f"{METADATA} does not name who handed this in"
    return rows + [replace(one, notes=(unnamed,)) for one in plain(entries.values())]


def _metadata(data: bytes) -> dict[str, Any]:
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise Unreadable(f"{METADATA} is read with PyYAML, which is missing here: pip install pyyaml") from None
    try:
        # The plain loaders make texts, lists and mappings, and nothing else: a number keeps its zeros.
        told = yaml.load(data, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" (line {line + 1})"
        raise Unreadable(f"{METADATA} is damaged{where}: download the export again") from None
    if not isinstance(told, dict):
        raise Unreadable(f"{METADATA} does not list submissions: download the export again")
    return {str(name): record for name, record in told.items()}


def _submitted(name: str, record: Any, entry: Entry | None) -> Found:
    """One submission, with all who handed it in."""
    record = record if isinstance(record, dict) else {}
    listed = record.get(":submitters")
    people = [person for person in listed if isinstance(person, dict)] if isinstance(listed, list) else []
    number = name.removeprefix("submission_")
    known = {"gradescope": number, "created": _joined([record], ":created_at")}
    known |= {key: _joined(people, f":{key}") for key in ("email", "sid")}
    missing = "the export names this submission and does not hold it: download it again"
    problem = missing if entry is None else _link(entry)
    who = _joined(people, ":name", " & ") or name
    parts = {} if entry is None else {entry.name: entry}
    return Found(who, parts, {key: text for key, text in known.items() if text}, number, problem=problem)


def _joined(records: Iterable[Mapping[str, Any]], key: str, between: str = BETWEEN) -> str:
    texts = [record.get(key) for record in records]
    return between.join(" ".join(text.split()) for text in texts if isinstance(text, str) and text.strip())


# Moodle


def moodle(found: Class) -> list[Found] | None:
    """Everyone in Moodle's download of an assignment."""
    parted = _mostly(found, MOODLE, folders=True)
    if parted is None:
        return None
    return [_participant(*learner) for learner in _by(parted[0], "number")] + plain(parted[1])


def _participant(number: str, entries: Sequence[Fit], problem: str) -> Found:
    files = [(entry, match) for entry, match in entries if match["kind"] == "file"]
    folders = [entry for entry, _ in files if entry.folder]
    parts = {entry.name: entry for entry in folders[:1]}
    parts = parts or {match["file"] or entry.name: entry for entry, match in files}
    other = sorted({match["kind"] for _, match in entries if match["kind"] != "file"})
    notes = tuple(f"what was handed in as {kind} is not graded: hand in a file" for kind in other)
    problem = problem or ("" if parts else f"it was {TYPED}")
    return Found(
        entries[0][1]["name"], parts, {"moodle": number}, number, notes=notes if parts else (), problem=problem
    )


# Canvas


def canvas(found: Class) -> list[Found] | None:
    """Everyone in Canvas's download of an assignment."""
    patterns = (ANONYMOUS, ANONYMOUS_TYPED, CANVAS, CANVAS_TYPED)
    parted = _mostly(found, *patterns, folders=found.zipped)  # where a name may hold a slash
    if parted is None:
        return None
    fits, others = parted
    doubtful = {entry.name: users for entry, match in fits if (users := _readings(match))}
    clear = [fit for fit in fits if fit[0].name not in doubtful]
    rows = [_told(_uploader(*learner), doubtful) for learner in _by(clear, "user")]
    unclear = [
        replace(one, problem=_doubt(name, doubtful[name]))
        for one in plain([entry for entry, _ in fits if entry.name in doubtful])
        for name in one.parts
    ]
    return rows + unclear + plain(others)


def _readings(match: re.Match[str]) -> tuple[str, ...]:
    """The users whose file this may be, where it is not clear."""
    clear = match.re is not CANVAS or match["late"] == "LATE_" or not TWO_WAYS.fullmatch(match["file"])
    return () if clear else (match["user"], match["number"])


def _doubt(name: str, users: Sequence[str]) -> str:
    advice = "rename it so that only two numbers stand before the file's own name"
    return f"{shown(name)} can be user {users[0]}'s and user {users[1]}'s: {advice}"


def _told(found: Found, doubtful: Mapping[str, Sequence[str]]) -> Found:
    """The row with a note on every file that may belong to it."""
    names = [name for name, users in doubtful.items() if found.known.get("canvas") in users]
    notes = tuple(f"{shown(name)} may be a part of this: it is another row, and not graded" for name in names)
    return replace(found, notes=(*found.notes, *notes))


def _uploader(user: str, entries: Sequence[Fit], problem: str) -> Found:
    uploads = [(match["file"], int(match["number"]), entry) for entry, match in entries if "file" in match.groupdict()]
    parts, order = ordered(uploads)
    late = any(match["late"] for _, match in entries)
    problem = problem or ("" if parts else f"it was {TYPED}")
    first = entries[0][1]
    hidden = first.re in (ANONYMOUS, ANONYMOUS_TYPED)
    name = f"anonymous {user}" if hidden else first["name"] or f"user {user}"
    return Found(name, parts, {"anonymous" if hidden else "canvas": user}, user, late, problem=problem, order=order)


def ordered(uploads: Sequence[tuple[str, int, Entry]]) -> tuple[dict[str, Entry], tuple[str, ...]]:
    """A learner's files by their names, from the names and numbers that Canvas gave them; and which follow each other.

    A file that was handed in again is called ``name-1.py`` by Canvas. Where ``name.py`` is there too, that of the
    higher number is the newer one; two that are numbered and have no such twin are two parts.
    """
    titles = {title for title, _, _ in uploads}
    firsts = [_first_name(title) for title in titles]
    parts: dict[str, Entry] = {}
    order = []
    for title, _, entry in sorted(uploads, key=lambda upload: upload[1]):
        first = _first_name(title)
        lone_module = len(uploads) > 1 and _is_module(first) and firsts.count(first) == 1
        own = first if lone_module and first not in titles else title
        while own in parts:  # the same file twice: the newer one counts
            del parts[own]
        parts[own] = entry
        order += [own] if firsts.count(first) > 1 and first in titles else []
    return parts, tuple(order)


def _first_name(title: str) -> str:
    match = AGAIN.fullmatch(title)
    return match["stem"] + match["ending"] if match else title


def _is_module(title: str) -> bool:
    return title.lower().endswith(".py") and title[:-3].isidentifier()


PLAIN, GRADESCOPE = "a plain class", "Gradescope's export"
READERS: Mapping[str, Callable[[Class], list[Found] | None]] = {
    GRADESCOPE: gradescope,
    "Moodle's download": moodle,
    "Canvas's download": canvas,
}


def files_of(found: Found, zipped: bool) -> Iterator[tuple[str, str]]:
    """The files of a submission by their path in it, and where each stands in the class; for one that is one folder on
    disk, nothing."""
    for title, entry in found.parts.items():
        if zipped:
            files = ((path, place) for path, place in entry.inside.items() if not path.endswith("/"))
            yield from ((f"{title}/{path}" if path else title, place) for path, place in files)
        elif not entry.folder:
            yield title, entry.name
