"""The vocabulary of the bank: questions, build items, cases, slips. Small, frozen, declarative; standard library only.

A chapter's module in :mod:`autograder.bank` lists its items in ``ITEMS``. Importing it is cheap: whatever needs a
reference (an answer, an expected value) is a function that is called on first use, and reaches the reference through
:func:`lazily`. Tensors stand in the bank as :class:`Tensor`, so that no bank module imports torch.
"""

from __future__ import annotations

import array
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from autograder import edits
from autograder.edits import Edit
from rankzero import chapters
from rankzero.events import Event

#: Array type codes and item sizes of the tensor types that a case may hold.
DTYPES = {"float32": "f", "float64": "d", "int64": "q", "int32": "i", "bool": "b"}

if sys.byteorder != "little":  # pragma: no cover
    raise ImportError("the autograder's tensor encoding needs a little-endian machine")


@dataclass(frozen=True)
class Tensor:
    """A dense tensor as plain bytes (row-major, little-endian): how tensors stand in cases, replies and reports."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes = field(repr=False)

    @classmethod
    def of(cls, values: Sequence[float], dtype: str = "float32", shape: Sequence[int] | None = None) -> Tensor:
        """From a flat sequence: ``Tensor.of([1, 2, 3, 4], shape=(2, 2))``."""
        kind = DTYPES[dtype]
        plain = [float(v) for v in values] if kind in "fd" else [int(v) for v in values]
        data = array.array(kind, plain).tobytes()
        return cls(dtype, tuple(shape) if shape is not None else (len(values),), data)

    def tolist(self) -> list[float]:
        """The elements, flat."""
        values = array.array(DTYPES[self.dtype])
        values.frombytes(self.data)
        return [bool(v) for v in values] if self.dtype == "bool" else list(values)


@dataclass(frozen=True)
class Array(Tensor):
    """An array or a number of NumPy: never equal to a tensor."""


@dataclass(frozen=True)
class Iterator:
    """An argument that can be walked once: the program receives ``iter(values)``, a new one for each call."""

    values: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class Stage:
    """A part of a model: the program receives a new ``torch.nn.Sequential`` of ``layers`` for each call.

    A layer is ``("Linear", weight, bias)`` with a :class:`Tensor` for each (the bias may be None), or the name of a
    module of ``torch.nn`` without parameters, ``("Tanh",)``. The parameters of a ``frozen`` stage ask for no gradient.
    The gradients that a call leaves in it belong to the answer: a record ``Trained`` with ``value`` and ``gradients``.
    """

    layers: tuple[tuple[Any, ...], ...]
    frozen: bool = False

    def __repr__(self) -> str:
        made = [f"{name}({', '.join(map(str, reversed(own[0].shape))) if own else ''})" for name, *own in self.layers]
        return f"Sequential({', '.join(made)}){'.requires_grad_(False)' if self.frozen else ''}"


class _Lazy:
    """A module that is imported when one of its names is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module(self._name), name)


def lazily(name: str) -> Any:
    """The module ``name``, imported on first use: ``cost = lazily("solutions.ch03.collective_cost")``."""
    return _Lazy(name)


@dataclass(frozen=True)
class Slip:
    """A mistake that people really make, and the one sentence that names it.

    Of build and debug items it is an ``edit`` of the reference: text that occurs exactly once in it, or in what its
    module defines for it, and what stands there instead. ``edits`` go together. What is truly another program stands as
    ``program``, a function or class complete in itself: its source can be submitted.
    ``value`` (questions) is the wrong number, or a function that computes it.
    """

    sentence: str
    program: Callable[..., Any] | type | None = None
    value: float | Callable[[], float] | None = None
    edit: Edit | None = None
    edits: tuple[Edit, ...] = ()

    @property
    def changes(self) -> tuple[Edit, ...]:
        """All that is edited in the reference; nothing where the slip is a program or a value."""
        return (self.edit, *self.edits) if self.edit else self.edits

    @property
    def name(self) -> str:
        """What a list calls it: the program's name, or its sentence."""
        return self.program.__name__ if self.program else self.sentence


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
    """A question whose answer is one number or several. ``derivation`` is Markdown with ``$math$``, without results."""

    id: str
    kind: str  # "derive", "trace", "debug" or "design"
    title: str
    parts: tuple[Part, ...]
    derivation: str
    section: str


@dataclass(frozen=True)
class Choice:
    """A question with one right option. ``slips`` says, by option index, what a wrong choice shows.

    Options are listed in any order, the right one first if you like: they are shown shuffled, lettered a, b, c ...
    """

    id: str
    kind: str
    title: str
    options: tuple[str, ...]
    correct: int
    derivation: str
    section: str
    slips: Mapping[int, str] = field(default_factory=dict)

    def shown(self) -> tuple[str, ...]:
        """The options in the order in which the learner meets them: fixed for an id."""
        return tuple(Random(self.id).sample(self.options, len(self.options)))


@dataclass(frozen=True)
class Order:
    """Bring ``steps`` (listed in the right order) into order; they are shown shuffled, lettered a, b, c ..."""

    id: str
    kind: str
    title: str
    steps: tuple[str, ...]
    derivation: str
    section: str

    def shown(self) -> tuple[str, ...]:
        """The steps in the order in which the learner meets them: fixed for an id, never already right."""
        steps = list(self.steps)
        rng = Random(self.id)
        while tuple(steps) == self.steps:
            rng.shuffle(steps)
        return tuple(steps)


@dataclass(frozen=True)
class Case:
    """One call and what it must give: a value (computed by the reference) or, with ``raises``, an exception.

    ``call``: the function is called as ``f(*args, **kwargs)``.
    ``calls``: the class is made with ``args`` and ``kwargs``; then each ``(name, arguments)`` of ``calls`` is called in
    turn, or read as an attribute when ``arguments`` is None; every answer counts. ``other.name`` goes to a second
    object, made with the same arguments when it is first named: objects must not share their state. ``#2.name`` goes
    to what call 2, counted from 0, answered: whether that is the object's own table, or a copy.
    ``tensor``: as ``call``, with :class:`Tensor` for tensors and :class:`Stage` for a part of a model.
    ``world``: ``args[r]`` are the arguments of rank ``r``; ``len(args)`` is the number of ranks.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    raises: str | None = None
    calls: tuple[tuple[str, tuple[Any, ...] | None], ...] = ()


def invalid(*args: Any, **kwargs: Any) -> Case:
    """A call that must raise ValueError."""
    return Case(args, kwargs, raises="ValueError")


@dataclass(frozen=True)
class Group:
    """A class of hidden cases that is judged, hinted at and paid together.

    ``draw(rng)`` makes one; ``count`` are drawn, or all of ``corners(rng)`` are taken first. ``hint`` is what a learner
    reads when a case of it fails and no slip explains the failure; it names the class of inputs and never a value.
    """

    name: str
    draw: Callable[[Random], Case]
    count: int
    hint: str
    corners: Callable[[Random], Sequence[Case]] | None = None


#: What a rule of a world item sees: the case, each rank's value, the broker's events. It returns a sentence or None.
Rule = Callable[[Case, Sequence[Any], Sequence[Event]], str | None]


@dataclass(frozen=True)
class Build:
    """A function or class that a learner writes.

    Attributes:
        id: ``NN-`` and the function's name with hyphens.
        module: topic module in the chapter's package of ``solutions`` and ``labs``.
        function: its name, unique in the course.
        grade: ``call``, ``calls``, ``tensor`` or ``world``.
        cases: public cases: they stand on the page.
        groups: hidden cases; the first group holds the ordinary ones, and without it no other group earns points.
        slips: wrong programs with their sentences.
        tolerance: relative, for floats; integers, strings and shapes are exact. Infinite where a program measures: then
            the value must be a number, and the rule judges it.
        rule: a further condition on a world run (which operations, how many bytes); None when values alone count.
        unchanged: the arguments must be as they were after the call.
        probe: a driver in :mod:`autograder.probes`, as ``"ch06.differentiated"``, for what one plain call cannot show
            (gradients, a module that is built and run). It is called with the program and the case's arguments, on both
            sides; its answer is what counts, or what :mod:`autograder.conclusions` makes of it. What it leaves in its
            arguments does not.
        processes: how many processes each case of a ``call`` item is asked of, which know nothing of each other. With
            more than one the probe gets the number of its own as ``process``.
        section: where the book explains it: ``"3.6"``.
        topic: the concept a report names.
        bonus: outside the total (an optional item).
        points: what it is worth; a quarter for the public cases, the rest for the hidden groups in equal parts.
    """

    id: str
    module: str
    function: str
    grade: str
    cases: tuple[Case, ...]
    groups: tuple[Group, ...]
    slips: tuple[Slip, ...]
    section: str
    topic: str
    tolerance: float = 1e-9
    rule: Rule | None = None
    unchanged: bool = True
    probe: str | None = None
    processes: int = 1
    bonus: bool = False
    points: float = 4.0

    @property
    def public_points(self) -> float:
        """What the public cases earn."""
        return self.points / 4

    @property
    def hidden_points(self) -> float:
        """What the hidden groups earn together."""
        return self.points - self.public_points

    @property
    def home(self) -> str:
        """Its module below ``solutions`` and ``labs``: ``"ch05.zero"``."""
        return f"{chapters.of_item(self.id).package}.{self.module}"

    @property
    def file(self) -> str:
        """Its file below ``solutions`` and ``labs``: ``"ch05/zero.py"``."""
        return f"{chapters.of_item(self.id).package}/{self.module}.py"

    def solution(self) -> Any:
        """The reference, from ``solutions``."""
        return _reference(self.home, self.function)

    def program_of(self, slip: Slip) -> Any:
        """The complete wrong program: made of the reference when it is first asked for.

        Raises:
            DoesNotApply: an edit does not fit the reference; the message names item, sentence and edit.
        """
        return slip.program or self._edited(_edited, slip)

    def source_of(self, slip: Slip) -> str:
        """Source that can be submitted in the place of the item's module; an edited program keeps the item's name.

        Raises:
            DoesNotApply: as :meth:`program_of`.
        """
        return inspect.getsource(slip.program) if slip.program else self._edited(_edited_source, slip)

    def _edited(self, make: Callable[[str, str, tuple[Edit, ...]], Any], slip: Slip) -> Any:
        try:
            return make(self.home, self.function, slip.changes)
        except edits.DoesNotApply as error:
            raise edits.DoesNotApply(f"{self.id}, {slip.sentence!r}: {error}") from None

    def hidden(self, rng: Random) -> list[tuple[Group, list[Case]]]:
        """The hidden cases by group, drawn with ``rng``."""
        drawn = []
        for group in self.groups:
            cases = list(group.corners(rng)) if group.corners else []
            cases += [group.draw(rng) for _ in range(group.count - len(cases))]
            drawn.append((group, cases))
        return drawn


def _reference(module: str, function: str) -> Any:
    return getattr(importlib.import_module(f"solutions.{module}"), function)


@functools.cache
def _edited(module: str, function: str, changes: tuple[Edit, ...]) -> Any:
    return edits.edited(_reference(module, function), changes)


def _edited_source(module: str, function: str, changes: tuple[Edit, ...]) -> str:
    return edits.edited_source(_reference(module, function), changes)


@dataclass(frozen=True)
class Debug(Build):
    """A build item whose stub is a wrong program, ``wrong``, to be mended."""

    wrong: Callable[..., Any] | None = None
    points: float = 2.0


class NoQuestion(Exception):
    """A program asks what no driver asks."""


class Arena(Protocol):
    """Where a try takes place: on the grader's side, so that no program knows more of it than it has seen.

    Attributes:
        seed: what the program is called with.
    """

    seed: int

    def answer(self, question: Any) -> Any:
        """What the driver of the milestone gets to know.

        Raises:
            NoQuestion: no driver asks that.
        """

    def measure(self, weights: Sequence[Tensor]) -> float:
        """The score of finite weights of the milestone's shapes."""

    def refusal(self, weights: Sequence[Tensor]) -> str:
        """Why these weights cannot come from what was played here; empty when they can."""


@dataclass(frozen=True)
class Milestone:
    """A program that must learn something: it takes minutes, is asked for by name, and earns no points.

    Attributes:
        item: the function, which is called with the steps and a drawn seed; its driver hands back weights.
        arena: draws where a try takes place, for a generator and a number of steps.
        steps: that may be played in a try.
        shapes: of the weights, in order.
        unit: of the score.
        goal: the score that a try must reach.
        tries: how many there are.
        needed: how many of them must reach the goal.
        seconds: wall-clock limit of a try.
    """

    item: Build
    arena: Callable[[Random, int], Arena]
    steps: int
    shapes: tuple[tuple[int, ...], ...]
    unit: str
    goal: float
    tries: int
    needed: int
    seconds: float

    @property
    def id(self) -> str:
        return self.item.id


Item = Question | Choice | Order | Build
