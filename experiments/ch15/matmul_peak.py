"""How much of one core's peak a training step uses: the peak by timed products, MFU and HFU of the tiny model.

    run = utilization_runs()
    run.peak, run.kept.tokens_per_second, run.recomputed.recomputed_forward

Peak and training are timed in one process with one thread, so that they are shares of the same core. There are two
kinds of step: with all activations kept, and with every block recomputed in the backward pass. The library counts the
FLOPs of a step; no formula is used.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from rankzero import checks, world
from rankzero.tiny import GPT, GPTConfig, batches, loss

SIDES = (64, 128, 256, 512)
CONFIG = GPTConfig(layers=4, heads=4, head_dim=32, context=64)


@dataclass(frozen=True)
class TrainingRate:
    """Steps of one kind.

    Attributes:
        tokens_per_second: by the median time of a step.
        flops_per_token: of the model, forward and backward, not counting recomputation.
        recomputed_forward: share of the forward pass that is recomputed.
        losses: of every step.
    """

    tokens_per_second: float
    flops_per_token: float
    recomputed_forward: float
    losses: tuple[float, ...]


@dataclass(frozen=True)
class UtilizationRun:
    """The measurements of one core.

    Attributes:
        sweep: FLOP/s of square products in fp32, the best of some, by their side.
        kept: steps that keep all activations.
        recomputed: steps that compute every block again.
    """

    sweep: dict[int, float]
    kept: TrainingRate
    recomputed: TrainingRate

    @property
    def peak(self) -> float:
        """FLOP/s of the best product."""
        return max(self.sweep.values())


def utilization_runs(
    steps: int = 6, batch: int = 8, config: GPTConfig = CONFIG, sides: tuple[int, ...] = SIDES
) -> UtilizationRun:
    """Time products of square matrices, then training steps, in one process with one thread.

    Args:
        steps: of each kind, at least 2: the first is made and not timed. Both kinds take turns.
        batch: sequences in a step.
        config: the model's shape; both kinds begin with the same weights and see the same text.
        sides: of the matrices.
    """
    checks.count(2, steps=steps)
    sweep, times, losses = world.run(_timed, steps, batch, config, sides, ranks=1).values[0]
    tokens, (forward, step) = batch * config.context, _counted(GPT(config), batch, config)
    _, again = _counted(recomputing(config), batch, config)
    rates = [
        TrainingRate(tokens / statistics.median(laps[1:]), step / tokens, (made - step) / forward, tuple(seen))
        for laps, made, seen in zip(times, (step, again), losses, strict=True)
    ]
    return UtilizationRun(sweep, *rates)


def matmul_sweep(sides: tuple[int, ...] = SIDES, repeats: int = 5) -> dict[int, float]:
    """FLOP/s of a product of two square fp32 matrices, the best of ``repeats``, by the side of the matrices."""
    return {side: _product_rate(side, repeats) for side in sides}


def _product_rate(side: int, repeats: int) -> float:
    matrix = torch.randn(side, side)
    often = max(1, 2**24 // side**3)  # small products several times per lap, because the clock's resolution is limited
    laps = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        for _ in range(often):
            matrix @ matrix
        laps.append(time.perf_counter() - start)
    return 2 * side**3 * often / min(laps[1:])


class Recomputing(torch.nn.Module):
    """A block that keeps only its input and is recomputed when its gradient is needed."""

    def __init__(self, block: torch.nn.Module) -> None:
        super().__init__()
        self.block = block

    def forward(self, *args: Any) -> Any:
        return checkpoint(self.block, *args, use_reentrant=False)


def recomputing(config: GPTConfig) -> GPT:
    """The tiny model with every block recomputed; the same weights and the same gradients as without."""
    model = GPT(config)
    model.blocks = torch.nn.ModuleList(Recomputing(block) for block in model.blocks)
    return model


def _timed(
    steps: int, batch: int, config: GPTConfig, sides: tuple[int, ...]
) -> tuple[dict[int, float], tuple[list[float], list[float]], tuple[list[float], list[float]]]:
    """In one process: the sweep, before and after, the better of both; times and losses of the two kinds of steps."""
    before = matmul_sweep(sides)
    models = (GPT(config), recomputing(config))
    optimizers = [torch.optim.AdamW(model.parameters(), lr=1e-3) for model in models]
    times: tuple[list[float], list[float]] = ([], [])
    losses: tuple[list[float], list[float]] = ([], [])
    for inputs, targets in islice(batches(None, batch, config.context, 0), steps):
        for kind, (model, optimizer) in enumerate(zip(models, optimizers, strict=True)):
            start = time.perf_counter()
            optimizer.zero_grad()
            value = loss(model, inputs, targets)
            value.backward()
            optimizer.step()
            times[kind].append(time.perf_counter() - start)
            losses[kind].append(value.item())
    after = matmul_sweep(sides)
    return {side: max(before[side], after[side]) for side in sides}, times, losses


def _counted(model: GPT, batch: int, config: GPTConfig) -> tuple[int, int]:
    """FLOP of a forward pass, and of a forward and backward pass with all that is computed again."""
    inputs, targets = next(iter(batches(None, batch, config.context, 0)))
    with FlopCounterMode(display=False) as forward, torch.no_grad():
        model(inputs)
    with FlopCounterMode(display=False) as step:
        loss(model, inputs, targets).backward()
    return forward.get_total_flops(), step.get_total_flops()
