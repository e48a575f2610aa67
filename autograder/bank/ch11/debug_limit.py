"""Chapter 11: ``debug_limit``, budgets of tokens."""

from __future__ import annotations

from random import Random

from autograder.bank.ch11.shared import ALONE, BOTH, Index
from autograder.bank.groups import listed
from autograder.items import Case, Debug, Group, Promise, Slip, invalid


def wrong_limit(state, choose, max_tokens):
    tokens: list[int] = []
    while len(tokens) < max_tokens and not state.finished:
        token = choose(state.allowed())
        state.advance(token)
        tokens.append(token)
    return tokens[:-1] if state.finished else tokens


def _loop(rng: Random) -> tuple[Index, int, list[int], int]:
    """A text of any length, with a way out that takes several tokens."""
    size = rng.randint(3, 6)
    index: Index = {0: {1: 0, 2: 0, 3: 1}, size: {}}
    for state in range(1, size):
        index[state] = {rng.randint(4, 8): state + 1, 9: state}
    return index, 0, [size], rng.choice((0, 10))


def _limited(rng: Random) -> Case:
    made = _loop(rng)
    return Case((*made, len(made[0]) - 1 + rng.randint(0, 9), [rng.randrange(10**6) for _ in range(6)]))


def _just_enough(rng: Random) -> Case:
    made = _loop(rng)
    return Case((*made, len(made[0]) - 1, [rng.randrange(10**6) for _ in range(4)]))


def _too_few(rng: Random) -> list[Case]:
    made = _loop(rng)
    return [invalid(*made, len(made[0]) - 2, [1])]


EXERCISE = Debug(
    "11 constrained.debug_limit",
    section="11.19",
    topic="budgets of tokens",
    bonus=True,
    probe="ch11_constraints.limited",
    wrong=wrong_limit,
    cases=(
        Case(({0: {1: 0, 2: 1}, 1: {3: 2}, 2: {}}, 0, [2], 0, 4, [1, 2, 3, 4])),
        Case(({0: {1: 0, 2: 1}, 1: {3: 2}, 2: {}}, 0, [2], 0, 2, [1, 2])),
        Case((BOTH, 0, [4, 9], 0, 3, [5, 6, 7])),
        invalid(ALONE, 0, [4], 0, 1, [1]),
    ),
    groups=(
        Group("limits", _limited, 6, "Every text fits its automaton, and none is longer than the limit."),
        Group("just enough", _just_enough, 3, "With as many tokens as the shortest text needs, that text comes out."),
        listed("too few", _too_few, "A limit that no text fits must raise ValueError."),
    ),
    slips=(
        Slip("The text is cut off at the limit: ask for the mask with what remains.", wrong_limit),
        Slip(
            "The text goes beyond the limit: the mask must know what remains.",
            edit=("max_tokens - len(tokens)", "state.distance() if len(tokens) >= max_tokens else None"),
        ),
        Slip(
            "EOS does not count against the limit.",
            edits=(
                ("max_tokens < state.distance()", "max_tokens < state.distance() + 1"),
                ("max_tokens - len(tokens)", "max(max_tokens - 1 - len(tokens), 0)"),
            ),
        ),
        Slip("EOS is no part of the text.", edit=("tokens[:-1]", "tokens")),
        Slip(
            "The budget shrinks with every token.",
            edits=(
                ("not state.finished", "not state.finished and len(tokens) < max_tokens"),
                ("max_tokens - len(tokens)", "max_tokens"),
                ("tokens[:-1]", "tokens[:-1] if state.finished else tokens"),
            ),
        ),
        Slip(
            "At the limit the loop ends before EOS, and a token of the text is dropped.",
            edit=("not state.finished", "not state.finished and len(tokens) < max_tokens"),
        ),
        Slip(
            "A limit that no text fits gives half a text: raise ValueError.",
            edits=(
                (
                    (
                        "    if max_tokens < state.distance():\n"
                        '        raise ValueError(f"no text fits into {max_tokens} tokens: the shortest has '
                        '{state.distance()}")\n'
                    ),
                    "",
                ),
                (
                    "        token = choose(state.allowed(max_tokens - len(tokens)))",
                    (
                        "        allowed = state.allowed(max_tokens - len(tokens)) if max_tokens >= "
                        "len(tokens) else []\n"
                        "        if not allowed:\n"
                        "            return tokens\n"
                        "        token = choose(allowed)"
                    ),
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "choose: takes a list of tokens, never an empty one, and gives one of them.",
            edit=("state.allowed(max_tokens - len(tokens))", "state.allowed(max(max_tokens - 1 - len(tokens), 0))"),
        ),
        Promise("which the result leaves out", edit=("return tokens[:-1]", "return tokens")),
        Promise(
            "at most ``max_tokens`` tokens",
            edit=("state.allowed(max_tokens - len(tokens))", "state.allowed(max_tokens - len(tokens) + 1)"),
        ),
    ),
)
