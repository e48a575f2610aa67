"""Explorers of chapter 12: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(returns, rewards=Vector((0, 0, 1)), discount=Range(0.5, 1.0, 0.9), ...)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from rankzero.charts import Axis, Spec, bars, below, beside, chart, lines
from solutions.ch12.rl import discounted_returns, gae, optimal_baseline, ppo_clip_objective, reinforce_moments

#: The lambdas that the chosen one is compared with.
LAMBDAS = (0.0, 0.5, 0.9, 0.95, 1.0)

#: How an episode ends.
TERMINAL, CUT = "terminal", "cut off"

STEP = Axis("step", "step", category=True)


def returns(
    rewards: Sequence[float] = (1,) * 12, discount: float = 0.9, end: str = CUT, bootstrap: float = 10.0
) -> Spec:
    """The return from each step on, and how the episode's end contributes to it.

    Args:
        rewards: of the steps.
        discount: gamma.
        end: ``terminal`` if nothing follows, or ``cut off`` if the bootstrap replaces the rest.
        bootstrap: the value of the state after the last step.
    """
    found = discounted_returns(rewards, discount, bootstrap if end == CUT else 0.0)
    without = discounted_returns(rewards, discount)
    rows: list[Spec] = [{"step": step, "reward": value, "what": "return"} for step, value in enumerate(found)]
    if end == CUT:
        rows += [{"step": step, "reward": value, "what": "without bootstrap"} for step, value in enumerate(without)]
    points: list[Spec] = [{"step": step, "reward": reward, "what": "reward"} for step, reward in enumerate(rewards)]
    said = f"return of the first step {found[0]:.3f}, of the last {found[-1]:.3f}"
    short = f", of the last without its bootstrap {without[-1]:.3f}" if end == CUT else ""
    drawn = lines(rows, Axis("step", "step"), Axis("reward", "reward"), "what", title=said, points=points)
    return chart(drawn, f"Discount {discount:.3g}, {end}: {said}{short}.")


def baselines(
    weights: Sequence[float] = (5, 3, 2), rewards: Sequence[float] = (0, 1, 5), baseline: float = 0.0
) -> Spec:
    """What a baseline does: the arms' estimates move, their mean stays, and the variance has one minimum.

    Args:
        weights: relative probabilities of the arms; extra ones are ignored if there are fewer rewards.
        rewards: of the arms.
        baseline: the number to subtract.
    """
    count = min(len(weights), len(rewards))
    rewards, total = list(rewards[:count]), sum(weights[:count])
    pi = [weight / total if total > 0 else 1 / count for weight in weights[:count]]
    found = reinforce_moments(pi, rewards, baseline)
    marks = {
        "chosen": baseline,
        "V, the expected reward": math.fsum(p * r for p, r in zip(pi, rewards, strict=True)),
        "the best": optimal_baseline(pi, rewards),
    }
    said = f"baseline {baseline:.3g}: variance {found.variance:.4g}"
    least = reinforce_moments(pi, rewards, marks["the best"]).variance
    text = (
        f"{said}, mean ({', '.join(f'{g:.3f}' for g in found.gradient)}). The mean does not move. The best baseline is "
        f"{marks['the best']:.3f} with {least:.4g}."
    )
    return chart(beside(_arrows(pi, rewards, baseline, found.gradient), _parabola(pi, rewards, marks, said)), text)


def _arrows(pi: Sequence[float], rewards: Sequence[float], baseline: float, mean: Sequence[float]) -> Spec:
    """The estimate of each arm in the plane of the first two logits, and their mean."""
    tips = {
        f"arm {arm}": [(reward - baseline) * ((index == arm) - pi[index]) for index in range(min(2, len(pi)))]
        for arm, reward in enumerate(rewards)
    }
    tips["mean"] = list(mean[:2])
    points: list[Spec] = [{"x": tip[0], "y": tip[1] if len(tip) > 1 else 0.0, "of": name} for name, tip in tips.items()]
    rows: list[Spec] = []
    for point in points:
        rows += [{"x": 0.0, "y": 0.0, "of": point["of"]}, point]
    axes = Axis("x", "gradient in logit 0"), Axis("y", "gradient in logit 1")
    return {**lines(rows, *axes, "of", title="estimates, by arm", points=points), "width": 260}


def _parabola(pi: Sequence[float], rewards: Sequence[float], marks: dict[str, float], title: str) -> Spec:
    """The variance against the baseline, with some baselines marked."""
    low, high = min(*marks.values(), *rewards), max(*marks.values(), *rewards)
    reach = (high - low) or 1.0
    places = [low + reach * step / 60 for step in range(61)]
    rows: list[Spec] = [
        {"baseline": b, "variance": reinforce_moments(pi, rewards, b).variance, "what": "variance"} for b in places
    ]
    points: list[Spec] = [
        {"baseline": b, "variance": reinforce_moments(pi, rewards, b).variance, "what": name}
        for name, b in marks.items()
    ]
    axes = Axis("baseline", "baseline"), Axis("variance", "total variance")
    return {**lines(rows, *axes, "what", title=title, points=points), "width": 300}


def advantages(
    rewards: Sequence[float] = (0, 0, 0, 1, 0, 0, 0, 0, 1, 0),
    values: Sequence[float] = (0.5, 0.6, 0.7, 0.8, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    discount: float = 0.99,
    gae_lambda: float = 0.95,
    end: str = TERMINAL,
    value_after: float = 0.5,
    boundary: int = 0,
) -> Spec:
    """TD errors, advantages for several lambdas, and how far ahead each lambda looks.

    Args:
        rewards: of the steps.
        values: the critic's value of each state; missing ones are 0.
        discount: gamma.
        gae_lambda: lambda.
        end: of the last step: ``terminal`` or ``cut off``.
        value_after: V of the state after the last step; used if the episode was cut off.
        boundary: number of steps after which an episode terminates; 0 for none.
    """
    count = len(rewards)
    said = [*values, *[0.0] * count][:count]
    ended = [step == boundary - 1 or (step == count - 1 and end == TERMINAL) for step in range(count)]
    cut = [step == count - 1 and end == CUT for step in range(count)]
    buffer = (rewards, said, [*said[1:], value_after], ended, cut, discount)
    deltas, chosen = gae(*buffer, 0.0), gae(*buffer, gae_lambda)
    errors: list[Spec] = [{"step": step, "reward": delta, "what": "TD error"} for step, delta in enumerate(deltas)]
    curves: list[Spec] = []
    for name, trace in {f"chosen: {gae_lambda:.3g}": gae_lambda, **{f"lambda {t:g}": t for t in LAMBDAS}}.items():
        found = chosen if name.startswith("chosen") else gae(*buffer, trace)
        curves += [{"step": step, "advantage": value, "what": name} for step, value in enumerate(found)]
    decay = discount * gae_lambda
    weights: list[Spec] = [{"ahead": k, "weight": decay**k, "what": "weight"} for k in range(max(2, count))]
    half = math.log(0.5) / math.log(decay) if 0 < decay < 1 else (0.0 if decay == 0 else math.inf)
    told = f"half of the credit within {half:.3g} steps" if math.isfinite(half) else "credit never fades"
    above = bars(errors, STEP, Axis("reward", "TD error"), "what", "TD errors")
    middle = lines(curves, Axis("step", "step"), Axis("advantage", "advantage"), "what", title="advantages")
    under = lines(weights, Axis("ahead", "steps ahead"), Axis("weight", "weight"), "what", title=told)
    listed = ", ".join(f"{value:.4g}" for value in chosen)
    text = f"Lambda {gae_lambda:.3g}, discount {discount:.3g}, {end}: advantages {listed}; {told}."
    return chart(below(above, {**middle, "height": 180}, {**under, "height": 90}), text)


def clipping(ratio: float = 1.5, advantage: float = 1.0, clip: float = 0.2) -> Spec:
    """A sample's objective against its ratio, the flat part shaded, and whether the chosen ratio has a gradient.

    Args:
        ratio: new probability over old one.
        advantage: of the sample.
        clip: epsilon.
    """

    def told(at: float) -> tuple[float, bool]:
        found = ppo_clip_objective([math.log(max(at, 1e-9))], [0.0], [advantage], clip)
        return found.objective if at else min(0.0, (1 - clip) * advantage), found.clipped_fraction > 0

    places = sorted({*(step / 50 for step in range(1, 151)), 1 - clip, 1 + clip})
    rows: list[Spec] = []
    for place in places:
        rows += [
            {"ratio": place, "objective": told(place)[0], "what": "clipped"},
            {"ratio": place, "objective": place * advantage, "what": "not clipped"},
        ]
    value, flat = told(ratio)
    point: Spec = {"ratio": ratio, "objective": value, "what": "chosen"}
    ends = {"start": 1 + clip, "end": 3.0} if advantage > 0 else {"start": 0.0, "end": 1 - clip}
    bands: list[Spec] = [{"what": "no gradient", **ends}] if advantage else []
    gradient = "no gradient" if flat or not advantage else f"gradient {advantage:.3g}"
    said = f"ratio {ratio:.3g}: objective {value:.4g}, {gradient}"
    axes = Axis("ratio", "ratio"), Axis("objective", "objective of the sample")
    return chart(lines(rows, *axes, "what", 1.0, said, [point], bands), f"Advantage {advantage:.3g}: {said}.")
