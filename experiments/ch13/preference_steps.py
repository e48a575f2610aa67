"""What the stepper of 13.22 draws: a policy is tilted by rewards, and the rewards are read off it again.

Standard library only.

>>> [round(share, 3) for share in tilted()]
[0.279, 0.379, 0.343]
>>> [round(score, 3) for score in read_back()]
[-0.768, 0.232, 1.232]
"""

from __future__ import annotations

import math

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Mark
from solutions.ch13.kl import tilted_policy

#: Three answers to one prompt: the reference's probabilities, their rewards, and the price of a nat.
REFERENCE, REWARDS, BETA = (0.6, 0.3, 0.1), (0.0, 1.0, 2.0), 1.0


def weighted() -> list[float]:
    """Each answer's probability under the reference, times e to the reward over beta."""
    return [share * math.exp(reward / BETA) for share, reward in zip(REFERENCE, REWARDS, strict=True)]


def tilted() -> list[float]:
    """The best policy at this price."""
    return tilted_policy(REFERENCE, REWARDS, BETA)


def read_back() -> list[float]:
    """Beta times the log-ratio of the best policy to the reference: each reward minus the same constant."""
    return [BETA * math.log(new / old) for new, old in zip(tilted(), REFERENCE, strict=True)]


def tilt_scene(step: int) -> Scene:
    """Step 0: the reference and the rewards; 1: times e^reward; 2: divided by the sum; 3: rewards read back."""
    rows = (("reference", REFERENCE), ("times e^r", weighted()), ("best policy", tilted()), ("log-ratio", read_back()))
    marks: list[Mark] = [Label(4, 15, "reward", "start", 11, quiet=True)]
    for place, reward in enumerate(REWARDS):
        marks.append(Label(128 + 84 * place, 15, f"answer {'ABC'[place]}: {reward:g}", size=11))
    for row, (name, values) in enumerate(rows[: step + 1]):
        top = 26 + 42 * row
        marks.append(Label(4, top + 21, name, "start", 11))
        for place, value in enumerate(values):
            text = f"{value:+.2f}" if row == 3 else f"{value:.2f}"
            fill = min(1.0, abs(value))
            tone = "quiet" if row == 0 else "right" if row == 3 else "accent"
            marks.append(Box(90 + 84 * place, top, 76, 32, text, tone=tone, fill=fill, strong=row == step > 0, size=12))
    held = "; ".join(f"{name}: {', '.join(f'{value:.2f}' for value in values)}" for name, values in rows[: step + 1])
    return Scene(338, 196, tuple(marks), _SAYS[step], f"Rewards 0, 1, 2. {held}.")


_SAYS = (
    "Three answers, the probabilities with which the reference writes them, and their rewards. A nat costs 1.",
    f"Each probability times e to the reward. The sum is {sum(weighted()):.2f}, not 1.",
    "Divided by their sum: the policy that no other one beats at this price.",
    "The logarithm of new over old: -0.77, 0.23, 1.23. From answer to answer it differs by 1, as the rewards do.",
)
