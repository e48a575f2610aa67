"""The first step of a derivation, shown as a hint before the whole."""

from __future__ import annotations

import re

from autograder.items import AnyQuestion, Choice, Design, Estimate, Order
from autograder.marking import questions

#: A formula, code, or the end of a sentence; full stops and colons inside the first two end nothing.
_SENTENCE = re.compile(r"\$\$.+?\$\$|\$[^$]+\$|`[^`]+`|(?P<end>[.:](?=\s|$))", re.DOTALL)
_FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$]+\$", re.DOTALL)
_COMMAND = re.compile(r"\\[a-zA-Z]+|\{(?:\w{2,})\}")
#: A shorter sentence says nothing: "Strong scaling:" is not a step.
A_STEP = 24
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def _tells(text: str, item: AnyQuestion) -> bool:
    """Whether ``text`` gives the answer away: one of its numbers, or the option that is right."""
    if isinstance(item, Order | Design):
        return False
    if isinstance(item, Choice):
        return item.options[item.correct].rstrip(".").lower() in text.lower()
    joined = re.sub(r"(?<=\d)(?:\{,\}|,|\\,)(?=\d{3})", "", text)
    numbers = [float(number) for number in _NUMBER.findall(joined)]
    if isinstance(item, Estimate):
        answers = [(item.answer(), item.factor - 1)]
    else:
        answers = [(float(part.answer()), questions.tolerance(part)) for part in item.parts]
    near = [(abs(answer) * scale, tolerance) for answer, tolerance in answers for scale in (1, 100)]
    return any(abs(number - value) <= tolerance * value for number in numbers for value, tolerance in near)


def first_step(item: AnyQuestion) -> str:
    """The first sentence of the derivation, or its first equation between symbols where it is one sentence.

    Empty if that is the whole derivation or gives the answer away.
    """
    derivation = item.derivation.strip()
    ends = (match.end() for match in _SENTENCE.finditer(derivation) if match.lastgroup)
    sentence = derivation[: next((end for end in ends if end > A_STEP), len(derivation))]
    formulas = (match[0] for match in _FORMULA.finditer(derivation))
    laws = (
        formula
        for formula in formulas
        if "=" in formula and len(set(re.findall(r"[A-Za-z]", _COMMAND.sub("", formula)))) > 1
    )
    step = sentence if len(sentence) < len(derivation) - 1 else next(laws, "")
    step = f"{step[:-1]}." if step.endswith(":") else step
    return "" if step.strip("$. ") == derivation.strip("$. ") or _tells(step, item) else step
