"""What an estimate shows: its logarithmic scale with landmarks."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from autograder.items import Estimate
from autograder.marking import questions
from autograder.markup import inline


def landmarks(item: Estimate, in_book: bool) -> str:
    """The points of the scale that readers know, with what they are."""
    lines = "".join(f"<li>{escape(one.name)}: {inline(one.meaning, in_book)}</li>" for one in item.landmarks)
    return f'<ul class="rz-landmarks">{lines}</ul>'


def _place(item: Estimate, value: float) -> float:
    """Where a value lies on the scale, from 0 to 1."""
    low, high = map(math.log, item.scale)
    return (math.log(value) - low) / (high - low)


def scale(item: Estimate) -> str:
    """A slider over the scale, with ticks at the landmarks. It moves the field above it."""
    ticks = "".join(f'<span style="left:{_place(item, x.value):.2%}">{escape(x.name)}</span>' for x in item.landmarks)
    slider = f'<input type="range" min="0" max="1000" value="0" aria-label="{escape(item.label)}, logarithmic scale">'
    ruler = f'<div class="rz-ticks" aria-hidden="true"><div>{ticks}</div></div>'
    return f'<div class="rz-scale">{slider}{ruler}</div>{landmarks(item, True)}'


def data(item: Estimate) -> dict[str, Any]:
    """What the page needs to judge an estimate."""
    answer = float(item.answer())
    return {
        "id": item.id,
        "kind": "estimate",
        "answer": answer,
        "shown": questions.shown(answer, item.unit),
        "unit": item.unit,
        "factor": item.factor,
        "scale": list(item.scale),
        "slips": [{"value": questions.slip_value(s), "sentence": inline(s.sentence, True)} for s in item.slips],
        "hints": questions.ESTIMATED,
    }
