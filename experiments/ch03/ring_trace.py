"""What is really in the chunks that a ring passes around, read from the messages of a run on real ranks.

>>> traced_contributions(ring_reduce_scatter, ranks=4)[-1][2]  # doctest: +SKIP
[2, 1, 4, 3]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist

from rankzero import world

#: ``dist.send`` or ``dist.isend``.
Send = Callable[..., Any]


def traced_contributions(function: Callable[[torch.Tensor], torch.Tensor], ranks: int = 4) -> list[list[list[int]]]:
    """How many contributions each chunk of each rank holds, before and after every step of a run of ``function``.

    Nothing is assumed about the order of the chunks. Each chunk carries one counter per rank, which that rank sets to
    1, and its own number; summing chunks sums the counters. What a rank holds after a step is what it sends in the next
    step, or returns.

    Args:
        function: a ring reduce-scatter or all-reduce of a 1-D tensor that is cut by ``tensor_split``; it calls
            ``dist.send`` or ``dist.isend``.
        ranks: in the ring.

    Returns:
        ``[step][rank][chunk]``; step 0 is the start.

    Raises:
        ValueError: a message does not consist of whole chunks.
    """
    readings = world.run(_read, function, ranks=ranks).values  # [rank][step] -> {chunk: contributions}
    held = [[1] * ranks for _ in range(ranks)]
    history = [held]
    for step in range(1, max(len(reading) for reading in readings)):
        held = [row[:] for row in held]
        for rank, reading in enumerate(readings):
            for chunk, contributions in (reading[step] if step < len(reading) else {}).items():
                held[rank][chunk] = contributions
        history.append(held)
    return history


def _read(function: Callable[[torch.Tensor], torch.Tensor]) -> list[dict[int, int]]:
    """Run ``function`` on marked chunks; return what each message of this rank held, and then what its result holds."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    seen: list[torch.Tensor] = []

    def watch(send: Send) -> Send:
        def watched(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            seen.append(tensor.clone())
            return send(tensor, *args, **kwargs)

        return watched

    with mock.patch.object(dist, "send", watch(dist.send)), mock.patch.object(dist, "isend", watch(dist.isend)):
        result = function(_marked(rank, ranks))
    return [_contributions(message, ranks) for message in [*seen, result]]


def _marked(rank: int, ranks: int) -> torch.Tensor:
    """``ranks`` chunks, each of one counter per rank (1 for this one) and the chunk's number."""
    chunks = [[int(other == rank) for other in range(ranks)] + [chunk] for chunk in range(ranks)]
    return torch.tensor(chunks).flatten()  # [ranks * (ranks + 1)]


def _contributions(message: torch.Tensor, ranks: int) -> dict[int, int]:
    """The chunks in a message and how many contributions each holds: a sum of k chunks carries k times its number."""
    if message.numel() % (ranks + 1):
        raise ValueError(f"function must send whole chunks of {ranks + 1} elements, got {message.numel()}")
    counts = {}
    for row in message.reshape(-1, ranks + 1).tolist():
        total = sum(row[:-1])
        counts[row[-1] // total] = total
    return counts
