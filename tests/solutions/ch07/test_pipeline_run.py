"""One step of a pipeline on real ranks against the uncut model and the library's own schedule."""

from __future__ import annotations

import itertools

import one_world
import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.nn.functional import mse_loss

from experiments.ch07.pipeline_runs import (
    blocked_at,
    blocking_step,
    counted_graphs,
    pipeline_run,
    training_losses,
    uncut_run,
)
from rankzero import world
from solutions.ch07.pipeline import peak_in_flight, pipeline_schedule
from solutions.ch07.pipeline_run import debug_blocking, debug_sync, pipeline_step

WIDTH, BATCH = 8, 3


def _model(stages: int, frozen: int = -1, bare: int = -1) -> nn.Sequential:
    """A stage of each rank: trained, frozen, or without parameters."""
    generator = torch.Generator().manual_seed(stages)
    made = []
    for stage in range(stages):
        part: nn.Module = nn.Tanh() if stage == bare else nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh())
        for parameter in part.double().parameters():
            parameter.data = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        made.append(part.requires_grad_(stage != frozen))
    return nn.Sequential(*made)


def _data(count: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    whole = torch.randn(2, count, BATCH, WIDTH, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    return list(whole[0]), list(whole[1])


def _scheduled(name, microbatches, frozen, bare, start):
    orders = pipeline_schedule(name, dist.get_world_size(), microbatches)
    return _on_a_rank(orders, microbatches, frozen, bare, start)


def _on_a_rank(orders, microbatches, frozen, bare, start):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage, (inputs, targets) = _model(ranks, frozen, bare)[rank], _data(microbatches)
    for parameter in stage.parameters():
        parameter.grad = torch.full_like(parameter, start) if parameter.requires_grad and start else None
    with counted_graphs(stage) as counts:
        mine = (inputs if rank == 0 else None, targets if rank == ranks - 1 else None)
        loss = pipeline_step(stage, orders[rank], *mine, mse_loss, (BATCH, WIDTH))
    return loss, {f"{rank}.{name}": p.grad for name, p in stage.named_parameters()}, max(counts)


def _uncut(ranks, microbatches, frozen, bare, start):
    model, (inputs, targets) = _model(ranks, frozen, bare), _data(microbatches)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, start) if parameter.requires_grad and start else None
    losses = [mse_loss(model(x), target) for x, target in zip(inputs, targets, strict=True)]
    mean = torch.stack(losses).mean()
    if mean.requires_grad:
        mean.backward()
    return mean.detach(), {name: p.grad for name, p in model.named_parameters()}


CASES = [
    ("1f1b", 1, 1, -1, -1, 0.0),
    ("1f1b", 1, 4, -1, -1, 1.0),
    ("1f1b", 2, 1, -1, -1, 0.0),
    ("1f1b", 4, 2, -1, -1, 0.0),
    ("1f1b", 4, 6, 0, -1, 1.0),
    ("1f1b", 3, 8, 1, 2, 0.0),
    ("gpipe", 3, 5, -1, 0, 0.0),
    ("gpipe", 4, 6, 3, -1, 2.0),
]


@pytest.mark.parametrize(("name", "ranks", "microbatches", "frozen", "bare", "start"), CASES)
def test_gradients_and_loss_are_those_of_the_uncut_model(name, ranks, microbatches, frozen, bare, start):
    orders = pipeline_schedule(name, ranks, microbatches)
    alike = tuple((name, *rest) for name, count, *rest in CASES if count == ranks)
    run = one_world.runs(_scheduled, alike, ranks)[name, microbatches, frozen, bare, start]
    losses, gradients, peaks = zip(*run.values, strict=True)
    mean, expected = _uncut(ranks, microbatches, frozen, bare, start)
    torch.testing.assert_close(losses[-1], mean, rtol=1e-12, atol=1e-14)
    assert all(float(loss) == 0 for loss in losses[:-1])
    found = {key: gradient for part in gradients for key, gradient in part.items()}
    assert found.keys() == expected.keys()
    for key, gradient in expected.items():
        assert (found[key] is None) == (gradient is None)
        if gradient is not None:
            torch.testing.assert_close(found[key], gradient, rtol=1e-12, atol=1e-14)
    assert all(peak <= peak_in_flight(order) for peak, order in zip(peaks, orders, strict=True))
    assert sum(event.operation == "send" for event in run.events) == 2 * (ranks - 1) * microbatches


def test_an_order_of_another_stage_is_refused():
    with pytest.raises(world.WorldError, match="order must hold passes of stage 0 alone, got"):
        world.run(_on_a_rank, [["0F0", "1B0"]], 1, -1, -1, 0.0, ranks=1)


def _library(schedule, microbatches):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage, (inputs, targets) = _model(ranks)[rank], _data(microbatches)
    piece = PipelineStage(stage, rank, ranks, torch.device("cpu"))
    runner = schedule(piece, n_microbatches=microbatches, loss_fn=mse_loss)
    losses: list[torch.Tensor] = []
    runner.step(
        *((torch.cat(inputs),) if rank == 0 else ()),
        target=torch.cat(targets) if rank == ranks - 1 else None,
        losses=losses if rank == ranks - 1 else None,
    )
    return {f"{rank}.{name}": p.grad for name, p in stage.named_parameters()}


def _both(schedule, name):
    return _scheduled(name, 6, -1, -1, 0.0), _library(schedule, 6)


@pytest.mark.parametrize(("schedule", "name"), [(Schedule1F1B, "1f1b"), (ScheduleGPipe, "gpipe")])
def test_the_librarys_pipeline_has_the_same_gradients(schedule, name):
    """torch.distributed.pipelining, the same stages on Gloo."""
    for (_, mine, _), library in world.run(_both, schedule, name, ranks=3).values:
        for key, gradient in library.items():
            torch.testing.assert_close(mine[key], gradient, rtol=1e-12, atol=1e-14)


# The small model.


@pytest.mark.parametrize(("ranks", "schedule"), [(2, "gpipe"), (4, "1f1b")])
def test_the_small_model_has_the_very_same_gradients(ranks, schedule):
    """Done when: zero difference in float64, 2(p-1)m messages, and the graphs that the order says."""
    uncut, run = uncut_run(6), pipeline_run(ranks, 6, schedule)
    assert run.difference(uncut) == 0.0
    assert run.loss == uncut.loss
    assert run.messages == 2 * (ranks - 1) * 6
    orders = pipeline_schedule(schedule, ranks, 6)
    assert run.peaks == tuple(peak_in_flight(order) for order in orders)
    for order in orders:  # the measured passes of a rank stand in the order of its list, one after the other
        spans = [run.times[op] for op in order]
        assert all(first[1] <= second[0] for first, second in itertools.pairwise(spans))


@pytest.mark.proof(part="runs")
def test_training_in_a_pipeline_is_training():
    losses = training_losses(2, 2, 4)
    assert losses == training_losses(1, 2, 4)
    assert losses[-1] < losses[0]


def test_blocking_sends_are_reported_as_a_deadlock():
    """Done when: a report that names both ranks, not a hang."""
    with pytest.raises(world.WorldError, match="deadlock") as found:
        pipeline_run(2, 2, step=blocking_step, timeout=60)
    assert {report.rank for report in found.value.reports} == {0, 1}
    assert all("send" in report.what for report in found.value.reports)


def test_where_blocking_sends_wait():
    assert blocked_at(pipeline_schedule("1f1b", 2, 2)) == {0: "send to rank 1 in 0F1", 1: "send to rank 0 in 1B0"}
    assert blocked_at(pipeline_schedule("1f1b", 2, 1)) == {}
    assert blocked_at(pipeline_schedule("1f1b", 1, 5)) == {}
    assert set(blocked_at(pipeline_schedule("1f1b", 4, 8))) == {0, 1, 2, 3}
    assert blocked_at(pipeline_schedule("gpipe", 4, 8)) == {}


# The programs to fix.


def _mended(function, microbatches):
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage, (inputs, targets) = _model(ranks).float()[rank], _data(microbatches)
    inputs, targets = [x.float() for x in inputs], [x.float() for x in targets]
    if function is debug_blocking:
        loss = debug_blocking(stage, inputs, targets, microbatches, (BATCH, WIDTH))
    else:
        stage = _model(2).float()[rank % 2]
        half = slice(rank // 2, None, 2)
        loss = debug_sync(stage, inputs[half], targets[half], (BATCH, WIDTH))
    return loss, {name: p.grad for name, p in stage.named_parameters()}


@pytest.mark.parametrize("ranks", [1, 4])
def test_the_mended_loop_ends_with_the_right_gradients(ranks):
    values = world.run(_mended, debug_blocking, 5, ranks=ranks).values
    mean, expected = _uncut(ranks, 5, -1, -1, 0.0)
    assert values[-1][0] == pytest.approx(float(mean), rel=1e-5)
    for rank, (_, gradients) in enumerate(values):
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, expected[f"{rank}.{name}"].float(), rtol=1e-4, atol=1e-6)


def test_replicas_reduce_their_gradients_once():
    run = world.run(_mended, debug_sync, 6, ranks=4)
    mean, expected = _uncut(2, 6, -1, -1, 0.0)
    assert run.values[1][0] + run.values[3][0] == pytest.approx(2 * float(mean), rel=1e-5)
    for rank, (_, gradients) in enumerate(run.values):
        assert sum(e.operation == "all_reduce" and e.rank == rank for e in run.events) == len(gradients)
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, expected[f"{rank % 2}.{name}"].float(), rtol=1e-4, atol=1e-6)
