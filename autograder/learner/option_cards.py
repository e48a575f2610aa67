"""What a choice and an order show: options with letters, to pick one of or to put into order."""

from __future__ import annotations

from typing import Any

from autograder.items import Choice, Order
from autograder.learner.card_frame import in_book
from autograder.marking import questions
from autograder.marking.questions import LETTERS
from autograder.markup import inline

NAME = "Predict"


def call(item: Choice | Order) -> str:
    """The call that answers it, with a blank."""
    return f'predict("{item.id}", "...")'


def advice(item: Choice | Order) -> str:
    """What to put into the call."""
    return "one letter" if isinstance(item, Choice) else "the letters in order, with blanks between them"


def asked(item: Choice | Order) -> str:
    """The options with their letters, without fields."""
    options = "".join(f"<li>{inline(text, in_book())}</li>" for text in item.shown())
    return f'<ol class="rz-letters" type="a">{options}</ol>'


def lines(item: Choice | Order) -> list[str]:
    """The same for a terminal."""
    return [f"{letter}) {text}" for letter, text in _lettered(item)]


def _lettered(item: Choice | Order) -> list[tuple[str, str]]:
    return list(zip(LETTERS, item.shown(), strict=False))


def fields(item: Choice | Order) -> str:
    """A button for each option of a choice; for an order, the list that the page's script lets readers rearrange."""
    if isinstance(item, Order):
        steps = "".join(
            f'<li data-letter="{letter}"><span>{inline(text, True)}</span></li>' for letter, text in _lettered(item)
        )
        return f'<ol class="rz-order">{steps}</ol>'
    return "".join(
        f'<p class="rz-option"><label><input type="radio" name="rz-{item.id}" value="{letter}"> '
        f"<span>{letter}) {inline(text, True)}</span></label></p>"
        for letter, text in _lettered(item)
    )


def data(item: Choice | Order) -> dict[str, Any]:
    """What the page needs to judge a letter, or the order of all of them."""
    if isinstance(item, Choice):
        slips = {questions.letter(item, index): inline(text, True) for index, text in item.slips.items()}
        return {"id": item.id, "kind": "choice", "correct": questions.letter(item, item.correct), "slips": slips}
    shown = item.shown()
    hints = [questions.order_hint(first) for first in range(len(shown))]
    letters = [LETTERS[shown.index(step)] for step in item.steps]
    return {"id": item.id, "kind": "order", "correct": letters, "hints": hints}
