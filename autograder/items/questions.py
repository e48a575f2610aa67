"""Questions, and the mistakes that people make with them and with exercises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from autograder.items.designs import Design
from autograder.items.edits import Edit

#: What a question asks for: a number to work out, a run to follow, a fault to find, a layout to choose, a size
#: to estimate.
QuestionKind = Literal["derive", "trace", "debug", "design", "estimate"]


@dataclass(frozen=True)
class Slip:
    """A mistake that people really make, and the one sentence that names it.

    For build and debug items the mistake is an ``edit`` of the reference: a text that occurs exactly once in it, or in
    what its module defines for it, and the replacement. Several ``edits`` are applied together. A wrong program that is
    truly another one is given as ``program``, a self-contained function or class whose source can be submitted. With
    both, the edits apply to ``program`` instead of the reference.
    For questions, ``value`` is the wrong number, or a function that computes it.
    """

    sentence: str
    program: Callable[..., Any] | type | None = None
    value: float | Callable[[], float] | None = None
    edit: Edit | None = None
    edits: tuple[Edit, ...] = ()

    @property
    def changes(self) -> tuple[Edit, ...]:
        """All edits of its base; empty when the slip is a whole program or a value."""
        return (self.edit, *self.edits) if self.edit else self.edits

    @property
    def name(self) -> str:
        """How listings name it: the name of a whole program, else its sentence."""
        return self.program.__name__ if self.program and not self.changes else self.sentence


@dataclass(frozen=True)
class Part:
    """One number that a question asks for. ``tolerance`` is relative; 0 means exact (counts)."""

    label: str
    unit: str
    answer: Callable[[], float]
    tolerance: float = 0.01
    slips: tuple[Slip, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question whose answer is one number or several. ``derivation`` is Markdown with ``$math$``, without results.

    As for every item, ``bonus`` says that its points come on top of the total.
    """

    id: str
    kind: QuestionKind
    title: str
    parts: tuple[Part, ...]
    derivation: str
    section: str
    bonus: bool = False


@dataclass(frozen=True)
class Choice:
    """A question with one right option. ``slips`` maps the index of a wrong option to the sentence that explains it.

    Options may be listed in any order: they are shown shuffled, lettered a, b, c ...
    """

    id: str
    kind: QuestionKind
    title: str
    options: tuple[str, ...]
    correct: int
    derivation: str
    section: str
    slips: Mapping[int, str] = field(default_factory=dict)
    bonus: bool = False

    def shown(self) -> tuple[str, ...]:
        """The options in the order shown to the learner: always the same for an id."""
        return tuple(Random(self.id).sample(self.options, len(self.options)))


@dataclass(frozen=True)
class Order:
    """Put ``steps`` into order. They are listed in the right order here, and shown shuffled, lettered a, b, c ..."""

    id: str
    kind: QuestionKind
    title: str
    steps: tuple[str, ...]
    derivation: str
    section: str
    bonus: bool = False

    def shown(self) -> tuple[str, ...]:
        """The steps in the order shown to the learner: always the same for an id, and never the right order."""
        steps = list(self.steps)
        rng = Random(self.id)
        while tuple(steps) == self.steps:
            rng.shuffle(steps)
        return tuple(steps)


@dataclass(frozen=True)
class Landmark:
    """A point of a scale that readers know: the tick reads ``name``, the legend says what it is."""

    value: float
    name: str
    meaning: str


@dataclass(frozen=True)
class Estimate:
    """A quantity of which the size is wanted: a positive number on a logarithmic scale.

    Attributes:
        label: the quantity, in words.
        unit: the unit of the answer, the scale and the landmarks.
        answer: computes the exact value.
        factor: an estimate is right if it is at most this many times the answer, and at least the answer divided by it.
        scale: the two ends of the slider.
        slips: ideas that lead elsewhere. An estimate within ``factor`` of a slip's value is explained by it.
    """

    id: str
    title: str
    section: str
    label: str
    unit: str
    answer: Callable[[], float]
    factor: float
    scale: tuple[float, float]
    landmarks: tuple[Landmark, ...]
    derivation: str
    slips: tuple[Slip, ...] = ()
    kind: QuestionKind = "estimate"
    bonus: bool = False


AnyQuestion = Question | Choice | Order | Estimate | Design
