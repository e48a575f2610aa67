"""Regular expressions over bytes, as the smallest automata that accept the same texts. Standard library only.

>>> dfa = compile_regex("ab*")
>>> dfa.accepts(b"abb"), dfa.accepts(b"ba")
(True, False)

A text is its UTF-8 bytes: an automaton takes one byte at a time, and a character may take several. The syntax is the
part of Python's that describes regular languages: characters and ``.``, classes ``[a-z_]`` and ``[^"]``, groups, ``|``,
``\\d \\w \\s`` (ASCII alone) and their opposites, and ``* + ? {m} {m,} {m,n}``. A whole text must match, so there are
no anchors. ``rankzero.json_machine`` has what no such automaton can do: brackets nested without bound.

Source: Aho, Lam, Sethi and Ullman (2006), Compilers, chapter 3: the automaton of all that may be true at once, and the
smallest one by refining a partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from rankzero.patterns import MAX_REPEAT, Alternatives, Characters, Node, Repeat, Sequence, parse

__all__ = ["MAX_REPEAT", "Dfa", "compile_regex", "minimal", "trie"]

#: Copies of a part that a counted repeat may ask for in all, and states of an automaton.
MAX_STATES = 20_000


@dataclass(frozen=True)
class Dfa:
    """A deterministic finite automaton over bytes.

    Attributes:
        start: the state before the first byte.
        accepting: states in which a text may end.
        edges: state -> byte -> next state. A byte that is missing leads nowhere. Every state is a key.
    """

    start: int
    accepting: frozenset[int]
    edges: dict[int, dict[int, int]]

    def run(self, text: bytes, state: int | None = None) -> int | None:
        """The state after ``text``, from ``state`` or from the start; None when a byte leads nowhere."""
        now: int | None = self.start if state is None else state
        for byte in text:
            now = self.edges.get(now, {}).get(byte) if now is not None else None
        return now

    def accepts(self, text: bytes) -> bool:
        """Whether the whole ``text`` is in the language."""
        return self.run(text) in self.accepting

    def texts(self, longest: int) -> Iterator[bytes]:
        """Every text of the language of at most ``longest`` bytes, the shorter first, then in the order of bytes."""
        ways = deque([(b"", self.start)])
        while ways:
            text, state = ways.popleft()
            if state in self.accepting:
                yield text
            if len(text) < longest:
                ways += [(text + bytes([byte]), after) for byte, after in sorted(self.edges[state].items())]


def compile_regex(pattern: str) -> Dfa:
    """The smallest automaton of a pattern, its states numbered breadth first from 0, by bytes in order.

    Every state can reach acceptance. A pattern that matches nothing gives one state without edges.

    Raises:
        ValueError: the pattern is not of the syntax above, or its automaton would be too large; the message says where
            and why.
    """
    nfa = _Nfa()
    first, last = nfa.state(), nfa.state()
    nfa.add(parse(pattern), first, last)
    return minimal(_deterministic(nfa, first, last))


def trie(words: Iterable[bytes]) -> Dfa:
    """The automaton of a finite list: a state for each beginning of a word, numbered as they come. Not the smallest."""
    edges: dict[int, dict[int, int]] = {0: {}}
    accepting = set()
    for word in words:
        state = 0
        for byte in word:
            if byte not in edges[state]:
                edges[len(edges)] = {}
                edges[state][byte] = len(edges) - 1
            state = edges[state][byte]
        accepting.add(state)
    return Dfa(0, frozenset(accepting), edges)


@dataclass
class _Nfa:
    """Thompson's automaton: states with edges for ranges of bytes, and edges that take no byte."""

    moves: list[list[tuple[int, int, int]]] = field(default_factory=list)  # state -> (low, high, next)
    free: list[list[int]] = field(default_factory=list)  # state -> next states, without a byte

    def state(self) -> int:
        if len(self.moves) >= MAX_STATES * 5:
            raise ValueError(f"pattern must have an automaton of at most {MAX_STATES:,} states")
        self.moves.append([])
        self.free.append([])
        return len(self.moves) - 1

    def add(self, node: Node, first: int, last: int) -> None:
        """The ways of ``node`` from ``first`` to ``last``."""
        if isinstance(node, Characters):
            self._characters(node, first, last)
        elif isinstance(node, Alternatives):
            for part in node.parts:
                self.add(part, first, last)
        elif isinstance(node, Repeat):
            self._repeat(node, first, last)
        else:
            self._sequence(node, first, last)

    def _sequence(self, node: Sequence, first: int, last: int) -> None:
        for part in node.parts:
            after = self.state()
            self.add(part, first, after)
            first = after
        self.free[first].append(last)

    def _repeat(self, node: Repeat, first: int, last: int) -> None:
        for _ in range(node.least):
            after = self.state()
            self.add(node.part, first, after)
            first = after
        if node.most is None:
            loop, end = self.state(), self.state()
            self.free[first].append(loop)
            self.add(node.part, loop, end)
            self.free[end].append(loop)
            self.free[loop].append(last)
            return
        for _ in range(node.most - node.least):
            self.free[first].append(last)
            after = self.state()
            self.add(node.part, first, after)
            first = after
        self.free[first].append(last)

    def _characters(self, node: Characters, first: int, last: int) -> None:
        """One way for each sequence of byte ranges; sequences that begin alike share nothing: minimising joins them."""
        for ranges in node.byte_ranges():
            state = first
            for low, high in ranges[:-1]:
                after = self.state()
                self.moves[state].append((low, high, after))
                state = after
            self.moves[state].append((*ranges[-1], last))

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """``states`` and all that can be reached without a byte."""
        found, waiting = set(states), list(states)
        while waiting:
            for other in self.free[waiting.pop()]:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return frozenset(found)


def _deterministic(nfa: _Nfa, first: int, last: int) -> Dfa:
    """One state for each set of states in which the automaton may be at once."""
    start = nfa.closure([first])
    numbers, waiting = {start: 0}, [start]
    edges: dict[int, dict[int, int]] = {}
    while waiting:
        now = waiting.pop()
        row = edges[numbers[now]] = {}
        for low, high, reached in _pieces([move for state in now for move in nfa.moves[state]]):
            after = nfa.closure(reached)
            if after not in numbers:
                if len(numbers) >= MAX_STATES:
                    raise ValueError(f"pattern must have an automaton of at most {MAX_STATES:,} states")
                numbers[after] = len(numbers)
                waiting.append(after)
            row.update(dict.fromkeys(range(low, high + 1), numbers[after]))
    return Dfa(0, frozenset(number for states, number in numbers.items() if last in states), edges)


def _pieces(moves: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Ranges of bytes that reach the same states: ``(low, high, states)``, apart from each other."""
    cuts = sorted({low for low, _, _ in moves} | {high + 1 for _, high, _ in moves})
    for low, after in pairwise(cuts):
        reached = frozenset(target for first, last, target in moves if first <= low <= last)
        if reached:
            yield low, after - 1, reached


def minimal(dfa: Dfa) -> Dfa:
    """The smallest automaton of the same language, without states that cannot reach acceptance.

    States are split until those of one group agree on acceptance and on the group behind every byte.
    """
    live = _live(dfa)
    if dfa.start not in live:
        return Dfa(0, frozenset(), {0: {}})
    edges = {state: {b: to for b, to in dfa.edges[state].items() if to in live} for state in live}
    kinds = _kinds_of_bytes(edges)
    group = {state: int(state in dfa.accepting) for state in live}
    group[-1] = -1  # where a byte that leads nowhere leads
    count = len(set(group.values()))
    while True:
        keys = {state: (group[state], *(group[edges[state].get(byte, -1)] for byte in kinds)) for state in live} | {
            -1: (-1,)
        }
        names = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
        group = {state: names[keys[state]] for state in keys}
        if len(names) == count:
            break
        count = len(names)
    joined = {group[state]: {byte: group[to] for byte, to in edges[state].items()} for state in live}
    return _numbered(Dfa(group[dfa.start], frozenset(group[state] for state in dfa.accepting & live), joined))


def _kinds_of_bytes(edges: dict[int, dict[int, int]]) -> list[int]:
    """One byte of each kind: bytes of a kind lead from every state to the same next state."""
    columns: dict[int, list[tuple[int, int]]] = {}
    for state, row in edges.items():
        for byte, to in row.items():
            columns.setdefault(byte, []).append((state, to))
    return list({tuple(column): byte for byte, column in columns.items()}.values())


def _live(dfa: Dfa) -> set[int]:
    """States from which acceptance can be reached."""
    before: dict[int, set[int]] = {}
    for state, row in dfa.edges.items():
        for to in row.values():
            before.setdefault(to, set()).add(state)
    live, waiting = set(dfa.accepting), list(dfa.accepting)
    while waiting:
        for state in before.get(waiting.pop(), ()):
            if state not in live:
                live.add(state)
                waiting.append(state)
    return live


def _numbered(dfa: Dfa) -> Dfa:
    """The states that can be reached, numbered breadth first."""
    numbers, waiting = {dfa.start: 0}, deque([dfa.start])
    edges = {}
    while waiting:
        state = waiting.popleft()
        for _, to in sorted(dfa.edges[state].items()):
            if to not in numbers:
                numbers[to] = len(numbers)
                waiting.append(to)
        edges[numbers[state]] = {byte: numbers[to] for byte, to in sorted(dfa.edges[state].items())}
    return Dfa(0, frozenset(numbers[state] for state in dfa.accepting if state in numbers), edges)
