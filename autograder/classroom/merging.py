"""The parts of a class, graded on several machines, joined into one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograder.classroom import Graded
from autograder.keeping import PLACES, Folder, NotAClass, agree, joined


def merge(folders: Sequence[Folder], into: Folder, key: bytes) -> list[Graded]:
    """Join the parts of one class. Of the parts only what is sealed is read; results and pages are written anew.

    Raises:
        NotAClass: they were graded otherwise or changed since, a part is missing or not finished, or one submission
            stands in two of them with other content.
    """
    first, rows, homes = folders[0], dict[str, Graded](), dict[str, Folder]()
    for folder in folders:
        agree(folder.stamps, first.stamps, folder.path)
        for identifier, row in folder.verify(key).rows().items():
            if identifier in rows and _content(rows[identifier]) != _content(row):
                pair = f"{homes[identifier].path} and {folder.path}"
                raise NotAClass(f"{identifier} stands in {pair} with other content: keep one of the two")
            rows[identifier], homes[identifier] = row, folder
    _check_complete(folders)
    into.begin(first.stamps | {name: joined((folder.stamps for folder in folders), name) for name in PLACES}, key)
    ordered = [rows[identifier] for identifier in sorted(rows)]
    for row in ordered:
        identifier = row.handed.id
        into.put(identifier, into.texts(row, homes[identifier].answers(identifier)))
    into.finish(ordered)
    return ordered


def _content(row: Graded) -> tuple[Any, ...]:
    handed, grading = row.handed, row.grading
    return grading.sha256, grading.score, grading.reason, handed.name, handed.known, handed.late


def _check_complete(folders: Sequence[Folder]) -> None:
    """Refuse shards that are not all there.

    Raises:
        NotAClass: they are not; the message names the first that is missing.
    """
    there = [folder.shard for folder in folders if folder.shard]
    for of in dict.fromkeys(shard.partition("/")[2] for shard in there):
        missing = [shard for number in range(1, int(of) + 1) if (shard := f"{number}/{of}") not in there]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise NotAClass(f"part {missing[0]}{more} of the class is missing: name all of them")
