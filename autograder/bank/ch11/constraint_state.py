"""Chapter 11: ``ConstraintState``, budgets of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from autograder.bank.ch11.shared import ALONE, BOTH, Index
from autograder.items import Build, Case, Group, Promise, Slip

Call = tuple[str, tuple[Any, ...] | None]
_LOOK: tuple[Call, ...] = (("allowed", ()), ("distance", ()), ("forced", ()), ("finished", None))


def _index(rng: Random, states: int = 7, tokens: int = 9, loops: bool = True) -> tuple[Index, int, list[int], int]:
    """A random index that reaches acceptance from everywhere: index, start, accepting states, EOS."""
    eos, end = rng.randrange(tokens), states - 1
    index: Index = {state: {} for state in range(states)}
    names = [token for token in range(tokens) if token != eos]
    for state in range(end):
        nexts = [min(end, state + rng.randint(1, 2))]
        nexts += [rng.randrange(0 if loops else state + 1, states) for _ in range(rng.choice((0, 0, 1, 2, 4)))]
        drawn = rng.sample(names, len(nexts))
        index[state] = dict(zip(drawn, nexts, strict=True))
    accepting = [end, *({rng.randrange(1, end)} if rng.random() < 0.6 else set())]
    return index, 0, accepting, eos


def _walked(rng: Random, index: Index, start: int, accepting: list[int], eos: int, steps: int) -> Iterator[int]:
    """Tokens that may come, one after the other, at most ``steps``."""
    state = start
    for _ in range(steps):
        tokens = [*index[state], *([eos] * (state in accepting))]
        token = rng.choice(tokens)
        yield token
        if token == eos:
            return
        state = index[state][token]


def _written(rng: Random) -> Case:
    """A text, looked at after every token, and taken back here and there."""
    made = _index(rng)
    calls: list[Call] = [*_LOOK]
    taken = 0
    for token in _walked(rng, *made, rng.randint(2, 6)):
        calls += [("advance", (token,)), *_LOOK]
        taken += 1
    calls += [("rollback", (rng.randint(1, taken),)), *_LOOK]
    return Case(made, calls=tuple(calls))


def _tokens_alone(rng: Random) -> Case:
    """A text whose tokens are taken, and taken back: neither distances nor a look ahead are asked for."""
    made = _index(rng)
    calls: list[Call] = [("allowed", ())]
    tokens = list(_walked(rng, *made, rng.randint(2, 6)))
    for token in tokens:
        calls += [("advance", (token,)), ("allowed", ()), ("finished", None)]
    calls += [("rollback", (rng.randint(1, len(tokens)),)), ("allowed", ()), ("finished", None)]
    return Case(made, calls=tuple(calls))


def _with_end(rng: Random) -> Case:
    """A whole text with its EOS, calls after it, and the way back."""
    while True:
        made = _index(rng)
        tokens = list(_walked(rng, *made, 12))
        if tokens[-1] == made[3]:
            break
    calls: list[Call] = [("advance", (token,)) for token in tokens]
    calls += [("rollback", (0,)), *_LOOK]
    calls += [("advance", (tokens[0],)), ("advance", (made[3],)), ("rollback", (1,)), *_LOOK]
    calls += [("advance", (made[3],)), ("rollback", (len(tokens) + 1,)), ("rollback", (len(tokens),)), *_LOOK]
    return Case(made, calls=tuple(calls))


def _budget(rng: Random) -> Case:
    """Masks with every budget, at the start and further on."""
    made = _index(rng, states=9)
    budgets: list[Call] = [("allowed", (left,)) for left in range(9)]
    calls = [*budgets, ("allowed", ())]
    for token in _walked(rng, *made, 2):
        calls += [("advance", (token,)), *budgets, ("distance", ())]
    return Case(made, calls=tuple(calls))


def _chain(rng: Random) -> Case:
    """A chain of states with one token each, an accepting state on the way, and a state with two tokens."""
    size = rng.randint(5, 9)
    index: Index = {state: {rng.randint(1, 9): state + 1} for state in range(size)} | {size: {}}
    stop = rng.randint(2, size - 2)
    if rng.random() < 0.5:
        accepting = [size, stop]
    else:
        accepting = [size]
        index[stop] |= {10: size}
    first = next(iter(index[0]))
    second = next(iter(index[1]))
    calls: tuple[Call, ...] = (("forced", ()), ("distance", ()), ("forced", ()), ("advance", (first,)), ("forced", ()))
    return Case(
        (index, 0, accepting, 0), calls=(*calls, ("advance", (second,)), *_LOOK, ("rollback", (2,)), ("forced", ()))
    )


def _circle(rng: Random) -> Case:
    """A circle from which nothing is forced out: the look-ahead must end."""
    size = rng.randint(2, 4)
    index: Index = {state: {rng.randint(1, 9): (state + 1) % size} for state in range(size)}
    return Case((index, 0, [], 0), calls=(("forced", ()), ("allowed", ()), ("allowed", (5,))))


def _refused(rng: Random) -> Case:
    """Tokens that are not allowed, and more taken back than was taken."""
    made = _index(rng)
    index, start, accepting, eos = made
    strange = next(token for token in range(99) if token not in index[start] and token != eos)
    token = next(iter(index[start]))
    calls: list[Call] = [("advance", (strange,)), ("rollback", (1,)), *_LOOK]
    calls += [("advance", (token,)), ("rollback", (2,)), ("rollback", (1,)), *_LOOK]
    if start not in accepting:
        calls.append(("advance", (eos,)))
    return Case(made, calls=tuple(calls))


EXERCISE = Build(
    "11 constrained.ConstraintState",
    section="11.8",
    topic="budgets of tokens",
    grade="calls",
    cases=(
        Case((BOTH, 0, [4, 9], 0), calls=(("allowed", ()), ("distance", ()), ("advance", (1,)), *_LOOK)),
        Case(
            (BOTH, 0, [4, 9], 0),
            calls=(("advance", (1,)), ("advance", (2,)), ("forced", ()), ("rollback", (1,)), ("allowed", ())),
        ),
        Case((ALONE, 0, [4], 0), calls=(("forced", ()), ("allowed", ()), ("distance", ()))),
        Case(
            (BOTH, 0, [4, 9], 0),
            calls=tuple(("allowed", (left,)) for left in (0, 1, 2, 3, 4)),
        ),
        Case(({0: {3: 1, 2: 0}, 1: {}}, 0, [0, 1], 1), calls=(("allowed", ()), ("allowed", (1,)), ("allowed", (0,)))),
        Case(
            (ALONE, 0, [4], 0),
            calls=(("advance", (1,)), ("advance", (2,)), *_LOOK, ("advance", (0,)), *_LOOK, ("advance", (0,))),
        ),
        Case(
            (ALONE, 0, [4], 0),
            calls=(
                ("advance", (2,)),
                ("advance", (0,)),
                ("advance", (1,)),
                ("advance", (2,)),
                ("advance", (0,)),
                ("rollback", (1,)),
                *_LOOK,
                ("rollback", (3,)),
            ),
        ),
        Case(({0: {1: 1}, 1: {1: 1}}, 0, [1], 7), calls=(("forced", ()), ("advance", (1,)), *_LOOK)),
        Case(
            (BOTH, 0, [4, 9], 0),
            calls=(("advance", (1,)), ("allowed", ()), ("advance", (2,)), ("rollback", (2,)), ("allowed", ())),
        ),
    ),
    groups=(
        Group("texts", _written, 6, "Follow a short text by hand: what may come, how far the end is, what must come."),
        Group(
            "ends",
            _with_end,
            4,
            "EOS may come where the state accepts; it counts as a token that is taken back. A rollback of 0 changes "
            "nothing.",
        ),
        Group("budgets", _budget, 4, "After the token, the rest must fit into what is left.", step="budgets"),
        Group(
            "what must follow",
            _chain,
            4,
            "`forced` ends where the text may end, or where there are two ways.",
            step="what follows",
        ),
        Group("circles", _circle, 2, "A circle has no end: at most 1,000 tokens are given.", step="what follows"),
        Group(
            "refused", _refused, 4, "What is not allowed raises ValueError and changes nothing.", step="what follows"
        ),
        Group(
            "taken and taken back",
            _tokens_alone,
            2,
            "The state after a token is the one that the index names; a rollback goes back to the state before.",
            step="tokens alone",
        ),
    ),
    slips=(
        Slip(
            "EOS is allowed where the text is not complete.",
            edits=(
                (
                    "sorted([*tokens, self._eos] if state in self._accepting else tokens)",
                    "sorted([*tokens, self._eos])",
                ),
                ("ends = token == self._eos and state in self._accepting", "ends = token == self._eos"),
            ),
        ),
        Slip(
            "EOS is never allowed: the text cannot end.",
            edits=(
                ("sorted([*tokens, self._eos] if state in self._accepting else tokens)", "sorted(tokens)"),
                ("ends = token == self._eos and state in self._accepting", "ends = False"),
            ),
        ),
        Slip("The token itself takes one of those that remain.", edit=("<= remaining - 1", "<= remaining")),
        Slip(
            "After a rollback over EOS the text is still called finished.",
            edit=("            self.finished = False\n\n", "\n"),
        ),
        Slip(
            "`forced` runs through a state where the text may end: there are two ways there.",
            edit=(
                "not self.finished and state not in self._accepting and len(tokens)",
                "not self.finished and len(tokens)",
            ),
        ),
        Slip(
            "`forced` looks ahead: the state must stay where it is.",
            edit=(
                "            tokens.append(token)\n        return tokens",
                (
                    "            tokens.append(token)\n"
                    "        for token in tokens:\n"
                    "            self.advance(token)\n"
                    "        return tokens"
                ),
            ),
        ),
        Slip(
            "`forced` gives one token: go on as long as there is a single way.",
            edit=("len(tokens) < _FARTHEST", "not tokens"),
        ),
        Slip(
            "The distance does not count EOS.",
            edit=(
                "return 0 if self.finished else self._distances[self._states[-1]]",
                "return 0 if self.finished else self._distances[self._states[-1]] + 1",
            ),
        ),
        Slip(
            "A token that is not allowed was taken: raise ValueError.",
            edits=(
                (
                    (
                        "        if not ends and token not in self._index[state]:\n"
                        '            raise ValueError(f"token must be allowed here, got {token!r}")\n'
                    ),
                    "",
                ),
                (
                    "state if ends else self._index[state][token]",
                    "state if ends else self._index[state].get(token, state)",
                ),
                ("ends = token == self._eos and state in self._accepting", "ends = token == self._eos"),
            ),
        ),
        Slip(
            "After EOS nothing may follow: raise RuntimeError.",
            edits=(
                ("        if self.finished:\n            return []\n", ""),
                ('        if self.finished:\n            raise RuntimeError("the text has ended")\n', ""),
            ),
        ),
        Slip(
            "A rollback beyond the start was cut short: raise ValueError.",
            edits=(
                (
                    "        if count >= len(self._states):\n"
                    '            raise ValueError(f"{count} tokens cannot be taken back: {len(self._states) - 1} were '
                    'taken")\n',
                    "",
                ),
                ("del self._states[-count:]", "del self._states[max(1, len(self._states) - count) :]"),
            ),
        ),
        Slip(
            "EOS is a token of the history, too: rollback counts it.",
            edit=(
                "        self._states.append(state if ends else self._index[state][token])\n",
                "        if not ends:\n            self._states.append(self._index[state][token])\n",
            ),
        ),
        Slip(
            "The tokens are asked for in ascending order.",
            edit=(
                "sorted([*tokens, self._eos] if state in self._accepting else tokens)",
                "[*tokens, self._eos] if state in self._accepting else tokens",
            ),
        ),
        Slip(
            "The budget asks for what can still end, not for the shortest way alone.",
            edit=("self._distances[state] <= remaining - 1", "self._distances[state] < self.distance()"),
        ),
    ),
    promises=(
        Promise(
            "``eos`` exactly where the state accepts.",
            edit=("self._eos] if state in self._accepting else tokens)", "self._eos])"),
        ),
        Promise(
            "A token is then allowed only if, after it, acceptance is at most ``remaining - 1`` tokens away.",
            edit=("<= remaining - 1", "<= remaining"),
        ),
        Promise("empty after ``eos``.", edit=("        if self.finished:\n            return []\n", "")),
        Promise("in ascending order", edit=("return sorted(", "return list(")),
        Promise(
            "``eos`` counts as one",
            edit=(
                "            del self._states[-count:]\n",
                "            del self._states[-count - self.finished :]\n",
            ),
        ),
        Promise("whether ``eos`` was taken and not taken back", edit=("            self.finished = False\n", "")),
        Promise(
            "as long as the state does not accept",
            edit=("while not self.finished and state not in self._accepting and", "while not self.finished and"),
        ),
        Promise("At most 1,000 tokens are given.", edit=("_FARTHEST = 1_000", "_FARTHEST = 999")),
        Promise(
            "The fewest tokens from here to an accepting state, ``eos`` not counted",
            edit=("return 0 if self.finished else", "return 1 +"),
        ),
        Promise(
            "fewer tokens than that were taken; nothing changes",
            edit=(
                "        if count >= len(self._states):\n",
                "        if count >= len(self._states):\n            del self._states[1:]\n",
            ),
        ),
        Promise(
            "the token is not allowed here; nothing changes",
            edit=(
                "        if not ends and token not in self._index[state]:\n",
                "        if not ends and token not in self._index[state]:\n            self._states.append(state)\n",
            ),
        ),
    ),
)
