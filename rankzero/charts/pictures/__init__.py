"""Pictures of :mod:`rankzero.figures` as Vega-Lite charts: modules, functions and arguments with the same names.

A page of the book has no Matplotlib. Where it runs a cell with a reader's own function, this package takes the place of
:mod:`rankzero.figures` (``tools/own_runs.py`` lists the functions). What a chart shows and what a figure shows is
computed by the same code, which stands here. Standard library only: this runs in browsers.
"""

from rankzero.charts.pictures import plots, schedules
from rankzero.charts.pictures.picture import Picture

__all__ = ["Picture", "plots", "schedules"]
