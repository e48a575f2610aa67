"""The operations that ranks announce to the broker; every field of an announcement is checked."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from autograder.marking.values import Malformed

#: What an operation is, under the same names as in :class:`rankzero.events.Event`.
OperationKind = Literal[
    "send",
    "recv",
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "barrier",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
]
KINDS: frozenset[str] = frozenset(get_args(OperationKind))
#: The collectives, and whether they have a root.
COLLECTIVES: dict[OperationKind, bool] = {
    "all_reduce": False,
    "all_gather": False,
    "reduce_scatter": False,
    "all_to_all": False,
    "barrier": False,
    "broadcast": True,
    "reduce": True,
    "gather": True,
    "scatter": True,
}

#: The peer of a receive from any rank.
ANYONE = -1

#: Limits of one operation: blocks, and bytes of each of them.
MAX_BLOCKS = 16
MAX_BYTES = 4 << 20


@dataclass(eq=False)
class Operation:
    """One operation of one rank.

    Attributes:
        rank: the rank that called it.
        handle: the rank's own number for it.
        kind: what it is.
        called: name of the function that the program called, such as ``isend``, for reports.
        group: the group's name and the global ranks in it.
        peer: global rank on the other side of a message; :data:`ANYONE` for collectives and receives from any rank.
        tag: of a message.
        root: global rank of the root, for collectives that have one.
        reduction: ``SUM`` and the like, for reductions.
        types: element types of its tensors: usually one, none for a barrier.
        gives: sizes of the blocks that this rank hands in, bytes.
        takes: sizes of the blocks that it expects, bytes.
        line: the learner's line, if known.
        start: time of the call, in seconds since the start of the case.
        blocks: the data it received, once it has been carried out.
        source: the rank that a message came from.
        done: whether it has been carried out.
        waited: whether its rank has waited for it, and so knows that it is done.
    """

    rank: int
    handle: int
    kind: OperationKind
    called: str
    group: tuple[str, tuple[int, ...]]
    peer: int
    tag: int
    root: int | None
    reduction: str
    types: tuple[str, ...]
    gives: tuple[int, ...]
    takes: tuple[int, ...]
    line: int | None
    start: float
    blocks: list[bytes] | None = None
    source: int = -1
    done: bool = False
    waited: bool = False

    @property
    def members(self) -> tuple[int, ...]:
        """Global ranks of the group."""
        return self.group[1]

    def __str__(self) -> str:
        """The call as the learner would write it, with its line: ``send(dst=1) at line 4``."""
        arguments = []
        if self.kind in ("send", "recv") and self.peer != ANYONE:
            arguments.append(f"{'dst' if self.kind == 'send' else 'src'}={self.peer}")
        if self.root is not None:
            arguments.append(f"{'src' if self.kind in ('broadcast', 'scatter') else 'dst'}={self.root}")
        if self.tag:
            arguments.append(f"tag={self.tag}")
        return f"{self.called}({', '.join(arguments)})" + (f" at line {self.line}" if self.line else "")


def read(message: dict[str, Any], rank: int, ranks: int, line: int | None, start: float) -> Operation:
    """The operation that a rank announced in ``message``.

    Raises:
        Malformed: the message breaks the rules.
    """
    kind, members = _kind(message.get("operation")), _integers(message.get("group"), ranks, ranks - 1)
    check(rank in members and len(set(members)) == len(members))
    types = message.get("types")
    check(type(types) is list and len(types) <= 2)
    check(all(re.fullmatch(r"torch\.\w{1,20}", _string(dtype)) for dtype in types or []))
    peer = message.get("peer")
    root = _root(message, kind, members)
    if kind in ("send", "recv"):
        check(_index(peer, len(members)) or (peer is None and kind == "recv"))
        check(peer is None or members[peer] != rank)
    check(type(message.get("handle")) is int and type(message.get("tag", 0)) is int)
    return Operation(
        rank,
        message["handle"],
        kind,
        _called(message.get("called"), kind),
        (_string(message.get("name")), members),
        members[peer] if kind in ("send", "recv") and peer is not None else ANYONE,
        message.get("tag", 0),
        root,
        _reduction(message.get("reduction", "")),
        tuple(types or []),
        _integers(message.get("gives"), MAX_BLOCKS, MAX_BYTES),
        _integers(message.get("takes"), MAX_BLOCKS, MAX_BYTES),
        line,
        start,
    )


def blocks_of(message: dict[str, Any], operation: Operation) -> list[bytes]:
    """The data that a rank hands in for ``operation``.

    Raises:
        Malformed: they are not what the rank announced.
    """
    blocks = message.get("blocks")
    check(type(blocks) is list and len(blocks) == len(operation.gives))
    try:
        data = [a2b_base64(block.encode("ascii")) for block in blocks or []]
    except (Error, ValueError, AttributeError):
        raise Malformed("no data") from None
    check(tuple(map(len, data)) == operation.gives)
    return data


def check(condition: Any) -> None:
    """Raise Malformed unless ``condition`` holds: the child's own code would never write such a message."""
    if not condition:
        raise Malformed("a message that breaks the rules")


def _kind(value: Any) -> OperationKind:
    kind = _string(value)
    check(kind in KINDS)
    return cast(OperationKind, kind)


def _string(value: Any) -> str:
    check(type(value) is str and len(value) <= 200)
    return value


def _index(value: Any, length: int) -> bool:
    return type(value) is int and 0 <= value < length


def _integers(value: Any, length: int, bound: int) -> tuple[int, ...]:
    check(type(value) is list and len(value) <= length and all(type(v) is int and 0 <= v <= bound for v in value))
    return tuple(value)


def _root(message: dict[str, Any], kind: OperationKind, members: Sequence[int]) -> int | None:
    if not COLLECTIVES.get(kind):
        return None
    check(_index(message.get("root"), len(members)))
    return members[message["root"]]


def _reduction(name: Any) -> str:
    check(name in ("", "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"))
    return name


def _called(name: Any, kind: OperationKind) -> str:
    """``name`` if it is a function that performs this kind of operation, else the kind itself."""
    return name if type(name) is str and re.fullmatch(_NAMES.get(kind, ""), name) else kind


_NAMES: dict[OperationKind, str] = {
    "send": r"isend|send|batch_isend_irecv|send_object_list",
    "recv": r"irecv|recv|batch_isend_irecv|recv_object_list",
    "all_gather": r"all_gather(_into_tensor|_object|_single)?|gather_object",
    "reduce_scatter": r"reduce_scatter(_tensor|_single)?",
    "all_to_all": r"all_to_all(_single)?",
    "broadcast": r"broadcast(_object_list)?|scatter_object_list",
    "scatter": r"scatter(_object_list)?",
    "gather": r"gather(_object)?",
}
