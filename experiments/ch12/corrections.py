"""Chapter 12: wrong claims about reinforcement learning, and what is right. Standard library only."""

from __future__ import annotations

import math
from statistics import pvariance

from solutions.ch12.rl import gae, optimal_baseline, policy_value, ppo_clip_objective, reinforce_moments

from ..correction import MLSYS, Correction
from .random_walk import advantage_quality, walk

_GYM = "Gymnasium, CartPole-v1"
_GAE = "Schulman et al. (2016), arXiv:1506.02438"
_PPO = "Schulman et al. (2017), arXiv:1707.06347"
_PARDO = "Pardo et al. (2018), arXiv:1712.00378"
_GREENSMITH = "Greensmith et al. (2004), Journal of Machine Learning Research 5"

#: Ten steps that examples often use.
_REWARDS = (0, 0, 0, 1, 0, 0, 0, 0, 1, 0)
_VALUES = (0.5, 0.6, 0.7, 0.8, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

#: Three arms, their chances and rewards.
_PI, _Q = (0.5, 0.3, 0.2), (0, 1, 5)


def _ten(gae_lambda: float) -> list[float]:
    ends = (*(False,) * 9, True)
    return gae(_REWARDS, _VALUES, (*_VALUES[1:], 0), ends, (False,) * 10, 0.99, gae_lambda)


def _cartpole() -> tuple[Correction, ...]:
    """The game, and programs that do not learn it."""
    stuck = ppo_clip_objective([math.log(0.5)] * 4, [math.log(0.5)] * 4, [1, -1, 2, -2])
    return (
        Correction(
            "12.10",
            "CartPole has a two-dimensional state.",
            "Four numbers: position and speed of the cart, angle and angular speed of the pole.",
            "Solved means an average return of 475 over 100 episodes of at most 500 steps.",
            _GYM,
            matters="The first layer of the network has the wrong size.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter12-ppo.md",),
        ),
        Correction(
            "12.9",
            "A PPO update computes the loss of the batch and prints a clip fraction of 0.00.",
            f"Without an optimizer step the ratio stays 1 and the clip fraction {stuck.clipped_fraction:.2f} forever.",
            "From the second epoch on, a policy that moves enough has samples outside the range, so the fraction "
            "must rise above zero.",
            f"{_PPO}, algorithm 1",
            matters="The update looks healthy in the log and never happens.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter12-rl-fundamentals/scripts/ppo_cartpole.py",),
        ),
    )


def _advantages() -> tuple[Correction, ...]:
    """Advantages and the ends of episodes."""
    deltas, found = _ten(0), _ten(0.95)
    middle = ", ".join(f"{deltas[t]:.3f}" for t in (3, 4, 8))
    spreads = ", ".join(f"{pvariance(_ten(trace)):.3f}" for trace in (0, 0.5, 0.95, 1))
    cut = gae([1], [50], [50], [True], [False], 0.98, 0.8)[0]
    kept = gae([1], [50], [50], [False], [True], 0.98, 0.8)[0]
    leaked = gae([1], [0.5], [9], [False], [True], 0.9, 0.8)[0]
    right = gae([1], [0.5], [9], [True], [False], 0.9, 0.8)[0]
    return (
        Correction(
            "12.8",
            "In the ten-step example the TD errors in the middle are 0.42, -0.36, 0.31, and the first advantage 0.45.",
            f"They are {middle}, and with lambda 0.95 the first advantage is {found[0]:.5f}.",
            f"Over the ten steps the advantages vary by {spreads} for lambda 0, 0.5, 0.95 and 1: not always more.",
            f"{_GAE}, equation 16",
            matters="Whoever checks an implementation by the example breaks a correct one.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter12-gae.md",),
        ),
        Correction(
            "12.8",
            "With gamma 0.99 and lambda 0.95, (gamma lambda)^10 is 0.53.",
            f"It is {(0.99 * 0.95) ** 10:.6f}.",
            f"The credit halves every {math.log(0.5) / math.log(0.99 * 0.95):.1f} steps.",
            f"{_GAE}, equation 16",
            matters="A check by hand fails, and the error is looked for in the code.",
        ),
        Correction(
            "12.8",
            "done = terminated or truncated, and the next value counts 1 - done.",
            f"At a cut-off with V = 50 everywhere and gamma 0.98 the TD error is then {cut:.0f}, and should be "
            f"{abs(kept):.0f}.",
            "A truncated step reached a state that has a value. Only the recursion stops at both kinds of end.",
            _PARDO,
            matters="The critic learns that surviving until the time limit is worthless.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter12-rl-fundamentals/scripts/ppo_cartpole.py",),
        ),
        Correction(
            "12.7",
            "A = r + gamma V(s') - V(s), at every step.",
            f"Only while the episode continues: after the last step the critic may say 9, and A is {leaked:.1f} "
            f"instead of {right:.1f} with r = 1, V(s) = 0.5 and gamma 0.9.",
            "After termination nothing more is earned, whatever a network says about that state.",
            "Sutton and Barto (2018), section 3.4",
            matters="The last action of each episode gets credit for a state that does not exist.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter12.md",),
        ),
    )


def _clipping() -> tuple[Correction, ...]:
    """What clipping does and does not."""
    far = ppo_clip_objective([math.log(0.5)], [math.log(0.1)], [-1])
    four = ppo_clip_objective([math.log(0.1 * r) for r in (1.5, 0.5, 1.5, 0.5)], [math.log(0.1)] * 4, [1, 1, -1, -1])
    ten = 1.2**10
    return (
        Correction(
            "12.9",
            "PPO is sample-efficient, and its trust region prevents forgetting.",
            "It is on-policy and discards data after a few epochs; only that reuse makes it more efficient than "
            "REINFORCE.",
            "Clipping bounds the gain of one update: ten updates of up to 1.2 each multiply a probability by "
            f"{ten:.1f}.",
            f"{_PPO}, section 3",
            matters="Runs are planned with too few samples.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter12.md",),
        ),
        Correction(
            "12.9",
            "Clipping bounds the ratio.",
            f"It bounds the gain: with ratio 5 and advantage -1 the objective is {far.objective:.0f}, unclipped.",
            "Other samples can push a ratio out of the range, and if it moved against its advantage nothing is "
            "clipped.",
            f"{_PPO}, equation 7",
            matters="A single update can move the policy far away on samples with a negative advantage.",
            places=(
                f"{MLSYS}, src/part4-rlhf/chapter12.md",
                "Hugging Face, Deep RL Course, unit 8, Introducing the Clipped Surrogate Objective Function",
            ),
        ),
        Correction(
            "12.9",
            "The clip fraction in a log is the share of samples without a gradient.",
            f"Logs count ratios outside the range: {four.outside_fraction:.1f} in the four-sample example, of which "
            f"{four.clipped_fraction:.1f} have no gradient.",
            "The gradient is zero only where the clipped term is the smaller one.",
            f"{_PPO}, figure 1",
            matters="The log is read as twice as many samples without effect as there are.",
        ),
    )


def _estimates() -> tuple[Correction, ...]:
    """Bias and variance."""
    none, bad = (reinforce_moments((0.5, 0.5), (1, 0), b) for b in (0, 100))
    best, v = optimal_baseline(_PI, _Q), sum(p * q for p, q in zip(_PI, _Q, strict=True))
    least, usual = (reinforce_moments(_PI, _Q, b).variance for b in (best, v))
    wrong, exact = (advantage_quality([0], values)[0].bias for values in ((0.5,) * 5, policy_value(*walk(), 1.0)))
    return (
        Correction(
            "12.5",
            "A baseline trades bias for variance.",
            f"It adds no bias: two arms have the mean gradient {none.gradient[0]:.2f} with any baseline, even with "
            f"100 ({bad.gradient[0]:.2f}).",
            f"A bad baseline adds variance: {bad.variance:,.0f} in place of {none.variance:.3f}.",
            "Williams (1992), doi:10.1007/BF00992696",
            matters="Baselines are avoided for a bias that they do not have.",
        ),
        Correction(
            "12.5",
            "V is the baseline with the least variance.",
            f"The best baseline is E[|s|² R]/E[|s|²]: {best:.3f} against V = {v:.1f} for three arms, with variance "
            f"{least:.2f} against {usual:.2f}.",
            "An arm counts by how far it moves the logits, not only by how often it is drawn.",
            f"{_GREENSMITH}, section 4",
            matters="A little variance is left that a better baseline would remove.",
        ),
        Correction(
            "12.8",
            "lambda = 0 has high bias and lambda = 1 has low bias.",
            f"Only if V is wrong: on the walk with V = 0.5 everywhere lambda = 0 is off by {abs(wrong):.3f}. With the "
            f"exact V it is off by {abs(exact):.3f}, and every lambda is unbiased.",
            "In episodes that are cut off even lambda = 1 keeps the bias of the bootstrap.",
            f"{_GAE}, section 3",
            matters="Lambda is tuned for a bias that a good critic does not show.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter12.md",),
        ),
    )


CORRECTIONS = (*_cartpole(), *_advantages(), *_clipping(), *_estimates())
