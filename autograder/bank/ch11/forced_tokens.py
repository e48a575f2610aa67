"""Chapter 11: ``forced_tokens``, tokens that need no model."""

from __future__ import annotations

from random import Random

from autograder.bank.ch11.shared import ALONE, BOTH, Index
from autograder.items import Build, Case, Group, Promise, Slip


def _chain(rng: Random) -> Case:
    """A chain of states with one token each, which ends at two ways, or where the text may end."""
    size = rng.randint(5, 9)
    index: Index = {state: {rng.randint(1, 9): state + 1} for state in range(size)} | {size: {}}
    stop = rng.randint(2, size - 2)
    if rng.random() < 0.5:
        return Case((index, 0, [size, stop]))
    index[stop] |= {10: size}
    return Case((index, rng.randint(0, 1), [size]))


def _none(rng: Random) -> Case:
    """Two ways, or an end, at once."""
    index: Index = {0: {1: 1, 2: 2}, 1: {rng.randint(3, 9): 2}, 2: {}}
    return Case((index, 0, [2])) if rng.random() < 0.5 else Case((index, 1, [1, 2]))


def _circle(rng: Random) -> Case:
    """A circle from which nothing is forced out: the look-ahead must end."""
    size = rng.randint(2, 4)
    index: Index = {state: {rng.randint(1, 9): (state + 1) % size} for state in range(size)}
    return Case((index, rng.randrange(size), []))


EXERCISE = Build(
    "11 constrained.forced_tokens",
    section="11.19",
    topic="tokens that need no model",
    bonus=True,
    cases=(
        Case((ALONE, 0, [4])),
        Case((BOTH, 0, [4, 9])),
        Case((BOTH, 2, [4, 9])),
        Case(({0: {1: 1}, 1: {1: 1}}, 0, [1])),
        Case(({0: {5: 1}, 1: {6: 0}}, 0, [])),
    ),
    groups=(
        Group("chains", _chain, 6, "Go on as long as there is a single way, and stop where the text may end."),
        Group("none", _none, 3, "With two ways, or at an end, nothing is forced."),
        Group("circles", _circle, 2, "A circle has no end: at most 1,000 tokens are given."),
    ),
    slips=(
        Slip(
            "There are two ways where the text may end: it may end, or go on.",
            edit=("state not in accepting and len(index[state])", "len(index[state])"),
        ),
        Slip(
            "One token was given: go on as long as there is a single way.",
            edit=("len(tokens) < _FARTHEST", "not tokens"),
        ),
        Slip(
            "Where there are several ways nothing is forced.",
            edits=(
                ("len(index[state]) == 1 and", "index[state] and"),
                ("((token, state),) = index[state].items()", "token, state = min(index[state].items())"),
            ),
        ),
    ),
    promises=(
        Promise("as long as the state does not accept", edit=("state not in accepting and len(index", "len(index")),
        Promise("At most 1,000 tokens are given.", edit=("_FARTHEST = 1_000", "_FARTHEST = 999")),
    ),
)
