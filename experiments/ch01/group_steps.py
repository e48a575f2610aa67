"""Groups of a world of 4 ranks, and of 16, axis by axis: what steppers draw. Standard library only.

>>> SQUARE, SIZES
({'copy': 2, 'half': 2}, {'pp': 4, 'dp': 2, 'tp': 2})
>>> groups_of(11)
{'tp': [10, 11], 'dp': [9, 11], 'pp': [3, 7, 11, 15]}
"""

from __future__ import annotations

import math

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone
from solutions.ch01.ranks import coordinates, process_groups

#: Two copies of a model, each cut in half: four ranks, slowest axis first.
SQUARE = {"copy": 2, "half": 2}
#: The axes in the order in which the picture shows them, and what the members of a group share and exchange.
SIDES = {
    "half": "Each holds a half of one copy, and they exchange activations forward and their gradients backward",
    "copy": "Both hold the same half and see different data, and they average their gradients once a step",
}
#: The 16 GPUs of the example in Megatron's documentation, slowest axis first.
SIZES = {"pp": 4, "dp": 2, "tp": 2}
#: The axes in the order in which the picture shows them, and what the members of a group share and exchange.
AXES = {
    "tp": "Each holds a slice of the same layers, and they exchange results inside every layer",
    "dp": "Both hold the same weights and see different data, and they average their gradients once a step",
    "pp": "They hold the layers one after another, and each hands its activations to the next",
}
#: The rank whose three groups the last picture shows.
MINE = 11
#: Looks of neighbouring groups: a tone, and how much of it.
LOOKS: tuple[tuple[Tone, float], ...] = (("accent", 0.45), ("right", 0.45), ("accent", 1.0), ("right", 1.0))
NO_LOOK: tuple[Tone, float] = ("quiet", 0.0)
LEFT, TOP, ACROSS, DOWN, WIDTH, HEIGHT = 32, 30, 54, 28, 50, 24
#: The same of the square: its left edge, the distances of columns and rows, and the size of a box.
EDGE, APART, BELOW, WIDE, HIGH = 48, 118, 46, 112, 38
#: Sizes of text: in boxes, and beside them.
TEXT, SMALL = 12, 10


def groups_of(rank: int) -> dict[str, list[int]]:
    """The group of a rank along each axis."""
    return {axis: next(group for group in process_groups(SIZES, axis) if rank in group) for axis in AXES}


def square_scene(step: int) -> Scene:
    """Four ranks alone, then their groups along each axis: a row is a copy of the model, a column a half of it."""
    axis = [*SIDES][step - 1] if step else ""
    groups = process_groups(SQUARE, axis) if axis else []
    marks: list[Box | Label] = []
    for half, layers in enumerate(("first layers", "last layers")):
        marks.append(Label(EDGE + APART * half + WIDE / 2, 12, f"half {half}", size=SMALL, quiet=True))
        for copy in range(2):
            rank = 2 * copy + half
            tone, fill = LOOKS[next(index for index, group in enumerate(groups) if rank in group)] if axis else NO_LOOK
            place = EDGE + APART * half, 20 + BELOW * copy
            marks.append(Box(*place, WIDE, HIGH, f"rank {rank}", layers, tone, fill, False, TEXT))
    marks += [Label(4, 44 + BELOW * copy, f"copy {copy}", "start", SMALL, True) for copy in range(2)]
    if axis:
        says = f"Along {axis}, the groups are {groups[0]} and {groups[1]}. {SIDES[axis]}."
    else:
        says = "Four ranks as an array: 2 copies of a model, each cut in 2 halves."
    return Scene(EDGE + APART + WIDE + 2, 20 + BELOW + HIGH + 4, tuple(marks), says, says)


def groups_scene(step: int) -> Scene:
    """The ranks alone, their groups along tp, dp and pp, and the three groups of one rank.

    A row is a pipeline stage; it shows the two copies, each with its two slices.
    """
    marks: list[Box | Label] = [
        Label(LEFT + ACROSS - 2, 11, "dp 0", size=SMALL, quiet=True),
        Label(LEFT + 3 * ACROSS - 2, 11, "dp 1", size=SMALL, quiet=True),
        *(
            Label(LEFT + ACROSS * column + WIDTH / 2, 24, f"tp {column % 2}", size=SMALL, quiet=True)
            for column in range(4)
        ),
        *(Label(4, TOP + DOWN * stage + 16, f"pp {stage}", "start", SMALL, True) for stage in range(SIZES["pp"])),
    ]
    for rank in range(math.prod(SIZES.values())):
        stage, column = divmod(rank, 4)
        tone, fill, strong = _look(step, rank)
        place = LEFT + ACROSS * column, TOP + DOWN * stage
        marks.append(Box(*place, WIDTH, HEIGHT, f"{rank}", "", tone, fill, strong, TEXT))
    size = LEFT + 4 * ACROSS, TOP + 3 * DOWN + HEIGHT + 4
    return Scene(*size, tuple(marks), _says(step), _alt(step))


def _look(step: int, rank: int) -> tuple[Tone, float, bool]:
    """Tone, fill and outline of a rank's box."""
    if step == 0:
        return "quiet", 0.0, False
    if step > len(AXES):
        return (
            "accent",
            1.0 if rank == MINE else 0.45 * any(rank in group for group in groups_of(MINE).values()),
            rank == MINE,
        )
    groups = process_groups(SIZES, [*AXES][step - 1])
    return (*LOOKS[next(index for index, group in enumerate(groups) if rank in group) % 4], False)


def _says(step: int) -> str:
    if step == 0:
        return "Sixteen ranks as an array: 4 pipeline stages, in each 2 copies of the model, each cut into 2 slices."
    if step > len(AXES):
        own = coordinates(MINE, SIZES)
        place = ", ".join(f"{axis} {position}" for axis, position in own.items())
        found = "; ".join(f"{axis} {group}" for axis, group in groups_of(MINE).items())
        return f"Rank {MINE} is at {place}. It is in one group along each axis: {found}."
    axis = [*AXES][step - 1]
    groups = process_groups(SIZES, axis)
    return f"{len(groups)} {axis} groups of {len(groups[0])}, such as {groups[0]} and {groups[1]}. {AXES[axis]}."


def _alt(step: int) -> str:
    if step == 0 or step > len(AXES):
        return _says(step)
    axis = [*AXES][step - 1]
    return f"Groups along {axis}, each in one color: {', '.join(map(str, process_groups(SIZES, axis)))}."
