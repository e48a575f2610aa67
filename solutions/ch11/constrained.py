"""Constrained decoding: tokens that an automaton allows, a token budget, and schemas as patterns. Standard library
only.

>>> from rankzero.grammar.automata import compile_regex
>>> dfa = compile_regex("ab*")
>>> index = token_index(dfa, [b"", b"a", b"b", b"ab", b"bb"], eos=0)
>>> ConstraintState(index, dfa.start, dfa.accepting, eos=0).allowed()
[1, 3]
"""

import json
import re
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankzero import checks

if TYPE_CHECKING:
    from rankzero.grammar.automata import Dfa

#: The most tokens that ``forced_tokens`` looks ahead: a cycle would never end.
_FARTHEST = 1_000


def token_index(dfa: "Dfa", vocabulary: Sequence[bytes], eos: int) -> dict[int, dict[int, int]]:
    """Which tokens may follow in which state, and where each of them leads.

    A token is allowed where all of its bytes lead from state to state, and only if acceptance can still be reached
    *by tokens of this vocabulary*. Empty tokens and ``eos`` never appear.

    Args:
        dfa: the automaton: ``start``, ``accepting`` and ``edges``, state -> byte (0 to 255) -> next state. A byte or a
            state that is missing leads nowhere. In grading it is a record with these three attributes.
        vocabulary: the bytes of every token.
        eos: the token that ends the text.

    Returns:
        ``{state: {token: next state}}`` for every state that tokens can reach from the start and from which tokens can
        reach acceptance. A state that accepts and allows no token has ``{}``.

    Raises:
        ValueError: from the start no text of this vocabulary reaches acceptance.

    Source: Willard and Louf (2023), arXiv:2307.09702, section 3.
    """
    index: dict[int, dict[int, int]] = {}
    waiting = [dfa.start]
    while waiting:
        state = waiting.pop()
        if state not in index:
            index[state] = _tokens_from(dfa, vocabulary, eos, state)
            waiting += index[state].values()
    live = _distances(index, dfa.accepting)
    if dfa.start not in live:
        raise ValueError("no text of this vocabulary matches")
    return {
        state: {token: after for token, after in row.items() if after in live}
        for state, row in index.items()
        if state in live
    }


def _tokens_from(dfa: "Dfa", vocabulary: Sequence[bytes], eos: int, state: int) -> dict[int, int]:
    """The tokens whose bytes all lead somewhere from ``state``."""
    found = {}
    for token, text in enumerate(vocabulary):
        after = _walk(dfa, text, state) if text and token != eos else None
        if after is not None:
            found[token] = after
    return found


def _walk(dfa: "Dfa", text: bytes, state: int) -> int | None:
    for byte in text:
        row = dfa.edges.get(state, {})
        if byte not in row:
            return None
        state = row[byte]
    return state


def _distances(index: Mapping[int, Mapping[int, int]], accepting: Collection[int]) -> dict[int, int]:
    """The fewest tokens from each state to acceptance; states that cannot reach it are missing."""
    before: dict[int, set[int]] = {}
    for state, row in index.items():
        for after in set(row.values()):
            before.setdefault(after, set()).add(state)
    distances = dict.fromkeys(accepting, 0)
    waiting = deque(distances)
    while waiting:
        after = waiting.popleft()
        for state in before.get(after, ()):
            if state not in distances:
                distances[state] = distances[after] + 1
                waiting.append(state)
    return distances


class ConstraintState:
    """The position of a text in its automaton: which tokens may follow, the distance to the end, and rollback.

    Args:
        index: state -> token -> next state, as ``token_index`` makes it.
        start: the state before the first token; a key of ``index``.
        accepting: states in which the text may end.
        eos: the token that ends it.

    Attributes:
        finished: whether ``eos`` was taken and not taken back.
    """

    def __init__(
        self, index: Mapping[int, Mapping[int, int]], start: int, accepting: Collection[int], eos: int
    ) -> None:
        checks.require(start in index, "be a state of the index", start=start)
        self._index, self._accepting, self._eos = index, frozenset(accepting), eos
        self._distances = _distances(index, self._accepting)
        self._states = [start]
        self.finished = False

    def allowed(self, remaining: int | None = None) -> list[int]:
        """The tokens that may come next, in ascending order; ``eos`` exactly where the state accepts.

        Args:
            remaining: tokens that may still be emitted, ``eos`` not counted; at least 0. A token is then allowed only
                if, after it, acceptance is at most ``remaining - 1`` tokens away. None sets no limit.

        Returns:
            The list; empty after ``eos``.
        """
        if remaining is not None:
            checks.count(0, remaining=remaining)
        if self.finished:
            return []
        state = self._states[-1]
        tokens = [token for token, after in self._index[state].items() if self._fits(after, remaining)]
        return sorted([*tokens, self._eos] if state in self._accepting else tokens)

    def _fits(self, state: int, remaining: int | None) -> bool:
        if remaining is None:
            return True
        return state in self._distances and self._distances[state] <= remaining - 1

    def distance(self) -> int:
        """The fewest tokens from here to an accepting state, ``eos`` not counted; 0 after ``eos``."""
        return 0 if self.finished else self._distances[self._states[-1]]

    def advance(self, token: int) -> None:
        """Take one token, ``eos`` too.

        Raises:
            ValueError: the token is not allowed here; nothing changes.
            RuntimeError: ``eos`` was taken before.
        """
        if self.finished:
            raise RuntimeError("the text has ended")
        state = self._states[-1]
        ends = token == self._eos and state in self._accepting
        if not ends and token not in self._index[state]:
            raise ValueError(f"token must be allowed here, got {token!r}")
        self._states.append(state if ends else self._index[state][token])
        self.finished = ends

    def rollback(self, count: int) -> None:
        """Take back the last ``count`` tokens; ``eos`` counts as one.

        Args:
            count: at least 0.

        Raises:
            ValueError: fewer tokens than that were taken; nothing changes.
        """
        checks.count(0, count=count)
        if count >= len(self._states):
            raise ValueError(f"{count} tokens cannot be taken back: {len(self._states) - 1} were taken")
        if count:
            del self._states[-count:]
            self.finished = False


def forced_tokens(index: Mapping[int, Mapping[int, int]], state: int, accepting: Collection[int]) -> list[int]:
    """The tokens that must follow: as long as the state does not accept and allows a single token, that token.

    At most 1,000 tokens are given.

    Args:
        index: state -> token -> next state, as ``token_index`` makes it.
        state: where to begin; a key of ``index``.
        accepting: states in which the text may end.
    """
    checks.require(state in index, "be a state of the index", state=state)
    tokens: list[int] = []
    while state not in accepting and len(index[state]) == 1 and len(tokens) < _FARTHEST:
        ((token, state),) = index[state].items()
        tokens.append(token)
    return tokens


_TYPES = ("object", "array", "string", "integer", "boolean", "null")

#: Keywords that each type of a schema may have beside ``type``, and what may stand beside values.
_KEYWORDS = {
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems", "maxItems"},
    "string": {"minLength", "maxLength"},
    "integer": set[str](),
    "boolean": set[str](),
    "null": set[str](),
    "enum": {"enum"},
}

#: Keywords of JSON Schema that say nothing about which texts fit.
_ANNOTATIONS = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment"}

_CHARACTERS = "[A-Za-z0-9 ]"
_INTEGER = "-?(0|[1-9][0-9]{0,8})"


def schema_to_regex(schema: Mapping[str, Any]) -> str:
    """A regular expression for the compact JSON texts of a schema.

    No blanks outside of strings. Objects have all their properties, in the order of the schema, and no others. Keys and
    the values of ``enum`` are written by ``json.dumps(value, ensure_ascii=False, separators=(",", ":"))``. Use
    characters, classes, groups, ``|``, ``?`` and counts; no anchors and no look-ahead. ``title``, ``description``,
    ``default``, ``examples``, ``deprecated``, ``readOnly``, ``writeOnly`` and ``$comment`` are ignored.

    Args:
        schema: a dictionary with a ``type``: ``object`` (``properties``; ``required`` and ``additionalProperties`` may
            say again that all are required and no others are allowed), ``array`` (``items``, ``maxItems``, perhaps
            ``minItems``), ``string`` of ``[A-Za-z0-9 ]`` (``maxLength``, perhaps ``minLength``), ``integer`` of at most
            9 digits (``-?(0|[1-9][0-9]{0,8})``), ``boolean`` or ``null``. Or with an ``enum``, a list of at least one
            value, and perhaps a ``type``: then only the values count. Bounds are integers >= 0, a maximum not below its
            minimum; a missing minimum is 0. Schemas hold schemas at most 8 levels deep, the outermost one included.

    Returns:
        A pattern that ``re.fullmatch`` and ``rankzero.grammar.automata.compile_regex`` take.

    Raises:
        ValueError: the schema has a keyword that is not in this list, an array has no ``items`` or no ``maxItems``, or
            a string no ``maxLength``: the pattern could not enforce it. The message names the keyword.

    Source: JSON Schema, https://json-schema.org/draft/2020-12; RFC 8259.
    """
    _check_schema(schema)
    return _pattern(schema)


def _check_schema(schema: Any, level: int = 1) -> None:
    """Types, values and bounds of a schema, and of those that it holds."""
    checks.count(1, 8, levels=level)
    checks.require(isinstance(schema, Mapping), "be a dictionary", schema=schema)
    values = schema.get("enum", [None])
    checks.require(isinstance(values, list) and len(values) > 0, "be a list, not empty", enum=values)
    if "enum" not in schema:
        checks.one_of(_TYPES, type=schema.get("type"))
    for low, high in (("minLength", "maxLength"), ("minItems", "maxItems")):
        least = schema.get(low, 0)
        checks.count(0, **{low: least})
        checks.count(least, **{high: schema.get(high, least)})
    properties = schema.get("properties", {})
    checks.require(isinstance(properties, Mapping), "be a dictionary", properties=properties)
    for inner in (*properties.values(), *([schema["items"]] if "items" in schema else [])):
        _check_schema(inner, level + 1)


def _pattern(schema: Mapping[str, Any]) -> str:
    kind = "enum" if "enum" in schema else schema["type"]
    for keyword in schema:
        if keyword not in _KEYWORDS[kind] | _ANNOTATIONS | {"type"}:
            raise ValueError(f"{keyword} is not a keyword of {'an' if kind == 'enum' else 'type'} {kind} here")
    if kind == "enum":
        return f"({'|'.join(map(_written, schema['enum']))})"
    if kind == "object":
        members = (f"{_written(key)}:{_pattern(value)}" for key, value in schema.get("properties", {}).items())
        return rf"\{{{','.join(members)}\}}"
    if kind == "array":
        return _array(schema)
    if kind == "string":
        least, most = _bounds(schema, "minLength", "maxLength")
        return f'"{_CHARACTERS}{{{least},{most}}}"'
    return {"integer": _INTEGER, "boolean": "(true|false)", "null": "null"}[kind]


def _written(value: Any) -> str:
    """The JSON text of a value, escaped for a pattern."""
    return re.escape(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))


def _array(schema: Mapping[str, Any]) -> str:
    if "items" not in schema:
        raise ValueError("items must say what an array holds")
    item, (least, most) = _pattern(schema["items"]), _bounds(schema, "minItems", "maxItems")
    if most == 0:
        return r"\[\]"
    further = f"{item}(,{item}){{{max(least - 1, 0)},{most - 1}}}"
    return rf"\[{further}\]" if least else rf"\[({further})?\]"


def _bounds(schema: Mapping[str, Any], low: str, high: str) -> tuple[int, int]:
    """A minimum, 0 if it is missing, and a maximum."""
    if high not in schema:
        raise ValueError(f"{high} must bound {'an' if schema['type'] == 'array' else 'a'} {schema['type']}")
    return schema.get(low, 0), schema[high]


def grammars() -> dict[str, str]:
    """Three regular expressions, by name. A whole text must match; no anchors, no look-ahead.

    - ``phone``: three digits, three digits, four digits, with ``-`` between them: ``555-010-4477``. Digits are 0 to 9.
    - ``signature``: the first line of a Python function, ``def name(a, b):``: ``def``, one blank, a name, then in
      brackets no, one, two or three names with ``, `` (a comma and one blank) between them, and a colon. A name is an
      ASCII letter or ``_``, then any number of ASCII letters, digits and ``_``.
    - ``email``: a local part, ``@``, and a domain. The local part is one or more of the letters ``a`` to ``z``, digits,
      ``.``, ``_`` and ``-``. The domain is two or more labels with ``.`` between them: a label is one or more of ``a``
      to ``z``, digits and ``-``, the last label two or more letters ``a`` to ``z``.
    """
    name = "[A-Za-z_][A-Za-z0-9_]*"
    return {
        "phone": "[0-9]{3}-[0-9]{3}-[0-9]{4}",
        "signature": rf"def {name}\(({name}(, {name}){{0,2}})?\):",
        "email": r"[a-z0-9._-]+@([a-z0-9-]+\.)+[a-z]{2,}",
    }


def debug_token(dfa: "Dfa", vocabulary: Sequence[bytes], state: int) -> list[int]:
    """The tokens whose bytes can all be read from ``state``, in ascending order. Empty tokens are left out.

    Args:
        dfa: ``edges`` is state -> byte -> next state; what is missing leads nowhere.
        vocabulary: the bytes of every token.
        state: where to begin.
    """
    return [token for token, text in enumerate(vocabulary) if text and _walk(dfa, text, state) is not None]


def debug_limit(state: "ConstraintState", choose: Callable[[list[int]], int], max_tokens: int) -> list[int]:
    """The tokens of one text that fits its automaton and has at most ``max_tokens`` tokens, ``eos`` not counted.

    Each token is ``choose(allowed)``, where ``allowed`` are the tokens after which the text can still end in time; the
    last one chosen is ``eos``, which the result leaves out.

    Args:
        state: at the start of a text: ``allowed(remaining)``, ``advance``, ``finished`` and ``distance``.
        choose: takes a list of tokens, never an empty one, and gives one of them.
        max_tokens: the limit; at least 0.

    Raises:
        ValueError: ``max_tokens`` is below ``state.distance()``: no text fits.
    """
    checks.count(0, max_tokens=max_tokens)
    if max_tokens < state.distance():
        raise ValueError(f"no text fits into {max_tokens} tokens: the shortest has {state.distance()}")
    tokens: list[int] = []
    while not state.finished:
        token = choose(state.allowed(max_tokens - len(tokens)))
        state.advance(token)
        tokens.append(token)
    return tokens[:-1]
