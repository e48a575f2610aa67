"""One training step on several replicas, with one weight and whole numbers: what a stepper draws.

>>> training_step().weight
8.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.explore import Box, Label, Mark, Scene

#: The weight before the step, each rank's gradient for its own rows, and the learning rate.
WEIGHT, GRADIENTS, RATE = 10.0, (1.0, 5.0, 3.0, 7.0), 0.5
#: Layout, pixels: margins to the left and above, the distance between boxes, their size.
LEFT, TOP, ACROSS, DOWN, WIDTH, HEIGHT = 52, 24, 70, 30, 60, 24
COLUMNS = ("weight", "own grad", "mean grad", "new weight")


@dataclass(frozen=True)
class Step:
    """A step of gradient descent on several ranks.

    Attributes:
        gradients: each rank's, of the mean loss of its own rows.
        mean: of the gradients, the same on every rank after the all-reduce.
        weight: after the step, the same on every rank.
    """

    gradients: tuple[float, ...]
    mean: float
    weight: float


def training_step(gradients: Sequence[float] = GRADIENTS) -> Step:
    """The step that every rank takes: it moves by the mean of all gradients."""
    mean = sum(gradients) / len(gradients)
    return Step(tuple(gradients), mean, WEIGHT - RATE * mean)


def joined_gradient(gradients: Sequence[float], rows: Sequence[int]) -> float:
    """The gradient of the mean over the rows of all ranks, from the gradients of each rank's own mean."""
    return sum(gradient * count for gradient, count in zip(gradients, rows, strict=True)) / sum(rows)


def replica_scene(step: int) -> Scene:
    """The picture after part ``step`` of 3 of a training step: a row is a rank, a column a number that it holds."""
    done = training_step()
    columns = [[WEIGHT] * len(done.gradients), list(done.gradients)]
    columns += [[done.mean] * len(done.gradients), [done.weight] * len(done.gradients)]
    marks: list[Mark] = [
        Label(LEFT + ACROSS * index + WIDTH / 2, 15, name, size=11, quiet=True) for index, name in enumerate(COLUMNS)
    ]
    for rank in range(len(done.gradients)):
        marks.append(Label(4, TOP + DOWN * rank + 17, f"rank {rank}", "start", quiet=True))
        for index, values in enumerate(columns[: step + 1]):
            equal = index != 1
            box = (LEFT + ACROSS * index, TOP + DOWN * rank, WIDTH, HEIGHT, f"{values[rank]:g}")
            marks.append(Box(*box, tone="right" if equal else "accent", fill=0.6, strong=index == step > 0))
    height = TOP + DOWN * len(done.gradients)
    return Scene(LEFT + ACROSS * len(COLUMNS), height, tuple(marks), _says(step, done), _holds(step, columns))


def _says(step: int, done: Step) -> str:
    own = ", ".join(f"{gradient:g}" for gradient in done.gradients)
    return (
        f"Start. All four ranks hold the same weight, {WEIGHT:g}.",
        f"Step 1, backward. Each rank computes the gradient for its own rows: {own}. Now the ranks differ.",
        f"Step 2, all-reduce. The gradients add up to {sum(done.gradients):g}, and every rank divides the sum by 4: "
        f"{done.mean:g}.",
        f"Step 3, optimizer. Every rank moves its weight by {RATE:g} times {done.mean:g}, from {WEIGHT:g} to "
        f"{done.weight:g}. The replicas are equal again, although no weight was sent.",
    )[step]


def _holds(step: int, columns: Sequence[Sequence[float]]) -> str:
    """All numbers of the picture, for readers who cannot see it."""
    shown = list(zip(COLUMNS, columns, strict=True))[: step + 1]
    return "; ".join(f"{name} by rank: {', '.join(f'{value:g}' for value in row)}" for name, row in shown) + "."
