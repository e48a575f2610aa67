"""``design``: make the choices of a design item in the notebook, and see what comes of them."""

from __future__ import annotations

from autograder.items import Design
from autograder.learner import card_frame, handing_in, predicting, progress, question_cards
from autograder.marking import questions
from autograder.marking.questions import BadAnswer


def design(identifier: str, *, confidence: float | None = None, **choices: int) -> None:
    """Show the card of a design, or judge yours.

    Args:
        identifier: the design's id, as the page prints it.
        confidence: how sure you are, 0 to 100 percent.
        **choices: one option for each choice, by the name that the card gives. Without any the card is shown.

    Raises:
        BadAnswer: (a ``ValueError``) there is no such design, or a choice is missing, unknown or not one of its
            options.
    """
    item = predicting.found(identifier)
    if not isinstance(item, Design):
        raise BadAnswer(f"{item.id} is not a design: answer it with predict")
    sure = predicting.checked(confidence)
    if card_frame.in_book() or not choices:
        card_frame.show(question_cards.question_card(item), question_cards.question_text(item))
        return
    verdict = questions.judge(item, (choices,))
    progress.record_answer(item.id, verdict.right, sure)
    card_frame.show(question_cards.verdict_card(verdict), question_cards.verdict_text(verdict))
    handing_in.warn(item.id)
