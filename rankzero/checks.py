"""Checks of arguments: the ranges that a docstring states, as code at the head of a function.

    checks.count(ranks=ranks)                      # an integer >= 1
    checks.amount(message_bytes=message_bytes)     # a finite number >= 0

Each takes its arguments as keywords and raises a ValueError that names the argument, the rule and the value: ``ranks
must be an integer >= 1, got 0``. Lists, tuples and dictionaries are checked entry by entry, and the message names the
entry: ``lengths[3] must be ...``. True and False are no numbers here.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any


def count(least: int = 1, most: int | None = None, /, **values: Any) -> None:
    """Each is an integer of at least ``least`` and, if ``most`` is given, at most ``most``."""
    for name, value in _entries(values):
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not (whole and least <= value and (most is None or value <= most)):
            limits = f">= {least}" if most is None else f"from {least} to {most}"
            require(False, f"be an integer {limits}", **{name: value})


def amount(**values: Any) -> None:
    """Each is a finite number of at least 0: bytes, seconds, a latency."""
    for name, value in _entries(values):
        require(_is_number(value) and 0 <= value < math.inf, "be a finite number >= 0", **{name: value})


def positive(**values: Any) -> None:
    """Each is a finite number above 0: a bandwidth, a rate, whatever is divided by."""
    for name, value in _entries(values):
        require(_is_number(value) and 0 < value < math.inf, "be a finite number > 0", **{name: value})


def finite(**values: Any) -> None:
    """Each is a finite number of any sign: a reward, a logit, a log-probability."""
    for name, value in _entries(values):
        require(_is_number(value) and math.isfinite(value), "be a finite number", **{name: value})


def between(least: float, most: float, /, **values: Any) -> None:
    """Each is a number from ``least`` to ``most``, both included: a share, a discount."""
    for name, value in _entries(values):
        if not (_is_number(value) and least <= value <= most):
            require(False, f"be from {least:g} to {most:g}", **{name: value})


def one_of(known: Collection[Any], /, **values: Any) -> None:
    """Each is one of ``known``, and of its type: 1 is not True."""
    for name, value in values.items():
        if not any(type(value) is type(one) and value == one for one in known):
            require(False, f"be one of {', '.join(str(one) or repr(one) for one in known)}", **{name: value})


def require(holds: bool, rule: str, /, **values: Any) -> None:
    """A rule between arguments, or one that fits none of the others, in words that follow "must".

    ``checks.require(heads % ranks == 0, f"be divisible by ranks = {ranks}", heads=heads)`` raises
    ``heads must be divisible by ranks = 8, got 12``.
    """
    if not holds:
        raise ValueError(f"{' and '.join(values)} must {rule}, got {' and '.join(map(repr, values.values()))}")


def _entries(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values; of lists and dictionaries, however deep, the names and values of their entries."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _entries({f"{name}[{key!r}]": entry for key, entry in value.items()})
        elif isinstance(value, list | tuple | range):
            for index, entry in enumerate(value):
                if isinstance(entry, dict | list | tuple | range):
                    yield from _entries({f"{name}[{index}]": entry})
                else:
                    yield f"{name}[{index}]", entry
        else:
            yield name, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
