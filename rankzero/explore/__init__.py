"""Explorers: interactive charts, each a pure function and its controls, in notebooks and in the pages of the book.

A stepper is an explorer whose one control is the step: a few pictures, each drawn by a pure function of its number.
"""

from rankzero.explore.controls import Choice, Control, Range, Vector, shown
from rankzero.explore.display import VEGA_LITE, defaults, explore, figure, label, still, widget
from rankzero.explore.scene import Arrow, Box, Label, Mark, Scene
from rankzero.explore.steppers import frames, step_figure, step_widget, stepper

__all__ = [
    "VEGA_LITE",
    "Arrow",
    "Box",
    "Choice",
    "Control",
    "Label",
    "Mark",
    "Range",
    "Scene",
    "Vector",
    "defaults",
    "explore",
    "figure",
    "frames",
    "label",
    "shown",
    "step_figure",
    "step_widget",
    "stepper",
    "still",
    "widget",
]
