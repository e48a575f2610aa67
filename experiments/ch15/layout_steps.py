"""Sixteen GPUs in four dimensions of two: with whom one of them talks, and how often. Standard library only.

>>> partners(5)
{'TP': 4, 'CP': 7, 'PP': 1, 'DP': 13}
"""

from __future__ import annotations

from rankzero.explore import Box, Label, Scene
from rankzero.explore.scene import Tone

#: The dimensions from the inside out, and the ranks of each.
DIMENSIONS = ("TP", "CP", "PP", "DP")
SIZE = 2
GPUS = SIZE ** len(DIMENSIONS)
#: The GPU that the pictures follow.
CHOSEN = 5

#: Layout of the picture, pixels.
LEFT, TOP = 92, 40
WIDTH, HEIGHT, GAP, DOWN = 54, 28, 4, 34
NODE = 2 * WIDTH + 14

_SENDS = {
    "TP": "parts of every layer's result, several times per layer, and both wait for them",
    "CP": "keys and values of their halves of the sequence, in every layer",
    "PP": "a micro-batch's activations, once on the way forward, and their gradient on the way back",
    "DP": "gradients and weights, once in a whole step; much of this can overlap with computing",
}


def coordinates(rank: int) -> dict[str, int]:
    """A GPU's place in each dimension; the first dimension changes fastest."""
    return {name: rank // SIZE**index % SIZE for index, name in enumerate(DIMENSIONS)}


def partners(rank: int) -> dict[str, int]:
    """By dimension, the GPU that differs from ``rank`` in that dimension alone."""
    return {name: rank ^ SIZE**index for index, name in enumerate(DIMENSIONS)}


def layout_scene(step: int) -> Scene:
    """All GPUs, and from step 1 on the partner of the chosen one in dimension ``step``."""
    name = DIMENSIONS[step - 1] if step else ""
    partner = partners(CHOSEN)[name] if name else None
    marks: list[Box | Label] = [
        Label(LEFT, 14, "nodes of two GPUs from left to right", "start", quiet=True, size=11),
        *(_column(index) for index in range(SIZE)),
        *(_row(index) for index in range(SIZE * SIZE)),
        *(_gpu(rank, partner) for rank in range(GPUS)),
    ]
    return Scene(LEFT + 2 * NODE + 2, TOP + 4 * DOWN, tuple(marks), _says(step, name, partner), _holds(partner))


def _column(cp: int) -> Label:
    return Label(LEFT + NODE * cp + WIDTH, 32, f"CP {cp}: TP 0, TP 1", quiet=True, size=11)


def _row(index: int) -> Label:
    return Label(2, TOP + DOWN * index + 18, f"DP {index // SIZE}, stage {index % SIZE}", "start", quiet=True, size=11)


def _gpu(rank: int, partner: int | None) -> Box:
    at = coordinates(rank)
    x = LEFT + NODE * at["CP"] + (WIDTH + GAP) * at["TP"]
    y = TOP + DOWN * (SIZE * at["DP"] + at["PP"])
    marked = rank in (CHOSEN, partner)
    tone: Tone = "right" if rank == partner else "accent"
    return Box(x, y, WIDTH, HEIGHT, f"GPU {rank}", "", tone, 0.9 if marked else 0.0, marked, 11)


def _says(step: int, name: str, partner: int | None) -> str:
    if not step:
        return (
            f"Start. {GPUS} GPUs, numbered with TP fastest, then CP, PP and DP. Neighbors {CHOSEN - 1} and {CHOSEN} "
            "share a node, where links are fastest."
        )
    where = "in the same node" if partner == CHOSEN ^ 1 else f"{abs(CHOSEN - int(partner or 0))} places away"
    return f"{name}: GPU {CHOSEN} talks to GPU {partner}, {where}. They exchange {_SENDS[name]}."


def _holds(partner: int | None) -> str:
    rows = ("DP 0, stage 0: GPUs 0 to 3", "stage 1: 4 to 7", "DP 1, stage 0: 8 to 11", "stage 1: 12 to 15")
    marked = f" Marked: {CHOSEN} and {partner}." if partner is not None else f" Marked: {CHOSEN}."
    return f"{'; '.join(rows)}; two to a node.{marked}"
