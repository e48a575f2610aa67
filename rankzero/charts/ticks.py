"""Numeric axes that figures and charts draw alike: short numbers, the ticks of logarithmic axes, limits.

Standard library only: this runs in browsers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from rankzero import checks
from rankzero.room import room

#: The axes that are logarithmic.
LogAxes = Literal["", "x", "y", "xy"]

_PREFIXES = ("µ", "m", "", "k", "M", "G", "T", "P", "E")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti")


def short(value: float) -> str:
    """A number in a few characters: 450G, 0.25, 5µ, 12.5."""
    if value == 0 or 1e-3 <= abs(value) < 9999.5:
        return f"{value:.4g}"
    rounded = float(f"{value:.3g}")  # which may reach the next prefix
    power = min(max(math.floor(math.log10(abs(rounded)) / 3 + 1e-9), -2), len(_PREFIXES) - 3)
    return f"{value / 1000.0**power:.3g}{_PREFIXES[power + 2]}"


def log_ticks(values: Sequence[float]) -> tuple[list[float], list[str]]:
    """Ticks of a logarithmic axis and their labels: powers of two if all values are, else 1, 2, 5 and powers of ten."""
    checks.require(all(value > 0 for value in values), "be positive on a logarithmic axis", values=values)
    low, high = min(values, default=1.0), max(values, default=10.0)
    twos = high > low >= 1 and all(math.log2(value).is_integer() for value in values)
    return (_twos if twos else _tens)(low, high)


def _twos(low: float, high: float) -> tuple[list[float], list[str]]:
    first, last = int(math.log2(low)), int(math.log2(high))
    step = -(-(last - first + 1) // room(9, 6))
    ticks = [2.0**power for power in range(first, last + 1, step)]
    if high < 2**16:
        return ticks, [f"{tick:.0f}" for tick in ticks]
    powers = [min(int(math.log2(tick)) // 10, len(_BINARY) - 1) for tick in ticks]
    return ticks, [f"{tick / 1024**power:g}{_BINARY[power]}" for tick, power in zip(ticks, powers, strict=True)]


def _tens(low: float, high: float) -> tuple[list[float], list[str]]:
    """Powers of ten, with ticks between them if there are few."""
    decades = math.log10(high / low)
    between = (1,) if decades > 3 else (1, 3) if decades > 1.6 else (1, 2, 5) if decades > 0.5 else range(1, 10)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    most = room(9, 6)
    step = 1 if decades <= most else -(-math.ceil(decades) // most)
    ticks = [float(f"{part}e{power}") for power in range(first, last + 1, step) for part in between]
    inside = [tick for tick in ticks if low / 2 <= tick <= high * 2] or [low, high]
    return inside, [_prefixed(tick, inside) for tick in inside]


def _prefixed(value: float, others: Sequence[float]) -> str:
    """Like :func:`short`, but if one number on an axis needs a prefix, all numbers get one that can."""
    if value < 1 and min(others) < 1e-3:
        return short(value) if value < 1e-3 else f"{value * 1e3:g}m"
    return f"{value / 1e3:g}k" if 1e3 <= value < 1e4 <= max(others) else short(value)


def limits(values: Sequence[float], log: bool = False) -> tuple[float, float]:
    """The ends of an axis that shows ``values`` with a margin of five percent, as Matplotlib chooses them."""
    known = [value for value in values if math.isfinite(value)] or [1.0, 10.0]
    if log:
        low, high = limits([math.log10(value) for value in known])
        return 10**low, 10**high
    low, high = min(known), max(known)
    margin = 0.05 * (high - low) or 0.055 * abs(low) or 0.055
    return low - margin, high + margin
