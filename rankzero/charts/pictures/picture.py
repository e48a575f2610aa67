"""A chart with a sentence that says what it shows, and the axes that all such charts share."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rankzero.charts.marks import Axis, Spec
from rankzero.charts.ticks import limits, log_ticks
from rankzero.charts.vega_lite import chart
from rankzero.room import room

#: Vega's expression for a number in a few characters, like :func:`rankzero.charts.ticks.short`.
_SHORT = (
    "datum.value == 0 || (abs(datum.value) >= 1e-3 && abs(datum.value) < 1e4)"
    " ? format(datum.value, '.4~g') : format(datum.value, '.3~s')"
)


@dataclass
class Picture:
    """A view in the grammar of Vega-Lite with ``alt``, a sentence that says what it shows."""

    view: Spec
    alt: str

    def spec(self) -> Spec:
        """The complete chart."""
        return chart(self.view, self.alt)


def finite(value: float) -> float | None:
    """A number as JSON can hold it; None, which leaves a gap, where there is none to draw."""
    return float(value) if math.isfinite(value) else None


def numeric(field: str, title: str, values: Sequence[float], log: bool = False, foot: float | None = None) -> Axis:
    """An axis of numbers around ``values``, or from ``foot`` on.

    Raises:
        ValueError: a number on a logarithmic axis is not positive.
    """
    if not log:
        return ranged(field, title, limits(values))
    ticks, labels = log_ticks(values)
    low, high = limits(values, log=True)
    scale = {"type": "log", "domain": (foot or low, high), "nice": False}
    return Axis(field, title, settings={"scale": scale, "axis": _labelled(ticks, labels)})


def ranged(field: str, title: str, ends: tuple[float, float], **axis: Any) -> Axis:
    """An axis of numbers between two ends; ``axis`` are further properties of how it is drawn."""
    scale = {"domain": ends, "nice": False, "zero": False}
    return Axis(field, title, settings={"scale": scale, "axis": {"labelExpr": _SHORT, "tickCount": 6} | axis})


def named(field: str, title: str, names: Sequence[str], ends: tuple[float, float], down: bool = False) -> Axis:
    """An axis with a name at each of the places 0, 1, ...; the first is on top if it leads ``down``."""
    scale = {"domain": ends, "nice": False, "zero": False, "reverse": down}
    plain = {"grid": False, "ticks": False, "labelLimit": room(320, 110), "labelOverlap": False, "labelPadding": 5}
    return Axis(field, title, settings={"scale": scale, "axis": _labelled(range(len(names)), names) | plain})


def _labelled(ticks: Sequence[float], labels: Sequence[str]) -> Spec:
    """Ticks at given places with given labels."""
    found = f"{json.dumps([*labels])}[indexof({json.dumps([*ticks])}, datum.value)]"
    return {"values": [*ticks], "labelExpr": found}
