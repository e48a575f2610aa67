"""Charts of pipeline schedules, drawn from simulated times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Rectangle

from rankzero.charts.marks import COLOURS, ink_on
from rankzero.figures.picture import INK, SMALL, Picture, counted, legend, panels, styled
from rankzero.sim.schedules import NAMES, Kind, Times, parse_op, stages_of

#: The colour of each kind of operation.
KIND_COLOURS: dict[Kind, str] = {"F": COLOURS[0], "B": COLOURS[1], "I": COLOURS[1], "W": COLOURS[2]}


@styled
def draw(times: Times | Mapping[str, Times], ranks: int | None = None, unit: str = "units of time") -> Picture:
    """A chart of a simulated schedule: a row for each rank, and for each operation a bar with its micro-batch.

    Args:
        times: start and end of every operation; or several schedules by name, stacked on one time axis.
        ranks: number of ranks; stage s runs on rank ``s mod ranks``, and later chunks of a rank are darker. None gives
            every stage a rank of its own.
        unit: unit of the times.
    """
    several = any(isinstance(value, Mapping) for value in times.values())
    charts = cast("Mapping[str, Times]", times if several else {"": times})
    rows = {name: ranks or max(1, stages_of(chart)) for name, chart in charts.items()}
    heights = [0.45 + 0.3 * count for count in rows.values()]
    size = (7.2, sum(heights) + 0.6)
    picture, panes = panels(len(charts), 1, size, sharex=True, gridspec_kw={"height_ratios": heights})
    span = max((end for chart in charts.values() for _, end in chart.values()), default=1.0)
    for axes, (name, chart) in zip(panes, charts.items(), strict=True):
        _chart(axes, chart, rows[name], span)
        axes.set(title=name, ylabel="rank", ylim=(rows[name] - 0.5, -0.5), yticks=range(rows[name]))
    panes[-1].set(xlabel=f"time ({unit})", xlim=(0, span * 1.005))
    used = {parse_op(op)[1] for chart in charts.values() for op in chart}
    legend(picture, {NAMES[kind]: colour for kind, colour in KIND_COLOURS.items() if kind in used})
    picture.alt = _alt(charts, rows, unit)
    return picture


def _chart(axes: Axes, times: Times, ranks: int, span: float) -> None:
    chunks = max(1, -(-stages_of(times) // ranks))
    for op, (start, end) in times.items():
        stage, kind, microbatch = parse_op(op)
        ground = _shade(KIND_COLOURS[kind], stage // ranks, chunks)
        corner = (start, stage % ranks - 0.4)
        axes.add_patch(Rectangle(corner, end - start, 0.8, facecolor=ground, edgecolor=INK, linewidth=0.4))
        if end - start > 0.012 * span * len(str(microbatch)):
            middle = ((start + end) / 2, stage % ranks)
            axes.text(*middle, str(microbatch), ha="center", va="center", fontsize=SMALL, color=ink_on(ground))


def _shade(colour: str, chunk: int, chunks: int) -> str:
    """The colour of a chunk: the first has the given colour, later ones are darker."""
    share = 1 - 0.5 * chunk / chunks
    red, green, blue = (part * share for part in to_rgb(colour))
    return to_hex((red, green, blue))


def _alt(charts: Mapping[str, Times], rows: Mapping[str, int], unit: str) -> str:
    sentences = []
    for name, chart in charts.items():
        end = max((end for _, end in chart.values()), default=0.0)
        text = f"{counted(len(chart), 'operation')} on {counted(rows[name], 'rank')}, finished after {end:.4g} {unit}"
        sentences.append(f"{name}: {text}" if name else text)
    return "; ".join(sentences) + "."
