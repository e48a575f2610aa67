"""The meaning of each collective: the value that every rank holds afterwards.

A list stands for a tensor, a list of lists for the tensors of all ranks; nothing is sent. Standard library only, so it
also runs in a browser.

>>> collective_outputs("reduce_scatter", [[1, 2], [10, 20]])
[[11], [22]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

#: The eight collectives, by their library names.
OPERATIONS = ("broadcast", "scatter", "gather", "all_gather", "reduce", "all_reduce", "reduce_scatter", "all_to_all")

#: What a reduction does with one number from each rank.
REDUCTIONS: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "avg": lambda numbers: sum(numbers) / len(numbers),
    "product": math.prod,
    "min": min,
    "max": max,
}


def collective_outputs(
    operation: str, inputs: Sequence[Sequence[float] | None], root: int = 0, reduction: str = "sum"
) -> list[list[float] | None]:
    """The value that every rank holds after a collective.

    Args:
        operation: one of ``broadcast``, ``scatter``, ``gather``, ``all_gather``, ``reduce``, ``all_reduce``,
            ``reduce_scatter``, ``all_to_all``.
        inputs: ``inputs[r]`` is the input of rank ``r``; all have the same length. For ``broadcast`` and ``scatter``
            only ``inputs[root]`` counts; the others may be None. ``scatter``, ``reduce_scatter`` and ``all_to_all`` cut
            it into one block per rank, so its length must be divisible by the number of ranks.
        root: the rank that sends (``broadcast``, ``scatter``) or receives (``gather``, ``reduce``); a valid rank for
            every operation.
        reduction: ``sum``, ``avg``, ``product``, ``min`` or ``max``; a valid name for every operation.

    Returns:
        One list per rank; None where the library promises nothing (all but the root of ``gather`` and ``reduce``).

    Raises:
        ValueError: ``operation`` or ``reduction`` is unknown, ``root`` is not a rank, there are no inputs or one that
            counts is missing, the lengths differ, or the ranks do not divide a length that is cut.

    Source: MPI standard, chapter "Collective Communication"; torch.distributed documentation.
    """
    ranks = len(inputs)
    lists = _checked(operation, inputs, root, reduction)

    def everywhere(result: list[float]) -> list[list[float] | None]:
        return [list(result) for _ in range(ranks)]

    def at_root(result: list[float]) -> list[list[float] | None]:
        return [result if rank == root else None for rank in range(ranks)]

    def total() -> list[float]:
        return [REDUCTIONS[reduction](column) for column in zip(*lists, strict=True)]

    match operation:
        case "broadcast":
            return everywhere(lists[0])
        case "scatter":
            return [*_blocks(lists[0], ranks)]
        case "gather":
            return at_root(_joined(lists))
        case "all_gather":
            return everywhere(_joined(lists))
        case "reduce":
            return at_root(total())
        case "all_reduce":
            return everywhere(total())
        case "reduce_scatter":
            return [*_blocks(total(), ranks)]
        case _:  # all_to_all: row r of the table is what rank r has, column c is what rank c gets
            table = [_blocks(row, ranks) for row in lists]
            return [_joined(column) for column in zip(*table, strict=True)]


def _blocks(values: list[float], ranks: int) -> list[list[float]]:
    """``values`` cut into one block of equal length per rank."""
    size = len(values) // ranks
    return [values[rank * size : (rank + 1) * size] for rank in range(ranks)]


def _joined(lists: Iterable[list[float]]) -> list[float]:
    """All the lists, concatenated."""
    return [value for values in lists for value in values]


def _checked(operation: str, inputs: Sequence[Sequence[float] | None], root: int, reduction: str) -> list[list[float]]:
    """The inputs that the operation reads, in rank order (for broadcast and scatter those of the root); otherwise a
    ValueError."""
    ranks = len(inputs)
    if operation not in OPERATIONS:
        raise ValueError(f"operation must be one of {', '.join(OPERATIONS)}, got {operation!r}")
    if reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}, got {reduction!r}")
    if ranks == 0:
        raise ValueError("inputs must hold one list per rank, got none")
    if not isinstance(root, int) or isinstance(root, bool) or root not in range(ranks):
        raise ValueError(f"root must be a rank from 0 to {ranks - 1}, got {root!r}")
    lists: list[list[float]] = []
    for rank in [root] if operation in ("broadcast", "scatter") else range(ranks):
        values = inputs[rank]
        if values is None:
            raise ValueError(f"inputs[{rank}] must be a list for {operation}, got None")
        lists.append(list(values))
    lengths = [len(values) for values in lists]
    if len(set(lengths)) > 1:
        raise ValueError(f"inputs must have equal lengths, got {lengths}")
    if operation in ("scatter", "reduce_scatter", "all_to_all") and lengths[0] % ranks:
        raise ValueError(f"inputs must have a length divisible by {ranks} ranks for {operation}, got {lengths[0]}")
    return lists
