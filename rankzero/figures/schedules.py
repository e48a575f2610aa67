"""Charts of pipeline schedules, drawn from simulated times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from rankzero.charts.marks import ink_on
from rankzero.charts.pictures.schedules import KIND_COLOURS, kinds_of, laid, rows_of, said, several, span_of
from rankzero.figures.picture import INK, SMALL, Picture, legend, panels, styled, within
from rankzero.sim.schedules import NAMES, Times


@styled
def draw(times: Times | Mapping[str, Times], ranks: int | None = None, unit: str = "units of time") -> Picture:
    """A chart of a simulated schedule: a row for each rank, and for each operation a bar with its micro-batch.

    Args:
        times: start and end of every operation; or several schedules by name, stacked on one time axis.
        ranks: number of ranks; stage s runs on rank ``s mod ranks``, and later chunks of a rank are darker. None gives
            every stage a rank of its own.
        unit: unit of the times.
    """
    charts = several(times)
    rows, span = rows_of(charts, ranks), span_of(charts)
    heights = [0.45 + 0.3 * count for count in rows.values()]
    size = (7.2, sum(heights) + 0.6)
    picture, panes = panels(len(charts), 1, size, sharex=True, gridspec_kw={"height_ratios": heights})
    for axes, (name, chart) in zip(panes, charts.items(), strict=True):
        _chart(axes, chart, rows[name], span)
        axes.set(title=name, ylabel="rank", ylim=(rows[name] - 0.5, -0.5), yticks=range(rows[name]))
    panes[-1].set(xlabel=f"time ({unit})", xlim=(0, span * 1.005))
    legend(picture, {NAMES[kind]: KIND_COLOURS[kind] for kind in kinds_of(charts)})
    picture.alt = said(charts, rows, unit)
    return picture


def _chart(axes: Axes, times: Times, ranks: int, span: float) -> None:
    for bar in laid(times, ranks, span):
        corner = (bar.start, bar.rank - 0.4)
        size = (bar.end - bar.start, 0.8)
        within(axes, Rectangle(corner, *size, facecolor=bar.colour, edgecolor=INK, linewidth=0.4))
        if bar.label:
            middle = ((bar.start + bar.end) / 2, bar.rank)
            centred: Any = {"ha": "center", "va": "center", "in_layout": False}
            axes.text(*middle, bar.label, fontsize=SMALL, color=ink_on(bar.colour), **centred)
