"""The result of one call, whether of the learner's code in a child or of a program that the grader trusts."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from autograder.marking import values
from rankzero.events import Event

#: The ways a call can end. ``value`` and ``raised`` are answers; the others are failures of the program itself.
Kind = Literal["value", "raised", "refused", "timeout", "died", "deadlock", "missing", "unloadable"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: Fields that are stored unchanged, unless they are empty.
_PLAIN = ("error", "line", "detail", "where")
#: Types whose values are small, so that even a list with one for each rank is small.
_SMALL = {type(None), bool, int, float}


@dataclass(frozen=True)
class Outcome:
    """How one call ended.

    Attributes:
        kind: how it ended. ``value``: it returned ``value``. ``raised``: it raised ``error`` at the learner's ``line``.
            ``refused``: it returned something that is not a plain value. ``timeout``, ``died``: the process did not
            answer. ``deadlock``: the ranks waited for each other (``detail`` is the broker's sentence). ``missing``:
            the submission has no such function. ``unloadable``: the code could not be imported.
        value: plain values of exact types, tensors as :class:`autograder.items.Tensor`. For ``calls``, the list of
            answers, with ``("raises", class name)`` for a call that raised; for a world, one value per rank.
        error: exception class name, for ``raised``.
        line: the learner's own line number, when known.
        where: the line as a report prints it: ``"line 4"``, or ``"line 4 of cell 3"`` if the submission has several
            units.
        detail: a sentence. For a hidden case it is shown only if the grader wrote it, never if the learner's code did.
        arguments: the arguments after the call, as the child reported them; None if they did not change. For a world,
            one entry per rank.
        events: the broker's events of a world.
        printed: what each rank of a trusted world printed; only ``check`` shows it.
    """

    kind: Kind
    value: Any = None
    error: str = ""
    line: int | None = None
    detail: str = ""
    arguments: Any = None
    events: tuple[Event, ...] = ()
    where: str = ""
    printed: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)

    @functools.cached_property
    def plain(self) -> dict[str, Any]:
        """The outcome as plain data, without empty fields to save space; callers must not change it."""
        kept: dict[str, Any] = {"kind": self.kind}
        if self.value is not None:
            kept["value"] = _encoded(self.value)
        if self.arguments is not None:
            kept["arguments"] = _encoded(self.arguments)
        for name in _PLAIN:
            if value := getattr(self, name):
                kept[name] = value
        if self.events:
            kept["events"] = [asdict(event) for event in self.events]
        return kept

    @classmethod
    def from_plain(cls, kept: Mapping[str, Any]) -> Outcome:
        """The outcome whose :attr:`plain` this is.

        Raises:
            KeyError, TypeError, ValueError, Malformed: the data do not describe an outcome.
        """
        parts: dict[str, Any] = dict(kept)
        for name in ("value", "arguments"):
            if name in parts:
                parts[name] = _decoded(parts[name])
        if "events" in parts:
            parts["events"] = tuple(map(_event, parts["events"]))
        return cls(**parts)


def _encoded(value: Any) -> Any:
    """The wire form. Large values in a list are encoded one by one: a world's list holds those of all ranks."""
    kind = type(value)
    if kind in (list, tuple) and not set(map(type, value)) <= _SMALL:
        return {kind.__name__: [values.encode(part) for part in value]}
    return values.encode(value)


def _event(kept: dict[str, Any]) -> Event:
    parts: dict[str, Any] = {**kept, "peers": tuple(kept["peers"])}
    return Event(**parts)


def _decoded(kept: Any) -> Any:
    if type(kept) is not dict:
        return values.decode(kept)
    ((kind, parts),) = kept.items()
    return {"list": list, "tuple": tuple}[kind](map(values.decode, parts))


#: Why a case is not tried.
NO_TIME = "the time for the whole submission is used up"
#: Why an answer is discarded and no further case is tried.
TOO_MUCH = "the answers of this submission together are too large to be kept"

#: After this many cases without an answer, the program's remaining cases are not tried.
LOSSES = 2
