"""What the stepper of 13.10 draws: a stored run of the sweep, moment by moment. Standard library only.

>>> [moment.iteration for moment in shown_moments()]
[0, 10, 20, 60]
"""

from __future__ import annotations

import math

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Mark
from solutions.ch13.beta_sweep import Moment, run_of

#: The run that is shown, and the iterations at which it is.
BETA, SEED, SHOWN = 0.1, 2, (0, 10, 20, 60)


def shown_moments() -> list[Moment]:
    """The run's moments at these iterations."""
    return [moment for moment in run_of(BETA, SEED).moments if moment.iteration in SHOWN]


def run_scene(step: int) -> Scene:
    """Score, judge and distance up to the moment number ``step``."""
    marks: list[Mark] = []
    for row, (name, scale) in enumerate((("score", 17), ("judge", 17), ("KL", 5))):
        marks.append(Label(4, 38 + 52 * row, name, "start", 12))
        for number, moment in enumerate(shown_moments()[: step + 1]):
            value = (moment.score, moment.judge, moment.kl)[row]
            high = max(2.0, scale * abs(value))
            x, foot = 56 + 70 * number, 52 + 52 * row
            marks.append(
                Box(x, foot - high, 60, high, tone=("accent", "right", "quiet")[row], fill=0.6, strong=number == step)
            )
            marks.append(Label(x + 30, foot - high - 4, f"{value:.1f}", size=11))
    for number, iteration in enumerate(SHOWN):
        marks.append(Label(86 + 70 * number, 174, f"{iteration}", size=11, quiet=True))
    marks.append(Label(4, 174, "iteration", "start", 11, quiet=True))
    now = shown_moments()[step]
    numbers = f"score {now.score:.2f}, judge {now.judge:.2f}, KL {now.kl:.1f} nats"
    says = f"Iteration {now.iteration}: {numbers}. “{now.sample.removesuffix(' . <eos>')}.”"
    return Scene(338, 180, tuple(marks), says, says)


def law(kl: float, alpha: float, beta: float) -> float:
    """What the true reward gains at a distance: ``d (alpha - beta ln d)`` with ``d`` the root of the divergence.

    Args:
        kl: nats from the reference; positive.
        alpha: reward that the first root of a nat brings.
        beta: how fast that wears off.

    Source: Gao, Schulman and Hilton (2022), arXiv:2210.10760, section 3.1.
    """
    d = math.sqrt(kl)
    return d * (alpha - beta * math.log(d))
