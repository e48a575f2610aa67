"""Design items: the reader sets several choices, and a simulator of the course says what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Knob:
    """One choice to make: an argument of the simulator, what the card calls it, and its options in order."""

    name: str
    label: str
    options: tuple[int, ...]


@dataclass(frozen=True)
class Simulated:
    """What comes of a design.

    Attributes:
        told: a sentence with its numbers.
        costs: its two costs, one for each axis; less is better.
        broken: a sentence that names the constraint that it breaks; empty if it can be built.
    """

    told: str
    costs: tuple[float, float]
    broken: str = ""


@dataclass(frozen=True)
class Axis:
    """A cost, in words, with its unit."""

    label: str
    unit: str


@dataclass(frozen=True)
class Design:
    """A task with several right answers: choose a value for each of ``knobs``.

    A design is right if it can be built and lies on the front: no other design that can be built is better in one cost
    without being worse in the other. Differences below a thousandth do not count.

    Attributes:
        simulate: takes the knobs by name; a pure function, called once for every combination.
    """

    id: str
    title: str
    section: str
    knobs: tuple[Knob, ...]
    axes: tuple[Axis, Axis]
    simulate: Callable[..., Simulated]
    derivation: str
    kind: Literal["design"] = "design"
    bonus: bool = False

    def choices(self, values: tuple[int, ...]) -> Mapping[str, int]:
        """The values by the names of their knobs."""
        return {knob.name: value for knob, value in zip(self.knobs, values, strict=True)}
