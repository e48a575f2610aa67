"""What came of one call, whoever ran it: the learner's code in a child, or a trusted program beside the judge."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from autograder import values
from rankzero.events import Event

#: The ways a call can end. ``value`` and ``raised`` are answers; the others are failures of the program itself.
KINDS = ("value", "raised", "refused", "timeout", "died", "deadlock", "missing", "unloadable")

#: Fields of an outcome that are kept as they are, when they are not empty.
_PLAIN = ("error", "line", "detail", "where")
#: Types of values that are small, however many ranks give one.
_SMALL = {type(None), bool, int, float}


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
        printed: what each rank of a trusted world printed, for whoever runs a check; nothing else looks at it.
    """

    kind: str
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
        """It as plain data, not to be changed; what is empty is left out: a class has many thousands of them."""
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
            KeyError, TypeError, ValueError, Malformed: it is none's.
        """
        parts = dict(kept)
        for name in ("value", "arguments"):
            if name in parts:
                parts[name] = _decoded(parts[name])
        if "events" in parts:
            parts["events"] = tuple(Event(**{**event, "peers": tuple(event["peers"])}) for event in parts["events"])
        return cls(**parts)


def _encoded(value: Any) -> Any:
    """The wire form; part by part of a list of large values, since that of a world holds those of all ranks."""
    kind = type(value)
    if kind in (list, tuple) and not set(map(type, value)) <= _SMALL:
        return {kind.__name__: [values.encode(part) for part in value]}
    return values.encode(value)


def _decoded(kept: Any) -> Any:
    if type(kept) is not dict:
        return values.decode(kept)
    ((kind, parts),) = kept.items()
    return {"list": list, "tuple": tuple}[kind](map(values.decode, parts))
