"""Chapter 12: generalised advantage estimation, to write and to correct."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from autograder.items import Build, Case, Debug, Group, Slip


def _floats(rng: Random, count: int) -> list[float]:
    return [round(rng.uniform(-3, 3), 3) for _ in range(count)]


def _flags(rng: Random, count: int) -> list[bool]:
    return [rng.random() < 0.2 for _ in range(count)]


def _decays(rng: Random) -> tuple[float, float]:
    """A discount and a lambda, apart from each other, from 0 and from 1."""
    return round(rng.uniform(0.85, 0.98), 3), round(rng.uniform(0.3, 0.8), 3)


def _episode(rng: Random, last: Sequence[bool]) -> Case:
    """One episode; ``last`` are the flags of its last step."""
    count = rng.randint(4, 15)
    rewards, values = _floats(rng, count), _floats(rng, count)
    ends = [[*[False] * (count - 1), flag] for flag in last]
    return Case((rewards, values, [*values[1:], round(rng.uniform(1, 3), 3)], *ends, *_decays(rng)))


def _reached(rng: Random, values: Sequence[float], *flags: Sequence[bool]) -> list[float]:
    """V of the states that the steps reached: within an episode that of the next step, at its ends any number."""
    ends = [any(pair) for pair in zip(*flags, strict=True)]
    after = zip(values[1:], ends[:-1], strict=True)
    return [*(round(rng.uniform(-3, 3), 3) if end else value for value, end in after), round(rng.uniform(-3, 3), 3)]


def _several(rng: Random) -> Case:
    """Episodes one after the other, with an end of each kind among them."""
    count = rng.randint(8, 40)
    terminated, truncated = _flags(rng, count), _flags(rng, count)
    terminated[1], truncated[1] = True, False
    terminated[4], truncated[4] = False, True
    rewards, values = _floats(rng, count), _floats(rng, count)
    reached = _reached(rng, values, terminated, truncated)
    return Case((rewards, values, reached, terminated, truncated, *_decays(rng)))


def _both(rng: Random) -> Case:
    count = rng.randint(3, 9)
    both = [place == 1 or rng.random() < 0.3 for place in range(count)]
    rewards, values = _floats(rng, count), _floats(rng, count)
    return Case((rewards, values, _reached(rng, values, both), both, list(both), *_decays(rng)))


def _edges(rng: Random) -> list[Case]:
    buffers = [_several(rng).args[:5] for _ in range(4)]
    decays = ((0, 0.9), (1, 1), (0.97, 0), (0.97, 1))
    return [
        *(Case((*buffer, *pair)) for buffer, pair in zip(buffers, decays, strict=True)),
        Case(([], [], [], [], [], 0.9, 0.9)),
        Case(([1.0], [0.5], [2.0], [False], [False], 0.9, 0.9)),
    ]


#: Ten steps of an example that is often printed with wrong numbers.
TEN = ((0, 0, 0, 1, 0, 0, 0, 0, 1, 0), (0.5, 0.6, 0.7, 0.8, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))
TEN_NEXT, TEN_ENDS, NO = (*TEN[1][1:], 0.0), (*(False,) * 9, True), (False,) * 10

GAE = Build(
    id="12-gae",
    module="rl",
    function="gae",
    grade="call",
    section="12.8",
    topic="advantages",
    cases=(
        Case(((0.1, 0.2, 1), (0.5, 0.4, 0.2), (0.4, 0.2, 0), (False, False, True), (False,) * 3, 0.99, 0.95)),
        Case((*TEN, TEN_NEXT, TEN_ENDS, NO, 0.99, 0.95)),
        Case((*TEN, TEN_NEXT, TEN_ENDS, NO, 0.99, 0)),
        Case(((1, 9), (3, 2), (2, -7), (False, False), (False, True), 0.9, 0.7)),
        Case(((1,) * 3, (50,) * 3, (50,) * 3, (False,) * 3, (False, False, True), 0.98, 0.8)),
        Case(((1,) * 4, (0.5,) * 4, (0.5, 9, 0.5, 2), (0, 1, 0, 0), (0, 0, 0, 1), 0.9, 0.8)),
        Case(((1,) * 4, (0.5,) * 4, (0.5, 9, 0.5, 2), (0, 0, 0, 1), (0, 1, 0, 0), 0.9, 0.8)),
        Case(((1, 1, 1), (0.5,) * 3, (0.5,) * 3, (False,) * 3, (False,) * 3, 0.99, 0.95)),
    ),
    groups=(
        Group(
            "episodes that end",
            lambda rng: _episode(rng, (True, False)),
            4,
            "A TD error weighs discount times lambda less for every step that it lies ahead; the end is worth nothing.",
        ),
        Group(
            "episodes that are cut off",
            lambda rng: _episode(rng, (False, rng.random() < 0.5)),
            5,
            "An episode that is cut off goes on: the value of the state that was reached stands for the rest.",
        ),
        Group(
            "several episodes",
            _several,
            7,
            "Nothing flows from one episode into the one before it, however that one ended.",
        ),
        Group("both flags", _both, 2, "Where both flags are set, the world ended."),
        Group("edges", lambda rng: rng.choice(_edges(rng)), 6, "No step, one step; 0 and 1 for either decay.", _edges),
    ),
    slips=(
        Slip(
            "Truncation does not end the world: a truncated step bootstraps from the state it reached.",
            edit=(
                "0.0 if terminated[t] else discount * next_values[t]",
                "0.0 if terminated[t] or truncated[t] else discount * next_values[t]",
            ),
        ),
        Slip(
            "The recursion runs into the next episode: cut it at both kinds of end.",
            edit=("(0.0 if cut else discount * gae_lambda * following)", "discount * gae_lambda * following"),
        ),
        Slip(
            "After a truncation the next row belongs to another episode: cut there, too.",
            edit=("cut = terminated[t] or truncated[t]", "cut = terminated[t]"),
        ),
        Slip(
            "Lambda weighs TD errors; it has no place inside one.",
            edit=("discount * next_values[t]", "discount * gae_lambda * next_values[t]"),
        ),
        Slip(
            "Past an end, values[t + 1] belongs to the next episode: use next_values.",
            edit=("discount * next_values[t]", "discount * [*values[1:], *next_values[-1:]][t]"),
        ),
        Slip(
            "The buffer's end is not the episode's: its last step bootstraps, too.",
            edit=("0.0 if terminated[t] else", "0.0 if terminated[t] or t == len(rewards) - 1 else"),
        ),
        Slip(
            "After termination there is nothing to earn: V is 0 there, whatever the critic says.",
            edit=("(0.0 if terminated[t] else discount * next_values[t])", "discount * next_values[t]"),
        ),
        Slip(
            "Lambda is missing: that is the return minus the value.",
            edit=("discount * gae_lambda * following", "discount * following"),
        ),
        Slip(
            "The recursion decays with discount times lambda, not with lambda alone.",
            edit=("discount * gae_lambda * following", "gae_lambda * following"),
        ),
    ),
)


def wrong_done(steps, discount, gae_lambda):
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, truncated in reversed(steps):
        done = terminated or truncated
        delta = reward + discount * next_value - value
        advantage = delta + discount * gae_lambda * advantage * (1 - done)
        found.append(advantage)
    return found[::-1]


def _rows(case: Case) -> Case:
    *columns, discount, trace = case.args
    return Case(([tuple(row) for row in zip(*columns, strict=True)], discount, trace))


DONE = Debug(
    id="12-debug-done",
    module="rl",
    function="debug_done",
    grade="call",
    section="12.8",
    topic="ends of episodes",
    cases=(
        Case(([(1, 50, 50, False, False), (1, 50, 50, False, True)], 0.98, 0.8)),
        Case(([(0, 0.5, 0.5, False, False), (1, 0.5, 9.0, True, False)], 0.9, 0.8)),
        Case(([(1, 0.5, 0.5, True, False), (1, 0.5, 2.0, False, True)], 0.9, 0.8)),
        Case(([(1, 0.5, 2.0, False, True), (1, 0.5, 0.5, True, False)], 0.9, 0.8)),
        Case(([], 0.9, 0.8)),
    ),
    groups=(
        Group(
            "several episodes",
            lambda rng: _rows(_several(rng)),
            6,
            "One mask for the value, another for the recursion.",
        ),
        Group(
            "episodes that end",
            lambda rng: _rows(_episode(rng, (True, False))),
            3,
            "After termination nothing is earned, whatever the critic says.",
        ),
        Group(
            "episodes that are cut off",
            lambda rng: _rows(_episode(rng, (False, True))),
            3,
            "A step that was cut off bootstraps.",
        ),
        Group("both flags", lambda rng: _rows(_both(rng)), 3, "Where both flags are set, the world ended."),
    ),
    slips=(
        Slip("The value of a state after termination counts: mask it.", wrong_done),
        Slip(
            "With that mask a truncated step loses its bootstrap: the value asks for termination alone.",
            edit=("bool(terminated)", "done"),
        ),
        Slip("After a truncation the recursion still runs into the next episode.", edit=("bool(done)", "terminated")),
        Slip(
            "The wrong flag masks the value: mask it where the world ended, not where the episode was cut off.",
            edit=("bool(terminated)", "truncated"),
        ),
        Slip(
            "Where both flags are set the world ended: termination wins.",
            edit=("bool(terminated)", "(terminated and (not truncated))"),
        ),
        Slip(
            "The recursion is no longer cut at all.",
            edit=("discount * gae_lambda * advantage * (1 - bool(done))", "discount * gae_lambda * advantage"),
        ),
    ),
    wrong=wrong_done,
)

ITEMS: tuple[Build, ...] = (GAE, DONE)
