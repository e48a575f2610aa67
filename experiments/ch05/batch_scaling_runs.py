"""How many steps and examples a small model needs to reach a loss, by batch size; and its gradient noise.

    fit_hyperbola(steps_to_target((4, 8, 16, 32)))

Source: McCandlish et al. (2018), arXiv:1812.06162.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from rankzero import checks, world
from rankzero.tiny import GPT, GPTConfig, batches, loss

#: One narrow layer: a step takes about a millisecond.
CONFIG = GPTConfig(vocab=128, layers=1, heads=2, head_dim=8, context=16)
TARGET = 2.9  # nats; between the losses of the best models of single letters and of pairs of letters
MOST_STEPS = 1200
PROCESSES = 2  # processes that share the batch sizes; a run gives the same numbers in any process


@dataclass(frozen=True)
class ToTarget:
    """A training run that stopped at a loss.

    Attributes:
        batch: sequences in a step.
        rate: learning rate.
        steps: until the loss on the test batch was at most the target; None if it never was.
    """

    batch: int
    rate: float
    steps: int | None

    @property
    def examples(self) -> int | None:
        """Sequences seen, repeats included."""
        return None if self.steps is None else self.batch * self.steps


def steps_to_target(
    sizes: Sequence[int],
    rate: Callable[[int], float] = lambda batch: 0.01,
    optimizer: str = "adamw",
    target: float = TARGET,
    config: GPTConfig = CONFIG,
    most: int = MOST_STEPS,
) -> list[ToTarget]:
    """Train from the same weights with each batch size, until the loss is low enough.

    Args:
        sizes: sequences in a step.
        rate: the learning rate of a batch size.
        optimizer: ``"adamw"`` or ``"sgd"``.
        target: mean loss on held-out rows, nats; checked every five steps.
        config: the model's shape.
        most: steps after which a run gives up.
    """
    checks.one_of(("adamw", "sgd"), optimizer=optimizer)
    pairs = [(size, rate(size)) for size in sizes]
    run = world.run(_until, pairs, optimizer, target, config, most, ranks=min(PROCESSES, len(pairs)) or 1, timeout=120)
    rows = {place: ToTarget(*row) for part in run.values for place, row in part.items()}
    return [rows[index] for index in range(len(pairs))]


def _until(
    sizes: Sequence[tuple[int, float]], optimizer: str, target: float, config: GPTConfig, most: int
) -> dict[int, tuple[int, float, int | None]]:
    """On each rank: its share of the runs, by their position in the list of batch sizes."""
    torch.set_num_threads(1)
    mine = range(dist.get_rank(), len(sizes), dist.get_world_size())
    return {index: (*sizes[index], _steps(*sizes[index], optimizer, target, config, most)) for index in mine}


def _steps(batch: int, rate: float, optimizer: str, target: float, config: GPTConfig, most: int) -> int | None:
    """Steps to the target loss, which is measured on rows that do not depend on the batch size."""
    model = GPT(config)
    moves = _optimizer(model, optimizer, rate)
    held_out = next(batches(None, 48, config.context, seed=99))
    for step, rows in zip(range(1, most + 1), batches(None, batch, config.context, seed=3), strict=False):
        moves.zero_grad()
        loss(model, *rows).backward()
        moves.step()
        if step % 5 == 0:
            with torch.no_grad():
                if loss(model, *held_out).item() <= target:
                    return step
    return None


def _optimizer(model: torch.nn.Module, name: str, rate: float) -> torch.optim.Optimizer:
    if name == "sgd":
        return torch.optim.SGD(model.parameters(), lr=rate)
    return torch.optim.AdamW(model.parameters(), lr=rate, fused=True)


def fit_hyperbola(runs: Sequence[ToTarget]) -> tuple[float, float]:
    """``(S_min, B_c)`` of ``steps = S_min (1 + B_c / B)``, fitted to runs by least squares of relative errors.

    Raises:
        ValueError: fewer than two batch sizes reached the target.
    """
    points = [(1 / run.batch, run.steps) for run in runs if run.steps is not None]
    if len({x for x, _ in points}) < 2:
        raise ValueError(f"runs must hold at least two batch sizes that reached the target, got {len(points)}")
    weights = [1 / steps**2 for _, steps in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    over = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points, strict=True))
    slope = over / sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    fewest = mean_y - slope * mean_x
    return fewest, slope / fewest


# The noise scale, from gradients that data parallelism computes anyway.


@dataclass(frozen=True)
class Noise:
    """Squared norms of gradients at one moment of training.

    Attributes:
        step: updates made so far.
        loss: mean over the measured batches.
        small_batch: rows of one rank.
        large_batch: rows of all ranks.
        small_norm_squared: mean over ranks and batches of the squared norm of a rank's own gradient.
        large_norm_squared: mean over batches of the squared norm of the averaged gradient.
    """

    step: int
    loss: float
    small_batch: int
    large_batch: int
    small_norm_squared: float
    large_norm_squared: float


def measured_noise(
    at: Sequence[int] = (0, 200), ranks: int = 4, rows: int = 4, measured: int = 40, config: GPTConfig = CONFIG
) -> list[Noise]:
    """Train on several ranks, stop at some steps, and measure the norms of gradients there.

    Args:
        at: steps at which to measure, ascending.
        ranks: processes; at least 2.
        rows: of one rank's batch.
        measured: batches to average over at each stop; their gradients do not update the weights.
        config: the model's shape.
    """
    run = world.run(_noise, tuple(at), rows, measured, config, ranks=ranks, timeout=120)
    return [Noise(step, value, rows, rows * ranks, small, large) for step, value, small, large in run.values[0]]


def _noise(at: tuple[int, ...], rows: int, measured: int, config: GPTConfig) -> list[tuple[int, float, float, float]]:
    """On each rank: train, and measure."""
    torch.set_num_threads(1)
    model = GPT(config)
    moves = _optimizer(model, "adamw", 0.01)
    pieces = batches(None, rows, config.context, seed=10 + dist.get_rank())  # every rank draws its own rows
    result, step = [], 0
    for stop in at:
        while step < stop:
            _mean_gradient(model, next(pieces))
            moves.step()
            step += 1
        result.append((step, *_norms(model, pieces, measured)))
    return result


def _norms(model: torch.nn.Module, pieces: Any, measured: int) -> tuple[float, float, float]:
    """Mean loss, mean squared norm of the ranks' gradients and of the averaged gradient."""
    rows = [_mean_gradient(model, next(pieces)) for _ in range(measured)]
    value, small, large = (statistics.fmean(column) for column in zip(*rows, strict=True))
    return value, small, large


def _mean_gradient(model: torch.nn.Module, rows: tuple[torch.Tensor, torch.Tensor]) -> tuple[float, float, float]:
    """Leave the averaged gradient in the model; the same all-reduce averages the loss and the squared norms."""
    model.zero_grad()
    value = loss(model, *rows)
    value.backward()
    gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    told = torch.cat([flat, flat.dot(flat).reshape(1), value.detach().reshape(1)])
    dist.all_reduce(told)
    *mean, small, average = (told / dist.get_world_size()).split([*(g.numel() for g in gradients), 1, 1])
    for gradient, part in zip(gradients, mean, strict=True):
        gradient.copy_(part.view_as(gradient))
    return average.item(), small.item(), sum(float(part.square().sum()) for part in mean)
