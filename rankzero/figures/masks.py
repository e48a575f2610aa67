"""Figures of masks and activity: grids of small squares, filled or empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rankzero.charts.marks import COLOURS
from rankzero.figures.picture import QUIET, Picture, legend, panels, styled, within

#: Colours of a square: empty, the first kind, the second kind.
FILLS = ("none", COLOURS[0], COLOURS[1])


@styled
def squares(grids: Mapping[str, Sequence[Sequence[int]]], *, x: str, y: str, names: Sequence[str], alt: str) -> Picture:
    """Grids of squares side by side; the first row is on top.

    Args:
        grids: by title, rows of numbers: 0 for an empty square, 1 and 2 for squares of the first and second kind.
        x: what the columns are.
        y: what the rows are.
        names: names of the two kinds; one is enough if no square is of the second kind.
        alt: one sentence that says what the figure shows.

    Raises:
        ValueError: a kind has no name.
    """
    most = max((cell for grid in grids.values() for row in grid for cell in row), default=0)
    if not most <= len(names) < len(FILLS):
        raise ValueError(f"names must cover the kinds 1 to {most} and be at most {len(FILLS) - 1}, got {len(names)}")
    widths = [len(grid[0]) for grid in grids.values()]
    heights = [len(grid) for grid in grids.values()]
    size = 0.9 + 0.17 * sum(widths) + 0.4 * len(grids), 1.2 + 0.17 * max(heights)
    picture, views = panels(1, len(grids), size, gridspec_kw={"width_ratios": widths})
    for index, (axes, (title, grid)) in enumerate(zip(views, grids.items(), strict=True)):
        _grid(axes, grid)
        axes.set(title=title, xlabel=x, ylabel="" if index else y)
    legend(picture, dict(zip(names, FILLS[1:], strict=False)))
    picture.alt = alt
    return picture


def _grid(axes: Axes, grid: Sequence[Sequence[int]]) -> None:
    rows, columns = len(grid), len(grid[0])
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(0, columns, 5))
    axes.set_yticks(range(0, rows, 5))
    axes.spines[:].set_visible(False)
    for row, cells in enumerate(grid):
        for column, cell in enumerate(cells):
            corner = (column - 0.45, row - 0.45)
            within(axes, Rectangle(corner, 0.9, 0.9, facecolor=FILLS[cell], edgecolor=QUIET, linewidth=0.4))
