"""A split MLP, timed on real ranks: how long its matrix products take, and how long its all-reduces.

>>> mlp_times(2).share  # doctest: +SKIP
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

from rankzero import world
from solutions.ch06.tensor_parallel import parallel_mlp

from .sharding_runs import drawn

#: A function that is called like ``parallel_mlp``.
MLP = Callable[..., torch.Tensor]

#: Untimed steps before the timed ones.
WARM_UP = 2


@dataclass(frozen=True)
class Times:
    """Median times over steps, on the slowest rank; seconds.

    Attributes:
        ranks: how many.
        step: forward and backward pass.
        collectives: part of the step spent in all-reduces, waiting included.
    """

    ranks: int
    step: float
    collectives: float

    @property
    def compute(self) -> float:
        """The rest of a step."""
        return self.step - self.collectives

    @property
    def share(self) -> float:
        """The share of a step that is communication."""
        return self.collectives / self.step


def mlp_times(
    ranks: int, hidden: int = 256, batch: int = 4, sequence: int = 64, steps: int = 5, mlp: MLP = parallel_mlp
) -> Times:
    """Time forward and backward passes of an MLP of width 4 ``hidden`` in float32, split over so many ranks.

    Args:
        ranks: a divisor of ``4 hidden``.
        hidden: width of the model.
        batch: sequences.
        sequence: tokens in each.
        steps: timed steps; at least 1.
        mlp: called like ``parallel_mlp``.
    """
    run = world.run(_laps, mlp, hidden, batch, sequence, WARM_UP + steps, ranks=ranks, backend="gloo")
    calls = [[event for event in run.events if event.rank == rank] for rank in range(ranks)]
    each = len(calls[0]) // (WARM_UP + steps)  # all-reduces of one step
    step_times, collectives = [], []
    for step in range(WARM_UP, WARM_UP + steps):
        slowest = max(range(ranks), key=lambda rank: run.values[rank][step])
        step_times.append(run.values[slowest][step])
        mine = calls[slowest][step * each : (step + 1) * each]
        collectives.append(sum(event.end - event.start for event in mine))
    return Times(ranks, statistics.median(step_times), statistics.median(collectives))


def _laps(mlp: MLP, hidden: int, batch: int, sequence: int, steps: int) -> list[float]:
    """Seconds of each step on this rank."""
    shapes = [(4 * hidden, hidden), (4 * hidden,), (hidden, 4 * hidden), (hidden,)]
    weights = [drawn(2 + i, *shape).float().div(hidden**0.5).requires_grad_() for i, shape in enumerate(shapes)]
    x = drawn(1, batch, sequence, hidden).float().requires_grad_()
    seconds = []
    for _ in range(steps):
        start = time.perf_counter()
        mlp(x, *weights).square().sum().backward()
        seconds.append(time.perf_counter() - start)
    return seconds
