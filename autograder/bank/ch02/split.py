"""Chapter 02: one training step of a model that is cut over the ranks: a build item.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

import dataclasses
import math
from random import Random
from typing import Any

from autograder.bank import least
from autograder.bank.ch02 import rules
from autograder.bank.rules import every
from autograder.items import Build, Case, Group, Slip, Stage, Tensor


def slip_not_a_leaf(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
    output = stage(received)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        if output.requires_grad:
            output.backward(gradient)
    else:
        loss = torch.nn.functional.mse_loss(output, targets)
        loss.backward()
    if rank > 0:
        dist.send(received.grad, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def slip_detached(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
        received.requires_grad_()
    if rank < ranks - 1:
        with torch.no_grad():
            output = stage(received)
        dist.send(output, rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        output.backward(gradient)
    else:
        loss = torch.nn.functional.mse_loss(stage(received), targets)
        loss.backward()
    if rank > 0:
        dist.send(received.grad, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def slip_sends_a_loss(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
        received.requires_grad_()
    output = stage(received)
    if rank < ranks - 1:
        dist.send(output.detach().square().mean(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        if output.requires_grad:
            output.backward(gradient)
    else:
        loss = torch.nn.functional.mse_loss(output, targets)
        loss.backward()
    if rank > 0:
        dist.send(received.grad, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def slip_passes_gradients_on(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
        received.requires_grad_()
    output = stage(received)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        if output.requires_grad:
            output.backward(gradient)
    else:
        loss = torch.nn.functional.mse_loss(output, targets)
        if output.requires_grad:
            output.retain_grad()
            loss.backward()
        gradient = output.grad
    if rank > 0:
        dist.send(gradient, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def slip_own_loss(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
        received.requires_grad_()
    output = stage(received)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        loss = output.square().mean()
    else:
        loss = torch.nn.functional.mse_loss(output, targets)
    if loss.requires_grad:
        loss.backward()
    return loss.item() if rank == ranks - 1 else None


def slip_nothing_to_train(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
        received.requires_grad_()
    output = stage(received)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        output.backward(gradient)
    else:
        loss = torch.nn.functional.mse_loss(output, targets)
        loss.backward()
    if rank > 0:
        dist.send(received.grad, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def slip_sum_of_squares(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
        received.requires_grad_()
    output = stage(received)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        if output.requires_grad:
            output.backward(gradient)
    else:
        loss = (output - targets).square().sum()
        if loss.requires_grad:
            loss.backward()
    if rank > 0:
        dist.send(received.grad, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def slip_zero_grad(stage, inputs, targets, shape):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage.zero_grad()
    received = inputs
    if rank > 0:
        received = torch.empty(shape)
        dist.recv(received, rank - 1)
        received.requires_grad_()
    output = stage(received)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        if output.requires_grad:
            output.backward(gradient)
    else:
        if targets is None:
            raise ValueError("targets")
        loss = torch.nn.functional.mse_loss(output, targets)
        if loss.requires_grad:
            loss.backward()
    if rank > 0:
        dist.send(received.grad, rank - 1)
    return loss.item() if rank == ranks - 1 else None


def _numbers(rng: Random, *shape: int) -> Tensor:
    count = 1
    for size in shape:
        count *= size
    return Tensor.of([rng.uniform(-1, 1) for _ in range(count)], shape=shape)


def _stage(rng: Random, width: int, out: int, kind: str) -> Stage:
    """``kind`` is ``trained``, ``frozen``, or ``bare`` for a stage without parameters."""
    if kind == "bare":
        return Stage((("Tanh",),))
    linear = ("Linear", _numbers(rng, out, width), _numbers(rng, out))
    return Stage((linear, ("Tanh",)) if rng.random() < 0.7 else (linear,), kind == "frozen")


def _model(rng: Random, kinds: tuple[str, ...], ends: tuple[int, int] | None = None, width: int = 0) -> Case:
    """A stage of each kind; the first and the last may have other widths outside, ``ends``, than between stages."""
    batch, width = rng.randint(1, 8), width or rng.randint(4, 32)
    first, last = ends or (width, width)
    args: list[tuple[Any, ...]] = []
    for rank, kind in enumerate(kinds):
        is_first, is_last = rank == 0, rank == len(kinds) - 1
        stage = _stage(rng, first if is_first else width, last if is_last else width, kind)
        inputs = _numbers(rng, batch, first) if is_first else None
        targets = _numbers(rng, batch, last) if is_last else None
        args.append((stage, inputs, targets, (batch, width)))
    return Case(args=tuple(args))


def _trained(rng: Random) -> Case:
    return _model(rng, ("trained",) * rng.randint(2, 4))


def _trained_of_each(rng: Random) -> list[Case]:
    ends = (rng.randint(4, 9), rng.randint(4, 9))
    return [
        _model(rng, ("trained",) * 4),
        _model(rng, ("trained",) * 3, ends, width=16),
        _model(rng, ("trained",) * 2),
    ]


def _alone(rng: Random) -> Case:
    return _model(rng, ("trained",), (rng.randint(4, 9), rng.randint(4, 9)))


def _nothing_to_train(rng: Random) -> list[Case]:
    """Stages without parameters, or with frozen ones, at the beginning, in the middle and at the end."""
    still = ["frozen", "bare"]
    rng.shuffle(still)
    return [
        _model(rng, ("trained", still[0], "trained", still[1])),
        _model(rng, (still[0], "trained", "trained")),
        _model(rng, (still[1], "trained")),
    ]


def _some_trained(rng: Random) -> Case:
    return rng.choice(_nothing_to_train(rng))


def _before(rng: Random) -> Case:
    """Every trained parameter has a gradient already."""
    return rng.choice(_before_of_each(rng))


def _before_of_each(rng: Random) -> list[Case]:
    kinds = (("trained", "frozen", "trained"), ("trained",))
    return [dataclasses.replace(_model(rng, each), kwargs={"before": rng.uniform(1, 9)}) for each in kinds]


def _no_targets(rng: Random) -> Case:
    """One rank, which is the last one, has no targets."""
    ((stage, inputs, _, shape),) = _model(rng, ("trained",)).args
    return Case(args=((stage, inputs, None, shape),), raises="ValueError")


def _crossings(case: Case) -> list[int]:
    """Bytes that come to each rank: an activation over the boundary before it, a gradient over the one behind it."""
    ranks, size = len(case.args), 4 * math.prod(case.args[0][3])
    return [size * ((rank > 0) + (rank < ranks - 1)) for rank in range(ranks)]


_FIXED = Random("02-forward-backward")

FORWARD_BACKWARD = Build(
    id="02-forward-backward",
    module="model_split",
    function="forward_backward",
    grade="world",
    probe="ch02.stepped",
    section="2.8",
    topic="naive model parallelism",
    tolerance=1e-5,
    cases=(
        _model(_FIXED, ("trained", "trained"), width=4),
        _model(_FIXED, ("trained", "frozen", "trained"), width=4),
        _model(_FIXED, ("trained",), width=4),
    ),
    groups=(
        Group(
            "trained stages",
            _trained,
            3,
            "Activations go forward and gradients back, each boundary once; every parameter gets its gradient.",
            _trained_of_each,
        ),
        Group("one rank", _alone, 1, "One rank holds the whole model, and has inputs and targets."),
        Group(
            "nothing to train",
            _some_trained,
            3,
            "A stage may have no parameters, or frozen ones, even the first: gradients pass all the same.",
            _nothing_to_train,
        ),
        Group(
            "gradients of before",
            _before,
            2,
            "Gradients are added to those that a parameter has already: nobody asked for a `zero_grad()`.",
            _before_of_each,
        ),
        Group("bad input", _no_targets, 1, "Bad input must raise ValueError: the last rank has no targets."),
    ),
    slips=(
        Slip(
            "The received activation asks for no gradient, so there is none to send back: `requires_grad_()`.",
            slip_not_a_leaf,
        ),
        Slip("The stage was run without autograd: the gradient that comes back has nowhere to go.", slip_detached),
        Slip("A number was sent instead of the activation: only the last rank has a loss.", slip_sends_a_loss),
        Slip(
            "The gradient of the output went back: the stage before needs that of the activation it sent.",
            slip_passes_gradients_on,
        ),
        Slip("Every rank used a loss of its own: there is one loss, and its gradient comes back.", slip_own_loss),
        Slip("On a first stage with nothing to train there is nothing to propagate back to.", slip_nothing_to_train),
        Slip("`zero_grad()` threw away the gradients that were there before: they are added to.", slip_zero_grad),
        Slip("The squared errors were added up: the loss is their mean.", slip_sum_of_squares),
    ),
    rule=every(least.heard(_crossings), rules.each_boundary_once),
)

ITEMS = (FORWARD_BACKWARD,)
