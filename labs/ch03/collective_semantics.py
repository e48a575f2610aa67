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

from rankzero import checks

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
        root: the rank that sends (``broadcast``, ``scatter``) or receives (``gather``, ``reduce``); from 0 to N-1 with
            N inputs.
        reduction: ``sum``, ``avg``, ``product``, ``min`` or ``max``; one of these for every operation.

    Returns:
        One list per rank; None where the library promises nothing (all but the root of ``gather`` and ``reduce``).

    Source: MPI standard, chapter "Collective Communication"; torch.distributed documentation.
    """
    checks.one_of(OPERATIONS, operation=operation)
    checks.one_of(REDUCTIONS, reduction=reduction)
    _check_lists(operation, inputs, root)
    raise NotImplementedError("03-collective-outputs: not written yet")


def _check_lists(operation: str, inputs: Sequence[Sequence[float] | None], root: int) -> None:
    """The lists that count have one length, and the ranks divide it where a list is cut."""
    checks.require(len(inputs) > 0, "hold one list per rank", inputs=inputs)
    checks.count(0, len(inputs) - 1, root=root)
    counting = [inputs[root]] if operation in ("broadcast", "scatter") else inputs
    lengths = {len(values or ()) for values in counting}
    checks.require(len(lengths) == 1, "hold lists of one length", inputs=inputs)
    if operation in ("scatter", "reduce_scatter", "all_to_all"):
        fits = max(lengths) % len(inputs) == 0
        checks.require(fits, f"have a length divisible by {len(inputs)} ranks", inputs=inputs)
