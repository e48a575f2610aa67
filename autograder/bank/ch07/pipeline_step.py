"""Chapter 7: ``pipeline_step``, pipelines on real ranks."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.ch07.draws import linear, numbers, one_of_each
from autograder.bank.ch07.rules import between, messages
from autograder.bank.ch07.shared import gpipe, one_by_one
from autograder.items import Build, Case, Promise, Right, Slip, Stage
from rankzero.events import Event


def one_message_each_way(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every boundary is crossed twice for each micro-batch, by messages alone, in the order of each rank's list."""
    return messages(case, events, sum("F" in op for op in case.args[0][1])) or _ahead(case, events)


def _ahead(case: Case, events: Sequence[Event]) -> str | None:
    """Before it has a gradient, a rank has sent no more activations than forward passes come before in its list.

    Whatever it says about its graphs, a rank whose messages run ahead of its list is seen.
    """
    for rank, (_, order, *_) in enumerate(case.args[:-1]):
        came = sorted(event.end for event in events if between(event, rank, "recv"))
        sent = [event.start for event in events if between(event, rank, "send")]
        due = [sum("F" in op for op in order[:index]) for index, op in enumerate(order) if "B" in op]
        for number, (when, most) in enumerate(zip(came, due, strict=False), start=1):
            before = sum(start < when for start in sent)
            if before > most:
                had = f"rank {rank} had sent {before} activations when gradient {number} came"
                return f"{had}: in its list there are {most}"
    return None


def orders(name: str, ranks: int, microbatches: int) -> list[list[str]]:
    """What every rank of a pipeline does: ``gpipe`` or ``1f1b``."""
    return (gpipe if name == "gpipe" else one_by_one)(ranks, microbatches)


def _pipeline(
    rng: Random,
    name: str,
    ranks: int,
    microbatches: int,
    frozen: int = -1,
    bare: int = -1,
    start: float = 0.0,
    dtype: str = "",
) -> Case:
    """A case of ``pipeline_step``; the stage ``frozen`` asks for no gradients, ``bare`` has no parameters.

    ``start`` is in the gradients of the others. Without ``dtype`` the call leaves it out, and the tensors are float64.
    """
    width, batch, kind = rng.randint(4, 12), rng.randint(1, 4), dtype or "float64"
    inputs, targets = ([numbers(rng, batch, width, dtype=kind) for _ in range(microbatches)] for _ in range(2))
    kwargs = ({"start": start} if start else {}) | ({"dtype": dtype} if dtype else {})
    args: list[tuple[Any, ...]] = [
        (
            Stage((("Tanh",),)) if rank == bare else linear(rng, width, rank != frozen, kind),
            order,
            inputs if rank == 0 else None,
            targets if rank == ranks - 1 else None,
            "mse_loss",
            (batch, width),
        )
        for rank, order in enumerate(orders(name, ranks, microbatches))
    ]
    return Case(tuple(args), kwargs)


def _renumbered(rng: Random, ranks: int, microbatches: int) -> Case:
    """All forwards, then all backwards, each in an order of its own, the same on all ranks; in float32."""
    forwards, backwards = (rng.sample(range(microbatches), microbatches) for _ in range(2))
    while forwards in (sorted(forwards), backwards):
        rng.shuffle(forwards)
    case = _pipeline(rng, "gpipe", ranks, microbatches, dtype="float32")
    lists = [[f"{rank}F{m}" for m in forwards] + [f"{rank}B{m}" for m in backwards] for rank in range(ranks)]
    return Case(tuple((args[0], order, *args[2:]) for args, order in zip(case.args, lists, strict=True)), case.kwargs)


def _piped_of_each(rng: Random) -> list[Case]:
    """Both schedules, more micro-batches than ranks; gradients that are there already, float32, another numbering."""
    return [
        _pipeline(rng, "1f1b", 4, rng.randint(5, 6)),
        _pipeline(rng, "1f1b", 3, rng.randint(4, 6), start=1.0),
        _renumbered(rng, 3, rng.randint(4, 5)),
    ]


def _few_of_each(rng: Random) -> list[Case]:
    return [_pipeline(rng, "1f1b", 4, 2), _pipeline(rng, "1f1b", 1, 3, start=0.5), _pipeline(rng, "gpipe", 3, 1)]


def _frozen_of_each(rng: Random) -> list[Case]:
    return [
        _pipeline(rng, "1f1b", 2, 3, frozen=0),
        _pipeline(rng, "1f1b", 4, 4, frozen=1, bare=2),
    ]


_FIXED = Random("07-pipeline-step")


def pipelined(_case: Case, answer: dict[str, Any]) -> dict[str, Any]:
    """The answer with the most graphs alive at once in place of their number after every forward pass."""
    return {**{name: value for name, value in answer.items() if name != "alive"}, "peak": max(answer["alive"])}


def step_with_hooks(module, order, inputs, targets, loss_fn, hidden_shape, dtype=None):
    """Receives ahead; losses are summed and divided at the end, gradients by autograd.grad."""
    import torch
    import torch.distributed as dist

    rank, ranks, dtype = dist.get_rank(), dist.get_world_size(), dtype or torch.float64
    count = sum("F" in op for op in order)
    parameters = [one for one in module.parameters() if one.requires_grad]
    kept, sent, losses = {}, [], []
    for op in order:
        m = int(op[len(str(rank)) + 1 :])
        if "F" in op:
            x = inputs[m] if rank == 0 else torch.zeros(hidden_shape, dtype=dtype)
            if rank:
                dist.recv(x, rank - 1)
                x = x.requires_grad_()
            y = module(x)
            if rank == ranks - 1:
                y = loss_fn(y, targets[m])
                losses.append(y.detach())
            else:
                sent.append(dist.isend(y.detach().clone(), rank + 1))
            kept[m] = x, y
        else:
            x, y = kept.pop(m)
            upstream = torch.full_like(y, 1 / count)
            if rank < ranks - 1:
                dist.recv(upstream, rank + 1)
            wanted = ([x] if rank else []) + parameters
            found = list(torch.autograd.grad(y, wanted, upstream)) if wanted else []
            if rank:
                sent.append(dist.isend(found.pop(0), rank - 1))
            for parameter, gradient in zip(parameters, found, strict=True):
                parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
    for message in sent:
        message.wait()
    return torch.stack(losses).sum() / count if rank == ranks - 1 else torch.zeros((), dtype=dtype)


EXERCISE = Build(
    "07 pipeline_run.pipeline_step",
    section="7.5",
    topic="pipelines on real ranks",
    grade="world",
    probe="ch07.pipelined",
    tolerance=1e-5,
    rule=one_message_each_way,
    concludes=pipelined,
    cases=(
        _pipeline(_FIXED, "1f1b", 2, 4),
        _pipeline(_FIXED, "1f1b", 3, 6),
        _pipeline(_FIXED, "gpipe", 2, 3),
        _pipeline(_FIXED, "1f1b", 1, 2),
    ),
    groups=(
        one_of_each(
            "both schedules",
            _piped_of_each,
            "Follow the order and the numbers of the list: one graph for each micro-batch in flight, the gradients of "
            "all added up, a loss without its graph.",
        ),
        one_of_each(
            "few micro-batches or one rank",
            _few_of_each,
            "There may be fewer micro-batches than ranks, one micro-batch, or one rank alone.",
        ),
        one_of_each(
            "a frozen stage",
            _frozen_of_each,
            "A stage may be frozen, even the first, or have no parameters; gradients pass through all the same.",
        ),
    ),
    slips=(
        Slip(
            "On Gloo, `send` waits for the receiver: two ranks that send to each other never go on. Use `isend`.",
            edits=(
                (
                    "sending.append(dist.isend(y.detach().contiguous(), rank + 1))",
                    "dist.send(y.detach().contiguous(), rank + 1)",
                ),
                (
                    "sending.append(dist.isend(x.grad.contiguous(), rank - 1))",
                    "dist.send(x.grad.contiguous(), rank - 1)",
                ),
            ),
        ),
        Slip(
            "The received activation asks for no gradient, so x.grad is None. Call `requires_grad_()` on it.",
            edits=(("x.requires_grad_() if rank > 0 else x", "x"), ("x.grad.contiguous()", "x.grad")),
        ),
        Slip(
            "The loss was not divided by the number of micro-batches: gradients are m times too large.",
            edits=(
                ("loss_fn(y, targets[number]) / microbatches", "loss_fn(y, targets[number])"),
                ("    return total\n", "    return total / microbatches\n"),
            ),
        ),
        Slip(
            "The stage was run without autograd, so there is no graph for the backward pass.",
            edits=(
                ("            y = module(", "            with torch.no_grad():\n                y = module("),
                (
                    "            if y.requires_grad:  # not on a first rank whose stage has nothing to train\n"
                    "                y.backward",
                    "            y.backward",
                ),
            ),
        ),
        Slip(
            "Gradients were set to zero for every micro-batch: only the last one survives.",
            edit=("held.pop(number)", "held.pop(number)\n            module.zero_grad()"),
        ),
        Slip(
            "Gradients met the wrong micro-batch: take the one that the operation names, not the latest.",
            edit=("held.pop(number)", "held.popitem()[1]"),
        ),
        Slip(
            "All forward passes came first, whatever the list says: every micro-batch is then in memory at once.",
            edit=("    held: dict", '    passes.sort(key=lambda one: (one[0] == "B", one[1]))\n    held: dict'),
        ),
    ),
    rights=(
        Right("gradients by autograd.grad, the mean of the losses last", program=step_with_hooks),
        Right(
            "the upstream gradient is a share",
            edits=(
                ("y = loss_fn(y, targets[number]) / microbatches", "y = loss_fn(y, targets[number])"),
                ("total += y.detach()", "total += y.detach() / microbatches"),
                (
                    "if rank < ranks - 1 else None",
                    "if rank < ranks - 1 else torch.full_like(y, 1 / microbatches)",
                ),
            ),
        ),
    ),
    promises=(
        Promise(
            "A rank never waits for its messages to be received before it goes on",
            edits=(
                (
                    "sending.append(dist.isend(y.detach().contiguous(), rank + 1))",
                    "dist.send(y.detach().contiguous(), rank + 1)",
                ),
                (
                    "sending.append(dist.isend(x.grad.contiguous(), rank - 1))",
                    "dist.send(x.grad.contiguous(), rank - 1)",
                ),
            ),
        ),
        Promise(
            "from its forward to its backward pass and no longer: never more graphs than ``peak_in_flight(order)``.",
            edits=(
                ("held.pop(number)", "held[number]"),
                ("y.backward(upstream)", "y.backward(upstream, retain_graph=True)"),
            ),
        ),
        Promise("without a graph", edit=("total += y.detach()", "total = total + y")),
        Promise(
            "zero on the others",
            edit=("    return total\n", "    return total if rank == ranks - 1 else total - 1\n"),
        ),
        Promise(
            "added to what ``.grad`` held before",
            edit=("held.pop(number)", "held.pop(number)\n            module.zero_grad()"),
        ),
        Promise(
            "A stage may have no parameters",
            edit=(
                "total = torch.zeros((), dtype=dtype)",
                "total = torch.zeros((), dtype=dtype, device=next(module.parameters()).device)",
            ),
        ),
        Promise(
            "or frozen ones",
            edit=("if y.requires_grad:", "if rank > 0 or y.requires_grad or y.backward(upstream):"),
        ),
        Promise("is the forward pass of micro-batch 5 on stage 2", edit=("inputs[number]", "inputs[len(held)]")),
        Promise(
            "of these activations",
            edit=("_received(hidden_shape, dtype, rank - 1)", "_received(hidden_shape, torch.float64, rank - 1)"),
        ),
        Promise(
            "the mean of the micro-batches' losses",
            edits=(
                ("loss_fn(y, targets[number]) / microbatches", "loss_fn(y, targets[number])"),
                ("    return total\n", "    return total / microbatches\n"),
            ),
        ),
    ),
)
