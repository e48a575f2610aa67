"""One training step of a pipeline on real processes. Rank r holds stage r and carries out its own list of operations.

world.run(lambda: pipeline_step(stages[dist.get_rank()], orders[dist.get_rank()], inputs, targets, loss_fn, (2, 16)))
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

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
    rank, ranks = dist.get_rank(), dist.get_world_size()
    passes = [(kind, int(number)) for _, kind, number in (re.split("([FB])", op) for op in order)]
    microbatches = len([kind for kind, _ in passes if kind == "F"])
    held: dict[int, tuple[Any, Any]] = {}  # for each micro-batch in flight: its input and its output
    total = torch.zeros((), dtype=dtype)
    sending: list[Any] = []
    for kind, number in passes:
        if kind == "F":
            x = inputs[number] if rank == 0 and inputs is not None else _received(hidden_shape, dtype, rank - 1)
            y = module(x.requires_grad_() if rank > 0 else x)
            if rank < ranks - 1:
                sending.append(dist.isend(y.detach().contiguous(), rank + 1))
            elif targets is not None:
                y = loss_fn(y, targets[number]) / microbatches
                total += y.detach()
            held[number] = x, y
        else:
            x, y = held.pop(number)
            upstream = _received(hidden_shape, dtype, rank + 1) if rank < ranks - 1 else None
            if y.requires_grad:  # not on a first rank whose stage has nothing to train
                y.backward(upstream)
            if rank > 0:
                sending.append(dist.isend(x.grad.contiguous(), rank - 1))
    for message in sending:
        message.wait()
    return total


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
    held: dict[int, Any] = {}
    total = 0.0
    sending: list[Any] = []
    for kind, m in order:
        if kind == "F":
            x: Any = inputs[m] if rank == 0 and inputs is not None else torch.empty(shape)
            if rank > 0:
                dist.recv(x, rank - 1)
                x.requires_grad_()
            y = stage(x)
            if rank < ranks - 1:
                sending.append(dist.isend(y.detach(), rank + 1))
            elif targets is not None:
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
                sending.append(dist.isend(x.grad, rank - 1))
    for message in sending:
        message.wait()
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
            dist.send(_gradient_of(passed), rank - 1)
            total += loss.item()
    for parameter in stage.parameters():
        dist.all_reduce(_gradient_of(parameter), group=groups[rank % 2])
        _gradient_of(parameter).div_(2)
    return None if first else total


def _received(shape: tuple[int, ...], dtype: torch.dtype, source: int) -> torch.Tensor:
    """The next message of a neighbor."""
    tensor = torch.empty(shape, dtype=dtype)
    dist.recv(tensor, source)
    return tensor


def _gradient_of(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.grad is None:
        raise ValueError("a tensor that should have a gradient has none")
    return tensor.grad
