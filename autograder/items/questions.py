"""Questions: what is asked, what is right, and which mistake each wrong answer shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from random import Random
from typing import Literal

from autograder.items.designs import Design
from autograder.items.variants import Slip

#: What a question asks for: a number to work out, a run to follow, a fault to find, a layout to choose, a size
#: to estimate.
QuestionKind = Literal["derive", "trace", "debug", "design", "estimate"]


@dataclass(frozen=True)
class Part:
    """One number that a question asks for. ``tolerance`` is relative; 0 means exact (counts)."""

    label: str
    unit: str
    answer: Callable[[], float]
    tolerance: float = 0.01
    slips: tuple[Slip, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question whose answer is one number or several. ``derivation`` is Markdown with ``$math$``, without results.

    One number is asked for by ``ask``, ``unit``, ``answer``, ``tolerance`` and ``slips``, which are those of its only
    part; several by ``parts``. As for every item, ``bonus`` says that its points come on top of the total.
    """

    id: str
    kind: QuestionKind
    title: str
    section: str
    derivation: str
    parts: tuple[Part, ...] = ()
    ask: InitVar[str] = ""
    unit: InitVar[str] = ""
    answer: InitVar[Callable[[], float] | None] = None
    tolerance: InitVar[float] = 0.01
    slips: InitVar[tuple[Slip, ...]] = ()
    bonus: bool = False

    def __post_init__(
        self, ask: str, unit: str, answer: Callable[[], float] | None, tolerance: float, slips: tuple[Slip, ...]
    ) -> None:
        if answer:
            object.__setattr__(self, "parts", (Part(ask, unit, answer, tolerance, slips),))


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
