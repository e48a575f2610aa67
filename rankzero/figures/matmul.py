"""Figures of a matrix product that is split over ranks."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rankzero.charts.marks import COLOURS, ink_on
from rankzero.figures.picture import INK, QUIET, Picture, legend, panels, styled

#: Sizes of X [tokens, in], A [in, out] and Y [tokens, out], in units of the drawing.
_TOKENS, _IN, _OUT = 2.0, 3.0, 4.0
_GREY = "#b8b8b8"


@styled
def split_product(ranks: int) -> Picture:
    """``Y = X A`` split over ranks by output features and by input features: which rank holds which blocks.

    Args:
        ranks: number of ranks, from 1 to 8.
    """
    picture, rows = panels(2, 3, (6.6, 3.7))
    for number, split in enumerate(("output", "input")):
        x, a, y = rows[3 * number : 3 * number + 3]
        _matrix(x, _IN, _TOKENS, ranks if split == "input" else 0, across=True)
        _matrix(a, _OUT, _IN, ranks, across=split == "output")
        _matrix(y, _OUT, _TOKENS, ranks if split == "output" else -1, across=True)
        x.set_title("X", loc="left")
        a.set_title("A", loc="left")
        name = "column-parallel" if split == "output" else "row-parallel"
        y.set_title("Y: slices to join" if split == "output" else "Y: sums to add", loc="left")
        x.set_ylabel(f"{name}\n{split} features split")
    legend(picture, {f"rank {rank}": COLOURS[rank % len(COLOURS)] for rank in range(ranks)})
    picture.alt = (
        f"Y = X A over {ranks} ranks. Output features split: X on every rank, columns of A and slices of Y by rank. "
        "Input features split: columns of X and rows of A by rank, a partial sum of all of Y on every rank."
    )
    return picture


def _matrix(axes: Axes, width: float, height: float, blocks: int, across: bool) -> None:
    """Draw a matrix split into ``blocks``; 0 means a replicated matrix, -1 a partial sum on every rank."""
    axes.set(xlim=(-0.1, _OUT + 0.1), ylim=(_IN + 0.1, -0.1), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    if blocks < 1:
        look: dict[str, Any] = {"facecolor": _GREY, "edgecolor": INK, "linewidth": 0.6}
        if blocks:
            look |= {"edgecolor": QUIET, "hatch": "////"}
        axes.add_patch(Rectangle((0, 0), width, height, **look))
        text = "a partial sum of all of Y\non every rank" if blocks else "all of X\non every rank"
        box = {"facecolor": _GREY, "edgecolor": "none", "pad": 1.5}
        axes.text(width / 2, height / 2, text, ha="center", va="center", color=ink_on(_GREY), fontsize=8, bbox=box)
    for rank in range(blocks):
        size = (width / blocks, height) if across else (width, height / blocks)
        corner = (rank * size[0], 0) if across else (0, rank * size[1])
        colour = COLOURS[rank % len(COLOURS)]
        axes.add_patch(Rectangle(corner, *size, facecolor=colour, edgecolor=INK, linewidth=0.6))
        middle = (corner[0] + size[0] / 2, corner[1] + size[1] / 2)
        axes.text(*middle, str(rank), ha="center", va="center", color=ink_on(colour), fontsize=8)
