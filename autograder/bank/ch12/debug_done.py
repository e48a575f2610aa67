"""Chapter 12: ``debug_done``, ends of episodes."""

from __future__ import annotations

import math

from autograder.bank.ch12.shared import both, episode, several
from autograder.items import Case, Debug, Group, Promise, Right, Slip


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


def debug_done_by_lambda_returns(steps, discount, gae_lambda):
    """The lambda-return minus the value."""
    found, after = [], None
    for reward, value, next_value, terminated, truncated in reversed(steps):
        if terminated:
            target = reward
        elif truncated or after is None:
            target = reward + discount * next_value
        else:
            target = reward + discount * ((1 - gae_lambda) * next_value + gae_lambda * after)
        found.append(target - value)
        after = target
    return found[::-1]


def debug_done_by_a_sum(steps, discount, gae_lambda):
    """Each advantage as a weighted sum of the TD errors up to the first end."""
    found = []
    for first in range(len(steps)):
        terms = []
        for ahead, (reward, value, next_value, terminated, truncated) in enumerate(steps[first:]):
            delta = reward - value + (0.0 if terminated else discount * next_value)
            terms.append(delta * discount**ahead * gae_lambda**ahead)
            if terminated or truncated:
                break
        found.append(math.fsum(terms))
    return found


EXERCISE = Debug(
    "12 rl.debug_done",
    section="12.5",
    topic="ends of episodes",
    wrong=wrong_done,
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
            lambda rng: _rows(several(rng)),
            6,
            "One mask for the value, another for the recursion.",
        ),
        Group(
            "episodes that end",
            lambda rng: _rows(episode(rng, (True, False))),
            3,
            "After termination nothing is earned, whatever the critic says.",
        ),
        Group(
            "episodes that are cut off",
            lambda rng: _rows(episode(rng, (False, True))),
            3,
            "A step that was cut off bootstraps.",
        ),
        Group("both flags", lambda rng: _rows(both(rng)), 3, "Where both flags are set, the world ended."),
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
    rights=(
        Right("lambda-returns minus values", program=debug_done_by_lambda_returns),
        Right("weighted sums of the errors", program=debug_done_by_a_sum),
    ),
    promises=(
        Promise(
            "Where both flags are set, it terminated",
            edit=("(1 - bool(terminated)) - value", "(1 - (bool(terminated) and not truncated)) - value"),
        ),
    ),
)
