"""Recognizes the downloads of course platforms and what they say about each learner, from file names and metadata only.

Gradescope's export contains a folder ``submission_NNN`` for each submission, and ``submission_metadata.yml``, which
names the submitters (several for a group). Canvas puts all files into one folder and names each of them
``lastfirst_LATE_userid_fileid_name`` (typed text is ``lastfirst_userid_text.html``) or, if grading is anonymous,
``LATE_anon_aB3dE_fileid_name``; files of a quiz are called ``lastfirstuserid_question_questionid_fileid_name``. Moodle
makes a folder ``Full Name_123456_assignsubmission_file_`` for each learner, or prefixes each file name with that.
Anything else is a plain class: one file or folder per learner.

Learners choose their own names and file names, so a file name that could belong to either of two learners is assigned
to neither. Canvas removes ``_12_`` from a learner's name but leaves ``_12`` at its end; it writes LATE, in capitals,
right before the user's number (see its ``ContentZipper``). Moodle replaces the underscores of a name by blanks.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.classroom.class_files import Class, Entry
from autograder.submission import Unreadable, shown

METADATA = "submission_metadata.yml"
#: Longer names, in characters, are not searched for a platform's prefix.
NAME_LIMIT = 500
#: Separates several values in one text, such as the addresses of a group.
BETWEEN = "; "
MOODLE = re.compile(
    r"(?P<name>[^_]+)_(?P<number>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_(?P<file>.*))?", re.A | re.DOTALL
)
#: The name is missing where Canvas grades anonymously.
_WHO = r"(?:(?P<name>.+?)_)??(?P<late>late_)?(?P<user>\d+)_"
CANVAS = re.compile(_WHO + r"(?P<number>\d+)_(?P<file>.+)", re.I | re.A | re.DOTALL)
CANVAS_TYPED = re.compile(_WHO + r"(?:text|link)\.html", re.I | re.A)
#: A file handed in to a question of a quiz: the user's number follows the name at once, then comes the question's.
QUIZ = re.compile(
    r"(?P<name>.*?[^\d_])?_?(?P<late>late_?)?(?P<user>\d+)_question_\d+_(?P<number>\d+)_(?P<file>.+)",
    re.I | re.A | re.DOTALL,
)
#: The other form of an anonymous class: five letters and digits instead of a user's number.
_NOBODY = r"(?P<late>LATE_)?(?P<name>anon)_(?P<user>[0-9A-Za-z]{5})_"
ANONYMOUS = re.compile(_NOBODY + r"(?P<number>\d+)_(?P<file>.+)", re.A | re.DOTALL)
ANONYMOUS_TYPED = re.compile(_NOBODY + r"(?:text|link)\.html")
#: What follows the two numbers, if the name is ambiguous: they may be a user and a file, or the end of a learner's name
#: and a user.
TWO_WAYS = re.compile(r"\d+_.+|(?:text|link)\.html", re.I | re.A | re.DOTALL)
#: How Canvas renames a file when the learner has already handed in one with that name.
AGAIN = re.compile(r"(?P<stem>.+)-\d+(?P<ending>\.\w+)")
TYPED = "typed as text or given as a link, which is not graded: hand in a file"
#: An entry, and the match of its name.
Fit = tuple[Entry, re.Match[str]]


@dataclass(frozen=True)
class Found:
    """What one learner, or one group, handed in.

    ``parts`` maps names in the submission to entries. ``order`` names parts that were handed in one after another, as
    far as the platform says. The other fields are those of :class:`~autograder.classroom.collecting.Handed`.
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
    """The kind of download, the folder or archive that holds it, and everyone in it.

    An archive may keep everything in one folder. A folder that contains a single folder or archive is otherwise a class
    of one learner: what is inside may be the learner's own work, and must not be read as other people's submissions.

    Raises:
        Unreadable: it cannot be read, or the class is one folder or archive further down.
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
    """The platform whose download an archive in the class is, if at least ``least`` learners are in it; else PLAIN."""
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
    """The rows; one whose file is the archive of a whole class is marked as such."""
    return [replace(row, problem=row.problem or _class_in(found, row)) for row in rows]


def _class_in(found: Class, row: Found) -> str:
    """A sentence if a row of a plain class is the archive of a whole class; else empty."""
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
    """Learners named after their file or folder; the suffix is kept where two would otherwise have the same name."""
    stems = Counter(_stem(entry).casefold() for entry in entries)
    names = {entry.name: _stem(entry) if stems[_stem(entry).casefold()] == 1 else entry.name for entry in entries}
    return [Found(names[entry.name], {entry.name: entry}, problem=_link(entry)) for entry in entries]


def _stem(entry: Entry) -> str:
    return entry.name if entry.folder else os.path.splitext(entry.name)[0]


def _link(entry: Entry) -> str:
    return f"{shown(entry.name)} is a link, and links are not followed: put the file itself there" if entry.link else ""


def _mostly(found: Class, *patterns: re.Pattern[str], folders: bool) -> tuple[list[Fit], list[Entry]] | None:
    """The entries that match one of the patterns, and the others; None if the others are the majority."""
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
    """Group files by the learner's number: the number, the learner's files, and why they cannot be graded, if so.

    A platform gives each number to one name. Two names with the same number become two rows, and neither is graded.
    """
    learners: dict[str, dict[str, list[Fit]]] = defaultdict(lambda: defaultdict(list))
    for fit in fits:
        number = fit[1][group]
        learners[number][fit[1]["name"] or f"user {number}"].append(fit)
    for number, called in learners.items():
        names = " and ".join(sorted(map(shown, called)))
        problem = f"{names} both have the number {number}: remove what is not that learner's"
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
        # The base loaders return strings, lists and mappings only, so a number keeps its leading zeros.
        told = yaml.load(data, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" (line {line + 1})"
        raise Unreadable(f"{METADATA} is damaged{where}: download the export again") from None
    if not isinstance(told, dict):
        raise Unreadable(f"{METADATA} does not list submissions: download the export again")
    return {str(name): record for name, record in told.items()}


def _submitted(name: str, record: Any, entry: Entry | None) -> Found:
    """One submission, with everyone who handed it in."""
    record = record if isinstance(record, dict) else {}
    listed = record.get(":submitters")
    people = [person for person in listed if isinstance(person, dict)] if isinstance(listed, list) else []
    number = name.removeprefix("submission_")
    known = {"gradescope": number, "created": _joined([record], ":created_at")}
    known |= {key: _joined(people, f":{key}") for key in ("email", "sid")}
    missing = "the export lists this submission but does not contain it: download it again"
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
    patterns = (ANONYMOUS, ANONYMOUS_TYPED, QUIZ, CANVAS, CANVAS_TYPED)
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
    """The users to whom this file may belong; empty if the name is not ambiguous."""
    clear = match.re is not CANVAS or match["late"] == "LATE_" or not TWO_WAYS.fullmatch(match["file"])
    return () if clear else (match["user"], match["number"])


def _doubt(name: str, users: Sequence[str]) -> str:
    advice = "rename it so that only two numbers precede the file's own name"
    return f"{shown(name)} can belong to user {users[0]} or to user {users[1]}: {advice}"


def _told(found: Found, doubtful: Mapping[str, Sequence[str]]) -> Found:
    """The row, with a note for every ambiguous file that may belong to it."""
    names = [name for name, users in doubtful.items() if found.known.get("canvas") in users]
    notes = tuple(f"{shown(name)} may belong here: it is a row of its own, and not graded" for name in names)
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
    """A learner's files by their own names, and which of them are versions handed in one after another.

    ``uploads`` holds the names and file numbers that Canvas gave them. Canvas calls a file that was handed in again
    ``name-1.py``. If ``name.py`` is there too, the one with the higher file number is newer; two numbered files without
    such a counterpart are two separate parts.
    """
    titles = {title for title, _, _ in uploads}
    firsts = [_first_name(title) for title in titles]
    parts: dict[str, Entry] = {}
    order = []
    for title, _, entry in sorted(uploads, key=lambda upload: upload[1]):
        first = _first_name(title)
        lone_module = len(uploads) > 1 and _is_module(first) and firsts.count(first) == 1
        own = first if lone_module and first not in titles else title
        while own in parts:  # handed in twice: the newer file counts
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
    """The path of each file in a submission, and its path in the class; nothing for a folder on disk."""
    for title, entry in found.parts.items():
        if zipped:
            files = ((path, place) for path, place in entry.inside.items() if not path.endswith("/"))
            yield from ((f"{title}/{path}" if path else title, place) for path, place in files)
        elif not entry.folder:
            yield title, entry.name
