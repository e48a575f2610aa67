"""The cards of questions, before and after they are answered, as HTML and as text for a terminal.

What differs between the kinds of question is in a module for each kind: its name on the card, the call that answers
it, what it asks, its fields, and what the page needs to judge it.
"""

from __future__ import annotations

from html import escape
from types import ModuleType
from typing import Any

from autograder.items import AnyQuestion, Choice, Design, Estimate, Order, Question
from autograder.learner import design_cards, estimate_cards, hints, number_cards, option_cards
from autograder.learner.card_frame import STATES, card, folded, in_book
from autograder.marking.questions import Mark, Verdict
from autograder.markup import blocks, inline
from autograder.sections import SECTIONS

KINDS: dict[type[AnyQuestion], ModuleType] = {
    Question: number_cards,
    Choice: option_cards,
    Order: option_cards,
    Estimate: estimate_cards,
    Design: design_cards,
}


def _derivation(item: AnyQuestion, unfolded: bool = False) -> str:
    return folded("Derivation", blocks(item.derivation, in_book()), unfolded, "rz-derivation")


def _hints(item: AnyQuestion) -> str:
    """Hints in steps, for the book: which idea, then the first step of the derivation. The derivation comes after."""
    title = inline(SECTIONS[item.section], True)
    anchor = f"#section-{item.section.replace('.', '-')}"
    stop = "" if title.endswith("?") else "."
    idea = f'<p>The idea is that of section {item.section}, <a href="{anchor}">{title}</a>{stop}</p>'
    step = hints.first_step(item)
    further = folded("Hint: first step", blocks(step, True)) if step else ""
    return folded("Hint: which idea", idea + further, name="rz-hints")


def _title(item: AnyQuestion) -> str:
    return f'<p class="rz-title">{inline(item.title, in_book())}</p>'


def how_to_answer(item: AnyQuestion) -> str:
    """The call that answers ``item``, with blanks."""
    return KINDS[type(item)].call(item)


def _form(item: AnyQuestion) -> str:
    title, fields = inline(item.title, in_book()), KINDS[type(item)].fields(item)
    sure = '<input type="number" class="rz-confidence" min="0" max="100" step="any" autocomplete="off">'
    return (
        f'<form novalidate><fieldset disabled><legend class="rz-title">{title}</legend>{fields}'
        f'<p class="rz-actions"><label>How sure, in percent? {sure}</label> <button type="submit">Check</button></p>'
        '</fieldset></form><div class="rz-feedback" role="status" aria-live="polite"></div>'
        '<noscript><p class="rz-hint">Answers are checked here when scripts may run.</p></noscript>'
    )


def card_data(item: AnyQuestion) -> dict[str, Any]:
    """What the page needs to judge ``item`` by the rules of :mod:`autograder.marking.questions`."""
    return KINDS[type(item)].data(item)


def question_card(item: AnyQuestion) -> str:
    """The card of a question before it is answered: live in the book, with instructions in a notebook."""
    kind = KINDS[type(item)]
    if in_book():
        drawn = design_cards.picture(item) if isinstance(item, Design) else ""
        return card(kind.NAME, item.id, _form(item) + drawn + _hints(item) + _derivation(item), card_data(item))
    how = f"{kind.advice(item)}: <code>{escape(how_to_answer(item))}</code>"
    body = f"{_title(item)}{kind.asked(item)}<p>Type your answer into the call, {how}</p>"
    return card(kind.NAME, item.id, body + _derivation(item))


def question_text(item: AnyQuestion) -> str:
    """The same for a terminal."""
    kind = KINDS[type(item)]
    asked = [f"  {line}" for line in kind.lines(item)]
    return "\n".join([item.title, *asked, f"Answer with {kind.advice(item)}: {how_to_answer(item)}"])


def _mark(mark: Mark) -> str:
    book = in_book()
    label = f"{inline(mark.label, book)}: " if mark.label else ""
    state = STATES["right" if mark.right else "wrong"]
    sentence = f" {inline(mark.sentence, book)}" if mark.sentence else ""
    return f"<p>{label}{escape(mark.given)} <b>{state}</b>{'.' if sentence else ''}{sentence}</p>"


def verdict_card(verdict: Verdict) -> str:
    """The card of an answered question; the derivation is unfolded if every part is right."""
    item = verdict.item
    body = _title(item) + "".join(_mark(mark) for mark in verdict.marks)
    if isinstance(item, Design):
        body += design_cards.picture(item, verdict.answered)
    return card(KINDS[type(item)].NAME, item.id, body + _derivation(item, verdict.right))


def verdict_text(verdict: Verdict) -> str:
    """The same for a terminal; the derivation is printed if every part is right."""
    lines = [verdict.item.title]
    for mark in verdict.marks:
        label = f"{mark.label}: " if mark.label else ""
        lines.append(f"  {label}{mark.given}  {STATES['right' if mark.right else 'wrong']}  {mark.sentence}".rstrip())
    return "\n".join([*lines, "", verdict.item.derivation.strip()] if verdict.right else lines)
