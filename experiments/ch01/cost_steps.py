"""What one weight costs for one token: six operations, one by one, as a stepper draws them. Standard library only.

>>> [one.what for one in operations() if one.phase == "forward"]
['3 × 2 = 6', '10 + 6 = 16']
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone

#: A weight and its input, what the output's sum is so far, and the gradient that comes back to the output.
WEIGHT, INPUT, SUM, BACK = 3, 2, 10, 5
#: Sums so far of the gradient of the input, which other weights add to, and of that of the weight (other tokens).
INPUT_GRADIENT, WEIGHT_GRADIENT = 20, 40
#: Sizes of text: in boxes, and beside them.
TEXT, SMALL = 11, 10


@dataclass(frozen=True)
class Operation:
    """One multiplication or addition.

    Attributes:
        phase: forward or backward.
        target: what it is for.
        what: the operation with its numbers.
    """

    phase: str
    target: str
    what: str


def operations() -> list[Operation]:
    """All that a matrix product does with one weight and one token."""
    result = []
    for phase, target, first, second, total in (
        ("forward", "output", WEIGHT, INPUT, SUM),
        ("backward", "gradient of the input", WEIGHT, BACK, INPUT_GRADIENT),
        ("backward", "gradient of the weight", INPUT, BACK, WEIGHT_GRADIENT),
    ):
        product = first * second
        result.append(Operation(phase, target, f"{first} × {second} = {product}"))
        result.append(Operation(phase, target, f"{total} + {product} = {total + product}"))
    return result


def weight_scene(step: int) -> Scene:
    """The picture after ``step`` results: a row for each, in it a multiplication and an addition."""
    marks: list[Box | Label] = [
        Label(130, 11, "multiply", size=SMALL, quiet=True),
        Label(212, 11, "add", size=SMALL, quiet=True),
    ]
    for row in range(3):
        first, second = operations()[2 * row : 2 * row + 2]
        y = 17 + 30 * row
        tone: Tone = "accent" if first.phase == "forward" else "right"
        name = first.target.removeprefix("gradient of the ")
        marks.append(Label(4, y + 11, first.phase, "start", SMALL, True))
        marks.append(Label(4, y + 22, name if row == 0 else f"grad. of {name}", "start", SMALL))
        for column, one in enumerate((first, second)):
            done = row < step
            text = one.what if done else ""
            marks.append(Box(92 + 82 * column, y, 76, 25, text, "", tone, 0.6 * done, row == step - 1, TEXT))
    return Scene(254, 17 + 30 * 2 + 29, tuple(marks), _says(step), _alt(step))


def _says(step: int) -> str:
    if step == 0:
        return f"One weight, {WEIGHT}, and one token, whose input at this place is {INPUT}. Nothing is computed yet."
    first, second = operations()[2 * step - 2 : 2 * step]
    ends = ("The forward pass has cost 2 FLOP.", "So far 4 FLOP.", "The backward pass has cost 4 FLOP, both passes 6.")
    return (
        f"{first.phase.capitalize()}, for the {first.target}: {first.what}, and added to what is there, {second.what}. "
        f"{ends[step - 1]}"
    )


def _alt(step: int) -> str:
    done = "; ".join(
        f"{operation.phase}, {operation.target}: {operation.what}" for operation in operations()[: 2 * step]
    )
    return f"{done[:1].upper()}{done[1:]}." if done else "Nothing is computed yet."
