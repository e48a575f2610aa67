# Generated from solutions/ch07/pipeline_run.py by make stubs. Write the bodies; names and signatures stay.
"""One training step of a pipeline on real processes. Rank r holds stage r and carries out its own list of operations.

world.run(lambda: pipeline_step(stages[dist.get_rank()], orders[dist.get_rank()], inputs, targets, loss_fn, (2, 16)))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from rankzero import checks


def pipeline_step(
    module: torch.nn.Module,
    order: Sequence[str],
    inputs: Sequence[torch.Tensor] | None,
    targets: Sequence[torch.Tensor] | None,
    loss_fn: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    hidden_shape: tuple[int, ...],
    dtype: torch.dtype = torch.float64,
) -> torch.Tensor:
    """One forward and one backward pass of every micro-batch through all stages, in the order of this rank's list.

    ``"2F5"`` is the forward pass of micro-batch 5 on stage 2, ``"2B5"`` its backward pass; the stage is the rank. Every
    boundary is crossed by one message each way for each micro-batch. A rank never waits for its messages to be received
    before it goes on, so that every legal order completes. It keeps the graph of a micro-batch from its forward to its
    backward pass and no longer: never more graphs than ``peak_in_flight(order)``.

    Afterwards every parameter has the gradient that the mean of the micro-batches' losses has in the uncut model, added
    to what ``.grad`` held before. A stage may have no parameters, or frozen ones.

    Args:
        module: this rank's stage.
        order: its operations, passes of its own stage; neighbors take the micro-batches in the same order.
        inputs: of each micro-batch, on rank 0; elsewhere not used.
        targets: of each micro-batch, on the last rank; elsewhere not used.
        loss_fn: ``loss_fn(output, target)``, the mean loss of one micro-batch.
        hidden_shape: of the activation of one micro-batch at every boundary.
        dtype: of these activations.

    Returns:
        The mean of the micro-batches' losses on the last rank, zero on the others; without a graph.

    Source: Huang et al. (2019), arXiv:1811.06965; PipeDream-Flush in Narayanan et al. (2021), arXiv:2104.04473.
    """
    checks.require(
        all(re.fullmatch(f"{dist.get_rank()}[FB][0-9]+", op) for op in order),
        f"hold passes of stage {dist.get_rank()} alone",
        order=order,
    )
    raise NotImplementedError("07-pipeline-step: not written yet")


def debug_blocking(
    stage: torch.nn.Module,
    inputs: Sequence[torch.Tensor] | None,
    targets: Sequence[torch.Tensor] | None,
    microbatches: int,
    shape: tuple[int, ...],
) -> float | None:
    """One 1F1B step of a pipeline, rank r with stage r: the mean loss on the last rank, None on the others.

    The program hangs as soon as two ranks have two micro-batches. Fix it, and keep the order of the passes.

    Args:
        stage: this rank's part of the model.
        inputs: of each micro-batch, on rank 0.
        targets: of each micro-batch, on the last rank.
        microbatches: how many there are.
        shape: of the activation of one micro-batch at every boundary, in float32.
    """
    rank, ranks = dist.get_rank(), dist.get_world_size()
    ahead = min(microbatches, ranks - 1 - rank)  # forward passes before the first backward pass
    order = [("F", m) for m in range(ahead)]
    for m in range(microbatches):
        if m + ahead < microbatches:
            order.append(("F", m + ahead))
        order.append(("B", m))
    held = {}
    total = 0.0
    for kind, m in order:
        if kind == "F":
            x = inputs[m] if rank == 0 else torch.empty(shape)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = stage(x)
            if rank < ranks - 1:
                dist.send(y.detach(), rank + 1)
            else:
                y = torch.nn.functional.mse_loss(y, targets[m]) / microbatches
                total += y.item()
            held[m] = x, y
        else:
            (x, y), gradient = held.pop(m), torch.ones(())
            if rank < ranks - 1:
                gradient = torch.empty(shape)
                dist.recv(gradient, rank + 1)
            y.backward(gradient)
            if rank > 0:
                dist.send(x.grad, rank - 1)
    return total if rank == ranks - 1 else None


def debug_sync(
    stage: torch.nn.Module, inputs: Sequence[torch.Tensor], targets: Sequence[torch.Tensor], shape: tuple[int, ...]
) -> float | None:
    """One step of two pipelines of two stages: the mean loss of its own pipeline on ranks 1 and 3, None on 0 and 2.

    Ranks 0 and 1 are the stages of one replica of the model, ranks 2 and 3 those of the other. A gradient is the mean
    over the micro-batches of a pipeline and over the two replicas. The result is right, but the gradients travel once
    for every micro-batch. Fix it: they need to travel once.

    Args:
        stage: this rank's part of its replica.
        inputs: of each micro-batch of this pipeline.
        targets: of each micro-batch of this pipeline.
        shape: of the activation of one micro-batch between the stages, in float32.
    """
    rank = dist.get_rank()
    groups = [dist.new_group([0, 2]), dist.new_group([1, 3])]  # the same stage of both replicas
    first = rank % 2 == 0
    total = 0.0
    for x, target in zip(inputs, targets, strict=True):
        passed = torch.empty(shape)  # the activation on its way to stage 1, its gradient on the way back
        if first:
            y = stage(x)
            dist.send(y.detach(), rank + 1)
            dist.recv(passed, rank + 1)
            y.backward(passed)
        else:
            dist.recv(passed, rank - 1)
            loss = torch.nn.functional.mse_loss(stage(passed.requires_grad_()), target) / len(inputs)
            loss.backward()
            dist.send(passed.grad, rank - 1)
            total += loss.item()
        for parameter in stage.parameters():
            dist.all_reduce(parameter.grad, group=groups[rank % 2])
            parameter.grad.div_(2)
    return None if first else total
