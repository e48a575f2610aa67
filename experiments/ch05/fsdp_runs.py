"""What ``fully_shard`` holds and sends: four linear layers, each a group of its own, on real ranks.

    fsdp_step(reshard=False).calls

The program of the ranks is :mod:`experiments.ch05.fsdp_ranks`.
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
        whole: bytes of gathered weights at that moment, over all layers but those gathered ahead of time.
        slices: bytes of the slices, which a rank always holds.
    """

    name: str
    whole: int
    slices: int


@dataclass(frozen=True)
class Fsdp:
    """One training step under ``fully_shard``, of one or several forward and backward passes.

    Attributes:
        parameters: of the whole model.
        local_bytes: bytes of each rank's slices of the weights.
        calls: number of one rank's collectives, by operation.
        sent: bytes that rank 0 has to send in all if each operation moves as few as possible.
        gradient_bytes: bytes of gradients on rank 0 after the backward passes, in slices or whole.
        moments: what rank 0 held during the last pass, in order.
        step_difference: largest difference between a rank's slice of the weights after AdamW's step and the weights of
            one process with the same rows; None if gradients were not exchanged.
        optimizer_bytes: bytes of AdamW's moments on each rank after its step; empty if gradients were not exchanged.
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
        reshard: free a layer's gathered weights after its forward pass, and gather them again for its backward pass.
        passes: forward and backward passes before the optimizer's step (accumulation).
        exchange: when gradients are reduced: in ``"every"`` pass, only in the ``"last"``, or ``"never"``.
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
    """On each rank: run the step. The import is here so that the caller's process does not need it."""
    from .fsdp_ranks import step

    return step(*options)
