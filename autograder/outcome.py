"""What came of one call, whoever ran it: the learner's code in a child, or a trusted program beside the judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankzero.events import Event

#: The ways a call can end. ``value`` and ``raised`` are answers; the others are failures of the program itself.
KINDS = ("value", "raised", "refused", "timeout", "died", "deadlock", "missing", "unloadable")


@dataclass(frozen=True)
class Outcome:
    """One call's end.

    Attributes:
        kind: how it ended. ``value``: it returned ``value``. ``raised``: it raised ``error`` at the learner's ``line``.
            ``refused``: it returned something that is not a plain value. ``timeout``, ``died``: the process did not
            answer. ``deadlock``: the ranks waited for each other (``detail`` is the broker's sentence). ``missing``:
            the submission has no such function. ``unloadable``: the code could not be imported.
        value: plain values by exact type, tensors as :class:`autograder.items.Tensor`; for ``calls`` the list of
            answers, where a call that raised stands as ``("raises", class name)``; for a world, one value per rank.
        error: exception class name, for ``raised``.
        line: the learner's own line number, when known.
        where: the same for people: ``"line 4"``, or ``"line 4 of cell 3"`` when the submission has several units.
        detail: a sentence. In a hidden case it is shown only when the grader wrote it, never when the learner's code
            did.
        arguments: the arguments after the call, as the child reported them; None when they are as they were. For a
            world, one entry per rank.
        events: the broker's events of a world.
    """

    kind: str
    value: Any = None
    error: str = ""
    line: int | None = None
    detail: str = ""
    arguments: Any = None
    events: tuple[Event, ...] = ()
    where: str = ""
