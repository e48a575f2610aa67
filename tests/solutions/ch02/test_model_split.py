"""A model cut over real ranks: against the same model in one process, and against the library's pipeline."""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

from rankzero import world
from solutions.ch02.model_split import forward_backward

RANKS = [1, 2, 3, 4]
BATCH, WIDTH = 5, 8
KINDS = {
    "all trained": ("trained",) * 4,
    "frozen between": ("trained", "frozen", "trained", "frozen"),
    "frozen first": ("frozen", "trained", "trained", "trained"),
    "bare first": ("bare", "trained", "bare", "trained"),
    "bare last": ("trained", "trained", "frozen", "bare"),
    "nothing": ("frozen", "bare", "frozen", "bare"),
}


def layers(kinds: tuple[str, ...], ranks: int) -> list[nn.Module]:
    """One stage for each rank, the same wherever it is asked for; the outer widths are not those between stages."""
    torch.manual_seed(7)
    stages: list[nn.Module] = []
    for rank in range(ranks):
        width, out = 3 if rank == 0 else WIDTH, 2 if rank == ranks - 1 else WIDTH
        linear = nn.Sequential(nn.Linear(width, 6), nn.Tanh(), nn.Linear(6, out))
        kind = kinds[rank] if width == out or kinds[rank] != "bare" else "frozen"
        stages.append(nn.Sequential(nn.Tanh()) if kind == "bare" else linear.requires_grad_(kind == "trained"))
    return stages


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    return torch.randn(BATCH, 3, generator=generator), torch.randn(BATCH, 2, generator=generator)


def gradients(stage: nn.Module) -> list[torch.Tensor | None]:
    return [parameter.grad for parameter in stage.parameters()]


def uncut(stages: list[nn.Module]) -> tuple[float, list[list[torch.Tensor | None]]]:
    """Loss and gradients of the stages one after the other, in this process."""
    model = nn.Sequential(*copy.deepcopy(stages))
    inputs, targets = batch()
    loss = nn.functional.mse_loss(model(inputs), targets)
    if loss.requires_grad:
        loss.backward()
    return loss.item(), [gradients(stage) for stage in model]


def cut() -> dict[str, tuple[Any, list[torch.Tensor | None]]]:
    """Every kind of model, this rank's part: what was returned, and the gradients."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    inputs, targets = batch()
    found = {}
    for name, kinds in KINDS.items():
        stage = layers(kinds, ranks)[rank]
        given = (inputs if rank == 0 else None, targets if rank == ranks - 1 else None)
        found[name] = (forward_backward(stage, *given, (BATCH, WIDTH)), gradients(stage))
    return found


@functools.cache
def run(ranks: int) -> tuple[dict[str, tuple[Any, list[torch.Tensor | None]]], ...]:
    return world.run(cut, ranks=ranks).values


def same(ours: list[torch.Tensor | None], theirs: list[torch.Tensor | None]) -> None:
    assert [gradient is None for gradient in ours] == [gradient is None for gradient in theirs]
    for one, other in zip(ours, theirs, strict=True):
        if one is not None:
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("ranks", RANKS)
def test_the_gradients_are_those_of_the_uncut_model(ranks, name):
    """Kills: an activation that asks for no gradient, a loss on every rank, gradients that stop at a frozen stage."""
    loss, right = uncut(layers(KINDS[name], ranks))
    returned = [values[name][0] for values in run(ranks)]
    assert returned[:-1] == [None] * (ranks - 1)
    assert returned[-1] == pytest.approx(loss, rel=1e-6)
    for rank, values in enumerate(run(ranks)):
        same(values[name][1], right[rank])


def with_the_library() -> tuple[list[torch.Tensor | None], list[torch.Tensor | None]]:
    """One step of ours, and one of the library's pipeline with a single micro-batch."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    inputs, targets = batch()
    ours, theirs = (layers(KINDS["all trained"], ranks)[rank] for _ in range(2))
    forward_backward(ours, inputs, targets, (BATCH, WIDTH))
    stage = PipelineStage(theirs, rank, ranks, torch.device("cpu"))
    schedule = ScheduleGPipe(stage, n_microbatches=1, loss_fn=nn.functional.mse_loss)
    schedule.step(*([inputs] if rank == 0 else []), **({"target": targets} if rank == ranks - 1 else {}))
    return gradients(ours), gradients(theirs)


def test_the_gradients_are_those_of_the_library_s_pipeline():
    for ours, theirs in world.run(with_the_library, ranks=3).values:
        same(ours, theirs)


def twice() -> list[torch.Tensor | None]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage = layers(KINDS["all trained"], ranks)[rank]
    for _ in range(2):
        forward_backward(stage, *batch(), (BATCH, WIDTH))
    return gradients(stage)


def test_gradients_add_up_as_autograd_does_it():
    _, once = uncut(layers(KINDS["all trained"], 2))
    for rank, values in enumerate(world.run(twice, ranks=2).values):
        same(values, [2 * gradient for gradient in once[rank] if gradient is not None])


def test_each_boundary_is_crossed_once_each_way():
    events = world.run(cut, ranks=3).events
    sent = sorted((event.rank, event.peers[0], event.sent) for event in events if event.operation == "send")
    crossings = [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert sent == sorted((*crossing, 4 * BATCH * WIDTH) for crossing in crossings for _ in KINDS)
