"""The random walk of five states: its values in three ways, and the errors of estimated advantages. Plain Python.

The walk starts in the middle and moves one state to the left or to the right with equal probability. The episode ends
beyond either end; leaving on the right earns 1, and every other step earns nothing.

>>> [round(value, 4) for value in sweeps(*walk(), rounds=1)]
[0.0, 0.0, 0.0, 0.0, 0.5]

Source: Sutton and Barto (2018), example 6.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from solutions.ch12.rl import gae

#: States of the walk, and where it begins.
STATES, START = 5, 2

#: One episode: the states it visited, and the reward of the step that left each.
Episode = tuple[list[int], list[float]]


def walk(states: int = STATES) -> tuple[list[list[float]], list[float]]:
    """Transitions and expected rewards of the walk, as :func:`~solutions.ch12.rl.policy_value` takes them."""
    rows = [[0.5 * (abs(to - state) == 1) for to in range(states)] for state in range(states)]
    return rows, [0.5 * (state == states - 1) for state in range(states)]


def sweeps(
    transitions: Sequence[Sequence[float]], rewards: Sequence[float], discount: float = 1.0, rounds: int = 100
) -> list[float]:
    """Values after some rounds of ``V <- R + discount * P V``, from all zeros."""
    values = [0.0] * len(rewards)
    for _ in range(rounds):
        values = [
            reward + discount * math.fsum(p * value for p, value in zip(row, values, strict=True))
            for row, reward in zip(transitions, rewards, strict=True)
        ]
    return values


def episode(rng: Random) -> Episode:
    """One walk from the middle to an end."""
    state = START
    visited: list[int] = []
    rewards: list[float] = []
    while 0 <= state < STATES:
        visited.append(state)
        state += rng.choice((-1, 1))
        rewards.append(float(state == STATES))
    return visited, rewards


@dataclass(frozen=True)
class Estimate:
    """Mean returns by state, with their standard errors and the number of episodes that visited the state."""

    values: list[float]
    errors: list[float]
    visits: list[int]


def monte_carlo(count: int, seed: int = 0) -> Estimate:
    """Values from samples alone: the mean return after the first visit of each state, over ``count`` episodes.

    Raises:
        ValueError: some state was visited fewer than twice, so its error cannot be estimated.
    """
    rng = Random(seed)
    found: list[list[float]] = [[] for _ in range(STATES)]
    for _ in range(count):
        visited, rewards = episode(rng)
        for state in set(visited):
            found[state].append(sum(rewards[visited.index(state) :]))
    if min(map(len, found)) < 2:
        raise ValueError(f"count must be larger: a state was visited fewer than twice in {count} episodes")
    means = [math.fsum(returns) / len(returns) for returns in found]
    return Estimate(means, [_error(returns) for returns in found], [len(returns) for returns in found])


def _error(numbers: Sequence[float]) -> float:
    """The standard error of their mean."""
    return _deviation(numbers) / math.sqrt(len(numbers))


def _deviation(numbers: Sequence[float]) -> float:
    """The sample standard deviation."""
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))


@dataclass(frozen=True)
class Quality:
    """How good an advantage estimate is: how far its mean is off, and how far single estimates spread."""

    gae_lambda: float
    bias: float
    deviation: float


#: How advantages are estimated: the signature of :func:`~solutions.ch12.rl.gae`.
Estimator = Callable[..., Sequence[float]]


def advantage_quality(
    lambdas: Sequence[float],
    values: Sequence[float] = (0.5,) * STATES,
    count: int = 2000,
    seed: int = 0,
    estimator: Estimator = gae,
) -> list[Quality]:
    """Bias and spread of the first step's advantage, for each lambda, with a critic that may be wrong.

    A step to the right from the middle is really worth ``2/3 - 1/2``, and a step to the left minus that. The sign of
    estimates for steps to the left is flipped, so that both count alike.

    Args:
        lambdas: the values of lambda to compare.
        values: the critic's value of each state.
        count: of the episodes; every lambda sees the same.
        seed: of the walks.
        estimator: called as :func:`~solutions.ch12.rl.gae`.
    """
    rng = Random(seed)
    played = [episode(rng) for _ in range(count)]
    exact = 2 / 3 - 1 / 2
    result = []
    for gae_lambda in lambdas:
        rows = [_signed_first(one, values, gae_lambda, estimator) for one in played]
        result.append(Quality(gae_lambda, math.fsum(rows) / count - exact, _deviation(rows)))
    return result


def _signed_first(played: Episode, values: Sequence[float], gae_lambda: float, estimator: Estimator) -> float:
    """The advantage of an episode's first step, with the sign of a step to the right."""
    visited, rewards = played
    said = [values[state] for state in visited]
    ended = [False] * (len(visited) - 1) + [True]
    found = estimator(rewards, said, [*said[1:], 0.0], ended, [False] * len(visited), 1.0, gae_lambda)
    return found[0] if visited[1] > START else -found[0]
