"""Reinforcement learning in closed form: returns, values, advantages, the policy gradient's moments.

Standard library only.

>>> discounted_returns([0, 0, 1], 0.9)
[0.81, 0.9, 1.0]
>>> [round(a, 6) for a in gae([0.1, 0.2, 1], [0.5, 0.4, 0.2], [0.4, 0.2, 0], [0, 0, 1], [0, 0, 0], 0.99, 0.95)]
[0.701751, 0.7504, 0.8]

The letters of chapters 12 to 14: reward r, discount gamma, value V, return G, TD error delta, advantage A, trace decay
lambda. Log-probabilities are natural logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rankzero import checks

#: How far a sum of probabilities may be from 1.
SLACK = 1e-9


@dataclass(frozen=True)
class Moments:
    """The mean and the variance of a random gradient.

    Attributes:
        gradient: the mean, one number for each logit.
        variance: the variances of all its components, added up.
    """

    gradient: list[float]
    variance: float


@dataclass(frozen=True)
class ClipStats:
    """A clipped objective and what the clipping did, as means over the samples.

    Attributes:
        objective: what is maximized.
        outside_fraction: the share of the samples whose ratio is further than ``clip`` from 1.
        clipped_fraction: the share of the samples whose clipped term is smaller than the other: they have no gradient.
    """

    objective: float
    outside_fraction: float
    clipped_fraction: float


def discounted_returns(rewards: Sequence[float], discount: float, bootstrap: float = 0.0) -> list[float]:
    """The return from each step on: ``G_t = r_t + discount * G_{t+1}``, and ``bootstrap`` after the last step.

    Args:
        rewards: one for each step, finite; may be empty.
        discount: gamma, from 0 to 1.
        bootstrap: the value of the state after the last step, finite; 0 where the episode terminated there.

    Returns:
        As many returns as rewards.

    Source: Sutton and Barto (2018), equations 3.8 and 3.9.
    """
    checks.finite(rewards=rewards, bootstrap=bootstrap)
    checks.between(0, 1, discount=discount)
    found, following = [], float(bootstrap)
    for reward in reversed(rewards):
        following = reward + discount * following
        found.append(following)
    return found[::-1]


def policy_value(transitions: Sequence[Sequence[float]], rewards: Sequence[float], discount: float) -> list[float]:
    """The value of each state under a policy: the solution of ``(I - discount * P) V = R``.

    Args:
        transitions: P, square: row s holds the probabilities of the next states; not negative, and their sum is at
            most 1 + 1e-9; what a row lacks to 1 is the chance that the episode ends after s.
        rewards: R: the expected reward of the step that leaves each state; finite.
        discount: gamma, from 0 to 1. It is 1 only if an episode that starts in any state ends sooner or later.

    Returns:
        V, one number for each state; empty without states.

    Source: Sutton and Barto (2018), equation 3.14.
    """
    size = len(rewards)
    checks.finite(rewards=rewards)
    checks.between(0, 1, discount=discount)
    checks.amount(transitions=transitions)
    lengths = [len(row) for row in transitions]
    checks.require(lengths == [size] * size, f"be {[size] * size}", row_lengths=lengths)
    for row in transitions:
        checks.require(math.fsum(row) <= 1 + SLACK, "sum to at most 1", row=row)
    rows = [
        [float(row == column) - discount * transitions[row][column] for column in range(size)] + [float(rewards[row])]
        for row in range(size)
    ]
    return _solved(rows)


def gae(
    rewards: Sequence[float],
    values: Sequence[float],
    next_values: Sequence[float],
    terminated: Sequence[bool],
    truncated: Sequence[bool],
    discount: float,
    gae_lambda: float,
) -> list[float]:
    """Generalized advantage estimates of the steps of a buffer, which may hold several episodes one after the other.

    ``delta_t = r_t + discount * V(s_{t+1}) - V(s_t)``, in which a state after termination is worth 0, and
    ``A_t = delta_t + discount * gae_lambda * A_{t+1}``, in which nothing flows back over an end of either kind. The
    last step of the buffer bootstraps like any other, unless it terminated.

    Args:
        rewards: one for each step, finite; may be empty.
        values: V of the state in which each step was taken; finite.
        next_values: V of the state that each step really reached, before any reset; finite.
        terminated: whether the world ended with the step; this wins where both flags are set.
        truncated: whether the episode was cut off after the step, although the world goes on.
        discount: gamma, from 0 to 1.
        gae_lambda: lambda, from 0 to 1.

    Returns:
        As many advantages as rewards.

    Source: Schulman et al. (2016), arXiv:1506.02438, equation 16.
    """
    checks.finite(rewards=rewards, values=values, next_values=next_values)
    checks.between(0, 1, discount=discount, gae_lambda=gae_lambda)
    columns = (rewards, values, next_values, terminated, truncated)
    lengths = [len(column) for column in columns]
    checks.require(min(lengths) == max(lengths), "be equal", lengths=lengths)
    found, following = [], 0.0
    for t in reversed(range(len(rewards))):
        delta = rewards[t] + (0.0 if terminated[t] else discount * next_values[t]) - values[t]
        cut = terminated[t] or truncated[t]
        following = delta + (0.0 if cut else discount * gae_lambda * following)
        found.append(following)
    return found[::-1]


def debug_done(
    steps: Sequence[tuple[float, float, float, bool, bool]], discount: float, gae_lambda: float
) -> list[float]:
    """Generalized advantage estimates. After termination a state is worth 0; a truncated step bootstraps.

    Args:
        steps: ``(reward, value, next value, terminated, truncated)`` of each step; the next value is V of the state
            that the step reached, before any reset. Where both flags are set, it terminated.
        discount: gamma, from 0 to 1.
        gae_lambda: lambda, from 0 to 1.
    """
    checks.between(0, 1, discount=discount, gae_lambda=gae_lambda)
    found, advantage = [], 0.0
    for reward, value, next_value, terminated, truncated in reversed(steps):
        done = terminated or truncated
        delta = reward + discount * next_value * (1 - bool(terminated)) - value
        advantage = delta + discount * gae_lambda * advantage * (1 - bool(done))
        found.append(advantage)
    return found[::-1]


def reinforce_moments(probabilities: Sequence[float], rewards: Sequence[float], baseline: float = 0.0) -> Moments:
    """Mean and total variance of the policy-gradient estimate from one draw of one arm, without sampling.

    An arm a is drawn with probability ``pi[a]``, and the estimate is ``(rewards[a] - baseline) * (onehot(a) - pi)``:
    the gradient of ``ln pi[a]`` in the logits of a softmax, weighted.

    Args:
        probabilities: pi, of the arms; not negative, and their sum is within 1e-9 of 1.
        rewards: of the same arms; finite.
        baseline: subtracted from every reward; finite.

    Returns:
        The mean for each logit, and the sum of the variances over the logits.

    Source: Williams (1992), doi:10.1007/BF00992696.
    """
    checks.amount(probabilities=probabilities)
    checks.finite(rewards=rewards, baseline=baseline)
    total, lengths = math.fsum(probabilities), [len(probabilities), len(rewards)]
    checks.require(abs(total - 1) <= SLACK, "be within 1e-9 of 1", sum=total)
    checks.require(min(lengths) == max(lengths), "be equal", lengths=lengths)
    arms = range(len(probabilities))
    estimates = [[(rewards[arm] - baseline) * part for part in _score(probabilities, arm)] for arm in arms]
    mean = [math.fsum(probabilities[arm] * estimates[arm][logit] for arm in arms) for logit in arms]
    spread = (probabilities[arm] * (estimates[arm][logit] - mean[logit]) ** 2 for arm in arms for logit in arms)
    return Moments(mean, math.fsum(spread))


def optimal_baseline(probabilities: Sequence[float], rewards: Sequence[float]) -> float:
    """The baseline with which the estimate of :func:`reinforce_moments` has its least variance.

    It is ``E[|s|^2 R] / E[|s|^2]`` with ``s = onehot(a) - pi``: a mean of the rewards in which an arm counts as much as
    it moves the logits. Where one arm is certain and no draw moves them, it is the expected reward.

    Args:
        probabilities: pi, of the arms; not negative, and their sum is within 1e-9 of 1.
        rewards: of the same arms; finite.

    Source: Greensmith, Bartlett and Baxter (2004), Journal of Machine Learning Research 5, section 4.
    """
    checks.amount(probabilities=probabilities)
    checks.finite(rewards=rewards)
    total, lengths = math.fsum(probabilities), [len(probabilities), len(rewards)]
    checks.require(abs(total - 1) <= SLACK, "be within 1e-9 of 1", sum=total)
    checks.require(min(lengths) == max(lengths), "be equal", lengths=lengths)
    weights = [p * math.fsum(part * part for part in _score(probabilities, arm)) for arm, p in enumerate(probabilities)]
    if math.fsum(weights) <= 0:
        weights = list(probabilities)
    weighted = (weight * reward for weight, reward in zip(weights, rewards, strict=True))
    return math.fsum(weighted) / math.fsum(weights)


def ppo_clip_objective(
    log_probs: Sequence[float], old_log_probs: Sequence[float], advantages: Sequence[float], clip: float = 0.2
) -> ClipStats:
    """PPO's clipped objective over some samples, and what the clipping did.

    With ``ratio = exp(log_prob - old_log_prob)``, each sample contributes the smaller of ``ratio * advantage`` and
    ``clamp(ratio, 1 - clip, 1 + clip) * advantage``.

    Args:
        log_probs: ``ln pi(a|s)`` of the policy that is trained, of one sample or more; finite. None is more than 709
            above its old one, so that a float holds their ratio.
        old_log_probs: of the policy that drew the actions; finite.
        advantages: of the same samples; finite.
        clip: epsilon; positive.

    Returns:
        Means over the samples; the objective is to be maximized.

    Source: Schulman et al. (2017), arXiv:1707.06347, equation 7.
    """
    checks.finite(log_probs=log_probs, old_log_probs=old_log_probs, advantages=advantages)
    checks.positive(clip=clip)
    lengths = [len(log_probs), len(old_log_probs), len(advantages)]
    checks.require(min(lengths) == max(lengths) > 0, "be equal and positive", lengths=lengths)
    terms, outside, clipped = [], 0, 0
    for new, old, advantage in zip(log_probs, old_log_probs, advantages, strict=True):
        ratio = math.exp(new - old)
        plain, limited = ratio * advantage, min(max(ratio, 1 - clip), 1 + clip) * advantage
        terms.append(min(plain, limited))
        outside += abs(ratio - 1) > clip
        clipped += limited < plain
    count = len(terms)
    return ClipStats(math.fsum(terms) / count, outside / count, clipped / count)


def explained_variance(predictions: Sequence[float], returns: Sequence[float]) -> float:
    """The share of the returns' variance that a critic's predictions explain: ``1 - Var(G - V) / Var(G)``.

    1 is perfect up to a constant error, 0 is as good as a constant, below 0 is worse than a constant. NaN where all
    returns are equal.

    Raises:
        ValueError: the lengths differ, or there are no returns.
    """
    lengths = [len(predictions), len(returns)]
    checks.require(min(lengths) == max(lengths) > 0, "be equal and positive", lengths=lengths)
    if min(returns) == max(returns):
        return math.nan
    whole = _variance(returns)
    left = _variance([g - v for g, v in zip(returns, predictions, strict=True)])
    return 1 - left / whole if whole > 0 else math.nan


def _variance(numbers: Sequence[float]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return math.fsum((number - mean) ** 2 for number in numbers) / len(numbers)


def _score(probabilities: Sequence[float], arm: int) -> list[float]:
    """The gradient of ``ln pi[arm]`` in the logits: ``onehot(arm) - pi``."""
    return [(1.0 if place == arm else 0.0) - p for place, p in enumerate(probabilities)]


def _solved(rows: list[list[float]]) -> list[float]:
    """The solution of a linear system, given as rows with the right-hand side at their ends: Gauss with pivots."""
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            share = rows[row][column] / rows[column][column]
            rows[row] = [a - share * b for a, b in zip(rows[row], rows[column], strict=True)]
    solution = [0.0] * size
    for row in reversed(range(size)):
        known = math.fsum(rows[row][column] * solution[column] for column in range(row + 1, size))
        solution[row] = (rows[row][size] - known) / rows[row][row]
    return solution
