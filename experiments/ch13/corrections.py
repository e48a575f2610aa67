"""Chapter 13: wrong claims about RLHF, and what is right. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from rankzero.facts.units import GB
from solutions.ch12.rl import gae, ppo_clip_objective
from solutions.ch13.beta_sweep import run_of
from solutions.ch13.kl import estimator_moments, expected_kl_gradient, kl_estimates
from solutions.ch13.rlhf_memory import rlhf_bytes

from ..correction import MLSYS, Correction
from .explorers import token_rewards_of

_INSTRUCT = "Ouyang et al. (2022), arXiv:2203.02155"
_SCHULMAN = "Schulman (2020), http://joschu.net/blog/kl-approx.html"
_PPO = "Schulman et al. (2017), arXiv:1707.06347, equation 7"
_GAO = "Gao et al. (2022), arXiv:2210.10760"

#: A policy and a reference over three outcomes, and logits of another pair.
_P, _Q = (0.5, 0.3, 0.2), (0.4, 0.4, 0.2)
_LOGITS = (0.3, -0.2, 0.5), (0.0, 0.4, -0.1)

#: Log-ratios of eight tokens, and of five, whose sums happen to be negative.
_RATIOS = (-0.2, 0.2, -0.3, 0.1, -0.1, 0.1, 0.3, -0.3)
_FIVE = (0.1, -0.2, 0.2, -0.3, 0.1)

#: Rewards and values of three tokens.
_REWARDS, _VALUES = (-0.02, 0.0, 1.1), (0.2, 0.3, 0.4)


def _sums(ratios: Sequence[float]) -> tuple[float, float]:
    """The sums of k1 and of k3 over tokens with these log-ratios."""
    each = [kl_estimates(ratio, 0.0) for ratio in ratios]
    return sum(one.k1 for one in each), sum(one.k3 for one in each)


def _advantages(rewards: Sequence[float], values: Sequence[float]) -> list[float]:
    """Advantages of one response that ends with its last token."""
    last = len(rewards) - 1
    ends = [index == last for index in range(len(rewards))]
    return gae(rewards, values, [*values[1:], 0.0], ends, [False] * len(rewards), 1.0, 0.95)


def _whitened(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / spread for value in values]


def _listed(values: Sequence[float], digits: int = 3) -> str:
    return f"({', '.join(f'{value + 0.0:.{digits}f}' for value in values)})"


def best_of_n_divergence(law: Sequence[float], n: int) -> float:
    """KL of best-of-n from the distribution it draws from; outcomes are listed from worst to best, without ties."""
    reached = list(accumulate(law))
    chosen = [after**n - before**n for before, after in zip([0.0, *reached], reached, strict=False)]
    return math.fsum(new * math.log(new / old) for new, old in zip(chosen, law, strict=True) if new > 0)


def _memory() -> tuple[Correction, ...]:
    whole, light = (rlhf_bytes("ppo", 7e9, masters=masters)["total"] / GB for masters in (True, False))
    weights, gradients, states = 4 * 14, 2 * 14, 2 * 84
    return (
        Correction(
            "13.13",
            "PPO with four models of 7B needs about 130 GB.",
            f"It needs {whole:.0f} GB before activations and caches; {light:.0f} without fp32 masters.",
            f"{weights} GB of weights, {gradients} of gradients and {states} of optimizer states, because two models "
            f"learn. Counting only four sets of weights gives 8 bytes per parameter; the sum is {whole / 7:.0f}.",
            "Rajbhandari et al. (2020), arXiv:1910.02054, section 3.1",
            matters="The job is placed on half of the GPUs that it needs.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter13.md",),
        ),
    )


def _estimates() -> tuple[Correction, ...]:
    kl = estimator_moments(_P, _Q, "k1")[0]
    twice = math.fsum(p * p * math.log(p / q) for p, q in zip(_P, _Q, strict=True))
    total, positive = _sums(_RATIOS)
    short = _sums(_FIVE)[0]
    less, more = _sums((-1.0, -1.5, -1.0))
    return (
        Correction(
            "13.6",
            "KL per token is exp(log pi) (log pi - log ref).",
            f"Sampled, that estimates {twice:.7f} where the KL is {kl:.7f}; the plain difference is unbiased.",
            "Sampling already weights by pi. The difference is not an approximation: its mean is the KL.",
            _SCHULMAN,
            matters="The penalty is biased, and its weight no longer means what it says.",
            places=(
                f"{MLSYS}, tutorial/part4-rlhf/chapter13-rlhf-flow/scripts/reward_calculator.py (as the exact value)",
            ),
        ),
        Correction(
            "13.6",
            "The response's total KL is -0.20: the policy is less confident than the reference, so KL is negative.",
            f"KL cannot be negative; the sum of k1 of one sample can. Eight tokens with k1 {total:.2f} have k3 "
            f"{positive:.6f}.",
            f"A less confident policy is still at a distance: log-ratios (-1, -1.5, -1) have k1 {less:.1f}, which is "
            f"paid as a bonus, and k3 {more:.5f}.",
            _SCHULMAN,
            matters="A negative divergence is taken for a finding; it is noise.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter13-rlhf-flow/scripts/reward_calculator.py (what it prints)",),
        ),
        Correction(
            "13.7",
            "The net reward rises with beta, up to .55 at beta .5, because the KL dominates.",
            f"The sum of k1 was negative: .5 + .5 times {-short:.2f} is {0.5 - 0.5 * short:.2f}, a bonus that grows "
            "with beta.",
            "A penalty lowers the reward on average, not in every sample. Average over many responses.",
            _SCHULMAN,
            matters="The weight of the penalty is raised because that seems to raise the reward.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter13-rlhf-flow/scripts/reward_calculator.py (what it prints)",),
        ),
        Correction(
            "13.5",
            "Score .73 minus mean KL .23 gives the reward .50.",
            f"That holds for beta = 1 and one token. With beta .02 and 128 tokens of .23 nats the penalty is "
            f"{0.02 * 128 * 0.23:.4f}.",
            "A response pays beta times the sum over its tokens. Say whether a KL is per token or per response.",
            f"{_INSTRUCT}, equation 2",
            matters="The penalty is underestimated by the length of the response.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter13-loop.md",),
        ),
    )


def _advantage() -> tuple[Correction, ...]:
    large, small = (_whitened(_advantages((0, 0, 0, reward), (0,) * 4)) for reward in (1.0, 0.1))
    same = max(abs(a - b) for a, b in zip(large, small, strict=True)) < 1e-9
    right = token_rewards_of(1.0, 0.1, (-1.0, -0.5, -2.0), (-1.2, -0.5, -1.0))
    everywhere = [paid + 1.0 for paid in token_rewards_of(0.0, 0.1, (-1.0, -0.5, -2.0), (-1.2, -0.5, -1.0))]
    found = _advantages(_REWARDS, _VALUES)
    returns = [advantage + value for advantage, value in zip(found, _VALUES, strict=True)]
    equal = ppo_clip_objective((-1.0, -2.0, -0.5), (-1.0, -2.0, -0.5), _whitened(found))
    return (
        Correction(
            "13.8",
            "Normalize the advantages of each response.",
            f"With rewards 1 and 0.1 both responses get {_listed(large)}" + (", the same." if same else "."),
            "Each response then averages to zero, which erases the reward. Whiten over all real tokens of the batch.",
            "Zheng et al. (2023), arXiv:2307.04964",
            matters="A bad response is reinforced as strongly as a good one.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter13-rlhf-flow/scripts/rlhf_loop_pseudo.py",),
        ),
        Correction(
            "13.5",
            "rewards = score - beta * kl, with a score for each response and a KL for each token.",
            f"The score is paid once, at the last real token: {_listed(right, 2)} sums to {sum(right):.2f}. Broadcast, "
            f"it is paid at every token: {_listed(everywhere, 2)} sums to {sum(everywhere):.2f}.",
            "[B] and [B, T] do not fit unless B = T or 1; [B, 1] fits and pays T times.",
            "Ziegler et al. (2019), arXiv:1909.08593, section 2",
            matters="The score is paid once for each token, and long answers win.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter13-loop.md",),
        ),
        Correction(
            "13.9",
            "The critic learns to predict the reward observed at each token.",
            f"Its target is the return, advantage plus old value: {_listed(returns)} where the rewards are "
            f"{_listed(_REWARDS, 2)}. The loss is clipped and halved.",
            "V of a prefix predicts the reward of the whole remainder.",
            "Schulman et al. (2016), arXiv:1506.02438, section 5",
            matters="Values ignore what comes later, and advantages lose their meaning.",
            places=(f"{MLSYS}, src/part4-rlhf/chapter13-loop.md",),
        ),
        Correction(
            "13.10",
            "Compute the new log-probabilities with the old model, take one epoch, print that the policy was updated.",
            f"Every ratio is 1: the objective of whitened advantages is {abs(equal.objective):.1f}, whatever the "
            f"rewards, and {equal.clipped_fraction:.0f} tokens are clipped.",
            "The value means nothing; its gradient drives the update. A program without a gradient updates nothing.",
            _PPO,
            matters="The demonstration trains nothing and does not notice.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter13-rlhf-flow/scripts/rlhf_loop_pseudo.py",),
        ),
    )


def _optimum() -> tuple[Correction, ...]:
    one, three = (estimator_moments((0.9, 0.05, 0.05), (1 / 3,) * 3, name)[1] for name in ("k1", "k3"))
    slope = expected_kl_gradient(*_LOGITS, "k3", "loss")
    reverse = expected_kl_gradient(*_LOGITS, "k1", "reward")
    free, priced = run_of(0.0, 2).end, run_of(0.1, 2).end
    bound = math.log(16) - 15 / 16
    exact = best_of_n_divergence((0.25,) * 4, 16)
    bytes_each = {name: rlhf_bytes(name, 1.0)["total"] for name in ("ppo", "grpo", "dpo")}
    return (
        Correction(
            "13.7",
            "k3 always has the lower variance, and as a loss it penalizes KL(pi||ref).",
            f"For (.9, .05, .05) against uniform the variances are {one:.3f} for k1 and {three:.3f} for k3. As a loss "
            f"k3 has the expected gradient {_listed(slope)}, that of KL(ref||pi); that of KL(pi||ref) is "
            f"{_listed(reverse)}.",
            "In k3, a token that the policy has almost abandoned counts exponentially.",
            "Tang and Munos (2025), arXiv:2506.09477",
            matters="The estimator is chosen for a property that it has only near the reference.",
            places=("probsee.com, K3 KL divergence approximation (the first half)",),
        ),
        Correction(
            "13.11",
            "The clip prevents reward hacking.",
            f"With beta 0, clipped at .2, the stored run ends with score {free.score:.2f} and judge {free.judge:.1f}, "
            f"with beta .1, score {priced.score:.2f} and judge {priced.judge:.1f}.",
            "The clip bounds one iteration's step from the previous policy. Sixty steps can lead anywhere.",
            _GAO,
            matters="A run without a price on distance is left to drift.",
        ),
        Correction(
            "13.11",
            "The KL of best-of-n is ln n - (n - 1)/n.",
            f"That is an upper bound: {bound:.4f} for n = 16. Over four equally likely responses, best-of-16 has "
            f"{exact:.4f}.",
            "The bound is reached if no two responses tie and each is rare.",
            "Beirami et al. (2024), arXiv:2401.01879",
            matters="The distance of best-of-n is overstated where few responses are possible.",
        ),
        Correction(
            "13.13",
            "RLHF needs four models.",
            f"PPO does: {bytes_each['ppo']:.0f} bytes per parameter. GRPO with a rule has two, "
            f"{bytes_each['grpo']:.0f} bytes; DPO has two and generates nothing, {bytes_each['dpo']:.0f} bytes.",
            "A verifiable reward replaces the reward model, and a group's mean replaces the critic.",
            "Shao et al. (2024), arXiv:2402.03300; Rafailov et al. (2023), arXiv:2305.18290",
            matters="Two models are loaded that the method does not use.",
            places=(f"{MLSYS}, tutorial/part4-rlhf/chapter14-rlhf-architecture/scripts/memory_timeline.py",),
        ),
    )


CORRECTIONS = (*_memory(), *_estimates(), *_advantage(), *_optimum())
