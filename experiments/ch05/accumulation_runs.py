"""Several micro-batches for one step under DDP, reducing in every backward pass or only in the last.

    accumulate(micro_steps=4, every=False).reductions

The gradient is compared with that of one process that sees all rows at once.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from rankzero import checks, world
from rankzero.events import Event
from rankzero.tiny import GPT, GPTConfig, batches, loss

#: Two layers, 11,000 parameters.
CONFIG = GPTConfig(vocab=128, layers=2, heads=2, head_dim=8, context=16)


@dataclass(frozen=True)
class Accumulated:
    """One optimizer step's gradient, accumulated over several backward passes.

    Attributes:
        reductions: all-reduces of gradients that each rank called.
        sent: bytes that each rank passed to them.
        gradient_bytes: bytes of gradients that stay alive between micro-batches.
        gradient: the gradient of all parameters, flat; the same on every rank.
        difference: largest difference from the gradient of the mean over all rows, computed in one process.
        events: of all ranks.
    """

    reductions: int
    sent: int
    gradient_bytes: int
    gradient: torch.Tensor = field(repr=False)
    difference: float
    events: tuple[Event, ...] = field(repr=False)


def accumulate(
    micro_steps: int = 4, every: bool = False, ranks: int = 2, rows: int = 8, config: GPTConfig = CONFIG
) -> Accumulated:
    """Accumulate the gradient of one batch.

    Args:
        micro_steps: backward passes, at most as many as rows. If they do not divide the rows, the first passes get one
            row more, and every loss is weighted by its rows.
        every: reduce in every backward pass; otherwise only in the last, with the others under ``no_sync()``.
        ranks: processes.
        rows: of each rank.
        config: the model's shape.
    """
    checks.count(1, rows, micro_steps=micro_steps)
    run = world.run(_accumulate, micro_steps, every, rows, config, True, ranks=ranks)
    joined = _joined(rows * ranks, config)
    calls = [event for event in run.events if event.rank == 0 and event.operation == "all_reduce"]
    differences = [float((gradient - joined).abs().max()) for gradient in run.values]
    gradient, sent = run.values[0], sum(event.sent for event in calls)
    return Accumulated(len(calls), sent, gradient.nbytes, gradient, max(differences), run.events)


@functools.cache
def _joined(rows: int, config: GPTConfig) -> torch.Tensor:
    """The gradient of all rows in one process; cached, so callers must not change it."""
    return world.run(_accumulate, 1, True, rows, config, False, ranks=1).values[0]  # type: ignore[no-any-return]


def _accumulate(micro_steps: int, every: bool, rows: int, config: GPTConfig, wrap: bool) -> torch.Tensor:
    """On each rank: the gradient after all backward passes."""
    torch.set_num_threads(1)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = GPT(config)
    wrapped: Any = DistributedDataParallel(model) if wrap else model
    inputs, targets = (part.chunk(ranks)[rank] for part in next(batches(None, rows * ranks, config.context, seed=2)))
    pieces = list(zip(inputs.tensor_split(micro_steps), targets.tensor_split(micro_steps), strict=True))
    for number, (x, y) in enumerate(pieces, 1):
        quiet = wrap and not every and number < micro_steps
        with wrapped.no_sync() if quiet else contextlib.nullcontext():
            (loss(wrapped, x, y) * len(x) / rows).backward()
    return torch.cat([parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None])
