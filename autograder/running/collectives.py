"""What each collective does with blocks of data: how many a rank gives and takes, who gets which, and their payload."""

from __future__ import annotations

from collections.abc import Callable

from autograder.running.operations import Operation, OperationKind

#: The blocks that the rank at place ``me`` gets, from those that all ``gave`` (lists by place) and the root's place.
ROUTES: dict[OperationKind, Callable[[list[list[bytes]], int, int], list[bytes]]] = {
    "all_reduce": lambda gave, me, root: [blocks[0] for blocks in gave],
    "all_gather": lambda gave, me, root: [blocks[0] for blocks in gave],
    "reduce": lambda gave, me, root: [blocks[0] for blocks in gave],
    "broadcast": lambda gave, me, root: gave[root],
    "gather": lambda gave, me, root: [blocks[0] for blocks in gave] if me == root else [],
    "scatter": lambda gave, me, root: [gave[root][me]],
    "reduce_scatter": lambda gave, me, root: [blocks[me] for blocks in gave],
    "all_to_all": lambda gave, me, root: [blocks[me] for blocks in gave],
    "barrier": lambda gave, me, root: [],
}


def counts(operation: Operation) -> tuple[int, int]:
    """How many blocks the rank of ``operation`` gives and takes; in a reduction it takes, and adds up, all ranks'."""
    size, mine = len(operation.members), operation.rank == operation.root
    number: dict[OperationKind, tuple[int, int]] = {
        "all_reduce": (1, size),
        "reduce": (1, size),
        "all_gather": (1, size),
        "broadcast": (int(mine), 1),
        "gather": (1, size if mine else 0),
        "scatter": (size if mine else 0, 1),
        "reduce_scatter": (size, size),
        "all_to_all": (size, size),
        "barrier": (0, 0),
    }
    return number[operation.kind]


def payload(operation: Operation) -> tuple[int, int]:
    """Bytes sent and received, as the table in :mod:`rankzero.events` counts them."""
    sent, mine = sum(operation.gives), operation.rank == operation.root
    if operation.kind == "broadcast" and mine:
        return sent, 0
    if operation.kind == "reduce" and not mine:
        return sent, 0
    if operation.kind in ("all_reduce", "reduce", "reduce_scatter"):
        return sent, operation.takes[0]
    return sent, sum(operation.takes)


def difference(first: Operation, other: Operation) -> str:
    """Why two calls do not form one collective; empty if they do."""
    same = ("kind", "root", "reduction", "types")
    if all(getattr(first, name) == getattr(other, name) for name in same):
        return ""
    return f"rank {first.rank} calls {described(first)}, rank {other.rank} calls {described(other)}"


def described(operation: Operation) -> str:
    """The call as text, with its line, reduction and element type if it has them."""
    extra = [operation.reduction, *(kind.removeprefix("torch.") for kind in operation.types)]
    shown = ", ".join(part for part in extra if part)
    return f"{operation} ({shown})" if shown else str(operation)
