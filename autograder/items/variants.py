"""Programs beside a reference, each with the verdict that it must get: slips, other right programs, broken promises."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from autograder.items.edits import Edit

#: What must become of a program: it loses points and its mistake is named, it earns everything, some case catches it.
Verdict = Literal["named", "right", "caught"]


@dataclass(frozen=True)
class Variant:
    """A program that differs from the reference in one thing, and a ``sentence`` that says in which.

    It is an ``edit`` of the reference: a text that occurs exactly once in it, or in what its module defines for it, and
    the replacement. Several ``edits`` are applied together. One that is truly another program is given as ``program``,
    a function or class. With both, the edits apply to ``program`` instead of the reference.
    """

    verdict: ClassVar[Verdict]

    sentence: str
    program: Callable[..., Any] | type | None = None
    edit: Edit | None = None
    edits: tuple[Edit, ...] = ()

    @property
    def changes(self) -> tuple[Edit, ...]:
        """All edits of its base; empty when it is a whole program."""
        return (self.edit, *self.edits) if self.edit else self.edits

    @property
    def name(self) -> str:
        """How listings name it: the name of a whole program, else its sentence."""
        return self.program.__name__ if self.program and not self.changes else self.sentence


@dataclass(frozen=True)
class Slip(Variant):
    """A mistake that people really make, and the one sentence that names it to whoever made it.

    A ``program`` is self-contained: its source can be submitted. Of a question, a slip is a ``value``, the wrong number
    or a function that computes it.
    """

    verdict = "named"

    value: float | Callable[[], float] | None = None


@dataclass(frozen=True)
class Right(Variant):
    """Another right program: other algebra, another order of operations, double precision inside, a library function.

    The sentence says how it is written. It earns everything with every key: no grade depends on luck.
    """

    verdict = "right"


@dataclass(frozen=True)
class Promise(Variant):
    """Words of the docstring that promise something, and a program that breaks the promise: a case must catch it.

    ``why`` is the reason if no case can try it; there is no program then.
    """

    verdict = "caught"

    why: str = ""
