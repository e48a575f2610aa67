"""The numbers of a page's prose, computed: behind a number stands a comment that does not show, with its formula.

``they add up to 24<!-- = sum([4, 1, 7, 12]) -->``: what the formula gives, rounded as the number is printed, is the
last number before the comment; a unit may stand between them. A tuple or a list gives as many numbers, in their order.
Only what stands between the comment and the one before it counts, and only in the same paragraph. A formula may use
what the page imports with ``from ... import``, the units of :mod:`rankzero.facts.units`, ``math``, builtins, and full
names below :data:`ROOMS`.
"""

from __future__ import annotations

import ast
import math
import pkgutil
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankzero.facts import units
from tools.statements import imported

ROOMS = ("solutions", "experiments", "rankzero")
COMMENT = re.compile(r"<!-- = (.*?) -->", re.DOTALL)
#: A sign, digits with or without separators, and a power of ten: ``-1``, ``1,248.5``, ``3{,}200``, ``1.2 · 10²⁰``,
#: ``12 \times 10^{12}``, ``6e-8``. A hyphen in a word (``step-6``) is no sign.
NUMBER = re.compile(
    r"""(?P<sign>(?<![\w)}\]])[-−])?
    (?P<digits>[0-9]{1,3}(?:(?:,|\{,\})[0-9]{3})+(?![0-9])|[0-9]+)(?:\.(?P<decimals>[0-9]+))?
    (?:e(?P<e>-?[0-9]+)|\s*(?:·|×|\\cdot|\\times)\s*10(?:\^\{?(?P<power>-?[0-9]+)\}?|(?P<raised>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)))?""",
    re.VERBOSE,
)
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@dataclass(frozen=True)
class Number:
    """A number as it is printed, its value, half a unit of its last digit, and where it ends."""

    text: str
    value: float
    half: float
    end: int

    def is_rounded(self, value: float) -> bool:
        """Whether ``value`` is printed as this number."""
        return abs(value - self.value) <= self.half * (1 + 1e-9)


@dataclass(frozen=True)
class Computed:
    """A formula, and the text to which it belongs."""

    formula: str
    before: str


def stripped(text: str) -> str:
    """A text without the formulas of its numbers, as it is read.

    >>> stripped("They take 48<!-- = 3 * 16 --> GB.")
    'They take 48 GB.'
    """
    return COMMENT.sub("", text)


def numbers(text: str) -> list[Number]:
    """The numbers that a text prints.

    >>> [number.value for number in numbers("GPU 7 of 1,024 takes -2.5 s for 3 · 10² steps")]
    [7.0, 1024.0, -2.5, 300.0]
    """
    return [_number(match) for match in NUMBER.finditer(text)]


def _number(match: re.Match[str]) -> Number:
    digits, decimals = re.sub(r"\D", "", match["digits"]), match["decimals"] or ""
    power = int(match["e"] or match["power"] or (match["raised"] or "0").translate(_RAISED))
    value = float(f"{digits}.{decimals}e{power}") * (-1 if match["sign"] else 1)
    return Number(match[0], value, 0.5 * 10.0 ** (power - len(decimals)), match.end())


def computed(text: str) -> Iterator[Computed]:
    """Each formula of a text, with what stands before it."""
    end = 0
    for match in COMMENT.finditer(text):
        yield Computed(match[1], text[end : match.start()].rpartition("\n\n")[2])
        end = match.end()


def evaluate(formula: str, imports: Mapping[str, str]) -> list[float]:
    """The numbers that a formula gives; ``imports`` are the full names of what the page imports."""
    names: dict[str, Any] = {"math": math, **vars(units)}
    for node in ast.walk(ast.parse(formula, mode="eval")):
        if isinstance(node, ast.Name) and node.id in imports:
            names[node.id] = pkgutil.resolve_name(imports[node.id])
        elif isinstance(node, ast.Attribute) and re.fullmatch(rf"({'|'.join(ROOMS)})(\.\w+)+", ast.unparse(node)):
            pkgutil.resolve_name(ast.unparse(node))  # imports the module
    names |= {room: sys.modules[room] for room in ROOMS if room in sys.modules}
    value = eval(formula, names)
    return [float(one) for one in (value if isinstance(value, tuple | list) else (value,))]


def wrong(one: Computed, imports: Mapping[str, str]) -> str:
    """What is wrong with a formula or its numbers; empty if nothing is."""
    printed = numbers(one.before)
    behind = one.before[printed[-1].end :] if printed else ""
    if not printed or len(behind.split()) > 1 or behind[-1:].isspace():
        return "must stand right behind a number or its unit"
    try:
        values = evaluate(one.formula, imports)
    except Exception as error:  # whatever a formula raises is reported with it
        return f"raises {type(error).__name__}: {error}"
    if not 0 < len(values) <= len(printed):
        return f"gives {len(values)} numbers, and {len(printed)} stand before it"
    pairs = zip(printed[-len(values) :], values, strict=True)
    return ", ".join(
        f"{number.text} is printed for {value!r}" for number, value in pairs if not number.is_rounded(value)
    )


def failures(cells: Sequence[Any]) -> list[str]:
    """What is wrong with the computed numbers of a page, a line for each formula."""
    imports = imported(cell.source for cell in cells if cell.cell_type == "code")
    return [
        f"{cell['id']}: {one.formula}: {sentence}"
        for cell in cells
        if cell.cell_type == "markdown"
        for one in computed(cell.source)
        if (sentence := wrong(one, imports))
    ]
