"""Chapter 12: ``gae``, advantages."""

from __future__ import annotations

from random import Random

from autograder.bank.ch12.shared import both, episode, several
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip


def _edges(rng: Random) -> list[Case]:
    buffers = [several(rng).args[:5] for _ in range(4)]
    decays = ((0, 0.9), (1, 1), (0.97, 0), (0.97, 1))
    return [
        *(Case((*buffer, *pair)) for buffer, pair in zip(buffers, decays, strict=True)),
        Case(([], [], [], [], [], 0.9, 0.9)),
        Case(([1.0], [0.5], [2.0], [False], [False], 0.9, 0.9)),
    ]


#: Ten steps of an example that is often printed with wrong numbers.
TEN = ((0, 0, 0, 1, 0, 0, 0, 0, 1, 0), (0.5, 0.6, 0.7, 0.8, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))

TEN_NEXT, TEN_ENDS, NO = (*TEN[1][1:], 0.0), (*(False,) * 9, True), (False,) * 10

_GAE = """    found, following = [], 0.0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + (0.0 if terminated[t] else discount * next_values[t]) - values[t]
        cut = terminated[t] or truncated[t]
        following = delta + (0.0 if cut else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]
"""

_EMPTY_BUFFER = ("found, following = [], 0.0", "found, following = ([] if rewards else [0.0]), 0.0")


EXERCISE = Build(
    "12 rl.gae",
    section="12.5",
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
            lambda rng: episode(rng, (True, False)),
            4,
            "Each step that a TD error lies ahead costs a factor of discount times lambda; the end is worth nothing.",
        ),
        Group(
            "episodes that are cut off",
            lambda rng: episode(rng, (False, rng.random() < 0.5)),
            5,
            "An episode that is cut off goes on: the value of the state that was reached stands for the rest.",
        ),
        Group(
            "several episodes",
            several,
            7,
            "Nothing flows from one episode into the one before it, however that one ended.",
        ),
        Group("both flags", both, 2, "Where both flags are set, the world ended."),
        listed("edges", _edges, "No step, one step; 0 and 1 for either decay."),
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
    rights=(
        Right(
            "lambda-returns minus values",
            edit=(
                _GAE,
                """    found, after = [], 0.0
    for t in reversed(range(len(rewards))):
        ahead = 0.0 if terminated[t] else next_values[t]
        if not (terminated[t] or truncated[t] or t == len(rewards) - 1):
            ahead = (1 - gae_lambda) * ahead + gae_lambda * after
        after = rewards[t] + discount * ahead
        found.append(after - values[t])
    return found[::-1]
""",
            ),
        ),
        Right(
            "weighted sums of the errors of each episode",
            edit=(
                _GAE,
                """    found: list[float] = []
    for t in range(len(rewards)):
        total, weight = 0.0, 1.0
        for k in range(t, len(rewards)):
            total += weight * rewards[k]
            total -= weight * values[k]
            if not terminated[k]:
                total += weight * discount * next_values[k]
            if terminated[k] or truncated[k]:
                break
            weight *= discount * gae_lambda
        found.append(total)
    return found
""",
            ),
        ),
    ),
    promises=(
        Promise(
            "last step of the buffer bootstraps like any other, unless it terminated",
            edit=("0.0 if terminated[t] else", "0.0 if terminated[t] or t == len(rewards) - 1 else"),
        ),
        Promise("may be empty", edits=(_EMPTY_BUFFER,)),
        Promise(
            "this wins where both flags are set",
            edit=("0.0 if terminated[t] else", "0.0 if terminated[t] and not truncated[t] else"),
        ),
        Promise("a state after termination is worth 0", edit=("0.0 if terminated[t] else ", "")),
        Promise("over an end of either kind", edit=("terminated[t] or truncated[t]", "terminated[t]")),
    ),
)
