"""What an estimate shows: its logarithmic scale with landmarks."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from autograder.items import Estimate
from autograder.learner import number_cards
from autograder.learner.card_frame import in_book
from autograder.marking import questions
from autograder.markup import inline

NAME = "Estimate"


def call(item: Estimate) -> str:
    """The call that answers it, with a blank."""
    return f'predict("{item.id}", ...)'


def advice(item: Estimate) -> str:
    """What to put into the call."""
    return f"a number in {item.unit}, right within a factor of {item.factor:g}"


def asked(item: Estimate) -> str:
    """The quantity with its unit and the landmarks, without a field."""
    return f"<p>{inline(item.label, in_book())} ({escape(item.unit)})</p>{_landmarks(item)}"


def lines(item: Estimate) -> list[str]:
    """The same for a terminal."""
    return [f"{item.label} ({item.unit})", *(f"{landmark.name}: {landmark.meaning}" for landmark in item.landmarks)]


def _landmarks(item: Estimate) -> str:
    """The points of the scale that readers know, with what they are."""
    known = "".join(
        f"<li>{escape(landmark.name)}: {inline(landmark.meaning, in_book())}</li>" for landmark in item.landmarks
    )
    return f'<ul class="rz-landmarks">{known}</ul>'


def fields(item: Estimate) -> str:
    """A field for the number, and the scale under it."""
    return number_cards.field(item) + _scale(item)


def _place(item: Estimate, value: float) -> float:
    """Where a value lies on the scale, from 0 to 1."""
    low, high = map(math.log, item.scale)
    return (math.log(value) - low) / (high - low)


def _scale(item: Estimate) -> str:
    """A slider over the scale, with ticks at the landmarks. It moves the field above it."""
    ticks = "".join(f'<span style="left:{_place(item, x.value):.2%}">{escape(x.name)}</span>' for x in item.landmarks)
    slider = f'<input type="range" min="0" max="1000" value="0" aria-label="{escape(item.label)}, logarithmic scale">'
    ruler = f'<div class="rz-ticks" aria-hidden="true"><div>{ticks}</div></div>'
    return f'<div class="rz-scale">{slider}{ruler}</div>{_landmarks(item)}'


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
