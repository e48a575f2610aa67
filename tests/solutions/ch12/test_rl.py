"""Closed-form reinforcement learning: vectors of the papers, brute force, linear algebra, torch and torchrl."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch12.random_walk import STATES, advantage_quality, episode, monte_carlo, sweeps, walk
from solutions.ch12.rl import (
    ClipStats,
    Moments,
    debug_done,
    discounted_returns,
    explained_variance,
    gae,
    optimal_baseline,
    policy_value,
    ppo_clip_objective,
    reinforce_moments,
)

numbers = st.floats(-10, 10)
shares = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1))


# Returns.


@pytest.mark.parametrize(
    ("arguments", "returns"),
    [
        (([0, 0, 1], 0.9), [0.81, 0.9, 1]),
        (([1, 0, 2], 0.9), [2.62, 1.8, 2]),
        (([1] * 5, 1), [5, 4, 3, 2, 1]),
        (([1, 1, 1], 0.99, 10), [12.6731, 11.791, 10.9]),
        (([], 0.5), []),
        (([3, 4], 0), [3, 4]),
    ],
)
def test_returns(arguments, returns):
    assert discounted_returns(*arguments) == pytest.approx(returns, rel=1e-5)


def test_five_hundred_steps_are_worth_ninety_nine():
    assert discounted_returns([1] * 500, 0.99)[0] == pytest.approx(99.3430, rel=1e-6)


@given(st.lists(numbers, max_size=30), shares, numbers)
def test_returns_by_a_double_sum(rewards, discount, bootstrap):
    wanted = [
        sum(discount**k * r for k, r in enumerate(rewards[t:])) + discount ** (len(rewards) - t) * bootstrap
        for t in range(len(rewards))
    ]
    assert discounted_returns(rewards, discount, bootstrap) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_returns_by_a_filter():
    signal = pytest.importorskip("scipy.signal")
    rewards = [Random(t).uniform(-1, 1) for t in range(200)]
    wanted = signal.lfilter([1], [1, -0.97], rewards[::-1])[::-1]
    assert discounted_returns(rewards, 0.97) == pytest.approx(list(wanted))


# Values.


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        (([[0, 1, 0], [0, 0, 1], [0, 0, 0]], [0, 0, 1], 0.9), [0.81, 0.9, 1]),
        (([[0.5, 0.5], [0.2, 0.8]], [1, 0], 0.9), [3.83562, 2.46575]),
        (([[0.5, 0.5], [0.2, 0.8]], [1, 0], 0.5), [1.41176, 0.235294]),
        ((*walk(), 1), [1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6]),
        (([], [], 1), []),
    ],
)
def test_values(arguments, values):
    assert policy_value(*arguments) == pytest.approx(values, rel=1e-5)


@given(st.integers(1, 12), st.integers(0, 10**6), st.floats(0, 0.99))
@settings(max_examples=60, deadline=None)
def test_values_by_torch_and_by_bellman(size, seed, discount):
    rng = Random(seed)
    rows = []
    for _ in range(size):
        weights = [rng.random() * (rng.random() < 0.7) for _ in range(size)]
        total = sum(weights) * rng.choice((1.0, 1.2)) or 1.0
        rows.append([weight / total for weight in weights])
    rewards = [rng.uniform(-5, 5) for _ in range(size)]
    values = policy_value(rows, rewards, discount)
    system = torch.eye(size, dtype=torch.float64) - discount * torch.tensor(rows, dtype=torch.float64)
    solved = torch.linalg.solve(system, torch.tensor(rewards, dtype=torch.float64))
    assert values == pytest.approx(solved.tolist(), rel=1e-9, abs=1e-9)
    assert values == pytest.approx(sweeps(rows, rewards, discount, 1 if not discount else 3000), rel=1e-6, abs=1e-6)


def test_an_end_anywhere_is_enough():
    """State 0 ends by way of state 2 alone; nothing is endless."""
    assert policy_value([[0.5, 0.5, 0], [0, 0, 1], [0.5, 0, 0]], [1, 1, 1], 1) == pytest.approx([8, 6, 5])


# Advantages.

TEN = ((0, 0, 0, 1, 0, 0, 0, 0, 1, 0), (0.5, 0.6, 0.7, 0.8, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9))


def ended(rewards, values, discount, gae_lambda):
    """One episode that terminates with its last step."""
    last = [*[False] * (len(rewards) - 1), True]
    return gae(rewards, values, [*values[1:], 99.0], last, [False] * len(rewards), discount, gae_lambda)


@pytest.mark.parametrize(
    ("arguments", "advantages"),
    [
        (((0.1, 0.2, 1), (0.5, 0.4, 0.2), 0.99, 0.95), (0.701751, 0.7504, 0.8)),
        (((0, 0, 0, 1), (0.5,) * 4, 1, 0.95), (0.428687, 0.45125, 0.475, 0.5)),
        (((0, -1.5, 2), (1, 0.5, 3), 0.9, 0.7), (-0.5059, 0.07, -1)),
        (
            (*TEN, 0.99, 0.95),
            (1.17611, 1.15057, 1.12448, 1.0978, 0.533544, 0.466288, 0.39584, 0.321999, 0.24455, -0.9),
        ),
        ((*TEN, 0.99, 0), (0.094, 0.093, 0.092, 0.596, 0.095, 0.094, 0.093, 0.092, 1.091, -0.9)),
    ],
)
def test_episodes_that_terminate(arguments, advantages):
    assert ended(*arguments) == pytest.approx(advantages, rel=1e-5)


def test_the_first_of_ten_with_lambda_one():
    assert ended(*TEN, 0.99, 1)[0] == pytest.approx(1.39304, rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "advantages"),
    [
        (((1, 9), (3, 2), (2, -7), (0, 0), (0, 1), 0.9, 0.7), (0.241, 0.7)),
        (((1, 1, 1), (0.5,) * 3, (0.5,) * 3, (0,) * 3, (0,) * 3, 0.99, 0.95), (2.81092, 1.9308, 0.995)),
        (((1,) * 4, (0.5,) * 4, (0.5, 9, 0.5, 2), (0, 1, 0, 0), (0, 0, 0, 1), 0.9, 0.8), (1.31, 0.5, 2.606, 2.3)),
        (((1,) * 3, (50,) * 3, (50,) * 3, (0,) * 3, (0, 0, 1), 0.98, 0.8), (0, 0, 0)),
        (((1,), (2,), (5,), (1,), (1,), 0.9, 0.9), (-1,)),
        (((), (), (), (), (), 0.9, 0.9), ()),
    ],
)
def test_both_kinds_of_end(arguments, advantages):
    assert gae(*arguments) == pytest.approx(advantages, rel=1e-5, abs=1e-12)


def drawn(rng: Random, steps: int):
    """A buffer with ends of both kinds."""
    floats = [[rng.uniform(-3, 3) for _ in range(steps)] for _ in range(3)]
    flags = [[rng.random() < 0.2 for _ in range(steps)] for _ in range(2)]
    return (*floats, *flags)


def summed(rewards, values, next_values, terminated, truncated, discount, gae_lambda):
    """Advantages by the definition: a weighted sum of TD errors up to the first end."""
    found = []
    for t in range(len(rewards)):
        total = 0.0
        for k in range(t, len(rewards)):
            reached = 0.0 if terminated[k] else next_values[k]
            total += (discount * gae_lambda) ** (k - t) * (rewards[k] + discount * reached - values[k])
            if terminated[k] or truncated[k]:
                break
        found.append(total)
    return found


@given(st.integers(0, 10**6), st.integers(0, 40), shares, shares)
def test_advantages_by_a_double_sum(seed, steps, discount, trace):
    buffer = drawn(Random(seed), steps)
    assert gae(*buffer, discount, trace) == pytest.approx(summed(*buffer, discount, trace), abs=1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore::FutureWarning")
def test_advantages_by_torchrl():
    """300 buffers with both kinds of end, in its single precision."""
    functional = pytest.importorskip("torchrl.objectives.value.functional")
    for seed in range(300):
        rng = Random(seed)
        buffer = drawn(rng, rng.randint(1, 40))
        discount, trace = rng.choice((0.0, 1.0, rng.random())), rng.choice((0.0, 1.0, rng.random()))
        rewards, values, reached, terminated, truncated = (torch.tensor(part).unsqueeze(-1) for part in buffer)
        found, _ = functional.generalized_advantage_estimate(
            discount, trace, values, reached, rewards, done=terminated | truncated, terminated=terminated
        )
        assert gae(*buffer, discount, trace) == pytest.approx(found.flatten().tolist(), rel=1e-4, abs=2e-5)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30), shares)
def test_lambda_one_is_the_return_minus_the_value(steps, discount):
    rewards, values = (list(column) for column in zip(*steps, strict=True))
    wanted = [g - v for g, v in zip(discounted_returns(rewards, discount), values, strict=True)]
    assert ended(rewards, values, discount, 1) == pytest.approx(wanted, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 20))
def test_advantages_are_linear_in_rewards(seed, steps):
    rewards, *rest = drawn(Random(seed), steps)
    zero = [0.0] * steps
    once, twice, none = (gae(r, *rest, 0.9, 0.8) for r in (rewards, [2 * r for r in rewards], zero))
    assert [a - b for a, b in zip(twice, once, strict=True)] == pytest.approx(
        [a - b for a, b in zip(once, none, strict=True)], abs=1e-9
    )


@given(st.integers(0, 10**6), st.integers(0, 20), shares, shares)
def test_the_mended_loop_is_the_same(seed, steps, discount, trace):
    buffer = drawn(Random(seed), steps)
    rows = list(zip(*buffer, strict=True))
    assert debug_done(rows, discount, trace) == pytest.approx(gae(*buffer, discount, trace), abs=1e-12)


# The policy gradient's law.


@pytest.mark.parametrize(
    ("arguments", "gradient", "variance"),
    [
        (((0.5, 0.5), (1, 0)), (0.25, -0.25), 0.125),
        (((0.5, 0.5), (1, 0), 0.5), (0.25, -0.25), 0),
        (((0.5, 0.5), (1, 0), 10), (0.25, -0.25), 45.125),
        (((0.5, 0.5), (1, 0), 100), (0.25, -0.25), 4950.125),
        (((0.5, 0.3, 0.2), (0, 1, 5)), (-0.65, -0.09, 0.74), 4.1558),
        (((0.5, 0.3, 0.2), (0, 1, 5), 1.3), (-0.65, -0.09, 0.74), 2.0472),
    ],
)
def test_moments(arguments, gradient, variance):
    found = reinforce_moments(*arguments)
    assert isinstance(found, Moments)
    assert found.gradient == pytest.approx(gradient)
    assert found.variance == pytest.approx(variance, abs=1e-12)


@st.composite
def bandits(draw):
    size = draw(st.integers(2, 8))
    weights = draw(st.lists(st.integers(1, 20), min_size=size, max_size=size))
    rewards = draw(st.lists(numbers, min_size=size, max_size=size))
    return [weight / sum(weights) for weight in weights], rewards


@given(bandits(), st.floats(-100, 100))
@settings(max_examples=40, deadline=None)
def test_moments_by_automatic_differentiation(bandit, baseline):
    """The gradient of each arm's log-probability by torch, then plain sums."""
    probabilities, rewards = bandit
    chance = torch.tensor(probabilities, dtype=torch.float64)
    logits = chance.log().requires_grad_()
    rows = [
        (reward - baseline) * torch.autograd.grad(logits.log_softmax(0)[arm], logits)[0]
        for arm, reward in enumerate(rewards)
    ]
    samples = torch.stack(rows)
    mean = (chance[:, None] * samples).sum(0)
    spread = (chance[:, None] * (samples - mean) ** 2).sum().item()
    found = reinforce_moments(probabilities, rewards, baseline)
    assert found.gradient == pytest.approx(mean.tolist(), abs=1e-9)
    assert found.variance == pytest.approx(spread, rel=1e-9, abs=1e-9)


def test_moments_by_sampling():
    rng, pi, rewards = Random(3), (0.5, 0.3, 0.2), (0, 1, 5)
    arms = rng.choices(range(3), pi, k=200_000)
    rows = [[(rewards[a] - 1.3) * ((place == a) - p) for place, p in enumerate(pi)] for a in range(3)]
    means = [sum(rows[a][place] for a in arms) / len(arms) for place in range(3)]
    spread = sum(sum((rows[a][place] - means[place]) ** 2 for a in arms) / len(arms) for place in range(3))
    found = reinforce_moments(pi, rewards, 1.3)
    assert found.gradient == pytest.approx(means, rel=0.03, abs=0.01)
    assert found.variance == pytest.approx(spread, rel=0.03)


@pytest.mark.parametrize(
    ("arguments", "baseline", "least"),
    [(((0.5, 0.3, 0.2), (0, 1, 5)), 1.95806, 1.77871), (((0.5, 0.5), (1, 0)), 0.5, 0), (((1, 0), (3, 7)), 3, 0)],
)
def test_best_baselines(arguments, baseline, least):
    assert optimal_baseline(*arguments) == pytest.approx(baseline, rel=3e-6)
    assert reinforce_moments(*arguments, optimal_baseline(*arguments)).variance == pytest.approx(least, rel=3e-6)


@given(bandits())
def test_no_baseline_beats_the_best(bandit):
    """Golden-section search over all baselines."""
    low, high = -10.0, 10.0
    ratio = (math.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if reinforce_moments(*bandit, left).variance < reinforce_moments(*bandit, right).variance:
            high = right
        else:
            low = left
    assert optimal_baseline(*bandit) == pytest.approx((low + high) / 2, abs=1e-4)


# The clipped objective.


def clipped(ratios, advantages, clip=0.2) -> ClipStats:
    return ppo_clip_objective([math.log(r) for r in ratios], [0.0] * len(ratios), advantages, clip)


@pytest.mark.parametrize(("advantage", "wanted"), [(1, (0.5, 0.8, 1, 1.2, 1.2)), (-1, (-0.8, -0.8, -1, -1.2, -1.5))])
def test_one_sample_at_a_time(advantage, wanted):
    found = [clipped([ratio], [advantage]).objective for ratio in (0.5, 0.8, 1, 1.2, 1.5)]
    assert found == pytest.approx(wanted)


def test_four_samples_and_a_far_one():
    found = clipped((1.5, 0.5, 1.5, 0.5), (1, 1, -1, -1))
    assert (found.objective, found.outside_fraction, found.clipped_fraction) == pytest.approx((-0.15, 1, 0.5))
    far = clipped([5], [-1])
    assert (far.objective, far.outside_fraction, far.clipped_fraction) == pytest.approx((-5, 1, 0))


@given(st.integers(0, 10**6), st.integers(1, 64), st.floats(0.05, 0.5))
@settings(max_examples=60, deadline=None)
def test_the_objective_by_automatic_differentiation(seed, count, clip):
    """min and clamp of torch; a clipped sample is one without gradient whose advantage is not 0."""
    rng = Random(seed)
    ratios = [rng.uniform(0.2, 5) for _ in range(count)]
    advantages = [rng.choice((0.0, rng.uniform(-3, 3))) for _ in range(count)]
    new = torch.tensor(ratios, dtype=torch.float64).log().requires_grad_()
    weights = torch.tensor(advantages, dtype=torch.float64)
    objective = torch.min(new.exp() * weights, new.exp().clamp(1 - clip, 1 + clip) * weights).mean()
    (gradient,) = torch.autograd.grad(objective, new)
    found = clipped(ratios, advantages, clip)
    assert found.objective == pytest.approx(objective.item(), rel=1e-9, abs=1e-12)
    assert found.clipped_fraction == sum(((gradient == 0) & (weights != 0)).tolist()) / count


def test_explained_variance():
    assert explained_variance((1, 1, 4, 3), (1, 2, 3, 4)) == pytest.approx(0.45)
    assert explained_variance((11, 12, 13), (1, 2, 3)) == 1
    assert explained_variance((0, 0), (1, 3)) == 0
    assert math.isnan(explained_variance((0, 1), (2, 2)))
    assert math.isnan(explained_variance((0, 1, 2), (0.1, 0.1, 0.1)))  # whose mean is not quite 0.1
    with pytest.raises(ValueError, match="equal and positive"):
        explained_variance((), ())


# The random walk.


def test_the_walk_in_three_ways():
    exact = [(state + 1) / 6 for state in range(STATES)]
    assert policy_value(*walk(), 1.0) == pytest.approx(exact, rel=1e-9)
    assert sweeps(*walk(), rounds=400) == pytest.approx(exact, rel=1e-9)
    sampled = monte_carlo(1000)
    for value, mean, error in zip(exact, sampled.values, sampled.errors, strict=True):
        assert abs(mean - value) < 3 * error
    with pytest.raises(ValueError, match="count"):
        monte_carlo(1)


def test_walks_end_where_they_should():
    for seed in range(50):
        visited, rewards = episode(Random(seed))
        assert visited[0] == 2
        assert all(abs(b - a) == 1 for a, b in pairwise(visited))
        assert rewards[:-1] == [0.0] * (len(visited) - 1)
        assert rewards[-1] == (1.0 if visited[-1] == 4 else 0.0)


def exact_bias(trace: float) -> float:
    """Of the first advantage with V = 1/2 everywhere: only the last step has a TD error, one half up or down.

    ``x[s]`` is the expected weighted TD error from state s on: a small linear system.
    """
    rows, _ = walk()
    errors = [-0.25 * (state == 0) + 0.25 * (state == 4) for state in range(STATES)]
    return trace * policy_value(rows, errors, trace)[3] - 1 / 6


def test_bias_shrinks_and_spread_grows_with_lambda():
    found = advantage_quality([0, 0.5, 0.8, 0.95, 1])
    for one in found:
        assert one.bias == pytest.approx(exact_bias(one.gae_lambda), abs=4 * one.deviation / math.sqrt(2000) + 1e-12)
    assert [one.deviation for one in found] == sorted(one.deviation for one in found)
    assert (found[0].bias, found[0].deviation) == pytest.approx((-1 / 6, 0))


def test_with_the_right_values_no_lambda_is_biased():
    values = policy_value(*walk(), 1.0)
    for one in advantage_quality([0, 0.5, 1], values):
        assert abs(one.bias) <= 4 * one.deviation / math.sqrt(2000) + 1e-12


def test_a_ratio_that_no_float_holds_is_an_error():
    with pytest.raises(OverflowError):
        ppo_clip_objective([0.0], [-710.0], [1.0])
    assert ppo_clip_objective([-1e300], [0.0], [1.0]).objective == 0.0
