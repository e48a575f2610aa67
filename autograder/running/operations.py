"""What a rank may tell the broker: one operation, with everything that it says about it checked."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.values import Malformed

#: Collectives, and whether they have a root.
COLLECTIVES = {
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

#: The peer of a receive from anyone.
ANYONE = -1

#: Bounds of one operation: blocks, and bytes of all of them.
MAX_BLOCKS = 16
MAX_BYTES = 4 << 20


@dataclass(eq=False)
class Post:
    """One operation of one rank.

    Attributes:
        rank: who posted it.
        handle: the rank's own number for it.
        operation: as in :class:`rankzero.events.Event`.
        called: the function that the program called (``isend``), for reports.
        group: the group's name and the global ranks in it.
        peer: global rank on the other side of a message; :data:`ANYONE` for a receive from anyone, and for collectives.
        tag: of a message.
        root: global rank of the root, for collectives that have one.
        reduction: ``SUM`` ... for reductions.
        types: element types of its tensors: one, or none for a barrier.
        gives: sizes of the blocks that this rank hands in, bytes.
        takes: sizes of the blocks that it expects.
        line: the learner's line, when known.
        start: seconds since the start of the case.
        blocks: what it got, once it is matched.
        source: the rank that a message came from.
    """

    rank: int
    handle: int
    operation: str
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
    done: bool = field(default=False)
    heard: bool = field(default=False)  # its rank knows that it is done: it has waited

    @property
    def members(self) -> tuple[int, ...]:
        return self.group[1]

    def __str__(self) -> str:
        """The call as the learner would write it, and her line: ``send(dst=1) at line 4``."""
        arguments = []
        if self.operation in ("send", "recv") and self.peer != ANYONE:
            arguments.append(f"{'dst' if self.operation == 'send' else 'src'}={self.peer}")
        if self.root is not None:
            arguments.append(f"{'src' if self.operation in ('broadcast', 'scatter') else 'dst'}={self.root}")
        if self.tag:
            arguments.append(f"tag={self.tag}")
        return f"{self.called}({', '.join(arguments)})" + (f" at line {self.line}" if self.line else "")


def read(message: dict[str, Any], rank: int, ranks: int, line: int | None, start: float) -> Post:
    """A rank's announcement.

    Raises:
        Malformed: it breaks the rules.
    """
    operation, members = _string(message.get("operation")), _integers(message.get("group"), ranks, ranks - 1)
    check(rank in members and len(set(members)) == len(members))
    check(operation in COLLECTIVES or operation in ("send", "recv"))
    types = message.get("types")
    check(type(types) is list and len(types) <= 2)
    check(all(re.fullmatch(r"torch\.\w{1,20}", _string(kind)) for kind in types or []))
    peer = message.get("peer")
    root = _root(message, operation, members)
    if operation in ("send", "recv"):
        check(_index(peer, len(members)) or (peer is None and operation == "recv"))
        check(peer is None or members[peer] != rank)
    check(type(message.get("handle")) is int and type(message.get("tag", 0)) is int)
    return Post(
        rank,
        message["handle"],
        operation,
        _called(message.get("called"), operation),
        (_string(message.get("name")), members),
        members[peer] if operation in ("send", "recv") and peer is not None else ANYONE,
        message.get("tag", 0),
        root,
        _reduction(message.get("reduction", "")),
        tuple(types or []),
        _integers(message.get("gives"), MAX_BLOCKS, MAX_BYTES),
        _integers(message.get("takes"), MAX_BLOCKS, MAX_BYTES),
        line,
        start,
    )


def blocks_of(message: dict[str, Any], post: Post) -> list[bytes]:
    """The data that a rank hands in for ``post``.

    Raises:
        Malformed: not what it announced.
    """
    blocks = message.get("blocks")
    check(type(blocks) is list and len(blocks) == len(post.gives))
    try:
        data = [a2b_base64(block.encode("ascii")) for block in blocks or []]
    except (Error, ValueError, AttributeError):
        raise Malformed("no data") from None
    check(tuple(map(len, data)) == post.gives)
    return data


def check(condition: Any) -> None:
    """Refuse a message that an honest child would not write."""
    if not condition:
        raise Malformed("a message that breaks the rules")


def _string(value: Any) -> str:
    check(type(value) is str and len(value) <= 200)
    return value


def _index(value: Any, length: int) -> bool:
    return type(value) is int and 0 <= value < length


def _integers(value: Any, length: int, bound: int) -> tuple[int, ...]:
    check(type(value) is list and len(value) <= length and all(type(v) is int and 0 <= v <= bound for v in value))
    return tuple(value)


def _root(message: dict[str, Any], operation: str, members: Sequence[int]) -> int | None:
    if not COLLECTIVES.get(operation):
        return None
    check(_index(message.get("root"), len(members)))
    return members[message["root"]]


def _reduction(name: Any) -> str:
    check(name in ("", "SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"))
    return name


def _called(name: Any, operation: str) -> str:
    """The public name when it is one that belongs to the operation, else the operation's."""
    return name if type(name) is str and re.fullmatch(_NAMES.get(operation, ""), name) else operation


_NAMES = {
    "send": r"isend|send|batch_isend_irecv|send_object_list",
    "recv": r"irecv|recv|batch_isend_irecv|recv_object_list",
    "all_gather": r"all_gather(_into_tensor|_object|_single)?|gather_object",
    "reduce_scatter": r"reduce_scatter(_tensor|_single)?",
    "all_to_all": r"all_to_all(_single)?",
    "broadcast": r"broadcast(_object_list)?|scatter_object_list",
    "scatter": r"scatter(_object_list)?",
    "gather": r"gather(_object)?",
}
