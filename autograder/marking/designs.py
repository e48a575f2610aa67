"""Designs: every combination is simulated once, and judged by the front of those that can be built.

The page looks its answer up in the same table (:func:`judged`), which is stored in the card.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache
from typing import Any

from autograder.items import Design, Simulated

#: Costs that differ by less than this share are equal: nobody builds another cluster for a few bytes.
EQUAL = 1e-3
BEST = "No other choice here is better in one of the two without being worse in the other."
BEATEN = "It can be built, but another choice here is better in one of the two and no worse in the other."

Values = tuple[int, ...]


@cache
def table(item: Design) -> Mapping[Values, Simulated]:
    """What comes of every combination of options."""
    combinations = itertools.product(*(knob.options for knob in item.knobs))
    return {values: item.simulate(**item.choices(values)) for values in combinations}


def beats(one: Simulated, other: Simulated) -> bool:
    """Whether ``one`` is better in one cost and no worse in the other; a difference below :data:`EQUAL` is none."""
    pairs = list(zip(one.costs, other.costs, strict=True))
    return all(a <= b * (1 + EQUAL) for a, b in pairs) and any(a < b * (1 - EQUAL) for a, b in pairs)


def buildable(item: Design) -> dict[Values, Simulated]:
    """The designs that break no constraint."""
    return {values: made for values, made in table(item).items() if not made.broken}


@cache
def front(item: Design) -> tuple[Values, ...]:
    """The designs that can be built and that no other beats, from the lowest first cost to the highest."""
    fits = buildable(item)
    best = [values for values, made in fits.items() if not any(beats(other, made) for other in fits.values())]
    return tuple(sorted(best, key=lambda values: fits[values].costs))


def judged(item: Design, values: Values) -> tuple[bool, str]:
    """Whether a design is right, and what is said about it."""
    made = table(item)[values]
    right = values in front(item)
    return right, f"{made.told} {made.broken or f'{BEST if right else BEATEN} {_compared(item, made)}'}"


def _compared(item: Design, made: Simulated) -> str:
    """The two costs as they were compared."""
    costs = (f"{axis.label} {cost:.5g} {axis.unit}" for axis, cost in zip(item.axes, made.costs, strict=True))
    return f"Compared: {', '.join(costs)}; differences below {EQUAL:.1%} do not count."


def values_of(item: Design, choices: Any) -> Values | str:
    """The value of each knob, in order; a sentence if ``choices`` does not give each one of its options."""
    if not isinstance(choices, Mapping):
        return f"{item.id} asks for a choice for each of {', '.join(knob.name for knob in item.knobs)}, by name"
    names = {knob.name for knob in item.knobs}
    for name in choices:
        if name not in names:
            return f"{item.id} has no choice {str(name)[:40]!r}: choose {', '.join(knob.name for knob in item.knobs)}"
    for knob in item.knobs:
        value = choices.get(knob.name)
        if isinstance(value, bool) or value not in knob.options:
            options = ", ".join(map(str, knob.options))
            said = f"got {repr(value)[:80]}" if knob.name in choices else "it is missing"
            return f"{knob.name} must be one of {options}; {said}"
    return tuple(int(choices[knob.name]) for knob in item.knobs)
