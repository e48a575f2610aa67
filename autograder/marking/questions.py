"""``predict``: answer a question of the course in the notebook, and read at once what came of it.

The rules are the page's rules too: ``book/_static/rankzero.js`` judges with the same arithmetic, from the data that
:mod:`autograder.cards` puts into the card. A number is right when it lies within the part's relative tolerance of the
answer and no slip's value lies nearer; it is a slip when it lies within the same tolerance of that slip's value.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import Any

from autograder import bank
from autograder.items import Build, Choice, Order, Part, Question, Slip

#: Relative distance below which two numbers are the same count: what rounding in the bank's formulas may leave.
FLOOR = 1e-9

#: What a wrong number reads when no slip explains it. The page takes these sentences from the card.
HINTS = {
    "large": "Too large.",
    "small": "Too small.",
    "unit": "The digits are right; check the unit: {unit}.",
    "percent": "The digits are right; the answer is wanted in percent.",
    "fraction": "The digits are right; the answer is wanted as a plain number, not in percent.",
}

#: Factors between the prefixes of a unit.
PREFIXES = (1e3, 1e6, 1e9, 1e12, 1e-3, 1e-6, 1e-9, 1e-12)

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class BadAnswer(ValueError):
    """A call of ``predict`` that cannot be judged. A notebook shows its one sentence and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"predict: {self}"]


@dataclass(frozen=True)
class Mark:
    """What came of one part: ``given`` and ``sentence`` are for the reader; the sentence of a right part is empty."""

    label: str
    given: str
    right: bool
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """What came of an answer, part by part."""

    item: Question | Choice | Order
    marks: tuple[Mark, ...]

    @property
    def right(self) -> bool:
        """Every part is right."""
        return all(mark.right for mark in self.marks)


def shown(value: float, unit: str = "") -> str:
    """A number for the reader: whole numbers in full, others in six significant digits, then the unit."""
    rounded = value if float(value).is_integer() else float(f"{value:.6g}")
    whole = float(rounded).is_integer() and abs(rounded) < 1e15
    number = f"{int(rounded):,}" if whole else f"{value:.6g}"
    return f"{number} {unit}".rstrip()


def slip_value(slip: Slip) -> float:
    """The number that this slip leads to."""
    return float(slip.value() if callable(slip.value) else slip.value)  # type: ignore[arg-type]


def tolerance(part: Part) -> float:
    """The relative tolerance that is applied."""
    return max(part.tolerance, FLOOR)


def _near(given: float, value: float, relative: float) -> bool:
    return abs(given - value) <= relative * (abs(value) or 1.0)


def judge_number(part: Part, given: float) -> tuple[bool, str]:
    """Whether ``given`` is right, and when it is not, the sentence that says why."""
    answer, relative = float(part.answer()), tolerance(part)
    slips = [(abs(given - slip_value(s)), s) for s in part.slips if _near(given, slip_value(s), relative)]
    distance, slip = min(slips, key=lambda pair: pair[0], default=(math.inf, None))
    if _near(given, answer, relative) and abs(given - answer) <= distance:
        return True, ""
    if slip:
        return False, slip.sentence
    if part.unit and any(_near(given, answer * factor, relative) for factor in PREFIXES):
        return False, HINTS["unit"].format(unit=part.unit)
    if part.unit == "%" and _near(given, answer / 100, relative):
        return False, HINTS["percent"]
    if not part.unit and _near(given, answer * 100, relative):
        return False, HINTS["fraction"]
    return False, HINTS["large" if given > answer else "small"]


def _number(answer: Any, part: Part) -> float:
    wanted = f"{part.label or 'the answer'}: a number is needed"
    if isinstance(answer, str):
        raise BadAnswer(f"{wanted}, without quotes and without a unit (it is read in {part.unit or 'plain numbers'})")
    if isinstance(answer, bool) or not isinstance(answer, Real):
        raise BadAnswer(f"{wanted}, got {type(answer).__name__}")
    try:
        value = float(answer)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise BadAnswer(f"{wanted} that is finite, got {answer}")
    return value


def _judge_question(item: Question, answers: tuple[Any, ...]) -> Verdict:
    if len(answers) != len(item.parts):
        wanted = ", ".join(part.label or part.unit or "a number" for part in item.parts)
        plural = "s" if len(item.parts) > 1 else ""
        hint = " (write 1_000 or 1000 for a thousand, without a comma)" if len(answers) > len(item.parts) else ""
        raise BadAnswer(f"{item.id} asks for {len(item.parts)} number{plural} ({wanted}), got {len(answers)}{hint}")
    marks = []
    for part, answer in zip(item.parts, answers, strict=True):
        given = _number(answer, part)
        right, sentence = judge_number(part, given)
        marks.append(Mark(part.label, shown(float(part.answer()) if right else given, part.unit), right, sentence))
    return Verdict(item, tuple(marks))


def letter(item: Choice, index: int) -> str:
    """The letter under which the option with this index is shown."""
    return LETTERS[item.shown().index(item.options[index])]


def chosen(item: Choice, answer: Any) -> int:
    """The index of the option that ``answer`` names, by its text or by its letter."""
    text = str(answer).strip().casefold()
    texts = [option.strip().casefold() for option in item.options]
    if text in texts:
        return texts.index(text)
    text = text.rstrip(".)")
    letters = LETTERS[: len(item.options)]
    if len(text) == 1 and text in letters:
        return item.options.index(item.shown()[letters.index(text)])
    raise BadAnswer(f'{item.id} asks for one letter from "{letters[0]}" to "{letters[-1]}", got {answer!r}')


def _judge_choice(item: Choice, answers: tuple[Any, ...]) -> Verdict:
    if len(answers) != 1:
        raise BadAnswer(f"{item.id} asks for one letter, got {len(answers)} answers")
    index = chosen(item, answers[0])
    right = index == item.correct
    sentence = "" if right else item.slips.get(index, "Not this one.")
    return Verdict(item, (Mark("", f"{letter(item, index)}) {item.options[index]}", right, sentence),))


def _judge_order(item: Order, answers: tuple[Any, ...]) -> Verdict:
    letters = re.sub(r"[\s,;>-]+", "", "".join(str(answer) for answer in answers)).casefold()
    steps = item.shown()
    if sorted(letters) != list(LETTERS[: len(steps)]):
        example = " ".join(LETTERS[: len(steps)])
        raise BadAnswer(f'{item.id} asks for the letters "{example}" in order, each once, got {letters!r}')
    given = [steps[LETTERS.index(letter)] for letter in letters]
    first = next((i for i, (a, b) in enumerate(zip(given, item.steps, strict=True)) if a != b), len(steps))
    sentence = "" if first == len(steps) else order_hint(first)
    return Verdict(item, (Mark("", " ".join(letters), not sentence, sentence),))


def order_hint(first: int) -> str:
    """What an order reads whose step number ``first`` (from 0) is the first wrong one."""
    if first == 0:
        return "Another step comes first."
    return f"Right up to step {first}."


def judge(item: Question | Choice | Order, answers: tuple[Any, ...]) -> Verdict:
    """Judge ``answers`` to a question.

    Raises:
        BadAnswer: the answers are not of the form that the question asks for.
    """
    if isinstance(item, Choice):
        return _judge_choice(item, answers)
    if isinstance(item, Order):
        return _judge_order(item, answers)
    return _judge_question(item, answers)


def _checked(confidence: Any) -> float | None:
    if confidence is None:
        return None
    number = isinstance(confidence, Real) and not isinstance(confidence, bool)
    if not number or not 0 <= float(confidence) <= 100:
        raise BadAnswer(f"confidence must be a number from 0 to 100 (percent), got {confidence!r}")
    if 0 < float(confidence) < 1:
        raise BadAnswer(f"confidence is in percent, from 0 to 100: {confidence!r} would be less than one percent")
    return float(confidence)


def _find(identifier: str) -> Question | Choice | Order:
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
        *answers: one number for each part, in the part's unit; a letter or the option's text for a choice; letters such
            as ``"b d a c"`` for an order. Without answers the card is shown.
        confidence: how sure you are, 0 to 100 percent; ``scorecard`` compares it with what came of it.

    Raises:
        BadAnswer: (a ``ValueError``) there is no such question, or the answers do not fit it.
    """
    from autograder import cards, progress

    item = _find(identifier)
    sure = _checked(confidence)
    if cards.in_book() or all(answer is ... for answer in answers):
        cards.show(cards.question_card(item), cards.question_text(item))
        return
    verdict = judge(item, answers)
    progress.record_answer(item.id, verdict.right, sure)
    cards.show(cards.verdict_card(verdict), cards.verdict_text(verdict))
