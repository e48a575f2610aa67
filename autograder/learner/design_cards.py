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

#: The two costs of a design.
Costs = tuple[float, float]

NAME = "Design"
#: Size of the picture and its margins, and of a letter, pixels.
WIDTH, HEIGHT, LEFT, BOTTOM, EDGE, LETTER = 480, 310, 56, 74, 24, 15


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
    costs = [made.costs for made in fits.values()]
    return {values: (_across(costs, made.costs[0]), _up(costs, made.costs[1])) for values, made in fits.items()}


def _across(costs: list[Costs], cost: float) -> float:
    """The horizontal place of a cost."""
    return round(LEFT + (WIDTH - LEFT - EDGE) * _share([one[0] for one in costs], cost), 1)


def _up(costs: list[Costs], cost: float) -> float:
    """The vertical place of a cost."""
    return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - EDGE) * _share([one[1] for one in costs], cost), 1)


def _share(costs: list[float], cost: float) -> float:
    """Where a cost lies between the least, 0, and the greatest, 1, on a logarithmic scale."""
    low, high = math.log(min(costs)), math.log(max(costs))
    return (math.log(cost) - low) / ((high - low) or 1.0)


#: The digits of the numbers on an axis, from many to few.
DIGITS = (range(10, 100), range(10, 100, 2), range(10, 100, 5), (10, 15, 20, 30, 40, 50, 70), (10, 20, 50), (10,))


def ticks(costs: list[float], most: int = 5) -> list[float]:
    """At most ``most`` round numbers between the least and the greatest cost; these two if there are none."""
    low, high = min(costs), max(costs)
    power = math.floor(math.log10(low)) - 1
    powers = range(power, math.ceil(math.log10(high)) + 1)
    for digits in DIGITS:
        found = [float(f"{digit}e{ten - 1}") for ten in powers for digit in digits]
        inside = [one for one in found if low <= one <= high]
        if len(inside) <= most:
            break
    return inside[:: -(-len(inside) // most)] if len(inside) > 1 else list(dict.fromkeys([low, high]))


def _scales(costs: list[Costs]) -> str:
    """The numbers on both axes, with a small line at each."""
    foot = HEIGHT - BOTTOM + 8
    lines, texts = "", ""
    for cost in ticks([one[0] for one in costs]):
        x = _across(costs, cost)
        lines += f"M{x} {foot}v5"
        texts += f'<text x="{x}" y="{foot + 21}" text-anchor="middle">{cost:.3g}</text>'
    for cost in ticks([one[1] for one in costs]):
        y = _up(costs, cost)
        lines += f"M{LEFT} {y}h-5"
        texts += f'<text x="{LEFT - 9}" y="{y + 5}" text-anchor="end">{cost:.3g}</text>'
    return f'<path d="{lines}" stroke="currentColor"/>{texts}'


def picture(item: Design, yours: Values | None = None) -> str:
    """The front as a drawing: less is better on both axes. ``yours`` is marked if it can be built."""
    at = places(item)
    best = [at[values] for values in designs.front(item)]
    line = " ".join(f"{x},{y}" for x, y in best)
    points = "".join(f'<circle cx="{x}" cy="{y}" r="5" opacity="0.55"/>' for x, y in best)
    costs = [made.costs for made in designs.buildable(item).values()]
    mark = own_point(*at[yours]) if yours is not None and yours in at else ""
    across, up = item.axes
    ends = [designs.table(item)[values] for values in designs.front(item)]
    pairs = " to ".join(f"{x:.3g} {across.unit} and {y:.3g} {up.unit}" for x, y in (ends[0].costs, ends[-1].costs))
    alt = f"The best designs by {across.label} and {up.label}: from {pairs}."
    return (
        f'<svg class="rz-front" role="img" aria-label="{escape(alt)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-size="{LETTER}" fill="currentColor" style="max-width:{WIDTH}px;width:100%">'
        f'<path d="M{LEFT} {EDGE / 2} V{HEIGHT - BOTTOM + 8} H{WIDTH}" fill="none" stroke="currentColor"/>'
        f"{_scales(costs)}"
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-dasharray="4 4"/>{points}'
        f'<g class="rz-tries">{mark}</g>'
        f'<text x="{LEFT + 8}" y="{EDGE / 2 + 8}">↑ {escape(up.label)}, {escape(up.unit)}</text>'
        f'<text x="{WIDTH}" y="{HEIGHT - 14}" text-anchor="end">{escape(across.label)}, {escape(across.unit)} →</text>'
        f'<text x="4" y="{HEIGHT - 14}">● the best ■ yours</text></svg>'
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
