"""Chapter 11: ``ConstraintState``, budgets of tokens: first what may follow, then the way back."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from autograder.bank.ch11.shared import ALONE, BOTH, Index
from autograder.items import Build, Case, Group, Promise, Slip

Call = tuple[str, tuple[Any, ...] | None]
_LOOK: tuple[Call, ...] = (("allowed", ()), ("distance", ()), ("finished", None))


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
    """A text, looked at after every token."""
    made = _index(rng)
    calls: list[Call] = [*_LOOK]
    for token in _walked(rng, *made, rng.randint(2, 6)):
        calls += [("advance", (token,)), *_LOOK]
    return Case(made, calls=tuple(calls))


def _ended(rng: Random) -> tuple[tuple[Index, int, list[int], int], list[int]]:
    """An index, and a text with its EOS."""
    while True:
        made = _index(rng)
        tokens = list(_walked(rng, *made, 12))
        if tokens[-1] == made[3]:
            return made, tokens


def _to_the_end(rng: Random) -> Case:
    """A whole text with its EOS, and calls after it."""
    made, tokens = _ended(rng)
    calls: list[Call] = [("advance", (token,)) for token in tokens]
    calls += [*_LOOK, ("advance", (tokens[0],)), ("advance", (made[3],)), *_LOOK]
    return Case(made, calls=tuple(calls))


def _taken_back(rng: Random) -> Case:
    """A text of which some tokens are taken back, once or twice."""
    made = _index(rng)
    tokens = list(_walked(rng, *made, rng.randint(2, 6)))
    calls: list[Call] = [("advance", (token,)) for token in tokens]
    calls += [*_LOOK, ("rollback", (rng.randint(1, len(tokens)),)), *_LOOK, ("allowed", (rng.randint(0, 3),))]
    return Case(made, calls=tuple(calls))


def _back_over_the_end(rng: Random) -> Case:
    """A whole text with its EOS, and the way back."""
    made, tokens = _ended(rng)
    calls: list[Call] = [("advance", (token,)) for token in tokens]
    calls += [("rollback", (0,)), *_LOOK, ("rollback", (1,)), *_LOOK, ("advance", (made[3],))]
    calls += [("rollback", (len(tokens) + 1,)), ("finished", None), ("rollback", (len(tokens),)), *_LOOK]
    return Case(made, calls=tuple(calls))


def _budget(rng: Random) -> Case:
    """Masks with every budget, at the start and further on."""
    made = _index(rng, states=9)
    budgets: list[Call] = [("allowed", (left,)) for left in range(9)]
    calls = [*budgets, ("allowed", ())]
    for token in _walked(rng, *made, 2):
        calls += [("advance", (token,)), *budgets, ("distance", ())]
    return Case(made, calls=tuple(calls))


def _refused(rng: Random) -> Case:
    """Tokens that are not allowed."""
    made = _index(rng)
    index, start, accepting, eos = made
    strange = next(token for token in range(99) if token not in index[start] and token != eos)
    calls: list[Call] = [("advance", (strange,)), *_LOOK]
    calls += [("advance", (next(iter(index[start])),)), *_LOOK]
    if start not in accepting:
        calls.insert(0, ("advance", (eos,)))
    return Case(made, calls=tuple(calls))


def _too_far(rng: Random) -> Case:
    """More taken back than was taken."""
    made = _index(rng)
    token = next(iter(made[0][made[1]]))
    calls: list[Call] = [("rollback", (1,)), ("allowed", ())]
    calls += [("advance", (token,)), ("rollback", (2,)), *_LOOK, ("rollback", (1,)), *_LOOK]
    return Case(made, calls=tuple(calls))


EXERCISE = Build(
    "11 constrained.ConstraintState",
    section="11.8",
    topic="budgets of tokens",
    grade="calls",
    cases=(
        Case((BOTH, 0, [4, 9], 0), calls=(("allowed", ()), ("distance", ()), ("advance", (1,)), *_LOOK)),
        Case((BOTH, 0, [4, 9], 0), calls=tuple(("allowed", (left,)) for left in (0, 1, 2, 3, 4))),
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
        Case(
            (BOTH, 0, [4, 9], 0),
            calls=(("advance", (1,)), ("allowed", ()), ("advance", (2,)), ("rollback", (2,)), ("allowed", ())),
        ),
    ),
    groups=(
        Group("texts", _written, 6, "Follow a short text by hand: what may come, and how far the end is."),
        Group("ends", _to_the_end, 3, "EOS may come where the state accepts, and nothing may follow it."),
        Group("budgets", _budget, 4, "After the token, the rest must fit into what is left."),
        Group("refused", _refused, 3, "A token that is not allowed raises ValueError and changes nothing."),
        Group(
            "taken back", _taken_back, 4, "A rollback goes back to the state before those tokens.", step="the way back"
        ),
        Group(
            "back over the end",
            _back_over_the_end,
            3,
            "EOS counts as a token that is taken back. A rollback of 0 changes nothing.",
            step="the way back",
        ),
        Group(
            "too far", _too_far, 2, "More than was taken raises ValueError and changes nothing.", step="the way back"
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
            edit=("            self.finished = False\n", ""),
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
