"""What ``fully_shard`` holds and sends: four linear layers, each a group of its own, on real ranks.

    fsdp_step(reshard=False).calls

What the ranks do stands in :mod:`experiments.ch05.fsdp_ranks`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rankzero import world
from solutions.ch03.collective_cost import traffic

#: Widths between the layers: 17,290 parameters.
WIDTHS = (64, 64, 64, 64, 74)


@dataclass(frozen=True)
class Moment:
    """What rank 0 held at one moment of a step.

    Attributes:
        name: ``"forward 0"``, when layer 0 starts its forward pass, or ``"backward 0"``, when its backward pass starts.
        whole: bytes of weights that are gathered at that moment, over all layers.
        slices: bytes of the slices, which are always there.
    """

    name: str
    whole: int
    slices: int


@dataclass(frozen=True)
class Fsdp:
    """One forward and backward pass (or several, with one exchange of gradients at most) under ``fully_shard``.

    Attributes:
        parameters: of the whole model.
        local_bytes: weights of each rank's slices.
        calls: of one rank, by operation.
        sent: bytes that rank 0 has to send in all if each operation moves as few as can be.
        gradient_bytes: on rank 0 after the backward passes, in slices or whole.
        moments: what rank 0 held during the last pass, in order.
        step_difference: largest difference between a rank's slice of the weights after AdamW's step and that of one
            process with the same rows; None when gradients were not exchanged.
        optimizer_bytes: of AdamW's moments on each rank after its step; none when gradients were not exchanged.
    """

    parameters: int
    local_bytes: tuple[int, ...]
    calls: dict[str, int]
    sent: float
    gradient_bytes: int
    moments: tuple[Moment, ...]
    step_difference: float | None
    optimizer_bytes: tuple[int, ...]


def fsdp_step(
    ranks: int = 2,
    reshard: bool = True,
    passes: int = 1,
    exchange: str = "every",
    dtype: str = "float32",
    widths: tuple[int, ...] = WIDTHS,
) -> Fsdp:
    """Train for one step.

    Args:
        ranks: processes.
        reshard: forget the gathered weights after the forward pass of a layer, and gather again for its backward pass.
        passes: forward and backward passes before the optimizer's step (accumulation).
        exchange: gradients are reduced in ``"every"`` pass, in the ``"last"`` one alone, or ``"never"``.
        dtype: of the weights.
        widths: between the layers.
    """
    run = world.run(_step, reshard, passes, exchange, dtype, tuple(widths), ranks=ranks, timeout=120)
    local, gradients, moments, difference, optimizer = zip(*run.values, strict=True)
    events = [event for event in run.events if event.rank == 0]
    return Fsdp(
        sum(a * b + b for a, b in pairwise(widths)),
        local,
        {name: sum(event.operation == name for event in events) for name in ("all_gather", "reduce_scatter")},
        sum(traffic(e.operation, max(e.sent, e.received), ranks, 0)[0] for e in events),
        gradients[0],
        tuple(Moment(*moment) for moment in moments[0]),
        None if exchange == "never" else max(difference),
        optimizer,
    )


def _step(*options: Any) -> Any:
    """On each rank; the import comes here so that the caller's process does without it."""
    from .fsdp_ranks import step

    return step(*options)
