"""The file that the page *Your course* saves: the functions and the answers that a reader left in the book.

It is read as JSON, and every part of it is checked; no code in it is run here. In the book each function has an editor
of its own, and may use the functions of the others: so each becomes a module of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from autograder import bank
from autograder.items import AnyQuestion, Design
from autograder.submission.units import Unit, Unreadable, check_size, decode

#: How the file begins (``book/_static/your-course.js`` writes it).
MARK = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"rankzero"\s*:')
#: Most characters of an answer, and most parts.
LONGEST, PARTS = 1000, 50


def recognise(data: bytes) -> bool:
    """Whether a file was saved by *Your course*."""
    return bool(MARK.match(data))


def parts(file: str, data: bytes) -> tuple[tuple[Unit, ...], tuple[str, ...], dict[str, tuple[Any, ...]]]:
    """Units, problems and answers of such a file.

    Raises:
        Unreadable: it is damaged, or of another version of the book.
    """
    again = "download it again from the page Your course"
    try:
        content = json.loads(decode(file, data))
    except (ValueError, RecursionError):
        raise Unreadable(f"{file} is damaged: {again}") from None
    if not isinstance(content, dict) or content.get("rankzero") != 1:
        raise Unreadable(f"{file} is of another version of the book: {again}")
    work, progress = _items(content, "work"), _items(content, "progress")
    if work is None or progress is None:
        raise Unreadable(f"{file} is damaged: {again}")
    sources = {identifier: entry.get("source") for identifier, entry in work.items() if isinstance(entry, dict)}
    written = {name: text for name, text in sources.items() if isinstance(text, str) and text.strip()}
    check_size(file, written.values())
    built = {item.id: item for item in bank.builds()}
    functions = {built[name].function: _clean(text) for name, text in written.items() if name in built}
    units = [unit for function, text in functions.items() for unit in _units(file, function, text, functions)]
    answers = {
        item.id: _answer(item, progress[item.id])
        for item in bank.items()
        if isinstance(item, AnyQuestion) and item.id in progress
    }
    return tuple(units), (), {question: answer for question, answer in answers.items() if answer}


def _items(content: Mapping[str, Any], part: str) -> dict[str, Any] | None:
    held = content.get(part)
    items = held.get("items") if isinstance(held, dict) else None
    return items if isinstance(items, dict) else None


def _clean(text: str) -> str:
    """The text of an editor; JSON may contain a lone surrogate and null characters, a program may not."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _units(file: str, function: str, text: str, functions: Mapping[str, str]) -> list[Unit]:
    """The program of one editor, then imports of the functions of other editors that it uses and does not define."""
    module, label = _module(function), f"{function} in {file}"
    used = sorted(set(re.findall(r"\w+", text)) & functions.keys() - {function})
    others = [name for name in used if not re.search(rf"^(?:async )?(?:def|class) {name}\b", text, re.MULTILINE)]
    lines = "".join(f"from labs.{_module(name)} import {name}\n" for name in others)
    return [Unit(label, text, module), *([Unit(f"what {function} uses", lines, module)] if lines else [])]


def _module(function: str) -> str:
    return f"your_course_{function}"


def _answer(item: AnyQuestion, entry: Any) -> tuple[Any, ...]:
    """What was typed, picked or ordered last; empty if it is not as the book writes it."""
    given = entry.get("given") if isinstance(entry, dict) else None
    if not isinstance(given, list) or not 0 < len(given) <= PARTS:
        return ()
    if not all(isinstance(text, str) and len(text) <= LONGEST for text in given):
        return (None,)
    if isinstance(item, Design):
        names = [knob.name for knob in item.knobs]
        values = [int(text) if re.fullmatch(r"-?\d{1,18}", text, re.ASCII) else text for text in given]
        return (dict(zip(names, values, strict=False)),)
    return tuple(given)
