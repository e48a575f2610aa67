"""What the steppers of chapter 13 draw about the divergence: three estimates of it, and where their gradients point.

Standard library only.

>>> [round(value, 3) for value in estimate_means()]
[0.144, 0.161, 0.144]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from rankzero.explore import Arrow, Box, Label, Scene
from rankzero.explore.scene import Mark
from solutions.ch13.kl import ESTIMATORS, estimator_moments, kl_estimates

# Three estimates

#: The two outcomes of the picture: their probabilities under the policy and under the reference.
POLICY, REFERENCE = (0.5, 0.5), (0.25, 0.75)


def estimate_values(name: str) -> list[float]:
    """The estimate that each outcome gives, in nats."""
    return [getattr(kl_estimates(math.log(a), math.log(b)), name) for a, b in zip(POLICY, REFERENCE, strict=True)]


def estimate_means() -> list[float]:
    """The mean of each estimate under the policy, in nats."""
    return [estimator_moments(POLICY, REFERENCE, name)[0] for name in ESTIMATORS]


def estimate_scene(step: int) -> Scene:
    """Step 0: two distributions; steps 1 to 3: k1, k2 and k3, the estimates of two outcomes and their mean."""
    marks: list[Mark] = [Label(4, 13, "probabilities", "start", 11, quiet=True)]
    for row, (name, shares) in enumerate((("π", POLICY), ("ref", REFERENCE))):
        marks.append(Label(4, 36 + 26 * row, name, "start", 12))
        for place, share in enumerate(shares):
            box = (40 + 150 * place, 20 + 26 * row, 140 * share, 22)
            marks.append(Box(*box, f"{share:g}", tone="quiet" if row else "accent", fill=0.5, size=11))
    scale, zero = 92, 178
    marks.append(Label(4, 86, "estimates (nats)", "start", 11, quiet=True))
    for number, name in enumerate(ESTIMATORS[:step]):
        left, new = 10 + 112 * number, number == step - 1
        values, mean = estimate_values(name), estimate_means()[number]
        marks.append(Label(left + 45, 244, f"{name}, mean {mean:.3f}", size=12))
        for place, value in enumerate(values):
            top = zero - scale * max(value, 0)
            box = (left + 48 * place, top, 40, max(3, scale * abs(value)))
            marks.append(Box(*box, tone="accent", fill=0.6, strong=new))
            above = min(top, zero - scale * mean) - 5  # clear of the bar and of the line
            height = above if value > 0 else zero - scale * value + 13
            marks.append(Label(left + 48 * place + 20, height, f"{value:.3f}", size=11))
        marks.append(Box(left - 4, zero - scale * mean - 1, 96, 2, tone="right", fill=1.0, strong=True))
    held = "; ".join(
        f"{name}: {', '.join(f'{value:.3f}' for value in estimate_values(name))}" for name in ESTIMATORS[:step]
    )
    return Scene(
        338,
        234,
        tuple(marks),
        _ESTIMATE_SAYS[step],
        f"π {POLICY}, reference {REFERENCE}. {held or 'No estimates yet'}.",
    )


_ESTIMATE_SAYS = (
    "Two outcomes. The policy draws each of them half the time, the reference the first one a quarter of the time.",
    "k1 is the log-ratio: 0.693 for the first outcome, -0.405 for the second. Its mean, the green line, is the KL.",
    "k2, half its square, is never negative. Its mean is 0.161, not the KL.",
    "k3 = e^-k1 - 1 + k1 is never negative either, and its mean is the KL again, from two numbers closer together.",
)

# Arrows

#: The logits of the page's policy and of its reference.
LOGITS, REFERENCE_LOGITS = (0.3, -0.2, 0.5), (0.0, 0.4, -0.1)


def _softmax(logits: Sequence[float]) -> list[float]:
    weights = [math.exp(value) for value in logits]
    return [weight / sum(weights) for weight in weights]


def pushes(weighted: bool) -> list[tuple[float, ...]]:
    """What each outcome contributes to an expected gradient with respect to the logits.

    Args:
        weighted: whether the outcome's score is weighted by its k1 (k1 in the reward) or not (k1 as a loss).
    """
    policy, reference = _softmax(LOGITS), _softmax(REFERENCE_LOGITS)
    made = []
    for outcome, share in enumerate(policy):
        factor = share * (math.log(share / reference[outcome]) if weighted else 1.0)
        made.append(tuple(factor * ((place == outcome) - policy[place]) for place in range(3)))
    return made


def _flat(gradient: Sequence[float]) -> tuple[float, float]:
    """Coordinates of a gradient in the plane of vectors whose three components sum to 0."""
    a, b, c = gradient
    return (a - b) / math.sqrt(2), (a + b - 2 * c) / math.sqrt(6)


def _chain(weighted: bool, count: int, origin: tuple[float, float], scale: float) -> list[tuple[float, float]]:
    """The corners of the first ``count`` pushes laid head to tail, in pixels."""
    corners = [origin]
    for push in pushes(weighted)[:count]:
        x, y = _flat(push)
        corners.append((corners[-1][0] + scale * x, corners[-1][1] - scale * y))
    return corners


def push_scene(step: int) -> Scene:
    """Steps 0 and 1: two of the three outcomes' pushes of k1 as a loss, head to tail, and the third; 2 and 3: of k1 in
    the reward."""
    marks: list[Mark] = []
    for weighted, count, origin, scale, title in (
        (False, min(2 + step, 3), (64.0, 150.0), 330, "k1 as a loss"),
        (True, (0, 0, 2, 3)[step], (204.0, 60.0), 560, "k1 in the reward"),
    ):
        marks.append(Label(origin[0] + 24, 16, title, size=12))
        corners = _chain(weighted, count, origin, scale)
        marks.append(Box(origin[0] - 4, origin[1] - 4, 8, 8, tone="right", fill=1.0, strong=True))
        for number, (start, end) in enumerate(pairwise(corners)):
            marks.append(Arrow(*start, *end))
            middle = ((start[0] + end[0]) / 2 + 10, (start[1] + end[1]) / 2 + 4)
            marks.append(Label(*middle, f"{number + 1}", size=11))
        if count == 3 and weighted:
            marks.append(Label(corners[-1][0], corners[-1][1] + 18, "∇ KL(π‖ref)", size=11))
    return Scene(338, 190, tuple(marks), _PUSH_SAYS[step], _PUSH_SAYS[step])


_PUSH_SAYS = (
    "k1 as a loss. An outcome pushes by its probability times the gradient of its log-probability: up for itself, down "
    "for the others.",
    "Outcome 3 ends where everything began. On average k1 as a loss pushes nowhere, whatever the reference is.",
    "k1 in the reward: the same directions, each times its log-ratio. Outcome 2 is less likely than under the "
    "reference, so its arrow turns round.",
    "Outcome 3. Together they are the gradient of KL(π‖ref): k1 in the reward does what it says.",
)
