"""One small model trained on the same batches in several ways: alone, with gradients averaged by hand, under DDP.

    whole = train_alone(rows=8)
    train_by_hand(counts=(2, 2, 2, 2)).difference(whole)

Every rank starts from the same weights and draws the same batches from the same seed; ranks differ only in which rows
they take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from rankzero import world
from rankzero.tiny import GPT, GPTConfig, batches, loss
from solutions.ch05.data_parallel import synchronize_gradients

#: One layer, 7,500 parameters: a step takes a few milliseconds.
CONFIG = GPTConfig(vocab=128, layers=1, heads=2, head_dim=8, context=16)

#: Called as ``synchronize(parameters, count)`` after the backward pass; returns the number of all-reduces.
Synchronize = Callable[[Any, int], int]


@dataclass(frozen=True)
class Trained:
    """A training run.

    Attributes:
        losses: the loss of every step, averaged over all rows of the batch.
        weights: at the end, by name; the same on every rank.
        reductions: all-reduces of gradients in one step, on one rank.
        spread: largest difference between the weights of two ranks at the end.
        seconds: time of the whole run on the slowest rank, excluding the start of the processes.
    """

    losses: tuple[float, ...]
    weights: dict[str, torch.Tensor] = field(repr=False)
    reductions: int
    spread: float
    seconds: float

    def difference(self, other: Trained) -> float:
        """The largest absolute difference between corresponding weights of the two runs."""
        return max(float((weight - other.weights[name]).abs().max()) for name, weight in self.weights.items())


def train_alone(rows: int, steps: int = 10, dtype: str = "float32", config: GPTConfig = CONFIG) -> Trained:
    """Train in one process that sees every row of every batch.

    Args:
        rows: of one batch.
        steps: of gradient descent.
        dtype: of weights and gradients, ``"float32"`` or ``"float64"``.
        config: the model's shape.
    """
    return _gather(world.run(train_on_rank, "alone", (rows,), steps, dtype, config, None, ranks=1))


def train_by_hand(
    counts: Sequence[int],
    steps: int = 10,
    dtype: str = "float32",
    config: GPTConfig = CONFIG,
    synchronize: Synchronize = synchronize_gradients,
) -> Trained:
    """Train on one rank per entry of ``counts``, its number of rows; ``synchronize`` makes the gradients equal."""
    return _gather(
        world.run(train_on_rank, "by hand", tuple(counts), steps, dtype, config, synchronize, ranks=len(counts))
    )


def train_with_ddp(
    counts: Sequence[int], steps: int = 10, dtype: str = "float32", config: GPTConfig = CONFIG
) -> Trained:
    """The same under DistributedDataParallel, which divides by the number of ranks, so each loss is weighted first."""
    return _gather(world.run(train_on_rank, "DDP", tuple(counts), steps, dtype, config, None, ranks=len(counts)))


def plain_mean(parameters: Any, count: int) -> int:
    """Average gradients the way it is often written, one all-reduce for each: wrong if ranks have unequal rows."""
    calls = 0
    for parameter in parameters:
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()
        calls += 1
    return calls


def per_parameter(parameters: Any, count: int) -> int:
    """:func:`synchronize_gradients` with an all-reduce for each parameter: every bucket is full at once."""
    return synchronize_gradients(parameters, count, bucket_bytes=1)


def train_on_rank(
    way: str, counts: tuple[int, ...], steps: int, dtype: str, config: GPTConfig, synchronize: Synchronize | None
) -> tuple[list[float], dict[str, torch.Tensor], int, float]:
    """What each rank runs: train on its own rows of every batch."""
    torch.set_num_threads(1)
    model: Any = GPT(config).to(getattr(torch, dtype))
    wrapped = DistributedDataParallel(model) if way == "DDP" else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    mine, total = counts[dist.get_rank()], sum(counts)
    share = mine / total
    losses, reductions = [], 0
    start = time.monotonic()
    for inputs, targets in islice(batches(None, total, config.context, seed=1), steps):
        optimizer.zero_grad()
        rows = [part.split(counts)[dist.get_rank()] for part in (inputs, targets)]
        value = loss(wrapped, *rows) if mine else None
        if value is not None:
            (value * share * len(counts) if way == "DDP" else value).backward()
        if synchronize is not None:
            reductions = synchronize(model.parameters(), mine)
        losses.append(value.item() * share if value is not None else 0.0)
        optimizer.step()
    return losses, model.state_dict(), reductions, time.monotonic() - start


def _gather(run: world.World) -> Trained:
    losses, weights, reductions, seconds = zip(*run.values, strict=True)
    steps = len(losses[0])
    calls = [event for event in run.events if event.rank == 0 and event.operation == "all_reduce"]
    first = weights[0]
    spread = max(float((w[name] - first[name]).abs().max()) for w in weights for name in first)
    whole = tuple(sum(parts) for parts in zip(*losses, strict=True))
    count = reductions[0] or (round(len(calls) / steps) if steps else 0)
    return Trained(whole, first, count, spread, max(seconds))


@dataclass(frozen=True)
class Gradients:
    """The gradients of a few weights of one matrix in one step, on every rank and in one process.

    Attributes:
        before: what each rank computed from its own rows.
        after: what each rank has after the reduction.
        joined: what one process computes from all rows.
    """

    before: tuple[torch.Tensor, ...]
    after: tuple[torch.Tensor, ...]
    joined: torch.Tensor

    @property
    def difference(self) -> float:
        """The largest absolute difference between a rank's gradient after the reduction and the joined one."""
        return max(float((gradient - self.joined).abs().max()) for gradient in self.after)


def one_gradient(
    counts: Sequence[int],
    shown: int = 8,
    config: GPTConfig = CONFIG,
    synchronize: Synchronize = synchronize_gradients,
) -> Gradients:
    """The gradient of one row of the last feed-forward matrix on each rank, before and after ``synchronize``.

    Args:
        counts: rows of each rank; at least 1 each.
        shown: how many of that row's weights to return.
        config: the model's shape.
        synchronize: the function that makes the gradients equal.
    """
    before, after = zip(*world.run(_one, tuple(counts), config, synchronize, ranks=len(counts)).values, strict=True)
    joined = world.run(_one, (sum(counts),), config, None, ranks=1).values[0][0]
    return Gradients(tuple(row[:shown] for row in before), tuple(row[:shown] for row in after), joined[:shown])


def _one(
    counts: tuple[int, ...], config: GPTConfig, synchronize: Synchronize | None
) -> tuple[torch.Tensor, torch.Tensor]:
    model = GPT(config).double()
    inputs, targets = next(batches(None, sum(counts), config.context, seed=1))
    loss(model, *(part.split(counts)[dist.get_rank()] for part in (inputs, targets))).backward()
    weight: Any = model.blocks[-1].get_submodule("ffn.down").weight
    before = weight.grad[0].clone()
    if synchronize is not None:
        synchronize(model.parameters(), counts[dist.get_rank()])
    return before, weight.grad[0]
