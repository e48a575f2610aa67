"""A parser for regular expressions; :mod:`rankzero.grammar.automata` turns its syntax trees into automata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

#: The largest count in ``{m,n}``.
MAX_REPEAT = 1_000

#: The last code point, and the surrogates: code points that are not characters.
LAST, SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)

Range = tuple[int, int]


@dataclass(frozen=True)
class Characters:
    """One character from any of these ranges of code points, which are disjoint and in ascending order."""

    ranges: tuple[Range, ...]

    def byte_ranges(self) -> Iterator[tuple[Range, ...]]:
        """The same characters in UTF-8: sequences with one range for every byte."""
        for low, high in self.ranges:
            for first, last in ((low, min(high, SURROGATES[0] - 1)), (max(low, SURROGATES[1] + 1), high)):
                yield from _utf8(first, last)


@dataclass(frozen=True)
class Sequence:
    """Parts in a row; without any parts, the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternatives:
    """One of its parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """``part`` from ``least`` to ``most`` times; None means without limit."""

    part: Node
    least: int
    most: int | None


Node = Characters | Sequence | Alternatives | Repeat

DIGITS = ((48, 57),)
LETTERS = ((48, 57), (65, 90), (95, 95), (97, 122))
BLANKS = ((9, 13), (32, 32))
NAMED = {"d": DIGITS, "w": LETTERS, "s": BLANKS}
CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
COUNTS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def parse(pattern: str) -> Node:
    """The syntax tree of ``pattern``.

    Raises:
        ValueError: it is outside the supported syntax; the message says at which character, counted from 0, and why.
    """
    parser = _Parser(pattern)
    node = parser.alternatives()
    if parser.place < len(pattern):
        raise parser.error("a bracket that was never opened")
    return node


def _utf8(low: int, high: int) -> Iterator[tuple[Range, ...]]:
    """Sequences of byte ranges that encode exactly the code points from ``low`` to ``high``."""
    for last in (0x7F, 0x7FF, 0xFFFF, LAST):  # one encoded length at a time
        if low <= min(high, last):
            yield from _same_length(chr(low).encode(), chr(min(high, last)).encode())
            low = last + 1


def _same_length(low: bytes, high: bytes) -> Iterator[tuple[Range, ...]]:
    """Byte ranges between two encodings of equal length.

    The first bytes at either end may be followed by only some of the continuation bytes, so they get sequences of their
    own.
    """
    if len(low) == 1:
        yield ((low[0], high[0]),)
        return
    least, most = b"\x80" * (len(low) - 1), b"\xbf" * (len(low) - 1)
    if low[0] == high[0]:
        yield from (((low[0], low[0]), *rest) for rest in _same_length(low[1:], high[1:]))
        return
    if low[1:] != least:
        yield from (((low[0], low[0]), *rest) for rest in _same_length(low[1:], most))
        low = bytes([low[0] + 1]) + least
    tail = high[1:] != most
    if low[0] <= high[0] - tail:
        yield ((low[0], high[0] - tail), *(((0x80, 0xBF),) * (len(low) - 1)))
    if tail:
        yield from (((high[0], high[0]), *rest) for rest in _same_length(least, high[1:]))


def _joined(ranges: list[Range]) -> tuple[Range, ...]:
    """The same code points in ascending order, with ranges that touch or overlap joined."""
    joined: list[Range] = []
    for low, high in sorted(ranges):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return tuple(joined)


def _complement(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    """All code points that are not in ``ranges``."""
    ends = [-1, *(end for pair in _joined(list(ranges)) for end in pair), LAST + 1]
    return tuple((low + 1, high - 1) for low, high in zip(ends[::2], ends[1::2], strict=True) if low + 1 < high)


class _Parser:
    """Reads a pattern from left to right; each method parses one construct at the current place."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.place = pattern, 0

    def error(self, why: str, place: int | None = None) -> ValueError:
        at = self.place if place is None else place
        return ValueError(f"pattern must be a regular expression, got {why} at character {at}")

    def ahead(self, text: str) -> bool:
        return self.pattern.startswith(text, self.place)

    def taken(self, text: str) -> bool:
        """Read ``text`` if it comes next, and say whether it did."""
        found = self.ahead(text)
        self.place += len(text) if found else 0
        return found

    def next(self, inside: str) -> str:
        if self.place == len(self.pattern):
            raise self.error(f"the end inside {inside}")
        self.place += 1
        return self.pattern[self.place - 1]

    def alternatives(self) -> Node:
        parts = [self.sequence()]
        while self.taken("|"):
            parts.append(self.sequence())
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def sequence(self) -> Node:
        parts: list[Node] = []
        while self.place < len(self.pattern) and not self.ahead("|") and not self.ahead(")"):
            parts.append(self.repeated(self.atom()))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def repeated(self, node: Node) -> Node:
        found = self.counts()
        if found is None:
            return node
        if self.place < len(self.pattern) and self.pattern[self.place] in "*+?{":
            raise self.error("a second repeat; brackets make it clear")
        return Repeat(node, *found)

    def counts(self) -> tuple[int, int | None] | None:
        for mark, counts in COUNTS.items():
            if self.taken(mark):
                return counts
        if not self.taken("{"):
            return None
        begin = self.place
        text, closed, _ = self.pattern[begin:].partition("}")
        least, comma, most = text.partition(",")
        if not closed or not all(not part or (part.isascii() and part.isdigit()) for part in (least, most)):
            raise self.error("a count that is not {m}, {m,} or {m,n}", begin - 1)
        if not (least or comma) or (comma and not (least or most)):
            raise self.error("a count without a number", begin - 1)
        self.place = begin + len(text) + 1
        low = int(least or 0)
        high = (int(most) if most else None) if comma else low
        if low > MAX_REPEAT or (high is not None and not low <= high <= MAX_REPEAT):
            raise self.error(f"a count out of order or above {MAX_REPEAT:,}", begin - 1)
        return low, high

    def atom(self) -> Node:
        place, mark = self.place, self.next("a pattern")
        if mark == "(":
            return self.group()
        if mark == "[":
            return Characters(self.set())
        if mark == ".":
            return Characters(_complement(((10, 10),)))
        if mark == "\\":
            return Characters(self.escape())
        if mark in "*+?{":
            raise self.error("a repeat of nothing", place)
        if mark in "^$":
            raise self.error("an anchor: a whole text must match anyway", place)
        return Characters(((ord(mark), ord(mark)),))

    def group(self) -> Node:
        if self.ahead("?") and not self.taken("?:"):
            raise self.error("a group of a special kind")
        node = self.alternatives()
        if not self.taken(")"):
            raise self.error("the end inside a group")
        return node

    def escape(self) -> tuple[Range, ...]:
        mark = self.next("an escape")
        if mark.lower() in NAMED:
            return NAMED[mark] if mark in NAMED else _complement(NAMED[mark.lower()])
        digits = {"x": 2, "u": 4, "U": 8}.get(mark)
        if digits:
            text = self.pattern[self.place : self.place + digits]
            if len(text) < digits or any(digit not in "0123456789abcdefABCDEF" for digit in text):
                raise self.error(f"\\{mark} without its {digits} digits")
            if int(text, 16) > LAST:
                raise self.error("a code point that is too large")
            self.place += digits
            return ((int(text, 16), int(text, 16)),)
        if mark.isascii() and mark.isalnum() and mark not in CONTROLS:
            raise self.error(f"the escape \\{mark}", self.place - 1)
        return ((ord(CONTROLS.get(mark, mark)),) * 2,)

    def set(self) -> tuple[Range, ...]:
        negative = self.taken("^")
        found: list[Range] = []
        while not found or not self.ahead("]"):
            first = self.member()
            if self.ahead("-") and not self.ahead("-]"):
                self.place += 1
                last = self.member()
                found.append(self.between(first, last))
            else:
                found += first
        self.place += 1
        return _complement(tuple(found)) if negative else _joined(found)

    def between(self, first: tuple[Range, ...], last: tuple[Range, ...]) -> Range:
        (low, low_end), (high, high_end) = first[0], last[-1]
        if len(first) + len(last) > 2 or low != low_end or high != high_end or low > high:
            raise self.error("a range that is not from one character to a later one")
        return low, high

    def member(self) -> tuple[Range, ...]:
        mark = self.next("a class")
        return self.escape() if mark == "\\" else ((ord(mark), ord(mark)),)
