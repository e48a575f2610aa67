"""Cases: one call and what it must give; and the groups from which hidden cases are drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal

from rankzero.events import Event

#: Exceptions that a case can demand.
Raises = Literal["ValueError", "TypeError", "KeyError"]


@dataclass(frozen=True)
class Case:
    """One call and what it must give: a value (computed by the reference) or, with ``raises``, an exception.

    What the fields mean depends on the grade of the item:

    ``call``: the function is called as ``f(*args, **kwargs)``.
    ``calls``: an object is created with ``args`` and ``kwargs``; then each ``(name, arguments)`` of ``calls`` is called
    in turn, or read as an attribute when ``arguments`` is None, and every answer counts. A name such as ``other.name``
    belongs to a second object, created with the same arguments when it is first named: it shows whether objects share
    state. ``#2.name`` belongs to what call 2, counted from 0, returned: it shows whether that was a copy.
    ``tensor``: as ``call``, with :class:`Tensor` for tensors and :class:`Stage` for a part of a model.
    ``world``: ``args[r]`` are the arguments of rank ``r``, and ``len(args)`` is the number of ranks.
    """

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    raises: Raises | None = None
    calls: tuple[tuple[str, tuple[Any, ...] | None], ...] = ()


def invalid(*args: Any, **kwargs: Any) -> Case:
    """A call that must raise ValueError."""
    return Case(args, kwargs, raises="ValueError")


@dataclass(frozen=True)
class Group:
    """A class of hidden cases that share one hint and earn their points together.

    Its cases are those of ``corners(rng)``, and as many that ``draw(rng)`` gives as are wanting to ``count``. ``hint``
    is what a learner reads when a case fails and no slip explains why; it names the class of inputs, never a value.
    Groups of the same ``step`` of a long exercise stand together; the first of them gates the others, and no step gates
    another.
    """

    name: str
    draw: Callable[[Random], Case]
    count: int
    hint: str
    corners: Callable[[Random], Sequence[Case]] | None = None
    step: str = ""


#: A condition on a world run: given the case, each rank's value and the events, it returns what is wrong, or None.
Rule = Callable[[Case, Sequence[Any], Sequence[Event]], str | None]
