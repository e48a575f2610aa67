"""Hints of every question in the bank: they lead to a section, and none gives the answer away."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from autograder import bank
from autograder.items import Build, Choice, Part, Question
from autograder.learner import hints, question_cards
from autograder.marking import questions
from autograder.sections import SECTIONS

ASKED = [item for item in bank.items() if not isinstance(item, Build)]


def numbers(text: str) -> list[float]:
    """The numbers of a text with mathematics, digits in groups put together."""
    plain = text.replace("{,}", "").replace(r"\,", "")
    plain = re.sub(r"(\d),(?=\d{3}(?!\d))", r"\1", plain)
    return [float(found) for found in re.findall(r"\d+(?:\.\d+)?", plain)]


@pytest.mark.parametrize("item", ASKED, ids=lambda item: item.id)
def test_no_hint_holds_the_answer(item):
    """Kills a hint that is the whole derivation, and one with a number that the card would take."""
    step = hints.first_step(item)
    assert step.strip() != item.derivation.strip() or not step
    if isinstance(item, Choice):
        assert item.options[item.correct] not in step
    if isinstance(item, Question):
        for part in item.parts:
            answer = part.answer()
            shown = re.escape(questions.shown(answer, part.unit))
            assert not re.search(rf"(?<![\d.,]){shown}(?![\d,]|\.\d)", step)
            assert not [one for one in numbers(step) if questions.judge_number(part, one)[0]], step


@pytest.mark.parametrize("item", ASKED, ids=lambda item: item.id)
def test_formulas_and_code_of_a_first_step_are_whole(item):
    """Kills a sentence that is cut inside of a formula: ``$x = 0.`` is no step."""
    step = hints.first_step(item)
    assert step.count("$") % 2 == 0
    assert step.count("`") % 2 == 0
    assert step.removesuffix(".") in item.derivation


def test_most_questions_have_a_first_step():
    """Kills a rule that is so careful that nothing is left."""
    assert sum(bool(hints.first_step(item)) for item in ASKED) > 0.6 * len(ASKED)


def question(derivation: str, answer: float) -> Question:
    """A question of the bank with another derivation and another answer."""
    model = next(item for item in ASKED if isinstance(item, Question) and len(item.parts) == 1)
    return replace(model, derivation=derivation, parts=(Part(label="sent", answer=lambda: answer, unit="MB"),))


@pytest.mark.parametrize(
    ("derivation", "step"),
    [
        ("Each rank sends 3 chunks to the next one. There are 4 ranks.", "Each rank sends 3 chunks to the next one."),
        ("Each rank sends 12 chunks to the next one. There are 4 ranks.", ""),
        (
            "Each rank sends 0.12 of its chunks to the next. There are 4.",
            "Each rank sends 0.12 of its chunks to the next.",
        ),
        ("$S = 2 N b$ with $N = 3$ and $b = 2$.", "$S = 2 N b$"),
        ("$3 \\cdot 4$.", ""),
        ("Every rank sends $\\frac{1. }{4}$ of it all. Then 4.", "Every rank sends $\\frac{1. }{4}$ of it all."),
        ("Two stages and one more bucket: 3 in all. Then 4.", "Two stages and one more bucket."),
        ("Strong scaling: the batch stays as it is. Then 4.", "Strong scaling: the batch stays as it is."),
    ],
)
def test_the_first_step(derivation, step):
    assert hints.first_step(question(derivation, 12.0)) == step


def test_the_card_of_the_book_has_its_hints_in_steps(monkeypatch):
    """First which idea, in it the first step, and after them the derivation, all folded; a notebook has none."""
    item = question("$S = 2 N b$ with $N = 3$ and $b = 2$.", 12.0)
    assert "rz-hints" not in question_cards.question_card(item)
    monkeypatch.setenv("RANKZERO_BOOK", "1")
    card = question_cards.question_card(item)
    places = [card.index(part) for part in ("</form>", "rz-hints", "Hint: first step", "S = 2 N b", "rz-derivation")]
    assert places == sorted(places)
    assert f'href="#section-{item.section.replace(".", "-")}"' in card
    assert SECTIONS[item.section].split("`")[0] in card
    assert "<details open" not in re.sub(r' class="[^"]*"', "", card)
