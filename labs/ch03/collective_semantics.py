# Generated from solutions/ch03/collective_semantics.py by make stubs. Write the bodies; names and signatures stay.
"""The meaning of each collective: the value that every rank holds afterwards.

A list stands for a tensor, a list of lists for the tensors of all ranks; nothing is sent. Standard library only, so it
also runs in a browser.

>>> collective_outputs("reduce_scatter", [[1, 2], [10, 20]])
[[11], [22]]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

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
    raise NotImplementedError("03-collective-outputs: not written yet")
