"""The small model cut into stages over real ranks: one training step, its gradients, and who worked when.

>>> run = split_step(4)  # doctest: +SKIP
>>> run.idle_share, 1 - 1 / 4  # doctest: +SKIP
>>> figures.spacetime(run.timeline)  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.tiny import GPT, GPTConfig, batches
from solutions.ch02 import model_split
from solutions.ch02.model_parallel import stage_layers

from .explorers import staircase
from .overlap import Diary, Timeline, laps_of, with_diaries

#: The model that is cut, and the batch of one step.
CONFIG = GPTConfig(layers=8, heads=4, head_dim=32, context=64)
BATCH = 4

#: Steps to take. The first is a warm-up; of the others the fastest counts, because it was disturbed least.
STEPS = 3

#: A function that carries out one step of a cut model.
Step = Callable[..., float | None]


@dataclass(frozen=True)
class Split:
    """One step of the model, cut or not.

    Attributes:
        loss: the mean squared error.
        gradients: by the parameter's name in the uncut model.
        parameters: how many each rank holds.
        timeline: messages, forward and backward passes of the fastest step.
    """

    loss: float
    gradients: dict[str, torch.Tensor]
    parameters: tuple[int, ...]
    timeline: Timeline

    @property
    def idle_share(self) -> float:
        """The share of all ranks' time in which they did not compute; sending, receiving and waiting count as idle."""
        busy = sum(e.end - e.start for e in self.timeline.events if e.operation in ("forward", "backward"))
        return 1 - busy / (len(self.parameters) * self.timeline.seconds)

    def difference(self, other: Split) -> float:
        """The largest absolute difference between the two runs' gradients, over all parameters.

        Raises:
            ValueError: the two runs do not have gradients for the same parameters.
        """
        if self.gradients.keys() != other.gradients.keys():
            raise ValueError(f"gradients are missing of {sorted(self.gradients.keys() ^ other.gradients.keys())}")
        return max(float((g - other.gradients[name]).abs().max()) for name, g in self.gradients.items())


def split_step(ranks: int, step: Step = model_split.forward_backward, config: GPTConfig = CONFIG) -> Split:
    """One training step with the layers spread over ``ranks`` ranks.

    Args:
        ranks: stages; at most as many as layers.
        step: the function that carries it out; called like ``forward_backward``.
        config: of the model.
    """
    return _gather(world.run(_cut, step, config, ranks=ranks, backend="gloo"))


def uncut_step(config: GPTConfig = CONFIG) -> Split:
    """The same step in one process, written without ranks: the reference for :func:`split_step`."""
    return _gather(world.run(_cut, _plain_step, config, ranks=1, backend="gloo"))


def _plain_step(model: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor, shape: object) -> float:
    loss = torch.nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    return float(loss)


def _gather(run: world.World) -> Split:
    losses, gradients, parameters, diaries = zip(*run.values, strict=True)
    laps = with_diaries(laps_of(run.events, run.ranks), list(zip(*diaries, strict=True)))
    lines = [Timeline(max(event.end for event in events), events) for events in laps[1:]]
    everything = {name: gradient for part in gradients for name, gradient in part.items()}
    return Split(losses[-1], everything, parameters, min(lines, key=lambda line: line.seconds))


def _cut(step: Step, config: GPTConfig) -> tuple[float | None, dict[str, torch.Tensor], int, list[Diary]]:
    """This rank's part of the steps: the loss (last rank only), its gradients, its parameter count and its diaries."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    layers = stage_layers(config.layers, ranks, rank)
    stage = GPT(config).part(layers, first=rank == 0, last=rank == ranks - 1)  # the rest of the model is dropped
    tokens, following = next(iter(batches(None, BATCH, config.context, seed=0)))
    targets = torch.nn.functional.one_hot(following, config.vocab).float()  # [batch, context, vocab]
    shape = (*tokens.shape, config.hidden)
    diaries = []
    for _ in range(STEPS):
        stage.zero_grad()
        loss, diary = _watched(step, stage, tokens, targets, shape)
        diaries.append(diary)
    gradients = {name: p.grad for name, p in stage.named_parameters() if p.grad is not None}
    return loss, gradients, sum(p.numel() for p in stage.parameters()), diaries


def _watched(step: Step, stage: torch.nn.Module, *arguments: Any) -> tuple[float | None, Diary]:
    """Carry out a step, and record its forward and backward pass in a diary."""
    diary = Diary()

    def noted(backward: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with diary.entry("backward"):
                return backward(*args, **kwargs)

        return call

    with (
        mock.patch.object(torch.autograd, "backward", noted(torch.autograd.backward)),
        mock.patch.object(torch.autograd, "grad", noted(torch.autograd.grad)),
    ):
        return step(_Watched(stage, diary), *arguments), diary


class _Watched(torch.nn.Module):
    """A stage whose forward pass is recorded in a diary."""

    def __init__(self, stage: torch.nn.Module, diary: Diary) -> None:
        super().__init__()
        self.stage, self.diary = stage, diary

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with self.diary.entry("forward"):
            return self.stage(x)


def planned_step(
    layers: int, stages: int, layer_time: float, transfer_time: float, backward_ratio: float = 2.0
) -> Timeline:
    """The step of a cut model as it would be drawn on paper: who computes and who sends when, with given times.

    Args:
        layers: of the model; at least 1.
        stages: ranks that hold them; at least 1.
        layer_time: forward time of one layer, seconds; positive.
        transfer_time: of one message between two stages, seconds; not negative.
        backward_ratio: backward time over forward time.
    """
    events = staircase(layers, stages, layer_time, transfer_time, backward_ratio)
    return Timeline(events[-1].end, events)
