"""Figures: of runs, plots of numbers, diagrams, and the figures of single chapters, in one module for each kind.

Every function returns a :class:`~rankzero.figures.picture.Picture`: a Matplotlib figure with an attribute ``alt``, one
sentence that says what the figure shows.
"""

from rankzero.figures import (
    decoding,
    diagrams,
    kv_cache,
    masks,
    matmul,
    placement,
    plots,
    rl,
    rlhf,
    schedules,
    serving,
    weight_sync,
)
from rankzero.figures.picture import INK, STYLE, Picture
from rankzero.figures.runs import Run, block_picture, heat_map, ledger_bars, matrix, messages, routing, spacetime

__all__ = [
    "INK",
    "STYLE",
    "Picture",
    "Run",
    "block_picture",
    "decoding",
    "diagrams",
    "heat_map",
    "kv_cache",
    "ledger_bars",
    "masks",
    "matmul",
    "matrix",
    "messages",
    "placement",
    "plots",
    "rl",
    "rlhf",
    "routing",
    "schedules",
    "serving",
    "spacetime",
    "weight_sync",
]
