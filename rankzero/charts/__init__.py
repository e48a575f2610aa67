"""Charts for explorers, as Vega-Lite specifications in plain dicts. Standard library only: this runs in browsers."""

from rankzero.charts.graphs import graph, timeline
from rankzero.charts.marks import COLOURS, RECEIVED, SENT, STRIPES, Axis, Block, Spec, State, blocks, ink_on
from rankzero.charts.vega_lite import bars, below, beside, chart, grid, lines, shares, stacks, table

__all__ = [
    "COLOURS",
    "RECEIVED",
    "SENT",
    "STRIPES",
    "Axis",
    "Block",
    "Spec",
    "State",
    "bars",
    "below",
    "beside",
    "blocks",
    "chart",
    "graph",
    "grid",
    "ink_on",
    "lines",
    "shares",
    "stacks",
    "table",
    "timeline",
]
