"""Chapter 12: generalised advantage estimation, to write and to mend."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from autograder.bank.ch12_returns import UNCHECKED
from autograder.items import Build, Case, Debug, Group, Slip, invalid

# --- gae


def slip_truncation_ends(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    for r, v, reached, end, cut in reversed(list(zip(*columns, strict=True))):
        done = end or cut
        following = r + (0.0 if done else discount * reached) - v + (0.0 if done else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]


def slip_over_the_border(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    for r, v, reached, end, _ in reversed(list(zip(*columns, strict=True))):
        following = r + (0.0 if end else discount * reached) - v + discount * gae_lambda * following
        found.append(following)
    return found[::-1]


def slip_cut_at_termination_alone(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    for r, v, reached, end, _ in reversed(list(zip(*columns, strict=True))):
        following = r + (0.0 if end else discount * reached) - v + (0.0 if end else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]


def slip_lambda_in_the_error(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    for r, v, reached, end, cut in reversed(list(zip(*columns, strict=True))):
        delta = r + (0.0 if end else discount * gae_lambda * reached) - v
        following = delta + (0.0 if end or cut else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]


def slip_value_of_the_next_row(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    shifted = [*values[1:], *next_values[-1:]]
    for r, v, reached, end, cut in reversed(list(zip(rewards, values, shifted, terminated, truncated, strict=True))):
        delta = r + (0.0 if end else discount * reached) - v
        following = delta + (0.0 if end or cut else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]


def slip_buffer_ends(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following, last = [], 0.0, True
    for r, v, reached, end, cut in reversed(list(zip(*columns, strict=True))):
        delta = r + (0.0 if end or last else discount * reached) - v
        following = delta + (0.0 if end or cut else discount * gae_lambda * following)
        found.append(following)
        last = False
    return found[::-1]


def slip_value_after_the_end(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    for r, v, reached, end, cut in reversed(list(zip(*columns, strict=True))):
        following = r + discount * reached - v + (0.0 if end or cut else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]


def slip_without_lambda(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    for r, v, reached, end, cut in reversed(list(zip(*columns, strict=True))):
        delta = r + (0.0 if end else discount * reached) - v
        following = delta + (0.0 if end or cut else discount * following)
        found.append(following)
    return found[::-1]


def slip_without_discount(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    if len({len(column) for column in columns}) > 1 or not (0 <= discount <= 1 and 0 <= gae_lambda <= 1):
        raise ValueError("arguments")
    found, following = [], 0.0
    for r, v, reached, end, cut in reversed(list(zip(*columns, strict=True))):
        delta = r + (0.0 if end else discount * reached) - v
        following = delta + (0.0 if end or cut else gae_lambda * following)
        found.append(following)
    return found[::-1]


def slip_any_buffer(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    columns = (rewards, values, next_values, terminated, truncated)
    found, following = [], 0.0
    for r, v, reached, end, cut in reversed(list(zip(*columns, strict=False))):
        delta = r + (0.0 if end else discount * reached) - v
        following = delta + (0.0 if end or cut else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]


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


def _several(rng: Random) -> Case:
    """Episodes one after the other, with an end of each kind among them."""
    count = rng.randint(8, 40)
    terminated, truncated = _flags(rng, count), _flags(rng, count)
    terminated[1], truncated[1] = True, False
    terminated[4], truncated[4] = False, True
    return Case((_floats(rng, count), _floats(rng, count), _floats(rng, count), terminated, truncated, *_decays(rng)))


def _both(rng: Random) -> Case:
    count = rng.randint(3, 9)
    both = [place == 1 or rng.random() < 0.3 for place in range(count)]
    columns = [_floats(rng, count) for _ in range(3)]
    return Case((*columns, both, list(both), *_decays(rng)))


def _edges(rng: Random) -> list[Case]:
    buffers = [_several(rng).args[:5] for _ in range(4)]
    decays = ((0, 0.9), (1, 1), (0.97, 0), (0.97, 1))
    return [
        *(Case((*buffer, *pair)) for buffer, pair in zip(buffers, decays, strict=True)),
        Case(([], [], [], [], [], 0.9, 0.9)),
        Case(([1.0], [0.5], [2.0], [False], [False], 0.9, 0.9)),
    ]


def _bad(rng: Random) -> list[Case]:
    rewards, values, reached, ends, cuts, discount, trace = _several(rng).args
    return [
        invalid(rewards, values[:-1], reached, ends, cuts, discount, trace),
        invalid(rewards, values, reached, ends[1:], cuts, discount, trace),
        invalid(rewards, values, reached, ends, cuts, 1 + rng.random() + 0.01, trace),
        invalid(rewards, values, reached, ends, cuts, discount, -rng.random() - 0.01),
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
        invalid((1, 2), (0.5,), (0.5, 0.5), (False, True), (False, False), 0.9, 0.9),
    ),
    groups=(
        Group(
            "episodes that end",
            lambda rng: _episode(rng, (True, False)),
            4,
            "Each TD error counts discount times lambda less with every step ahead; the end is worth nothing.",
        ),
        Group(
            "episodes that are cut off",
            lambda rng: _episode(rng, (False, rng.random() < 0.5)),
            5,
            "What is cut off goes on: the value of the state that was reached stands for the rest.",
        ),
        Group(
            "several episodes",
            _several,
            7,
            "Nothing flows from one episode into the one before, whichever way that ended.",
        ),
        Group("both flags", _both, 2, "Where both flags are set, the world ended."),
        Group("edges", lambda rng: rng.choice(_edges(rng)), 6, "No step, one step; 0 and 1 for either decay.", _edges),
        Group(
            "bad input", lambda rng: rng.choice(_bad(rng)), 4, "Equal lengths, decays from 0 to 1: ValueError.", _bad
        ),
    ),
    slips=(
        Slip("A truncated step is no end of the world: it bootstraps from the state it reached.", slip_truncation_ends),
        Slip("The recursion runs into the next episode: cut it at both kinds of end.", slip_over_the_border),
        Slip(
            "After a truncation the next row belongs to another episode: cut there, too.", slip_cut_at_termination_alone
        ),
        Slip("Lambda weighs TD errors; it has no place inside one.", slip_lambda_in_the_error),
        Slip("Past an end, values[t + 1] belongs to the next episode: use next_values.", slip_value_of_the_next_row),
        Slip("The buffer's end is not the episode's: its last step bootstraps, too.", slip_buffer_ends),
        Slip(
            "After termination there is nothing to earn: V is 0 there, whatever the critic says.",
            slip_value_after_the_end,
        ),
        Slip("Lambda is missing: that is the return minus the value.", slip_without_lambda),
        Slip("The recursion decays with discount times lambda, not with lambda alone.", slip_without_discount),
        Slip(UNCHECKED.format("columns of different lengths, decays outside [0, 1]"), slip_any_buffer),
    ),
)

# --- debug_done


def wrong_done(steps, discount, gae_lambda):
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, truncated in reversed(steps):
        done = terminated or truncated
        delta = reward + discount * next_value - value
        advantage = delta + discount * gae_lambda * advantage * (1 - done)
        found.append(advantage)
    return found[::-1]


def slip_done_masks_all(steps, discount, gae_lambda):
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, truncated in reversed(steps):
        done = terminated or truncated
        delta = reward + discount * next_value * (1 - done) - value
        advantage = delta + discount * gae_lambda * advantage * (1 - done)
        found.append(advantage)
    return found[::-1]


def slip_termination_for_both(steps, discount, gae_lambda):
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, _ in reversed(steps):
        delta = reward + discount * next_value * (1 - terminated) - value
        advantage = delta + discount * gae_lambda * advantage * (1 - terminated)
        found.append(advantage)
    return found[::-1]


def slip_wrong_flag(steps, discount, gae_lambda):
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, truncated in reversed(steps):
        done = terminated or truncated
        delta = reward + discount * next_value * (1 - truncated) - value
        advantage = delta + discount * gae_lambda * advantage * (1 - done)
        found.append(advantage)
    return found[::-1]


def slip_truncation_wins(steps, discount, gae_lambda):
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, truncated in reversed(steps):
        done = terminated or truncated
        delta = reward + discount * next_value * (1 - (terminated and not truncated)) - value
        advantage = delta + discount * gae_lambda * advantage * (1 - done)
        found.append(advantage)
    return found[::-1]


def slip_never_cut(steps, discount, gae_lambda):
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, _ in reversed(steps):
        delta = reward + discount * next_value * (1 - terminated) - value
        advantage = delta + discount * gae_lambda * advantage
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
        Slip("The value of a state after termination leaks in: mask it.", wrong_done),
        Slip(
            "With that mask a truncated step loses its bootstrap: the value asks for termination alone.",
            slip_done_masks_all,
        ),
        Slip("After a truncation the recursion still runs into the next episode.", slip_termination_for_both),
        Slip("The flags are swapped: the value is masked where the world ended.", slip_wrong_flag),
        Slip("Where both flags are set the world ended: termination wins.", slip_truncation_wins),
        Slip("The recursion is no longer cut at all.", slip_never_cut),
    ),
    wrong=wrong_done,
)

ITEMS: tuple[Build, ...] = (GAE, DONE)
