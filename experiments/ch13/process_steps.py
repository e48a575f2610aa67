"""What 13.24 draws and runs: marks for each step of an answer beside one mark at its end.

>>> [round(one, 1) for one in progress()]
[0.1, 0.1, -0.4, 0.0, 0.5, 0.2]
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Mark

#: Six steps of a derivation that ends right: which are right, and the chance of a right end before and after each.
RIGHT = (True, True, False, True, True, True)
CHANCES = (0.5, 0.6, 0.7, 0.3, 0.3, 0.8, 1.0)


def outcome() -> list[float]:
    """One mark at the end."""
    return [0.0] * (len(RIGHT) - 1) + [1.0]


def step_marks() -> list[float]:
    """1 for each right step."""
    return [float(right) for right in RIGHT]


def progress() -> list[float]:
    """By how much each step changed the chance of a right end."""
    return [after - before for before, after in pairwise(CHANCES)]


def to_go(pay: list[float]) -> list[float]:
    """What is still to come from each step on, the step's own pay included."""
    return list(accumulate(reversed(pay)))[::-1]


def process_scene(step: int) -> Scene:
    """Step 0: the steps; 1: one mark at the end; 2: a mark for each right step; 3: the change of the chance."""
    marks: list[Mark] = [Label(4, 25, "step", "start", 11)]
    for place, right in enumerate(RIGHT):
        tone = "right" if right else "accent"
        marks.append(Box(86 + 42 * place, 8, 38, 26, "right" if right else "wrong", tone=tone, fill=0.5, size=10))
    for row, (name, pay) in enumerate(zip(NAMES[:step], (outcome(), step_marks(), progress()), strict=False)):
        top = 48 + 66 * row
        for line, (label, values) in enumerate(((name, pay), ("still to come", to_go(pay)))):
            marks.append(Label(4, top + 17 + 28 * line, label, "start", 10, quiet=line == 1))
            for place, value in enumerate(values):
                text = f"{value:+.1f}" if row == 2 else f"{value:g}"
                box = (86 + 42 * place, top + 28 * line, 38, 24)
                tone = "quiet" if line == 0 else "accent"
                fill = min(0.6, abs(value) / 4 + (0.1 if value else 0))
                marks.append(Box(*box, text, tone=tone, fill=fill, strong=row == step - 1 and line == 1, size=11))
    held = "; ".join(
        f"{name}: {', '.join(f'{value:.1f}' for value in to_go(pay))}"
        for name, pay in zip(NAMES[:step], (outcome(), step_marks(), progress()), strict=False)
    )
    return Scene(340, 240, tuple(marks), _SAYS[step], f"Six steps, the third is wrong. {held or 'No marks yet'}.")


NAMES = ("end only", "right steps", "progress")
_SAYS = (
    "Six steps of a derivation. The third is wrong, the fifth finds the error, and the result is right.",
    "One mark at the end: from every step on, the same is still to come. The wrong step is praised like the others.",
    "A mark for each right step: 5 from the first step on. Seven right steps would be worth more than six.",
    "The change of the chance: the wrong step cost 0.4. The whole sum is 0.5, however many steps there are.",
)
