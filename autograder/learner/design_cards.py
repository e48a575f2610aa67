"""What a design shows: its choices, and the picture of its two costs with the front and the reader's own point."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from autograder.items import Design
from autograder.learner.card_frame import in_book
from autograder.marking import designs
from autograder.marking.designs import Values
from autograder.markup import inline

NAME = "Design"
WIDTH, HEIGHT, LEFT, BOTTOM, EDGE = 480, 280, 20, 44, 24


def call(item: Design) -> str:
    """The call that answers it, with a blank for each choice."""
    return f'design("{item.id}", {", ".join(f"{knob.name}=..." for knob in item.knobs)})'


def advice(_item: Design) -> str:
    """What to put into the call."""
    return "one option for each choice"


def fields(item: Design) -> str:
    """A list of options for each choice."""
    return "".join(
        f'<p class="rz-knob"><label><span>{inline(knob.label, True)}</span> '
        f'<select><option value="">choose</option>'
        + "".join(f"<option>{option}</option>" for option in knob.options)
        + "</select></label></p>"
        for knob in item.knobs
    )


def asked(item: Design) -> str:
    """The choices and their options, without fields."""
    named = (f"{inline(knob.label, in_book())}: {', '.join(map(str, knob.options))}" for knob in item.knobs)
    return "<ul>" + "".join(f"<li>{text}</li>" for text in named) + "</ul>"


def lines(item: Design) -> list[str]:
    """The same for a terminal."""
    return [f"{knob.label}: {', '.join(map(str, knob.options))}" for knob in item.knobs]


def places(item: Design) -> dict[Values, tuple[float, float]]:
    """Where each design that can be built lies in the picture; both axes are logarithmic."""
    fits = designs.buildable(item)
    across, up = (_shares([made.costs[axis] for made in fits.values()]) for axis in (0, 1))
    wide, high = WIDTH - LEFT - EDGE, HEIGHT - BOTTOM - EDGE
    return {
        values: (round(LEFT + wide * x, 1), round(HEIGHT - BOTTOM - high * y, 1))
        for values, x, y in zip(fits, across, up, strict=True)
    }


def _shares(costs: list[float]) -> list[float]:
    """Where each cost lies between the least, 0, and the greatest, 1, on a logarithmic scale."""
    low, high = math.log(min(costs)), math.log(max(costs))
    return [(math.log(cost) - low) / ((high - low) or 1.0) for cost in costs]


def picture(item: Design, yours: Values | None = None) -> str:
    """The front as a drawing: less is better on both axes. ``yours`` is marked if it can be built."""
    at = places(item)
    best = [at[values] for values in designs.front(item)]
    line = " ".join(f"{x},{y}" for x, y in best)
    points = "".join(f'<circle cx="{x}" cy="{y}" r="5" opacity="0.55"/>' for x, y in best)
    mark = own_point(*at[yours]) if yours is not None and yours in at else ""
    across, up = item.axes
    ends = [designs.table(item)[values] for values in designs.front(item)]
    pairs = " to ".join(f"{x:.3g} {across.unit} and {y:.3g} {up.unit}" for x, y in (ends[0].costs, ends[-1].costs))
    alt = f"The best designs by {across.label} and {up.label}: from {pairs}."
    return (
        f'<svg class="rz-front" role="img" aria-label="{escape(alt)}" viewBox="0 0 {WIDTH} {HEIGHT}" font-size="15" '
        f'fill="currentColor" style="max-width:{WIDTH}px;width:100%">'
        f'<path d="M{LEFT} {EDGE / 2} V{HEIGHT - BOTTOM + 8} H{WIDTH}" fill="none" stroke="currentColor"/>'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-dasharray="4 4"/>{points}'
        f'<g class="rz-tries">{mark}</g>'
        f'<text x="{LEFT + 8}" y="{EDGE / 2 + 8}">↑ {escape(up.label)}, {escape(up.unit)}</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 14}" text-anchor="end">{escape(across.label)}, {escape(across.unit)} →</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 14}">● the best ■ yours</text></svg>'
    )


def own_point(x: float, y: float) -> str:
    """The reader's own design; the page's script draws the same."""
    return f'<rect class="rz-yours" x="{x - 6:g}" y="{y - 6:g}" width="12" height="12"/>'


def data(item: Design) -> dict[str, Any]:
    """What the page needs to judge a design and to draw it."""
    at = places(item)
    rows = {}
    for values in designs.table(item):
        right, sentence = designs.judged(item, values)
        rows["|".join(map(str, values))] = {"right": right, "sentence": sentence, "at": at.get(values)}
    return {"id": item.id, "kind": "design", "rows": rows, "missing": "Choose one of each."}
