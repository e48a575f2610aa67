"""Searches the files that learners get for hidden inputs.

Only distinctive values are searched for, since every page contains ordinary ones: numbers with many digits, long
sequences of numbers, long strings. A value that is also in a public case, or drawn with other keys too, is not secret
and is ignored.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from autograder.items import Build, Case, Stage, Tensor
from autograder.items import Iterator as OneShot
from autograder.running.exam import Exam

#: Minimum size of a distinctive value: significant digits of a float (in its shortest form) and of an integer, and
#: numbers in a sequence.
FLOAT_DIGITS, INTEGER_DIGITS, ROW = 9, 7, 8
#: Minimum length of a distinctive string, in characters.
TEXT = 24
#: How many other keys are tried to find out which values are not secret.
OTHERS = 2

_NUMBER = r"[-+]?(?:0[xX][0-9a-fA-F.]+[pP][-+]?\d+|\d[\d_]*\.?[\d_]*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
_NUMBERS = re.compile(rf"(?<![\w.]){_NUMBER}(?![\w])")
_ROWS = re.compile(r"[\[(]([^\[\](){}]*)[\])]")


def standing(exam: Exam, files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """The names of the files that contain a hidden input of an item, by the item's id."""
    known = {name: _Text(data.decode("utf-8", "replace")) for name, data in files.items()}
    others = [Exam(exam.items, hmac.digest(exam.key, b"other %d" % n, "sha256")) for n in range(OTHERS)]
    result: dict[str, list[str]] = {}
    for item in exam.items:
        secret = secrets(exam, item)
        suspects = {name: seen for name, text in known.items() if (seen := text.seen(secret))}
        usual = set().union(*(secrets(other, item) for other in others)) if suspects else set()
        if names := [name for name, seen in suspects.items() if seen - usual]:
            result[item.id] = names
    return result


def secrets(exam: Exam, item: Build) -> set[Any]:
    """The distinctive values in the hidden inputs of an item but in no public one: numbers, tuples of them, strings."""
    hidden: set[Any] = set()
    public: set[Any] = set()
    for group, case in exam.sheet(item).drawn:
        (public if group is None else hidden).update(_distinctive(_inputs(case)))
    return hidden - public


def _inputs(case: Case) -> list[Any]:
    return [list(case.args), dict(case.kwargs), [given for _, given in case.calls]]


def _distinctive(value: Any) -> Iterator[Any]:
    """The distinctive parts of a value, at any depth."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int | float):
        if _telling(value):
            yield float(value)
    elif isinstance(value, str):
        if len(value.strip()) >= TEXT:
            yield value.strip()
    else:
        parts = list(_parts(value))
        if row := _row(parts):
            yield row
        for part in parts:
            yield from _distinctive(part)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, Tensor):
        return value.tolist()[:1024]
    if isinstance(value, OneShot):
        return value.values
    if isinstance(value, Stage):
        return value.layers
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, Sequence):
        return value
    return vars(value).values() if hasattr(value, "__dict__") else ()


def _telling(number: float) -> bool:
    if isinstance(number, int):
        return len(str(abs(number)).rstrip("0")) >= INTEGER_DIGITS
    digits = re.sub(r"e.*|[-.]", "", repr(number)).strip("0")
    return len(digits) >= FLOAT_DIGITS


def _row(parts: Sequence[Any]) -> tuple[float, ...]:
    """The parts as a tuple, if they are a long sequence of numbers that is not almost constant or evenly spaced.

    Otherwise the result is empty.
    """
    numbers = [float(part) for part in parts if isinstance(part, int | float)]
    long = len(numbers) == len(parts) >= ROW and len(set(numbers)) > 2
    steps = {right - left for left, right in pairwise(numbers)}
    return tuple(numbers) if long and len(steps) > 1 else ()


class _Text:
    """The text of a file, with the numbers and sequences of numbers in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.numbers = set(_numbers(text))
        self.rows = {tuple(_numbers(row)) for row in _ROWS.findall(text)}

    def seen(self, secret: set[Any]) -> set[Any]:
        """The values of ``secret`` that occur in the text."""
        strings = {part for part in secret if isinstance(part, str) and part in self.text}
        return secret & self.numbers | secret & self.rows | strings


def _numbers(text: str) -> Iterator[float]:
    for found in _NUMBERS.findall(text):
        try:
            yield float.fromhex(found) if "x" in found.lower() else float(found)
        except (ValueError, OverflowError):
            continue
