"""A correction: a claim that is printed or believed, what holds, and the calls that show it. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rankzero.facts.chapters import CHAPTERS


@dataclass(frozen=True)
class Worked:
    """A call of one of the course's functions, as a reader can type it. Units are bytes, seconds and FLOP.

    Attributes:
        function: what is called.
        arguments: in their order.
        options: by name, pairs.
        pick: what is taken of the result: a place or a key of it, or with a dot the name of an attribute.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...] = ()
    pick: int | str | None = None

    @property
    def value(self) -> Any:
        """The result, or the part that is picked."""
        result = self.function(*self.arguments, **dict(self.options))
        if isinstance(self.pick, str) and self.pick.startswith("."):
            return getattr(result, self.pick[1:])
        return result if self.pick is None else result[self.pick]

    @property
    def call(self) -> str:
        """The call, as Python."""
        named = [f"{name}={typed(value)}" for name, value in self.options]
        picked = "" if self.pick is None else self.pick if str(self.pick).startswith(".") else f"[{self.pick!r}]"
        return f"{self.function.__name__}({', '.join([*map(typed, self.arguments), *named])}){picked}"

    @property
    def result(self) -> str:
        """The value, rounded to six digits."""
        return typed(self.value, 6)


def typed(value: Any, digits: int = 7) -> str:
    """A value as Python, with at most so many digits; equal elements of a list are multiplied."""
    if isinstance(value, float) and math.isfinite(value):
        plain, (mantissa, exponent) = f"{value + 0.0:.{digits}g}", f"{value + 0.0:.{digits - 1}e}".split("e")
        short = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
        return min(plain, short, key=len) if "e" not in plain else short
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:_}"
    if isinstance(value, list | tuple):
        left, right = "[]" if isinstance(value, list) else "()"
        if len(value) > 3 and len(set(map(repr, value))) == 1:
            return f"{left}{typed(value[0], digits)}{',' if left == '(' else ''}{right} * {len(value)}"
        listed = ", ".join(typed(one, digits) for one in value)
        return f"{left}{listed}{',' if left == '(' and len(value) == 1 else ''}{right}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{typed(key)}: {typed(one, digits)}" for key, one in value.items()) + "}"
    return repr(value)


def worked(function: Callable[..., Any], *arguments: Any, pick: int | str | None = None, **options: Any) -> Worked:
    """A :class:`Worked` call, written like the call."""
    return Worked(function, arguments, tuple(options.items()), pick)


@dataclass(frozen=True)
class Correction:
    """One claim, and what a reader learns from it.

    Attributes:
        section: the section of the book that it is about: ``"3.7"``.
        title: what is learned, without a full stop.
        claim: what is printed or believed.
        text: what holds, why, and the numbers that show it; with the claim, two to five sentences.
        worked: the calls that the numbers come from.
        source: where to look it up.
    """

    section: str
    title: str
    claim: str
    text: str
    worked: tuple[Worked, ...]
    source: str

    @property
    def chapter(self) -> str:
        """The prefix of the ids of its chapter's items: ``"03"``, ``"cap"``."""
        number = int(self.section.partition(".")[0])
        return next(chapter.prefix for chapter in CHAPTERS if chapter.number == number)
