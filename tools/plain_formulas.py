"""Formulas as a line of text, for an excerpt that a search shows: ``(N − 1)/N ⋅ S`` and not ``N−1NS``."""

from __future__ import annotations

import re

from bs4 import Tag

#: Exponents that have a character of their own.
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
#: Signs that are set apart on both sides, and those that are set apart from what follows.
BOTH, AFTER = frozenset("=≠≈≤≥<>+−-±×⋅·→←∈∣∼"), frozenset(",;:")
#: Stands between a function and its argument.
APPLIED = "\u2061"


def formula(node: Tag) -> str:
    """A formula in MathML as a line of text."""
    text = re.sub(f" ?{APPLIED} ?(?=[(_])", "", _line(node)).replace(APPLIED, " ")
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"(^|[(\[{/^_]|[=,] ) ?([−+-]) ", r"\1\2", text)  # the sign of a number


def _line(node: Tag) -> str:
    parts = [_line(part) for part in node.find_all(recursive=False)]
    match node.name:
        case "mfrac":
            return f"{_grouped(parts[0])}/{_grouped(parts[1])}"
        case "msup":
            return parts[0] + _raised(parts[1])
        case "msub":
            return f"{parts[0]}_{_script(parts[1])}"
        case "msubsup" | "munderover":
            return f"{parts[0]}_{_script(parts[1])}{_raised(parts[2])} "
        case "munder" if node.find("mo", recursive=False):
            return f"{parts[0]}_{_script(parts[1])} "
        case "munder" | "mover":
            return parts[0]  # without its brace or hat
        case "msqrt":
            return f"√({_together(parts)})"
        case "mtr":
            return " ".join(parts) + "; "
        case "mo":
            return _sign(node.get_text().strip())
        case "mspace":
            return " "
    return _together(_with_words(node, parts)) or node.get_text().replace("\xa0", " ")


def _with_words(node: Tag, parts: list[str]) -> list[str]:
    """The parts of a row; upright letters that follow one another are one word, as in ``Var``."""
    joined: list[str] = []
    upright = False
    for part, text in zip(node.find_all(recursive=False), parts, strict=True):
        letter = part.name == "mi" and part.get("mathvariant") == "normal"
        if letter and upright:
            joined[-1] += text
        else:
            joined.append(text)
        upright = letter
    return joined


def _together(parts: list[str]) -> str:
    """Factors with a blank between them, so that ``N S`` is no word; a number, a bracket and a sign need none."""
    text = ""
    for part in parts:
        apart = re.search(r"[^\W\d]\d*$|/\d+$|[⁰-⁹²³¹]$", text) and re.match(r"\w", part)
        text += f" {part}" if apart else part
    return text


def _sign(sign: str) -> str:
    return f" {sign} " if sign in BOTH else f"{sign} " if sign in AFTER else sign


def _grouped(text: str) -> str:
    """In brackets, unless it is one number or word."""
    return text if re.fullmatch(r"[\w.,]*", text.strip()) else f"({text.strip()})"


def _script(text: str) -> str:
    """What stands below or above; letters without a sign between them are one name, as in ``n_kv``."""
    text = text.strip()
    return text.replace(" ", "") if re.fullmatch(r"\w( \w)*", text) else _grouped(text)


def _raised(text: str) -> str:
    text = _script(text)
    return text.translate(RAISED) if text.isdecimal() else f"^{text}"
