"""Training in fp16 with a dynamic loss scale, with ``torch.amp.GradScaler`` and with the learner's own scaler.

    scaled_training("torch").scales == scaled_training(LossScaler).scales

The module also shows what few bits do to real gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rankzero import world
from rankzero.tiny import GPTConfig, batches, loss, train
from solutions.ch05.precision import LossScaler


@dataclass(frozen=True)
class ScaledTraining:
    """A run with a loss scale.

    Attributes:
        scales: the loss scale before the first step and after each step.
        skipped: whether each step was skipped because a gradient was infinite or not a number.
        losses: of each step, without the scale.
    """

    scales: tuple[float, ...]
    skipped: tuple[bool, ...]
    losses: tuple[float, ...]


def scaled_training(
    scaler: str | Callable[..., Any] = LossScaler,
    init_scale: float = 2.0**24,
    growth_interval: int = 5,
    steps: int = 60,
) -> ScaledTraining:
    """Train a network of widths 16, 32, 4 whose matrix products are in fp16, on seeded data.

    Overflows are not injected: the scaled loss goes backward through fp16, whose largest number is 65,504.

    Args:
        scaler: ``"torch"`` for ``torch.amp.GradScaler``; or a class like :class:`LossScaler`.
        init_scale: S at the start; positive.
        growth_interval: clean steps before S doubles.
        steps: how many.
    """
    run = world.run(_scaled, scaler, init_scale, growth_interval, steps, ranks=1)  # where torch is loaded
    return ScaledTraining(*run.values[0])


def _scaled(
    scaler: str | Callable[..., Any], init_scale: float, growth_interval: int, steps: int
) -> tuple[tuple[float, ...], tuple[bool, ...], tuple[float, ...]]:
    """Scales, skipped steps and losses."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    x, y = torch.randn(64, 16), torch.randn(64, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    own: Any = (_Torch if isinstance(scaler, str) else scaler)(init_scale=init_scale, growth_interval=growth_interval)
    step = own.step if isinstance(scaler, str) else lambda value, moves: _step(own, value, moves, model)
    scales, skipped, losses = [float(own.scale)], [], []
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            value = torch.nn.functional.mse_loss(model(x), y)
        losses.append(value.item())
        skipped.append(step(value, optimizer))
        scales.append(float(own.scale))
    return tuple(scales), tuple(skipped), tuple(losses)


def _step(scaler: Any, value: torch.Tensor, optimizer: torch.optim.Optimizer, model: torch.nn.Module) -> bool:
    """One step as the chapter describes it: scale, backward, unscale in fp32 and check, step or skip, update."""
    (value * scaler.scale).backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    plain, found = scaler.unscale(torch.cat([gradient.flatten() for gradient in gradients]).tolist())
    if not found:
        parts = torch.tensor(plain).split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))
        optimizer.step()
    scaler.update(found)
    return bool(found)


class _Torch:
    """``GradScaler``. It does not say whether it skipped a step, but the scale falls if and only if it did."""

    def __init__(self, init_scale: float, growth_interval: int) -> None:
        self.scaler = torch.amp.GradScaler("cpu", init_scale=init_scale, growth_interval=growth_interval)

    @property
    def scale(self) -> float:
        return self.scaler.get_scale()

    def step(self, value: torch.Tensor, optimizer: torch.optim.Optimizer) -> bool:
        self.scaler.scale(value).backward()
        before = self.scale
        self.scaler.step(optimizer)
        self.scaler.update()
        return self.scale < before


# What few bits do to gradients.


def gradient_exponents(gradients: Sequence[torch.Tensor]) -> dict[int, int]:
    """How many gradients have each binary exponent: ``e`` means absolute values from ``2**e`` to ``2**(e + 1)``.

    Zeros are left out.
    """
    every = torch.cat([gradient.detach().flatten().double() for gradient in gradients])
    exponents = torch.frexp(every[every != 0]).exponent - 1
    values, counts = exponents.unique(return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def tiny_gradients(steps: int = 20, batch: int = 8) -> list[torch.Tensor]:
    """Gradients in fp32 of the course's small language model with its default shape, after ``steps`` of training."""
    return world.run(_tiny, steps, batch, ranks=1).values[0]  # type: ignore[no-any-return]


def _tiny(steps: int, batch: int) -> list[torch.Tensor]:
    model = train(steps=steps, config=GPTConfig())
    loss(model, *next(batches(None, batch, 64, seed=5))).backward()
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def deep_tanh_gradients(layers: int = 12, width: int = 64, rows: int = 256) -> list[torch.Tensor]:
    """Gradients in fp32 of a deep network of linear layers and tanh, whose signal fades on its way back."""
    torch.manual_seed(0)
    parts = [part for _ in range(layers) for part in (torch.nn.Linear(width, width), torch.nn.Tanh())]
    model = torch.nn.Sequential(*parts)
    torch.nn.functional.mse_loss(model(torch.randn(rows, width)), torch.randn(rows, width)).backward()
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


@dataclass(frozen=True)
class InFp16:
    """What becomes of gradients in fp16, as shares of those that are not zero in fp32.

    Attributes:
        zero: flushed to zero.
        subnormal: kept with fewer bits, below 2**-14.
        infinite: beyond 65,504.
    """

    zero: float
    subnormal: float
    infinite: float


def in_fp16(gradients: Sequence[torch.Tensor], scale: float = 1.0) -> InFp16:
    """Multiply by ``scale``, round to fp16, and count what becomes of the gradients."""
    every = torch.cat([gradient.detach().flatten() for gradient in gradients])
    every = every[every != 0]
    small = (every.double() * scale).to(torch.float16).abs()
    fates = small == 0, (small > 0) & (small < 2.0**-14), small.isinf()
    return InFp16(*(float(fate.double().mean()) for fate in fates))
