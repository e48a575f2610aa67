"""Answers to questions: numbers, estimates, choices and orders, judged by the same rules as in the built page.

The page applies these rules in ``book/_static/rankzero.js`` to the data in each card; what may be typed for a number is
said in :mod:`autograder.marking.arithmetic`. A number is right if it lies within the part's relative tolerance of the
answer and no slip's value is nearer; it is explained by a slip if it lies within the same tolerance of that slip's
value. An estimate is judged by the factor between it and the answer.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import Any

from autograder.items import AnyQuestion, Choice, Design, Estimate, Order, Part, Question, Slip
from autograder.marking import arithmetic, designs

#: Smallest relative tolerance, which allows for rounding in the bank's formulas.
FLOOR = 1e-9
#: Sentences for a wrong number that no slip explains. The page takes them from the card.
HINTS = {
    "large": "Too large.",
    "small": "Too small.",
    "unit": "The digits are right; check the unit: {unit}.",
    "percent": "The digits are right; the answer is wanted in percent.",
    "fraction": "The digits are right; the answer is wanted as a plain number, not in percent.",
}
#: Sentences about an estimate. The page takes them from the card.
ESTIMATED = {
    "exact": "Your estimate is right within 5 percent.",
    "right": "Your estimate is off by a factor of {factor}.",
    "large": "Too large by a factor of {factor}.",
    "small": "Too small by a factor of {factor}.",
    "positive": "Type a positive number.",
}
#: Added where more numbers are typed than are asked for: Python reads 1,000 as two.
COMMA = ' (write 1_000 or 1000 for a thousand, or "1,000" in quotes)'
#: The verdict on an estimate that is off by more than this does not say by how much.
HUGE = 1e12
#: Factors between the prefixes of a unit.
PREFIXES = (1e3, 1e6, 1e9, 1e12, 1e-3, 1e-6, 1e-9, 1e-12)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


#: Most letters of an answer that a sentence repeats.
QUOTED = 80


def quoted(answer: Any) -> str:
    """An answer as a sentence repeats it: at most ``QUOTED`` letters."""
    try:
        text = repr(answer)
    except ValueError:  # an integer of too many digits
        text = "an integer of very many digits"
    return text if len(text) <= QUOTED else f"{text[: QUOTED - 1]}…"


class BadAnswer(ValueError):
    """A call of ``predict`` that cannot be judged. A notebook shows its one sentence and no traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"predict: {self}"]


@dataclass(frozen=True)
class Mark:
    """The judgment of one part: the number as shown to the learner, and a sentence, which is empty if it is right."""

    label: str
    given: str
    right: bool
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """The judgment of an answer, part by part; ``answered`` holds the values that a design chose."""

    item: AnyQuestion
    marks: tuple[Mark, ...]
    answered: tuple[int, ...] = ()

    @property
    def right(self) -> bool:
        """Whether every part is right."""
        return all(mark.right for mark in self.marks)


def shown(value: float, unit: str = "") -> str:
    """A number for the learner: whole numbers in full, others in six significant digits, then the unit."""
    rounded = value if float(value).is_integer() else float(f"{value:.6g}")
    whole = float(rounded).is_integer() and abs(rounded) < 1e15
    number = f"{int(rounded):,}" if whole else f"{value:.6g}"
    return f"{number} {unit}".rstrip()


def slip_value(slip: Slip) -> float:
    """The number that this slip leads to."""
    return float(slip.value() if callable(slip.value) else slip.value)  # type: ignore[arg-type]


def tolerance(part: Part) -> float:
    """The relative tolerance for the answer to a part."""
    return max(part.tolerance, FLOOR)


def _near(given: float, value: float, relative: float) -> bool:
    return abs(given - value) <= relative * (abs(value) or 1.0)


def judge_number(part: Part, given: float) -> tuple[bool, str]:
    """Whether ``given`` is right, and a sentence that says what is wrong if it is not."""
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


def factor_between(one: float, other: float) -> float:
    """The ratio of the larger of two positive numbers to the smaller."""
    return max(one / other, other / one)


def rounded_factor(factor: float, limit: float) -> str:
    """A factor in two significant digits, or in as many as show on which side of ``limit`` it is; halves round up,
    as the page does."""
    if factor > HUGE:
        return f"more than {HUGE:,.0f}"
    rounded = factor
    for digits in range(2, 13):
        step = 10.0 ** (digits - 1 - math.floor(math.log10(factor)))
        rounded = math.floor(factor * step + 0.5) / step
        if (rounded <= limit) == (factor <= limit):
            break
    return f"{rounded:,.13g}"


def judge_estimate(item: Estimate, given: float) -> tuple[bool, str]:
    """Whether ``given`` (positive) is right, and by what factor it is off and which idea accounts for it."""
    answer = float(item.answer())
    off = factor_between(given, answer)
    factor = rounded_factor(off, item.factor)
    if off <= item.factor:
        return True, ESTIMATED["exact" if factor == "1" else "right"].format(factor=factor)
    said = ESTIMATED["large" if given > answer else "small"].format(factor=factor)
    near = [(factor_between(given, slip_value(slip)), slip.sentence) for slip in item.slips]
    distance, sentence = min(near, key=lambda pair: pair[0], default=(math.inf, ""))
    return False, f"{said} {sentence}" if distance <= item.factor else said


def _number(answer: Any, part: Part | Estimate) -> float:
    wanted = f"{part.label or 'the answer'}: a number is needed"
    if isinstance(answer, str):
        try:
            return arithmetic.read(answer, part.unit)
        except arithmetic.Refused as error:
            raise BadAnswer(f"{wanted}, got {quoted(answer)}. {error}") from None
    if isinstance(answer, bool) or not isinstance(answer, Real):
        raise BadAnswer(f"{wanted}, got {type(answer).__name__}")
    try:
        value = float(answer)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise BadAnswer(f"{wanted} that is finite, got {quoted(answer)}")
    return value


def _judge_question(item: Question, answers: tuple[Any, ...]) -> Verdict:
    if len(answers) != len(item.parts):
        wanted = ", ".join(part.label or part.unit or "a number" for part in item.parts)
        plural = "s" if len(item.parts) > 1 else ""
        hint = COMMA if len(answers) > len(item.parts) else ""
        raise BadAnswer(f"{item.id} asks for {len(item.parts)} number{plural} ({wanted}), got {len(answers)}{hint}")
    marks = []
    for part, answer in zip(item.parts, answers, strict=True):
        given = _number(answer, part)
        right, sentence = judge_number(part, given)
        marks.append(Mark(part.label, shown(float(part.answer()) if right else given, part.unit), right, sentence))
    return Verdict(item, tuple(marks))


def _judge_estimate(item: Estimate, answers: tuple[Any, ...]) -> Verdict:
    if len(answers) != 1:
        hint = COMMA if len(answers) > 1 else ""
        raise BadAnswer(f"{item.id} asks for one number ({item.label}, in {item.unit}), got {len(answers)}{hint}")
    given = _number(answers[0], item)
    if given <= 0:
        raise BadAnswer(f"{item.label}: a positive number is needed, got {quoted(answers[0])}")
    right, sentence = judge_estimate(item, given)
    number = float(item.answer()) if right else given
    return Verdict(item, (Mark(item.label, shown(number, item.unit), right, sentence),))


def _judge_design(item: Design, answers: tuple[Any, ...]) -> Verdict:
    values = designs.values_of(item, answers[0] if len(answers) == 1 else None)
    if isinstance(values, str):
        raise BadAnswer(values)
    right, sentence = designs.judged(item, values)
    given = ", ".join(f"{name} {value}" for name, value in item.choices(values).items())
    return Verdict(item, (Mark("", given, right, sentence),), values)


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
    raise BadAnswer(f'{item.id} asks for one letter from "{letters[0]}" to "{letters[-1]}", got {quoted(answer)}')


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
        raise BadAnswer(f'{item.id} asks for the letters "{example}" in order, each once, got {quoted(letters)}')
    given = [steps[LETTERS.index(letter)] for letter in letters]
    first = next((i for i, (a, b) in enumerate(zip(given, item.steps, strict=True)) if a != b), len(steps))
    sentence = "" if first == len(steps) else order_hint(first)
    return Verdict(item, (Mark("", " ".join(letters), not sentence, sentence),))


def order_hint(first: int) -> str:
    """The sentence for an order whose first wrong step is number ``first``, counted from 0."""
    if first == 0:
        return "Another step comes first."
    return f"Right up to step {first}."


def judge(item: AnyQuestion, answers: tuple[Any, ...]) -> Verdict:
    """Judge ``answers`` to a question.

    Raises:
        BadAnswer: the answers do not have the form that the question asks for.
    """
    if isinstance(item, Choice):
        return _judge_choice(item, answers)
    if isinstance(item, Order):
        return _judge_order(item, answers)
    if isinstance(item, Estimate):
        return _judge_estimate(item, answers)
    if isinstance(item, Design):
        return _judge_design(item, answers)
    return _judge_question(item, answers)
