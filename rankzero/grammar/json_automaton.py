"""A byte-by-byte JSON parser: which bytes may come next, and how many are needed to the end. Standard library only.

>>> machine = JsonMachine()
>>> machine.accepts(b'{"a": [1, true]}'), machine.accepts(b"[1,]")
(True, False)

No finite automaton can match brackets nested without bound, so this one has a stack. A text is one JSON value in UTF-8,
with whitespace where JSON allows it. Whatever is accepted here, ``json.loads`` can read, but for integers of more
digits than Python converts.

Source: RFC 8259; the table of well-formed UTF-8 in the Unicode Standard, section 3.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rankzero import checks

__all__ = ["JsonConstraint", "JsonMachine", "JsonState", "Mode"]

#: What is being read inside a number: after its sign, a leading zero, digits, the point, digits after the point, the
#: letter e, the sign of the exponent, and digits of the exponent.
NumberMode = Literal["-", "0", "int", ".", "frac", "e", "e+", "exp"]

#: What is being read. ``first`` is a value or ``]``, ``member`` a key or ``}``, ``key`` a key after a comma, ``end``
#: what may follow a value, ``word`` one of ``true``, ``false`` and ``null``, ``text`` a string.
Mode = Literal["value", "object", "first", "member", "key", "colon", "end", "word", "text"] | NumberMode

BLANKS = frozenset(b" \t\n\r")
DIGITS = frozenset(b"0123456789")
HEX = frozenset(b"0123456789abcdefABCDEF")
WORDS = {word[0]: word[1:] for word in ("true", "false", "null")}

#: First bytes of multi-byte characters: their range, the range of the second byte, and how many bytes follow that.
UTF8_LEADS = [
    (0xC2, 0xDF, 0x80, 0xBF, 0),
    (0xE0, 0xE0, 0xA0, 0xBF, 1),
    (0xE1, 0xEC, 0x80, 0xBF, 1),
    (0xED, 0xED, 0x80, 0x9F, 1),
    (0xEE, 0xEF, 0x80, 0xBF, 1),
    (0xF0, 0xF0, 0x90, 0xBF, 2),
    (0xF1, 0xF3, 0x80, 0xBF, 2),
    (0xF4, 0xF4, 0x80, 0x8F, 2),
]

#: Inside a number: mode -> bytes -> next mode.
_NUMBERS: dict[NumberMode, dict[str, NumberMode]] = {
    "-": {"0": "0", "123456789": "int"},
    "0": {".": ".", "eE": "e"},
    "int": {"0123456789": "int", ".": ".", "eE": "e"},
    ".": {"0123456789": "frac"},
    "frac": {"0123456789": "frac", "eE": "e"},
    "e": {"+-": "e+", "0123456789": "exp"},
    "e+": {"0123456789": "exp"},
    "exp": {"0123456789": "exp"},
}
NUMBERS: dict[Mode, dict[int, NumberMode]] = {
    mode: {ord(byte): after for text, after in row.items() for byte in text} for mode, row in _NUMBERS.items()
}
#: The modes in which a number may end.
COMPLETE_NUMBERS: frozenset[Mode] = frozenset(("0", "int", "frac", "exp"))


class JsonState(NamedTuple):
    """The state of the parser after a prefix of a text.

    Attributes:
        stack: the open brackets, ``"{["``.
        mode: what is being read.
        rest: what is missing. In a word, its remaining letters. In a string, ``""`` between characters; a backslash
            after a backslash; one ``"u"`` for each missing digit of an escape; or the ranges, low and high, of the
            missing bytes of a character.
        key: whether the string is a key.
    """

    stack: str = ""
    mode: Mode = "value"
    rest: str = ""
    key: bool = False

    @property
    def inside(self) -> bool:
        """Whether bytes of a character are missing."""
        return self.mode == "text" and self.rest != "" and self.rest[0] not in "\\u"


class JsonMachine:
    """A pushdown automaton for JSON.

    Args:
        deepest: how many brackets may be open at once; Python's own parser fails at about a thousand.
        objects: whether the text must be an object.
    """

    def __init__(self, deepest: int = 64, objects: bool = False) -> None:
        self.deepest, self.start = deepest, JsonState(mode="object" if objects else "value")

    def run(self, text: bytes, state: JsonState | None = None) -> JsonState | None:
        """The state after ``text``, from ``state`` or from the start; None if no JSON text begins like this."""
        now: JsonState | None = self.start if state is None else state
        for byte in text:
            now = None if now is None else self.step(now, byte)
        return now

    def accepts(self, text: bytes) -> bool:
        """Whether ``text`` is one JSON value."""
        state = self.run(text)
        return state is not None and self.complete(state)

    def complete(self, state: JsonState) -> bool:
        """Whether the text may end here."""
        return not state.stack and (state.mode == "end" or state.mode in COMPLETE_NUMBERS)

    def distance(self, state: JsonState) -> int:
        """The fewest bytes to a complete value: end the string, word or key, then close every bracket."""
        stack, mode, rest, key = state
        if mode == "text":
            missing = len(rest) // 2 if state.inside else len(rest)
            return missing + 1 + (2 if key else 0) + len(stack)
        if mode == "word":
            return len(rest) + len(stack)
        open_number = mode in NUMBERS and mode not in COMPLETE_NUMBERS
        missing_bytes: dict[Mode, int] = {"value": 1, "object": 2, "key": 4, "colon": 2}
        return missing_bytes.get(mode, int(open_number)) + len(stack)

    def step(self, state: JsonState, byte: int) -> JsonState | None:
        """The state after one more byte; None if no JSON text continues like this."""
        stack, mode, rest, _ = state
        if mode == "text":
            return _in_text(state, byte)
        if mode == "word":
            return _in_word(stack, rest) if byte == ord(rest[0]) else None
        if mode in NUMBERS:
            after = NUMBERS[mode].get(byte)
            if after:
                return JsonState(stack, after)
            if mode not in COMPLETE_NUMBERS:
                return None
            mode, state = "end", JsonState(stack, "end")
        if byte in BLANKS:
            return state
        return self._between_tokens(stack, mode, chr(byte))

    def _between_tokens(self, stack: str, mode: Mode, mark: str) -> JsonState | None:
        """The state after a byte outside strings, words and numbers."""
        if mode == "colon":
            return JsonState(stack, "value") if mark == ":" else None
        if mode in ("key", "member") and mark == '"':
            return JsonState(stack, "text", key=True)
        closing: dict[Mode, str | None] = {
            "end": {"{": "}", "[": "]"}.get(stack[-1:]),
            "member": "}",
            "first": "]",
        }
        if mark == closing.get(mode):
            return JsonState(stack[:-1], "end")
        if mode == "end":
            return JsonState(stack, "key" if stack[-1] == "{" else "value") if stack and mark == "," else None
        return self._value(stack, mark) if mode in ("value", "first") or (mode == "object" and mark == "{") else None

    def _value(self, stack: str, mark: str) -> JsonState | None:
        """The state after the first byte of a value."""
        if mark in "{[":
            opened = JsonState(stack + mark, "member" if mark == "{" else "first")
            return opened if len(stack) < self.deepest else None
        if mark == '"':
            return JsonState(stack, "text")
        if mark in WORDS or mark == "-":
            return JsonState(stack, "word", WORDS[mark]) if mark in WORDS else JsonState(stack, "-")
        return JsonState(stack, "0" if mark == "0" else "int") if ord(mark) in DIGITS else None


def _in_word(stack: str, rest: str) -> JsonState:
    return JsonState(stack, "word", rest[1:]) if rest[1:] else JsonState(stack, "end")


def _in_text(state: JsonState, byte: int) -> JsonState | None:
    """The state after one byte of a string."""
    stack, _, rest, key = state
    if rest == "\\":
        after = "" if byte in b'"\\/bfnrt' else "uuuu" if byte == ord("u") else None
    elif rest[:1] == "u":
        after = rest[1:] if byte in HEX else None
    elif rest:
        after = rest[2:] if ord(rest[0]) <= byte <= ord(rest[1]) else None
    elif byte == ord('"'):
        return JsonState(stack, "colon" if key else "end")
    else:
        after = _rest_of_character(byte)
    return None if after is None else JsonState(stack, "text", after, key)


def _rest_of_character(byte: int) -> str | None:
    """What is missing after the first byte of a character in a string; None if no character begins with this byte."""
    if byte < 0x20:
        return None
    if byte < 0x80:
        return "\\" if byte == ord("\\") else ""
    for first, last, low, high, more in UTF8_LEADS:
        if first <= byte <= last:
            return chr(low) + chr(high) + "\x80\xbf" * more
    return None


class JsonConstraint:
    """Which tokens keep a text valid JSON, with the methods of ``solutions.ch11.constrained.ConstraintState``.

    Distances are in bytes: since every ASCII character is a token, a text that is n bytes from its end can end within
    n tokens. A token that ends inside a character is left out where the bytes that end it are not all tokens.

    Args:
        vocabulary: the bytes of every token; each single ASCII character must be one.
        eos: the token that ends the text.
        machine: decides which texts are allowed; None means ``JsonMachine()``.

    Raises:
        ValueError: an ASCII character is missing from the vocabulary.
    """

    def __init__(self, vocabulary: Sequence[bytes], eos: int, machine: JsonMachine | None = None) -> None:
        single = {token for token in vocabulary if len(token) == 1}
        missing = next((value for value in range(0x80) if bytes([value]) not in single), None)
        if missing is not None:
            raise ValueError(f"vocabulary must have every ASCII character, got none for {chr(missing)!r}")
        self._cut = all(bytes([value]) in single for value in range(0x80, 0xC0))  # a character may be cut anywhere
        self._vocabulary, self._eos, self._machine = vocabulary, eos, machine or JsonMachine()
        self._states = [self._machine.start]
        self._branches = _prefix_tree(vocabulary, eos)
        self._known: dict[JsonState, list[tuple[int, int]]] = {}
        self.finished = False

    def allowed(self, remaining: int | None = None) -> list[int]:
        """The tokens that may come next, in order.

        Args:
            remaining: the number of tokens left, this one included: only tokens after which the text can still be
                completed are returned. None means no limit.
        """
        if self.finished:
            return []
        state = self._states[-1]
        found = [token for token, least in self._next(state) if remaining is None or least <= remaining - 1]
        return sorted([*found, self._eos] if self._machine.complete(state) else found)

    def _next(self, state: JsonState) -> list[tuple[int, int]]:
        """Every token that may follow a state, with the distance after it; computed once for each state."""
        if state not in self._known:
            found, waiting = [], [(self._branches, state)]
            while waiting:
                branch, now = waiting.pop()
                if self._cut or not now.inside:
                    found += [(token, self._machine.distance(now)) for token in branch.tokens]
                for byte, further in branch.after.items():
                    after = self._machine.step(now, byte)
                    if after is not None:
                        waiting.append((further, after))
            self._known[state] = found
        return self._known[state]

    def distance(self) -> int:
        """An upper bound on the number of tokens still needed: the bytes to a complete value."""
        return 0 if self.finished else self._machine.distance(self._states[-1])

    def advance(self, token: int) -> None:
        """Append one token to the text.

        Raises:
            ValueError: the token is not allowed.
            RuntimeError: the text has already ended.
        """
        if self.finished:
            raise RuntimeError("the text has ended")
        state = self._states[-1]
        if token == self._eos:
            after = state if self._machine.complete(state) else None
        else:
            known = 0 <= token < len(self._vocabulary) and self._vocabulary[token]
            after = self._machine.run(self._vocabulary[token], state) if known else None
        if after is None or (after.inside and not self._cut):
            raise ValueError(f"token must be allowed here, got {token}")
        self._states.append(after)
        self.finished = token == self._eos

    def rollback(self, count: int) -> None:
        """Remove the last ``count`` tokens, at most all of them."""
        checks.count(0, len(self._states) - 1, count=count)
        if count:
            del self._states[-count:]
            self.finished = False


class _Branch:
    """A node of the vocabulary's prefix tree: the tokens that end here, and the node after each next byte."""

    __slots__ = ("after", "tokens")

    def __init__(self) -> None:
        self.after: dict[int, _Branch] = {}
        self.tokens: list[int] = []


def _prefix_tree(vocabulary: Sequence[bytes], eos: int) -> _Branch:
    root = _Branch()
    for token, text in enumerate(vocabulary):
        if text and token != eos:
            branch = root
            for byte in text:
                branch = branch.after.setdefault(byte, _Branch())
            branch.tokens.append(token)
    return root
