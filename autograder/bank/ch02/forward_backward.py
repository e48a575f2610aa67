"""Chapter 2: ``forward_backward``, naive model parallelism."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received
from autograder.bank.ch02.rules import calls
from autograder.bank.groups import listed
from autograder.bank.rules import every
from autograder.items import Build, Case, Group, Promise, Right, Slip, Stage, Tensor
from rankzero.events import Event


def each_boundary_once(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every stage sends one message to the next stage and one to the stage before it."""
    ranks = len(case.args)
    for rank in range(ranks):
        receivers = sorted(event.peers[0] for event in calls(events, rank, "send"))
        due = [peer for peer in (rank - 1, rank + 1) if 0 <= peer < ranks]
        if receivers != due:
            told = " and ".join(f"rank {peer}" for peer in receivers) or "nobody"
            return f"rank {rank} sent to {told}; every boundary is crossed by one message each way"
    return None


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


def _before_of_each(rng: Random) -> list[Case]:
    """Every trained parameter has a gradient already."""
    kinds = (("trained", "frozen", "trained"), ("trained",))
    return [dataclasses.replace(_model(rng, each), kwargs={"before": rng.uniform(1, 9)}) for each in kinds]


def _crossings(case: Case) -> list[int]:
    """Bytes that come to each rank: an activation over the boundary before it, a gradient over the one after it."""
    ranks, size = len(case.args), 4 * math.prod(case.args[0][3])
    return [size * ((rank > 0) + (rank < ranks - 1)) for rank in range(ranks)]


#: An edit: the gradients are propagated even on a first rank whose stage has nothing to train.
_ALWAYS_BACKWARD = (
    "    if output.requires_grad:  # False on a first rank whose stage has nothing to train\n"
    "        output.backward(gradient)",
    "    output.backward(gradient)",
)

_FIXED = Random("02-forward-backward")


def step_by_hand(stage, inputs, targets, shape):
    """Gradients by torch.autograd.grad, added to what is there, one by one."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    x = inputs
    if rank:
        x = torch.zeros(shape, requires_grad=True)
        dist.recv(x.detach(), rank - 1)
    output = stage(x)
    if rank < ranks - 1:
        dist.send(output.detach(), rank + 1)
        gradient = torch.empty(shape)
        dist.recv(gradient, rank + 1)
        result = (output * gradient).sum()
    elif targets is None:
        raise ValueError("targets must be a tensor on the last rank")
    else:
        result = ((output - targets) ** 2).mean()
    wanted = [p for p in stage.parameters() if p.requires_grad] + ([x] if rank else [])
    found = torch.autograd.grad(result, wanted) if wanted else ()
    for parameter, gradient in zip(wanted, found, strict=True):
        parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
    if rank:
        dist.send(x.grad, rank - 1)
    return result.item() if rank == ranks - 1 else None


LOSS = "output, gradient = torch.nn.functional.mse_loss(output, wanted), torch.ones(())"


EXERCISE = Build(
    "02 model_split.forward_backward",
    section="2.8",
    topic="naive model parallelism",
    grade="world",
    probe="ch02.stepped",
    tolerance=1e-5,
    rule=every(least_received.heard(_crossings), each_boundary_once),
    cases=(
        _model(_FIXED, ("trained", "trained"), width=4),
        _model(_FIXED, ("trained", "frozen", "trained"), width=4),
        _model(_FIXED, ("trained",), width=4),
    ),
    groups=(
        listed(
            "trained stages",
            _trained_of_each,
            "Activations go forward and gradients back, each boundary once; every parameter gets its gradient.",
        ),
        Group("one rank", _alone, 1, "One rank holds the whole model, and has inputs and targets."),
        listed(
            "nothing to train",
            _nothing_to_train,
            "A stage may have no parameters, or frozen ones, even the first: gradients pass all the same.",
        ),
        listed(
            "gradients of before",
            _before_of_each,
            "Gradients are added to those that a parameter already has: nobody asked for a `zero_grad()`.",
        ),
    ),
    slips=(
        Slip(
            "The received activation asks for no gradient, so there is none to send back: `requires_grad_()`.",
            edits=(("        activation.requires_grad_()\n", ""), ("activation.grad.contiguous()", "activation.grad")),
        ),
        Slip(
            "The stage was run without autograd: the gradient that comes back has nowhere to go.",
            edits=(
                (
                    "    output = stage(activation)",
                    "    with torch.set_grad_enabled(rank == ranks - 1):\n        output = stage(activation)",
                ),
                _ALWAYS_BACKWARD,
            ),
        ),
        Slip(
            "A number was sent instead of the activation: only the last rank has a loss.",
            edit=("output.detach().contiguous()", "output.detach().square().mean()"),
        ),
        Slip(
            "The gradient of the output went back, but the stage before needs the gradient of the activation it sent.",
            edits=(
                (
                    "    output = stage(activation)",
                    "    output = made = stage(activation)\n    if rank > 0:\n        made.retain_grad()",
                ),
                ("activation.grad.contiguous()", "made.grad.contiguous()"),
            ),
        ),
        Slip(
            "Every rank used a loss of its own: there is one loss, and its gradient comes back.",
            edits=(
                (
                    "gradient = torch.empty(shape)\n        dist.recv(gradient, rank + 1)",
                    "output, gradient = output.square().mean(), torch.ones(())",
                ),
                ("    if rank > 0:\n        dist.send(activation.grad.contiguous(), rank - 1)\n", ""),
            ),
        ),
        Slip("A first stage with nothing to train has nothing to run backward through.", edit=_ALWAYS_BACKWARD),
        Slip(
            "`zero_grad()` threw away the gradients that were there before: the new ones are added to them.",
            edit=("    activation: Any = inputs", "    stage.zero_grad()\n    activation: Any = inputs"),
        ),
        Slip(
            "The squared errors were added up: the loss is their mean.",
            edit=("output, wanted)", 'output, wanted, reduction="sum")'),
        ),
    ),
    rights=(
        Right("gradients by torch.autograd.grad", program=step_by_hand),
        Right(
            "the mean of squares, and the gradient times the output",
            edits=(
                (LOSS, "output, gradient = (output - wanted).square().mean(), torch.ones(())"),
                ("        output.backward(gradient)", "        (output * gradient).sum().backward()"),
            ),
        ),
    ),
    promises=(
        Promise(
            "the activation that a rank receives is a new leaf, whose gradient it sends",
            edit=("activation.grad.contiguous()", "gradient.expand(shape).contiguous()"),
        ),
        Promise(
            "Each boundary is crossed by one message each way.",
            edits=(
                (
                    "        dist.send(output.detach().contiguous(), rank + 1)",
                    "        for part in output.detach().contiguous().flatten().split(4):\n"
                    "            dist.send(part, rank + 1)",
                ),
                (
                    "        dist.recv(activation, rank - 1)",
                    "        for part in activation.flatten().split(4):\n            dist.recv(part, rank - 1)",
                ),
            ),
        ),
        Promise(
            "added to what ``.grad`` held before",
            edit=("    activation: Any = inputs", "    stage.zero_grad()\n    activation: Any = inputs"),
        ),
        Promise(
            "A stage may have no parameters, or frozen ones.", edit=("    if output.requires_grad:", "    if True:")
        ),
        Promise("None on the others", edit=("if rank == ranks - 1 else None", "if rank == ranks - 1 else 0.0")),
        Promise(
            "of the shape of its output, on the last rank; elsewhere not used",
            why="the other ranks are handed no targets, so that nothing could be done with them",
        ),
    ),
)
