"""Several versions of one file in a submission: which of them counts, and what the report says about it.

Browsers, desktops, Jupyter and course platforms rename a file whose name is taken: ``zero (1).py``, ``zero copy.py``,
``zero-Copy1.ipynb``, ``zero-1.py``. Learners who hand in both have often solved one and left the other a stub. Then the
solved one counts. If both are written and differ, the choice is left to the learner.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from autograder import syntax
from autograder.submission import notebook
from autograder.submission.definitions import definitions
from autograder.submission.units import Unreadable, decode

_ENDING = r"(?P<ending>\.(?:py|ipynb))"
#: Names that only a copy has.
MARKED = (
    re.compile(r"(?P<stem>.+?)(?: -)?[ _-]copy(?:[ _-]?\(?\d{1,3}\)?)?" + _ENDING, re.I),
    re.compile(r"(?P<stem>.+?)[ _]?\(\d{1,3}\)" + _ENDING, re.I),
    re.compile(r"copy (?:\(\d{1,3}\) )?of (?P<stem>.+)" + _ENDING, re.I),
)
#: Names that may be a copy's, but also those of a numbered series.
NUMBERED = re.compile(r"(?P<stem>.+?)[ -]\d{1,3}" + _ENDING, re.I)
#: The names that a file defines, found without parsing it. In the JSON of a notebook, lines begin with a quote.
DEFINED = re.compile(rb'(?:^|"|\\n)(?:async )?(?:def|class) (\w+)', re.MULTILINE)


@dataclass(frozen=True)
class Version:
    """One file: its name, its path in the submission, and its content."""

    title: str
    where: str
    data: bytes


def settle(
    versions: Sequence[Version], topics: Collection[str] = (), order: Sequence[str] = ()
) -> tuple[dict[str, bytes], list[str]]:
    """The content of the files that count, by name, and a sentence about each choice.

    Args:
        versions: of two with the same name, the one whose path makes it count comes first.
        topics: names of topic modules; a copy without an original counts as the topic module.
        order: file names in the order in which they were handed in, according to the platform.

    Raises:
        Unreadable: two versions are both written and differ, and nothing says which one counts.
    """
    files, notes = {}, []
    for title, group in _groups(versions, topics, order).items():
        chosen, sentences = _one(title, group, order)
        files[title] = chosen.data
        notes += sentences
    return files, notes


# Which files are versions of the same file.


def _groups(versions: Sequence[Version], topics: Collection[str], order: Sequence[str]) -> Mapping[str, list[Version]]:
    """The versions of each file, by its name; those with exactly that name come first."""
    found: dict[str, list[Version]] = defaultdict(list)
    for version in versions:
        found[version.title].append(version)
    copies: dict[str, list[str]] = defaultdict(list)
    for title in found:
        if original := _original(title, found, topics):
            copies[original].append(title)
    for original, titles in copies.items():
        if original not in found and original.rpartition(".")[0] not in topics and len(titles) == 1:
            continue  # it is not a copy of anything
        first = found[original][0] if original in found else found[titles[0]][0]
        for title in titles:
            if {title, original} <= set(order) or _are_related(first, found[title][0]):
                found[original] += found.pop(title)
    return found


def _original(title: str, titles: Collection[str], topics: Collection[str]) -> str:
    """The name of the file that this one may be a copy of; empty if there is none."""
    for pattern in (*MARKED, NUMBERED):
        if match := pattern.fullmatch(title):
            name = match["stem"] + match["ending"]
            if name in titles or match["stem"] in topics or pattern is not NUMBERED:
                return name
    return ""


def _are_related(one: Version, other: Version) -> bool:
    """Whether two files are versions of the same: they share at least half of what the smaller one defines."""
    if one is other:
        return True
    left, right = (set(DEFINED.findall(version.data)) for version in (one, other))
    shared = left & right
    return bool(shared) and 2 * len(shared) >= min(len(left), len(right))


# Which of them counts.


def _one(title: str, group: Sequence[Version], order: Sequence[str]) -> tuple[Version, list[str]]:
    """The version that counts, and what the report says about it."""
    distinct = list({version.data: version for version in reversed(group)}.values())[::-1]
    if len(distinct) == 1:
        return group[0], [f"{group[0].where} is taken for {title}"] * (group[0].title != title)
    code = {version.where: _Code(version) for version in distinct}
    others = {version.where: [other for other in distinct if other is not version] for version in distinct}
    ahead = (v for v in distinct if all(code[other.where].is_behind(code[v.where]) for other in others[v.where]))
    if (best := next(ahead, None)) is not None:
        left = [other for other in others[best.where] if not code[best.where].is_behind(code[other.where])]
        return best, [f"{other.where} is not written yet and {best.where} is: {best.where} counts" for other in left]
    if all(version.title in order for version in distinct):
        newest = max(distinct, key=lambda version: order.index(version.title))
        what = f"was handed in again as {newest.where}: the newer one counts"
        return newest, [f"{other.where} {what}" for other in others[newest.where]]
    if len({version.title for version in distinct}) == 1:
        first, *rest = distinct
        return first, [f"{other.where} has the same name as {first.where}, which counts" for other in rest]
    first, second = distinct[:2]
    raise Unreadable(f"{first.where} and {second.where} are versions of one file and differ: hand in one of them")


class _Code:
    """What two versions are compared by: their whole code, and each definition in it."""

    def __init__(self, version: Version) -> None:
        try:
            trees = list(map(syntax.parse, _sources(version)))
        except (Unreadable, *syntax.BROKEN):
            trees = []
        self.whole = [ast.dump(tree) for tree in trees]
        self.definitions = {name: one for tree in trees for name, one in definitions(tree.body)}

    def is_behind(self, other: _Code) -> bool:
        """Whether ``other`` has all that this one has: they are equal, or differ only in what is still a stub here."""
        if self.whole and self.whole == other.whole:
            return True
        own = [one for name, one in self.definitions.items() if other.definitions.get(name) != one]
        return bool(own) and all(one.stub for one in own)


def _sources(version: Version) -> list[str]:
    """The code of a file; for a notebook, what is kept of its cells, and the answers typed into ``predict``."""
    if not version.title.lower().endswith(".ipynb"):
        return [decode(version.title, version.data)]
    units, _, typed = notebook.parts(version.title, version.data)
    return [*(unit.source for unit in units), repr(sorted(typed.items()))]
