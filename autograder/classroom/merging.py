"""Joins the parts of a class that were graded on several machines."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from autograder.classroom.graded import Graded
from autograder.classroom.storage import PLACES, Folder, NotAClass, agree, joined


def merge(folders: Sequence[Folder], into: Folder, key: bytes) -> list[Graded]:
    """Join the parts of a class. Only sealed content of the parts is read; results and pages are written again.

    Raises:
        NotAClass: the parts were graded differently or changed afterwards, one is missing or unfinished, or two contain
            different versions of one submission.
    """
    first, rows, homes = folders[0], dict[str, Graded](), dict[str, Folder]()
    for folder in folders:
        agree(folder.stamps, first.stamps, folder.path)
        for identifier, row in folder.verify(key).rows().items():
            if identifier in rows and _content(rows[identifier]) != _content(row):
                pair = f"{homes[identifier].path} and {folder.path}"
                raise NotAClass(f"{identifier} differs between {pair}: keep one of the two")
            rows[identifier], homes[identifier] = row, folder
    _check_complete(folders)
    ordered = [rows[identifier] for identifier in sorted(rows)]
    with contextlib.closing(into):
        into.begin(first.stamps | {name: joined((folder.stamps for folder in folders), name) for name in PLACES}, key)
        for row in ordered:
            identifier = row.handed.id
            into.put(identifier, into.texts(row, homes[identifier].answers(identifier)))
        into.finish(ordered)
    return ordered


def _content(row: Graded) -> tuple[Any, ...]:
    handed, grading = row.handed, row.grading
    return grading.sha256, grading.score, grading.reason, handed.name, handed.known, handed.late


def _check_complete(folders: Sequence[Folder]) -> None:
    """Check that no shard is missing.

    Raises:
        NotAClass: one is; the message names the first of them.
    """
    there = [folder.shard for folder in folders if folder.shard]
    for of in dict.fromkeys(shard.partition("/")[2] for shard in there):
        missing = [shard for number in range(1, int(of) + 1) if (shard := f"{number}/{of}") not in there]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise NotAClass(f"part {missing[0]}{more} of the class is missing: name all of them")
