"""Explorers of chapter 13: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(paid, beta=Range(0.001, 1.0, 0.02, "", log=True), ...)``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.charts import Axis, Spec, bars, below, chart, lines, stacks
from rankzero.facts.models import LLAMA2_7B, LLAMA2_13B, LLAMA3_8B, LLAMA3_70B, LLAMA3_405B
from rankzero.facts.units import GB
from solutions.ch13.beta_sweep import run_of
from solutions.ch13.kl import ESTIMATORS, estimator_moments, kl_estimates

from ..ch11.explorers import shares
from .rlhf_budget import KINDS, budget

#: Log-probabilities of eight tokens under the actor, and under the reference.
ACTOR = (-1.2, -0.8, -1.3, -0.9, -1.1, -0.9, -0.7, -1.3)
REFERENCE = (-1.0,) * 8

MODELS = {model.name: model.parameters for model in (LLAMA2_7B, LLAMA3_8B, LLAMA2_13B, LLAMA3_70B, LLAMA3_405B)}
#: What the menus of the memory explorer offer.
ALGORITHMS = {
    "PPO": ("ppo", False),
    "GRPO, reward model": ("grpo", True),
    "GRPO, rule": ("grpo", False),
    "DPO": ("dpo", False),
}
SIZES = {"as the policy": None, "7B": 7e9, "1B": 1e9}
LEARNING = {"all parameters": 1.0, "adapters of 1 %": 0.01, "adapters of 0.1 %": 0.001}


def token_rewards_of(
    score: float, beta: float, log_probs: Sequence[float], ref_log_probs: Sequence[float]
) -> list[float]:
    """Rewards of one response's tokens: minus beta times k1, and the score on the last one."""
    paid = [-beta * kl_estimates(a, b).k1 for a, b in zip(log_probs, ref_log_probs, strict=True)]
    return [*paid[:-1], paid[-1] + score]


def paid(
    beta: float = 0.02,
    score: float = 0.5,
    log_probs: Sequence[float] = ACTOR,
    reference: Sequence[float] = REFERENCE,
) -> Spec:
    """The rewards of one response, token by token, and their sum.

    Args:
        beta: price of a nat.
        score: of the reward model.
        log_probs: of the tokens under the actor.
        reference: of the tokens under the reference; if too short, its last value repeats; extra values are ignored.
    """
    known = [*reference, *[reference[-1]] * len(log_probs)][: len(log_probs)]
    rewards = token_rewards_of(score, beta, log_probs, known)
    names = [str(index) for index in range(len(rewards))]
    rows: list[Spec] = []
    for index, (name, reward) in enumerate(zip(names, rewards, strict=True)):
        last = index == len(rewards) - 1
        rows.append({"token": name, "reward": reward - score if last else reward, "of": "distance, -beta k1"})
        rows += [{"token": name, "reward": score, "of": "score"}] if last else []
    estimates = [kl_estimates(a, b) for a, b in zip(log_probs, known, strict=True)]
    under: list[Spec] = [
        {"token": name, "nats": getattr(estimate, estimator), "estimator": estimator}
        for name, estimate in zip(names, estimates, strict=True)
        for estimator in ("k1", "k3")
    ]
    told = (
        f"sum of rewards {sum(rewards):.4g}; k1 adds up to {sum(one.k1 for one in estimates):.4g} nats, "
        f"k3 to {sum(one.k3 for one in estimates):.4g}"
    )
    token = Axis("token", "token", category=True)
    above = stacks(rows, token, Axis("reward", "reward"), by="of", title=told.partition(";")[0])
    beneath = bars(under, token, Axis("nats", "estimate (nats)"), by="estimator")
    return chart(below(above | {"height": 120}, beneath | {"height": 100}), f"{told}.")


def estimators(p: Sequence[float] = (18, 1, 1), q: Sequence[float] = (1, 1, 1)) -> Spec:
    """Mean, bias and variance of the three estimates of KL(p||q), exactly.

    Args:
        p: weights of the policy's outcomes.
        q: weights of the reference's; missing ones are 1.
    """
    size = len(p)
    law, other = shares(p), shares([*q, *[1.0] * size][:size])
    found = {name: estimator_moments(law, other, name) for name in ESTIMATORS}
    kl = found["k1"][0]
    laws: list[Spec] = [
        {"outcome": str(index), "law": name, "probability": value}
        for name, row in (("policy p", law), ("reference q", other))
        for index, value in enumerate(row)
    ]
    numbers: list[Spec] = [
        {"estimator": name, "of": of, "value": value}
        for name, (mean, variance) in found.items()
        for of, value in (("mean (nats)", mean), ("bias (nats)", mean - kl), ("variance (nats²)", variance))
    ]
    axes = Axis("outcome", "outcome", category=True), Axis("probability", "probability")
    least = min(variance for _, variance in found.values()) * (1 + 1e-9) + 1e-15
    quiet = " and ".join(name for name in ESTIMATORS if found[name][1] <= least)
    title = f"KL {kl:.4g} nats; smallest variance: {quiet}" if kl > 1e-15 else "p and q are equal: KL is 0"
    right = bars(numbers, Axis("estimator", "estimator", category=True), Axis("value", "nats, or nats²"), by="of")
    told = "; ".join(f"{name}: mean {mean:.4g}, variance {variance:.4g}" for name, (mean, variance) in found.items())
    return chart(below(bars(laws, *axes, by="law", title=title), right), f"{title}. {told}.")


def memory(
    model: str = LLAMA3_70B.name,
    algorithm: str = "PPO",
    small: str = "as the policy",
    masters: str = "yes",
    learning: str = "all parameters",
    gpus: int = 32,
) -> Spec:
    """Bytes of model states on each of the GPUs that share them evenly (ZeRO stage 3), by role and kind.

    Args:
        model: the policy.
        algorithm: one of ``ALGORITHMS``.
        small: size of the critic and the reward model, if there are any.
        masters: whether models that learn keep fp32 copies, "yes" or "no".
        learning: all parameters, or adapters of a share of them.
        gpus: number of GPUs of 80 GB.
    """
    name, with_model = ALGORITHMS[algorithm]
    policy, other = MODELS[model], SIZES[small]
    reward = (policy if other is None else other) if name == "ppo" or with_model else None
    roles = budget(name, policy, other if name == "ppo" else None, reward, masters == "yes", LEARNING[learning])
    rows: list[Spec] = [
        {"role": role, "kind": kind, "GB": parts[kind] / gpus / GB} for role, parts in roles.items() for kind in KINDS
    ]
    whole = sum(parts["total"] for parts in roles.values())
    each = whole / gpus / GB
    fits = "fits" if each <= 80 else "does not fit"
    said = f"{whole / GB:,.0f} GB in all, {each:,.1f} GB on each of {gpus} GPUs: {fits} into 80 GB"
    axes = Axis("role", "role", category=True), Axis("GB", "GB on each GPU")
    return chart(stacks(rows, *axes, by="kind", title=said), f"{said}, before activations and caches.")


def hacking(beta: float = 0.0, seed: int = 2, iteration: int = 60) -> Spec:
    """A stored run: the reward model's score and the judge, iteration by iteration, and what the actor writes.

    Args:
        beta: price of a nat, one of the sweep's.
        seed: of the run.
        iteration: shows the last stored iteration up to this one.
    """
    run = run_of(beta, seed)
    now = [moment for moment in run.moments if moment.iteration <= iteration][-1]
    rows: list[Spec] = []
    for what, read in (("reward model's score", "score"), ("judge", "judge")):
        rows += [{"iteration": moment.iteration, "points": getattr(moment, read), "of": what} for moment in run.moments]
    dots: list[Spec] = [row for row in rows if row["iteration"] == now.iteration]
    said = f"iteration {now.iteration}: score {now.score:.2f}, judge {now.judge:.2f}, KL {now.kl:.1f} nats per response"
    axes = Axis("iteration", "iteration"), Axis("points", "points")
    text = f"Stored run with beta {beta:g}, seed {seed}. {said}. It writes: {now.sample}"
    view = lines(rows, *axes, "of", now.iteration, said, dots) | {"title": [said, f"“{now.sample}”"]}
    return chart(view, text)
