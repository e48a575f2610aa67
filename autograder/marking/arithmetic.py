"""Numbers as people type them: digits in several notations, calculations, and a unit.

The built page applies these rules in ``book/_static/numbers.js``. Text is parsed, never evaluated.

>>> read("3*7"), read("2^10"), read("1.2 GB", "MB"), read("5 %"), read("300,000")
(21.0, 1024.0, 1200.0, 0.05, 300000.0)
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

#: The most characters of a calculation.
LONGEST = 200
WANTED = "Type one number, or a calculation such as 3*7 or 2^10."
LARGE = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
SMALL = {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12}
DAY, YEAR = 86_400.0, 365.25 * 86_400.0
#: What can be written for each unit of time, besides its symbol with a prefix.
TIMES = {
    ("second", "seconds", "sec", "secs"): 1.0,
    ("millisecond", "milliseconds"): 1e-3,
    ("microsecond", "microseconds"): 1e-6,
    ("nanosecond", "nanoseconds"): 1e-9,
    ("min", "mins", "minute", "minutes"): 60.0,
    ("h", "hr", "hrs", "hour", "hours"): 3600.0,
    ("d", "day", "days"): DAY,
    ("week", "weeks"): 7 * DAY,
    ("month", "months"): YEAR / 12,
    ("y", "yr", "yrs", "year", "years"): YEAR,
}
#: Words for large numbers, which may stand before any unit that takes no prefix.
WORDS = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
#: Units of plain numbers, in which 5 % is 0.05; so are "of the reward" and the like.
SHARES = ("", "probability", "share")
PERCENT = ("%", "percent")

_PLAIN = re.compile(r"([+-]?)([0-9., '_]*[0-9][.,]?)(e[+-]?[0-9]+)?", re.IGNORECASE)
_GROUPED = re.compile(r"[0-9]{1,3}([ ,'_])[0-9]{3}(\1[0-9]{3})*(\.[0-9]*)?")
_NUMBER = re.compile(
    r"([0-9]{1,3}(?: [0-9]{3})+(?:\.[0-9]*)?(?![0-9])|[0-9.,][0-9.,'_]*)(e[+-]?[0-9]+)?", re.IGNORECASE
)
#: How a unit begins that is a word.
_WORD = re.compile(r"[a-z]{3}")
_SUPERSCRIPT = re.compile("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_DOLLARS = re.compile(r"\$ *([0-9](?:[0-9.,'_]| (?=[0-9]))*(?: (?:thousand|million|billion|trillion)\b)?)")
#: Two ends with a dash or "to" between them, of which neither is a calculation. An exponent and a unit have signs too.
_END = r"((?:[0-9]e[+-]?[0-9]|/(?=[A-Za-z])|[^-+*/×·÷()])+?)"
_RANGE = re.compile(rf"{_END} *(-|\bto\b) *{_END}", re.IGNORECASE)
_RANGED = "This looks like a range: type one number, or put a difference in parentheses."


class Refused(ValueError):
    """Text that is not a number; the message is one sentence for whoever typed it."""


def _prefixed(name: str, prefixes: dict[str, float]) -> dict[str, float]:
    return {prefix + name: factor for prefix, factor in prefixes.items()}


def _worded(name: str) -> dict[str, float]:
    return {name: 1.0} | {f"{word} {name}": factor for word, factor in WORDS.items()}


FAMILIES = (
    {**_prefixed("B", LARGE | BINARY), "byte": 1.0, "bytes": 1.0},
    _prefixed("B/s", LARGE | BINARY),
    _prefixed("s", SMALL) | {name: seconds for names, seconds in TIMES.items() for name in names},
    _prefixed("FLOP", LARGE) | _prefixed("FLOPs", LARGE),
    _prefixed("FLOP/s", LARGE),
    _prefixed("Wh", LARGE),
    WORDS,  # before dollars, which have these words, too
    WORDS | _worded("$") | _worded("USD") | _worded("dollar") | _worded("dollars"),
    {"x": 1.0, "×": 1.0, "times": 1.0},
)


def units_for(unit: str) -> dict[str, float]:
    """The units that may be typed where ``unit`` is asked for, and what each is worth in it."""
    if unit in SHARES or unit.startswith("of "):
        return dict.fromkeys(PERCENT, 0.01) | ({unit: 1.0} if unit else WORDS)
    if unit == "%":
        return dict.fromkeys(PERCENT, 1.0)
    head = unit if any(unit in one for one in FAMILIES) else unit.split(" ")[0]
    rest = unit[len(head) :]  # "GB per GPU" is read as GB too
    family = next((one for one in FAMILIES if head in one), None)
    if family is None:
        return WORDS | _worded(unit) | _worded(unit[:-1] if unit.endswith("s") else f"{unit}s")
    known = {name: factor / family[head] for name, factor in family.items()}
    return known | {name + rest: factor for name, factor in known.items()}


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise Refused("Type a number that is finite.")
    return value


def plain(text: str) -> float | None:
    """A number without calculation, or None.

    The point is always the decimal point. Commas, blanks, apostrophes and underscores may group digits by three, as the
    course prints them ("58,720"). Any other single comma is a decimal comma ("1,75", "0,125").

    Raises:
        Refused: the number is too large.
    """
    match = _PLAIN.fullmatch(text)
    if not match:
        return None
    sign, digits, exponent = match.groups()
    grouped = _GROUPED.fullmatch(digits)
    if grouped and not re.fullmatch(r"0,[0-9]{3}", digits):
        body = digits.replace(grouped[1], "")
    else:
        body = digits.replace(",", ".", 1)
    if not re.fullmatch(r"[0-9]+\.?[0-9]*|\.[0-9]+", body):
        return None
    return _finite(float(sign + body + (exponent or "")))


@dataclass(frozen=True)
class _Amount:
    """A number, and whether it has its unit already."""

    value: float
    measured: bool = False


class _Parser:
    """Recursive descent; the grammar is in ``numbers.js``.

    A unit applies to the whole product before it: 2^10 KiB, 3/4 GB.
    """

    def __init__(self, text: str, unit: str) -> None:
        self.text, self.unit, self.at = text, unit, 0
        self.units = units_for(unit)
        self.worded = not any(unit.split(" ")[0] in family for family in FAMILIES)

    def whole(self) -> float:
        value = self._sum().value
        self._sees()
        if self.at < len(self.text):
            here = self.text[self.at]
            if here == ")":
                raise Refused("A parenthesis is closed that was not opened.")
            raise Refused("Type + - * / or ^ between two numbers." if here in "0123456789.,(" else WANTED)
        return value

    def _sees(self, *signs: str) -> str:
        while self.text.startswith(" ", self.at):
            self.at += 1
        return next((sign for sign in signs if self.text.startswith(sign, self.at)), "")

    def _takes(self, *signs: str) -> str:
        sign = self._sees(*signs)
        self.at += len(sign)
        return sign

    def _sum(self) -> _Amount:
        left = self._product()
        while sign := self._takes("+", "-"):
            right = self._product()
            if left.measured != right.measured:
                raise Refused("Give each summand a unit, or none.")
            value = left.value + right.value if sign == "+" else left.value - right.value
            left = _Amount(_finite(value), left.measured)
        return left

    def _product(self) -> _Amount:
        left = self._measure(self._signed())
        while sign := "" if self._sees("**") else self._takes("*", "×", "·", "/", "÷"):
            right, times = self._signed(), sign in "*×·"
            if right.measured and (left.measured or not times):
                raise Refused("Only one factor can have a unit, and no divisor.")
            if not times and right.value == 0:
                raise Refused("This divides by zero.")
            value = left.value * right.value if times else left.value / right.value
            left = self._measure(_Amount(_finite(value), left.measured or right.measured))
        return left

    def _signed(self) -> _Amount:
        sign = self._takes("+", "-")
        if not sign:
            return self._power()
        inner = self._signed()
        return _Amount(-inner.value if sign == "-" else inner.value, inner.measured)

    def _power(self) -> _Amount:
        base = self._primary()
        if not self._takes("**", "^"):
            return base
        exponent = self._signed()
        if base.measured or exponent.measured:
            raise Refused("A power is taken of plain numbers: put the unit after it.")
        try:
            return _Amount(_finite(math.pow(base.value, exponent.value)))
        except (ValueError, OverflowError):
            return _Amount(_finite(math.inf))

    def _primary(self) -> _Amount:
        if not self._takes("("):
            return self._number()
        inner = self._sum()
        if not self._takes(")"):
            raise Refused("A parenthesis is not closed.")
        return inner

    def _number(self) -> _Amount:
        match = _NUMBER.match(self.text, self.at)
        if not match:
            ended = "Something is missing at the end of the calculation."
            raise Refused(WANTED if self.at < len(self.text) else ended)
        self.at = match.end()
        value = plain(match[0])
        if value is None:
            raise Refused(WANTED)
        return _Amount(value)

    def _fits(self, name: str) -> bool:
        """Whether ``name`` comes next in the text. Case counts in symbols, where it tells prefixes apart, but not in
        words."""
        end = self.at + len(name)
        here = self.text[self.at : end]
        same = here.lower() == name.lower() if self.worded or _WORD.match(name) else here == name
        return same and not self.text[end : end + 1].isalnum()

    def _measure(self, amount: _Amount) -> _Amount:
        self._sees()
        here = self.text[self.at : self.at + 1]
        times = here == "×" in self.units and self.text.index("×") == self.at == len(self.text) - 1  # not of a product
        if not times and not here.isalpha() and here not in ("%", "$"):
            return amount
        name = next((name for name in sorted(self.units, key=len, reverse=True) if self._fits(name)), None)
        if name is None:
            word = re.split(r"[\s+*^()]", self.text[self.at :])[0]
            wanted = f"the answer is read in {self.unit}" if self.unit else "the answer is a plain number"
            raise Refused(f"“{word}” does not fit here: {wanted}.")
        self.at += len(name)
        if amount.measured:
            raise Refused("Type one unit for each summand.")
        return _Amount(_finite(amount.value * self.units[name]), name not in PERCENT)


def _tidy(text: str) -> str:
    """The text in plain signs: a book's dashes, spaces, apostrophes and exponents; "$5" is 5 $, and "~5" is 5."""
    text = re.sub("[\u00a0\u2009\u202f]", " ", re.sub("[\u2212\u2013\u2014]", "-", text.strip())).replace("\u2019", "'")
    text = _SUPERSCRIPT.sub(lambda found: f"^{found[0].translate(_RAISED)}", text)
    return _DOLLARS.sub(r"\1 $", re.sub("^[~≈=] *", "", text))


def _refuse_range(text: str, unit: str) -> None:
    """Refuse "30-40" and "30 to 40 GB", which are no differences. "40-30" is one."""
    match = _RANGE.fullmatch(text)
    if not match:
        return
    low, sign, high = match.groups()
    try:
        if plain(low) is not None:  # the unit stands once, at the end
            low += _NUMBER.sub("", high, count=1)
        ordered = 0 <= _Parser(low, unit).whole() < _Parser(high, unit).whole()
    except Refused:
        return
    if ordered or sign != "-":
        raise Refused(_RANGED)


def read(text: str, unit: str = "") -> float:
    """The number in ``text``, in the unit that is asked for.

    Raises:
        Refused: there is none; the message says why.
    """
    tidy = _tidy(text)
    if not tidy:
        raise Refused("Type a number.")
    value = plain(tidy)
    if value is not None:
        return value
    if len(tidy) > LONGEST:
        raise Refused(f"Type at most {LONGEST} characters.")
    try:
        _refuse_range(tidy, unit)
        return _Parser(tidy, unit).whole()
    except RecursionError:
        raise Refused("Type a calculation with fewer parentheses.") from None
