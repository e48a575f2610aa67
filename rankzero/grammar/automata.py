"""Regular expressions over bytes, as the smallest automata that accept the same strings. Standard library only.

>>> dfa = compile_regex("ab*")
>>> dfa.accepts(b"abb"), dfa.accepts(b"ba")
(True, False)

Texts are read as UTF-8: an automaton takes one byte at a time, and a character may take several. The syntax is the part
of Python's that describes regular languages: characters and ``.``, classes ``[a-z_]`` and ``[^"]``, groups, ``|``,
``\\d \\w \\s`` (ASCII only) and their opposites, and ``* + ? {m} {m,} {m,n}``. The whole text must match, so there are
no anchors. No finite automaton can follow brackets nested without bound; ``rankzero.grammar.json_automaton`` does.

Source: Aho, Lam, Sethi and Ullman (2006), Compilers, chapter 3: the subset construction, and minimization by refining a
partition.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from rankzero.grammar.regex_syntax import MAX_REPEAT, Alternatives, Characters, Node, Repeat, Sequence, parse

__all__ = ["MAX_REPEAT", "Dfa", "compile_regex", "minimal", "trie"]

#: The most states that an automaton may have.
MAX_STATES = 20_000


@dataclass(frozen=True)
class Dfa:
    """A deterministic finite automaton over bytes.

    Attributes:
        start: the state before the first byte.
        accepting: states in which a text may end.
        edges: state -> byte -> next state. Every state is a key; a byte without an entry is rejected.
    """

    start: int
    accepting: frozenset[int]
    edges: dict[int, dict[int, int]]

    def run(self, text: bytes, state: int | None = None) -> int | None:
        """The state after ``text``, from ``state`` or from the start; None if a byte is rejected."""
        now: int | None = self.start if state is None else state
        for byte in text:
            now = self.edges.get(now, {}).get(byte) if now is not None else None
        return now

    def accepts(self, text: bytes) -> bool:
        """Whether the whole ``text`` is in the language."""
        return self.run(text) in self.accepting

    def texts(self, longest: int) -> Iterator[bytes]:
        """Every text of the language of at most ``longest`` bytes, shorter ones first, then in byte order."""
        queue = deque([(b"", self.start)])
        while queue:
            text, state = queue.popleft()
            if state in self.accepting:
                yield text
            if len(text) < longest:
                queue += [(text + bytes([byte]), after) for byte, after in sorted(self.edges[state].items())]


def compile_regex(pattern: str) -> Dfa:
    """The smallest automaton for a pattern, its states numbered breadth first from 0, with bytes in ascending order.

    An accepting state can be reached from every state. A pattern that matches nothing gives one state without edges.

    Raises:
        ValueError: the pattern is outside the syntax above, or its automaton would be too large; the message says where
            and why.
    """
    nfa = _Nfa()
    first, last = nfa.state(), nfa.state()
    nfa.add(parse(pattern), first, last)
    return minimal(_deterministic(nfa, first, last))


def trie(words: Iterable[bytes]) -> Dfa:
    """An automaton for a finite list of words, with a state for each prefix of a word. It is not minimized."""
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
    """Thompson's nondeterministic automaton: states with edges for ranges of bytes, and edges that take no byte."""

    moves: list[list[tuple[int, int, int]]] = field(default_factory=list)  # state -> (low, high, next)
    free: list[list[int]] = field(default_factory=list)  # state -> next states that take no byte

    def state(self) -> int:
        if len(self.moves) >= MAX_STATES * 5:
            raise ValueError(f"pattern must have an automaton of at most {MAX_STATES:,} states")
        self.moves.append([])
        self.free.append([])
        return len(self.moves) - 1

    def add(self, node: Node, first: int, last: int) -> None:
        """Add paths from ``first`` to ``last`` that accept what ``node`` matches."""
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
        """Add one path for each sequence of byte ranges; paths with a common prefix are merged by minimization."""
        for ranges in node.byte_ranges():
            state = first
            for low, high in ranges[:-1]:
                after = self.state()
                self.moves[state].append((low, high, after))
                state = after
            self.moves[state].append((*ranges[-1], last))

    def closure(self, states: Iterable[int]) -> frozenset[int]:
        """``states`` and every state that can be reached from them without taking a byte."""
        found, waiting = set(states), list(states)
        while waiting:
            for other in self.free[waiting.pop()]:
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return frozenset(found)


def _deterministic(nfa: _Nfa, first: int, last: int) -> Dfa:
    """The subset construction: one state for each set of states that the automaton may be in at once."""
    start = nfa.closure([first])
    numbers, waiting = {start: 0}, [start]
    edges: dict[int, dict[int, int]] = {}
    while waiting:
        now = waiting.pop()
        row = edges[numbers[now]] = {}
        for low, high, reached in _disjoint_ranges([move for state in now for move in nfa.moves[state]]):
            after = nfa.closure(reached)
            if after not in numbers:
                if len(numbers) >= MAX_STATES:
                    raise ValueError(f"pattern must have an automaton of at most {MAX_STATES:,} states")
                numbers[after] = len(numbers)
                waiting.append(after)
            row.update(dict.fromkeys(range(low, high + 1), numbers[after]))
    return Dfa(0, frozenset(number for states, number in numbers.items() if last in states), edges)


def _disjoint_ranges(moves: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, frozenset[int]]]:
    """Disjoint ranges of bytes that lead to the same states, as ``(low, high, states)``."""
    cuts = sorted({low for low, _, _ in moves} | {high + 1 for _, high, _ in moves})
    for low, after in pairwise(cuts):
        reached = frozenset(target for first, last, target in moves if first <= low <= last)
        if reached:
            yield low, after - 1, reached


def minimal(dfa: Dfa) -> Dfa:
    """The smallest automaton for the same language, without states from which no accepting state can be reached.

    Groups of states are split until the states of each group agree on whether they accept and on the group that each
    byte leads to.
    """
    live = _live(dfa)
    if dfa.start not in live:
        return Dfa(0, frozenset(), {0: {}})
    edges = {state: {b: to for b, to in dfa.edges[state].items() if to in live} for state in live}
    representatives = _one_byte_of_each_kind(edges)
    group = {state: int(state in dfa.accepting) for state in live}
    group[-1] = -1  # the state after a rejected byte
    count = len(set(group.values()))
    while True:
        keys = {state: (group[state], *(group[edges[state].get(b, -1)] for b in representatives)) for state in live}
        keys[-1] = (-1,)
        names = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
        group = {state: names[keys[state]] for state in keys}
        if len(names) == count:
            break
        count = len(names)
    joined = {group[state]: {byte: group[to] for byte, to in edges[state].items()} for state in live}
    return _numbered(Dfa(group[dfa.start], frozenset(group[state] for state in dfa.accepting & live), joined))


def _one_byte_of_each_kind(edges: dict[int, dict[int, int]]) -> list[int]:
    """One byte of each kind, where two bytes are of one kind if they lead to the same state from every state."""
    columns: dict[int, list[tuple[int, int]]] = {}
    for state, row in edges.items():
        for byte, to in row.items():
            columns.setdefault(byte, []).append((state, to))
    return list({tuple(column): byte for byte, column in columns.items()}.values())


def _live(dfa: Dfa) -> set[int]:
    """The states from which an accepting state can be reached."""
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
    """The same automaton with only the reachable states, numbered breadth first."""
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
