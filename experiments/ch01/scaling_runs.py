"""Data-parallel training of the tiny model on real ranks: step times, and how much of a step is communication.

    scaling_runs(ranks=(1, 2, 4), weak=False)

Every rank holds the whole model and takes its rows of the batch. After the backward pass one all-reduce sums all
gradients, and gradient descent then takes the same step everywhere. Chapter 5 does this efficiently; this is the simple
version.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import torch
import torch.distributed as dist

from rankzero import checks, world
from rankzero.tiny import GPT, GPTConfig, batches, loss
from rankzero.world import World

#: A step of this size takes a few tens of milliseconds on one core.
CONFIG = GPTConfig(layers=4, heads=4, head_dim=32, context=64)
LEARNING_RATE = 0.3
WARM_UP = 2  # untimed steps before the timed ones


@dataclass(frozen=True)
class Measured:
    """A run on ``ranks`` real ranks.

    Attributes:
        ranks: how many.
        batch: sequences in one step, over all ranks.
        step: time of the step that was disturbed least, on its slowest rank, seconds.
        collectives: time of that rank's all-reduce in that step, waiting included, seconds; 0 for one rank, which does
            not communicate.
        losses: the loss of every step, averaged over the whole batch.
    """

    ranks: int
    batch: int
    step: float
    collectives: float
    losses: tuple[float, ...]

    @property
    def compute(self) -> float:
        """Time of the rest of a step (forward, backward, update), seconds."""
        return self.step - self.collectives


def scaling_runs(
    ranks: Sequence[int] = (1, 2, 4),
    batch: int = 8,
    steps: int = 3,
    weak: bool = False,
    config: GPTConfig = CONFIG,
    rounds: int = 1,
) -> list[Measured]:
    """Train on each number of ranks in turn, from the same weights, and measure.

    What else a machine does comes and goes, so with several rounds each number of ranks has a chance of a quiet moment.

    Args:
        ranks: the world sizes to measure.
        batch: sequences in a step: of all ranks together, or of each rank with ``weak``. Every size in ``ranks``
            divides the batch of a step.
        steps: timed steps; at least 1.
        weak: keep the work of each rank constant, instead of the total.
        config: the model's shape.
        rounds: how often all of it is measured; each number of ranks keeps the round with its shortest step.

    Raises:
        ValueError: the batch is not a multiple of the ranks.
    """
    checks.count(steps=steps, rounds=rounds)
    best: dict[int, Measured] = {}
    for size in [*ranks] * rounds:
        whole = batch * size if weak else batch
        checks.require(whole % size == 0, f"be a multiple of {size} ranks", batch=whole)
        one = _measured(world.run(train, config, whole, WARM_UP + steps, ranks=size), whole)
        best[size] = min(best.get(size, one), one, key=lambda measured: measured.step)
    return [best[size] for size in ranks]


def train(config: GPTConfig, batch: int, steps: int) -> tuple[list[float], list[float]]:
    """On each rank: train for some steps.

    Args:
        config: the model's shape; every rank draws the same weights.
        batch: sequences in a step, over all ranks; each rank takes every ``ranks``-th, as a sampler would.
        steps: how many.

    Returns:
        The time of each step in seconds, and the loss of each step, the mean over the whole batch.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = GPT(config)
    times, losses = [], []
    for inputs, targets in islice(batches(None, batch, config.context, 0), steps):
        start = time.monotonic()
        model.zero_grad()
        value = loss(model, inputs[rank::ranks], targets[rank::ranks])
        value.backward()
        losses.append(average_gradients(model, value.detach()))
        _descend(model)
        times.append(time.monotonic() - start)
    return times, losses


def average_gradients(model: GPT, value: torch.Tensor) -> float:
    """Replace every gradient by its mean over the ranks in one all-reduce, which averages the loss as well."""
    ranks = dist.get_world_size()
    if ranks == 1:
        return value.item()
    gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
    flat = torch.cat([*(gradient.flatten() for gradient in gradients), value.reshape(1)])
    dist.all_reduce(flat)
    *means, value = (flat / ranks).split([*(gradient.numel() for gradient in gradients), 1])
    for gradient, mean in zip(gradients, means, strict=True):
        gradient.copy_(mean.view_as(gradient))
    return value.item()


def _descend(model: GPT) -> None:
    """One step of plain gradient descent, the same on every rank."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.grad is not None:
                weight.sub_(weight.grad, alpha=LEARNING_RATE)


def _measured(run: World, batch: int) -> Measured:
    """The shortest of the timed steps, each as its slowest rank saw it: what else a machine does only lengthens one."""
    by_rank = [times for times, _ in run.values]
    calls = [[event.end - event.start for event in run.events if event.rank == rank] for rank in range(run.ranks)]
    steps, collectives = [], []
    for step in range(WARM_UP, len(by_rank[0])):
        slowest = max(range(run.ranks), key=lambda rank: by_rank[rank][step])
        steps.append(by_rank[slowest][step])
        collectives.append(calls[slowest][step] if calls[slowest] else 0.0)
    step, collective = min(zip(steps, collectives, strict=True))
    return Measured(run.ranks, batch, step, collective, tuple(run.values[0][1]))
