"""What a question for numbers shows: a field for each of its parts."""

from __future__ import annotations

from html import escape
from typing import Any

from autograder.items import Estimate, Part, Question
from autograder.learner.card_frame import in_book
from autograder.marking import questions
from autograder.markup import inline

NAME = "Predict"


def call(item: Question) -> str:
    """The call that answers it, with blanks."""
    return f'predict("{item.id}", {", ".join(["..."] * len(item.parts))})'


def advice(item: Question) -> str:
    """What to put into the call."""
    return "a number for each blank" if len(item.parts) > 1 else "a number for the blank"


def asked(item: Question) -> str:
    """The parts with their units, without fields."""
    named = [f"{inline(part.label, in_book())} ({escape(part.unit or 'a number')})" for part in item.parts]
    return "<ul>" + "".join(f"<li>{text}</li>" for text in named) + "</ul>"


def lines(item: Question) -> list[str]:
    """The same for a terminal."""
    return [f"{part.label} ({part.unit or 'a number'})" for part in item.parts]


def field(part: Part | Estimate) -> str:
    """A field for a number, with its label and unit."""
    unit = f' <span class="rz-unit">{escape(part.unit)}</span>' if part.unit else ""
    label = f"<span>{inline(part.label or 'Your answer', True)}</span>"
    entry = '<input type="text" autocomplete="off" size="12">'
    labelled = f'<label>{label} <span class="rz-field">{entry}{unit}</span></label>'
    return f'<p class="rz-part">{labelled}<span class="rz-mark" role="status"></span></p>'


def fields(item: Question) -> str:
    """A field for each part."""
    return "".join(field(part) for part in item.parts)


def data(item: Question) -> dict[str, Any]:
    """What the page needs to judge the numbers."""
    return {"id": item.id, "kind": "question", "parts": [_part(part) for part in item.parts], "hints": questions.HINTS}


def _part(part: Part) -> dict[str, Any]:
    answer = float(part.answer())
    return {
        "label": inline(part.label, True),
        "unit": escape(part.unit),
        "answer": answer,
        "shown": questions.shown(answer, part.unit),
        "tolerance": questions.tolerance(part),
        "slips": [{"value": questions.slip_value(s), "sentence": inline(s.sentence, True)} for s in part.slips],
    }
