"""What each collective does with blocks: how many a rank gives and takes, who gets which, and what is payload."""

from __future__ import annotations

from collections.abc import Callable

from autograder.posts import Post

#: What the rank at place ``me`` gets from what all ``gave`` (lists of blocks, by place), with the root's place.
ROUTES: dict[str, Callable[[list[list[bytes]], int, int], list[bytes]]] = {
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


def counts(post: Post) -> tuple[int, int]:
    """How many blocks the rank of ``post`` gives and takes. Reductions take every rank's block and fold them."""
    size, mine = len(post.members), post.rank == post.root
    return {
        "all_reduce": (1, size),
        "reduce": (1, size),
        "all_gather": (1, size),
        "broadcast": (int(mine), 1),
        "gather": (1, size if mine else 0),
        "scatter": (size if mine else 0, 1),
        "reduce_scatter": (size, size),
        "all_to_all": (size, size),
        "barrier": (0, 0),
    }[post.operation]


def payload(post: Post) -> tuple[int, int]:
    """Bytes sent and received, as the table in :mod:`rankzero.events` counts them."""
    sent, mine = sum(post.gives), post.rank == post.root
    if post.operation == "broadcast" and mine:
        return sent, 0
    if post.operation == "reduce" and not mine:
        return sent, 0
    if post.operation in ("all_reduce", "reduce", "reduce_scatter"):
        return sent, post.takes[0]
    return sent, sum(post.takes)


def difference(first: Post, other: Post) -> str:
    """Why two ranks do not meet in one collective; empty when they do."""
    same = ("operation", "root", "reduction", "types")
    if all(getattr(first, name) == getattr(other, name) for name in same):
        return ""
    return f"rank {first.rank} calls {described(first)}, rank {other.rank} calls {described(other)}"


def described(post: Post) -> str:
    """The call with its line, its reduction and its element type, as far as it has them."""
    extra = [post.reduction, *(kind.removeprefix("torch.") for kind in post.types)]
    shown = ", ".join(part for part in extra if part)
    return f"{post} ({shown})" if shown else str(post)
