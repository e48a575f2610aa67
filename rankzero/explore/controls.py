"""The controls of an explorer: a slider, a choice, a list of numbers, and how their values are displayed."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from rankzero import checks

#: Number of steps of a slider over a range of floats.
STEPS = 200

#: Prefixes of base units with their powers of ten, largest first; then the binary prefixes of bytes with their sizes.
PREFIXES = ((15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""), (-3, "m"), (-6, "µ"), (-9, "n"))
BINARY = ((2**40, "Ti"), (2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
BASE_UNITS = ("B", "B/s", "s", "FLOP", "FLOP/s")
#: What of the end of a unit in words goes when there is one of it, the longer ending first.
PLURALS = (("sses", "ss"), ("s", ""))


@dataclass(frozen=True)
class Range:
    """A slider. Its values are integers if ``low``, ``high`` and ``default`` are integers, else floats.

    With ``log`` the values are evenly spaced on a logarithmic scale and have three significant digits. If ``low``,
    ``high`` and ``default`` are floats they are rounded, to four significant digits with ``log`` and to six without:
    a measured 1.2345678e-05 s becomes 1.235e-05 s, so that the displayed value (:func:`shown`) is exactly the value
    that the function gets.
    """

    low: float
    high: float
    default: float
    unit: str = ""
    log: bool = False

    def __post_init__(self) -> None:
        if not self.integer:
            for name in ("low", "high", "default"):
                object.__setattr__(self, name, float(f"{getattr(self, name):.{4 if self.log else 6}g}"))
        checks.require(self.low < self.high, f"be below high = {self.high}", low=self.low)
        checks.between(self.low, self.high, default=self.default)
        checks.require(not self.log or self.low > 0, "be positive for a logarithmic range", low=self.low)

    @property
    def integer(self) -> bool:
        """Whether the values are integers."""
        return all(isinstance(value, int) for value in (self.low, self.high, self.default))

    @property
    def stops(self) -> list[float]:
        """Every value of the slider in ascending order, the default included; notebook and page use the same ones."""
        if self.integer and not self.log:
            return list(range(int(self.low), int(self.high) + 1))
        shares = [step / STEPS for step in range(STEPS + 1)]
        if self.log:
            values = [float(f"{self.low * (self.high / self.low) ** share:.3g}") for share in shares]
        else:
            values = [float(f"{self.low + share * (self.high - self.low):.6g}") for share in shares]
        inside = {min(max(value, self.low), self.high) for value in values} | {self.low, self.default, self.high}
        return sorted({round(value) for value in inside} if self.integer else inside)


@dataclass(frozen=True, init=False)
class Choice:
    """One of several options, as in ``Choice("sum", "avg", default="avg")``; the default is the first option.

    Numbers with a ``unit`` are displayed like a slider's values: 8e10 B as ``80 GB``.
    """

    options: tuple[str | int | float, ...]
    default: str | int | float
    unit: str

    def __init__(self, *options: str | int | float, default: str | int | float | None = None, unit: str = "") -> None:
        checks.require(len(options) > 0, "not be empty", options=options)
        default = options[0] if default is None else default
        checks.require(default in options, f"be one of {list(options)}", default=default)
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "default", default)
        object.__setattr__(self, "unit", unit)

    @property
    def texts(self) -> list[str]:
        """The options as the reader sees them, in order."""
        return [option if isinstance(option, str) else shown(option, self.unit) for option in self.options]


@dataclass(frozen=True)
class Vector:
    """A text field for numbers separated by commas: one to ``longest`` of them, each in [``low``, ``high``]."""

    default: tuple[float, ...]
    low: float = float("-inf")
    high: float = float("inf")
    unit: str = ""
    longest: int = 64

    def __post_init__(self) -> None:
        object.__setattr__(self, "default", tuple(self.default))
        fits = 1 <= len(self.default) <= self.longest
        checks.require(fits, f"hold 1 to {self.longest} numbers", default=self.default)
        checks.between(self.low, self.high, default=self.default)

    @property
    def text(self) -> str:
        """The default as the text field shows it; ``read`` converts it back into the same numbers."""
        return ", ".join(repr(_plain(float(value))) for value in self.default)

    def read(self, text: str) -> tuple[float, ...]:
        """The numbers in ``text``.

        Raises:
            ValueError: ``text`` is not a list of numbers, or it breaks a rule of this control; the message says which.
        """
        try:
            values = tuple(_plain(float(piece)) for piece in text.split(","))
        except ValueError:
            raise ValueError(f"numbers with commas between them are needed, got {text!r}") from None
        if len(values) > self.longest:
            raise ValueError(f"at most {self.longest} numbers, got {len(values)}")
        if not all(self.low <= value <= self.high and abs(value) < float("inf") for value in values):
            raise ValueError(f"each number must lie in [{self.low:g}, {self.high:g}], got {text!r}")
        return values


@dataclass(frozen=True)
class Number:
    """A text field for one number of any size: ``70e9``, and in a page ``70 billion`` or ``80 GB`` as well.

    It is a whole number if ``default`` is an integer. ``low`` and ``high`` bound it.
    """

    default: float
    unit: str = ""
    low: float = 0
    high: float = float("inf")

    def __post_init__(self) -> None:
        checks.between(self.low, self.high, default=self.default)

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are taken."""
        return isinstance(self.default, int)

    @property
    def text(self) -> str:
        """The default as the text field shows it: bytes with a prefix, counts from a million on as a power of ten."""
        value = float(f"{self.default:.10g}")
        if self.unit in ("B", "B/s") and value:
            return shown(value, self.unit)
        if abs(value) < 1e6:
            return f"{_plain(value):.10g}"
        return Decimal(repr(value)).normalize().to_eng_string().replace("E+", "e")

    def read(self, text: str) -> float:
        """The number in ``text``.

        Raises:
            ValueError: ``text`` is no number, or it breaks a rule of this control; the message says which.
        """
        prefixes = {prefix: 10.0**power for power, prefix in PREFIXES} | {
            prefix: float(size) for size, prefix in BINARY
        }
        prefixes["u"] = prefixes["µ"]
        bare = text.replace(",", "").strip().removesuffix(self.unit or " ").strip()
        number = bare.rstrip("kMGTPimunµ") if self.unit in BASE_UNITS else bare
        try:
            value = _plain(float(number) * prefixes.get(bare[len(number) :], float("nan")))
        except (ValueError, OverflowError):
            raise ValueError(f"a number is needed, got {text!r}") from None
        if self.whole and not isinstance(value, int):
            raise ValueError(f"a whole number is needed, got {text!r}")
        if not self.low <= value <= self.high or abs(value) == float("inf"):
            raise ValueError(f"a number from {self.low:g} to {self.high:g} is needed, got {text!r}")
        return value


Control = Range | Choice | Vector | Number


def _plain(value: float) -> float:
    """Whole numbers as int, because ``[3, 4]`` reads better in a chart than ``[3.0, 4.0]``."""
    return int(value) if value.is_integer() else value


def shown(value: float, unit: str) -> str:
    """A control's value as the reader sees it, with all its digits: ``shown(32_768, "tokens") == "32,768 tokens"``.

    Base units get a prefix (``shown(2e9, "B") == "2 GB"``); bytes get a binary prefix if that makes the text shorter
    (``shown(2**20, "B") == "1 MiB"``).
    """
    if unit not in BASE_UNITS:
        return f"{_in_full(value)} {_of_one(unit) if value == 1 else unit}".strip()
    power, prefix = next(((power, p) for power, p in PREFIXES if abs(value) >= float(f"1e{power}")), (0, ""))
    texts = [f"{_in_full(value, -power)} {prefix}{unit}"]
    if unit == "B" and value:
        texts += [f"{int(value) // size:,} {p}B" for size, p in BINARY if value % size == 0]
    return min(texts, key=len)


def _of_one(unit: str) -> str:
    """The unit of a single thing: "token" for "tokens"; a rate and a factor ("per 100 steps", "times") stay."""
    if len(unit) < 4 or unit == "times" or "per " in unit or "/" in unit:
        return unit
    return next((unit.removesuffix(many) + one for many, one in PLURALS if unit.endswith(many)), unit)


def _in_full(value: float, power: int = 0) -> str:
    """All digits of ``value`` times ten to the ``power``; very small numbers as ``1e-05``."""
    number = Decimal(repr(value)).scaleb(power)
    whole, _, digits = f"{number:,f}".partition(".")
    digits = digits.rstrip("0")
    return repr(float(number)) if 0 < abs(number) < Decimal("1e-4") else whole + ("." + digits if digits else "")
