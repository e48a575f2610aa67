"""The learner's progress, kept in their data folder, and the contents of the scorecard.

One JSON file, ``{"version": 1, "items": {id: entry}}``. An answered question has the entry ``{"right", "first",
"confidence"}``: whether the latest answer is right, whether the first one was, and how sure the learner was of the
first. A checked function has ``{"passed", "total"}``. The built book keeps entries of the same form in the browser,
with more in them (``book/_static/rankzero.js``); there ``{"looked": true}`` says that the result was seen before the
first answer, which then says nothing about how sure the learner was. While the book is being built, nothing is read or
written.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from autograder import bank
from autograder.items import Build, Item
from autograder.sections import DEEPER

VERSION = 1
Entries = dict[str, dict[str, Any]]
#: How an item stands for the learner; ``open``: not answered, or not checked.
Standing = Literal["right", "wrong", "open"]


def _building() -> bool:
    return os.environ.get("RANKZERO_BOOK") == "1"


def location() -> Path:
    """The progress file, in the folder named by ``RANKZERO_DATA``, else in the platform's folder for user data."""
    folder = os.environ.get("RANKZERO_DATA")
    if not folder:
        from platformdirs import user_data_dir

        folder = user_data_dir("rankzero")
    return Path(folder) / "progress.json"


def _set_aside(file: Path) -> None:
    aside = next(p for n in range(1, 10_000) if not (p := file.with_name(f"progress.broken-{n}.json")).exists())
    file.rename(aside)
    print(f"Your progress file could not be read; it was moved to {aside}, and a new one is started.")


def _parsed(text: str) -> Entries:
    data = json.loads(text)
    entries = data["items"]
    if data["version"] != VERSION or not all(isinstance(entry, dict) for entry in entries.values()):
        raise ValueError("not a progress file of this version")
    return entries


def load() -> Entries:
    """All entries by item id. A file that is not what this course wrote is moved aside, with a message.

    Raises:
        OSError: the file cannot be opened or moved.
    """
    file = location()
    if _building() or not file.exists():
        return {}
    try:
        return _parsed(file.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError, AttributeError):
        _set_aside(file)
        return {}


def _write(file: Path, entries: Entries) -> None:
    """Write a temporary file, then rename it, so that the progress file is always complete."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=file.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump({"version": VERSION, "items": entries}, stream, indent=1, sort_keys=True)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise


def _record(identifier: str, entry: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
    """Keep what ``entry`` makes of the item's old entry. A file that cannot be read or written stays as it is."""
    if _building():
        return
    try:
        entries = load()
        _write(location(), {**entries, identifier: dict(entry(entries.get(identifier, {})))})
    except OSError as error:
        print(f"Your progress was not saved: {error.strerror or error} ({location()}).")


def record_answer(identifier: str, right: bool, confidence: float | None = None) -> None:
    """Record an answer. The first answer to a question is kept too: later ones are given after reading the feedback."""

    def entry(old: Mapping[str, Any]) -> Mapping[str, Any]:
        first, sure = (old["first"], old["confidence"]) if "first" in old else (right, confidence)
        looked = {"looked": True} if old.get("looked") else {}
        return {"right": right, "first": first, "confidence": sure, **looked}

    _record(identifier, entry)


def record_check(identifier: str, passed: int, total: int) -> None:
    """Record how many public cases a function passed."""
    _record(identifier, lambda old: {"passed": passed, "total": total})


def recorded() -> Entries:
    """All entries, to be shown; none, with a message, where the file cannot be opened."""
    try:
        return load()
    except OSError as error:
        print(f"Your progress cannot be read: {error.strerror or error} ({location()}).")
        return {}


def export_progress(path: str | os.PathLike[str]) -> Path:
    """Write the whole progress to ``path`` as JSON, and return the path."""
    target = Path(path)
    _write(target, load())
    return target


@dataclass(frozen=True)
class Row:
    """One line of a scorecard; ``passed`` of ``total`` public cases are given for functions."""

    item: Item
    state: Standing
    passed: int = 0
    total: int = 0


def _row(item: Item, entry: Mapping[str, Any]) -> Row:
    if isinstance(item, Build):
        passed, total = entry.get("passed", 0), entry.get("total", len(item.cases))
        return Row(item, _standing("passed" in entry, passed == total), passed, total)
    return Row(item, _standing("right" in entry, bool(entry.get("right"))))


def _standing(done: bool, right: bool) -> Standing:
    if not done:
        return "open"
    return "right" if right else "wrong"


def prefix(chapter: int | str) -> str:
    """How the ids of a chapter begin: "03" for 3, "3" and "03"; "cap" for "cap" and "capstone"."""
    text = str(chapter).lower()
    return "cap" if text == "capstone" else text.zfill(2) if text.isdigit() else text


def rows(chapter: int | str | None, entries: Mapping[str, Mapping[str, Any]]) -> tuple[Row, ...]:
    """The lines of a chapter's scorecard, without what lies deeper, or of the whole course's, in the order of the book.

    Raises:
        ValueError: the course has no item in this chapter.
    """
    wanted = [
        item
        for item in bank.items()
        if chapter is None or (item.id.split("-")[0] == prefix(chapter) and item.section not in DEEPER)
    ]
    if not wanted:
        raise ValueError(f"chapter must be a chapter of the course such as 3 or 'cap', got {chapter!r}")
    return tuple(_row(item, entries.get(item.id, {})) for item in sorted(wanted, key=_place))


def _place(item: Item) -> list[int]:
    """The section of an item as numbers, so that ``3.10`` is sorted after ``3.9``."""
    return [int(part) for part in item.section.split(".")]


def tally(lines: tuple[Row, ...]) -> str:
    """How many questions are right, wrong and open, and how many functions pass, in words."""
    questions = [line.state for line in lines if not isinstance(line.item, Build)]
    builds = [line for line in lines if isinstance(line.item, Build)]
    counts = ", ".join(f"{questions.count(state)} {state}" for state in get_args(Standing))
    text = f"{_several(len(questions), 'question')}: {counts}."
    if builds:
        done = sum(line.state == "right" for line in builds)
        text += f" {_several(len(builds), 'function')}: {done} with all public cases right."
    return text


def _several(count: int, name: str) -> str:
    return f"{count} {name}" + ("" if count == 1 else "s")


def _percent(share: float) -> str:
    return f"{math.floor(100 * share + 0.5)} %"  # rounds halves up, as the page does


def calibration(lines: tuple[Row, ...], entries: Mapping[str, Mapping[str, Any]]) -> str:
    """How sure the learner was of the first answers, and how many were right; empty if no confidence was given."""
    found = [entries.get(line.item.id, {}) for line in lines]
    answers = [entry for entry in found if entry.get("confidence") is not None and not entry.get("looked")]
    if not answers:
        return ""
    sure = [answer["confidence"] / 100 for answer in answers]
    right = [float(answer["first"]) for answer in answers]
    count = len(answers)
    brier = sum((s - r) ** 2 for s, r in zip(sure, right, strict=True)) / count
    return (
        f"Confidence was given {_several(count, 'time')}: {_percent(sum(sure) / count)} on average, "
        f"and {_percent(sum(right) / count)} of those first answers were right. Brier score "
        f"{math.floor(100 * brier + 0.5) / 100:.2f}: the mean squared distance between confidence and outcome; 0 is "
        "perfect, and 50 % on everything gives 0.25."
    )
