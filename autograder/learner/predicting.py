"""``predict``: answer a question of the course in the notebook, and see at once whether it is right."""

from __future__ import annotations

from numbers import Real
from typing import Any

from autograder import bank
from autograder.items import AnyQuestion, Build, Design
from autograder.learner import card_frame, handing_in, progress, question_cards
from autograder.marking import questions
from autograder.marking.questions import BadAnswer


def checked(confidence: Any) -> float | None:
    """A confidence in percent, or None; anything else is a ``BadAnswer``."""
    if confidence is None:
        return None
    number = isinstance(confidence, Real) and not isinstance(confidence, bool)
    if not number or not 0 <= float(confidence) <= 100:
        raise BadAnswer(f"confidence must be a number from 0 to 100 (percent), got {confidence!r}")
    if 0 < float(confidence) < 1:
        raise BadAnswer(f"confidence is in percent, from 0 to 100: {confidence!r} would be less than one percent")
    return float(confidence)


def found(identifier: str) -> AnyQuestion:
    """The question with this id; a ``BadAnswer`` says what to do if there is none."""
    if not isinstance(identifier, str):
        raise BadAnswer(f"the question's id comes first, in quotes, got {identifier!r}")
    try:
        item = bank.find(identifier)
    except KeyError as error:
        raise BadAnswer(error.args[0]) from None
    if isinstance(item, Build):
        raise BadAnswer(f"{item.id} is a function to write: then call check({item.function})")
    return item


def predict(identifier: str, *answers: Any, confidence: float | None = None) -> None:
    """Show the card of a question, or judge your answer to it.

    Args:
        identifier: the question's id, as the page prints it.
        *answers: one number for each part, in the part's unit, or a text such as ``"1.2 GB"``; a letter or the option's
            text for a choice; letters such as ``"b d a c"`` for an order. Without answers the card is shown.
        confidence: how sure you are, 0 to 100 percent; ``scorecard`` compares it with how often you are right.

    Raises:
        BadAnswer: (a ``ValueError``) there is no such question, or the answers do not fit it.
    """
    item = found(identifier)
    if isinstance(item, Design) and answers:
        raise BadAnswer(f"{item.id} asks for choices by name: {question_cards.how_to_answer(item)}")
    sure = checked(confidence)
    if card_frame.in_book() or all(answer is ... for answer in answers):
        card_frame.show(question_cards.question_card(item), question_cards.question_text(item))
        return
    verdict = questions.judge(item, answers)
    progress.record_answer(item.id, verdict.right, sure)
    card_frame.show(question_cards.verdict_card(verdict), question_cards.verdict_text(verdict))
    handing_in.warn(item.id)
