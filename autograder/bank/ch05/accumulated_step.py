"""Chapter 5: ``accumulated_step``, a step of several micro-batches."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch05.rules import Events, Values
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor

#: Where the loop ends and the step begins.
_CLIP = "    norm = torch.nn.utils.clip_grad_norm_(replica.parameters(), max_norm)\n"
_STEP = "    optimizer.step()\n"
_BY_HAND = (
    "    grads = [p.grad for p in replica.parameters()]\n"
    "    norm = torch.stack([g.square().sum() for g in grads]).sum().sqrt()\n"
    "    for g in grads:\n"
    "        g.mul_(min(1.0, {}))\n"
)
_LAST = "        with nullcontext() if last else replica.no_sync():\n"


def reduced_once(case: Case, _values: Values, events: Events) -> str | None:
    """The gradients go through one all-reduce in a step; a few bytes more may be counted."""
    if len(case.args) == 1:
        return None
    weight, *_, steps = case.args[0][:5]
    for rank in range(len(case.args)):
        mine = [event for event in events if event.rank == rank and event.operation == "all_reduce"]
        large = sum(event.sent >= len(weight.data) for event in mine)
        if large != steps:
            return f"rank {rank} reduced the gradients {large} times in {steps} steps: once in a step is enough"
    return None


def _rows(rng: Random, ranks: int, pieces: int, rows: int, steps: int = 1, scale: float = 2.0, **options: Any) -> Case:
    """A weight of 2 by 3, the same on every rank, and rows of each rank's own."""

    def drawn(*shape: int) -> Tensor:
        size = shape[0] * shape[1]
        return Tensor.of([round(rng.uniform(-scale, scale), 2) for _ in range(size)], "float64", shape)

    weight, count = drawn(2, 3), pieces * rows
    return Case(tuple((weight, drawn(count, 3), drawn(count, 2), pieces, steps) for _ in range(ranks)), options)


def _several(rng: Random) -> Case:
    return _rows(rng, 2, rng.randint(2, 4), rng.randint(1, 2), steps=2, max_norm=rng.choice((0.5, 1.0)))


def _unclipped(rng: Random) -> Case:
    return _rows(rng, rng.randint(2, 3), rng.randint(2, 3), 2, steps=2, max_norm=1e6)


def _one_piece(rng: Random) -> Case:
    return _rows(rng, 2, 1, rng.randint(1, 3))


def _alone(rng: Random) -> Case:
    return _rows(rng, 1, rng.randint(2, 4), 1, steps=2)


EXERCISE = Build(
    "05 training.accumulated_step",
    section="5.19",
    topic="accumulation",
    bonus=True,
    grade="world",
    probe="ch05.accumulated",
    tolerance=1e-5,  # clip_grad_norm_ adds 1e-6 to the norm that it divides by
    rule=reduced_once,
    cases=(
        _rows(Random("05-accumulated-step"), 2, 2, 1),
        _rows(Random("05-accumulated-step"), 2, 2, 1, max_norm=1e6),
    ),
    groups=(
        Group("several steps", _several, 3, "Reduce with the last micro-batch, then clip, step and clear."),
        Group("no clipping", _unclipped, 1, "A gradient shorter than max_norm is left as it is."),
        Group("one micro-batch", _one_piece, 1, "A single micro-batch is the last one."),
        Group("one rank", _alone, 1, "One rank accumulates too."),
    ),
    slips=(
        Slip(
            "Each micro-batch's gradients were reduced: that belongs to the last.",
            edit=(_LAST, "        with nullcontext():\n"),
        ),
        Slip(
            "No gradient was reduced: the last micro-batch runs outside no_sync.",
            edit=(_LAST, "        with replica.no_sync():\n"),
        ),
        Slip(
            "The losses were added up: divide each by the number of micro-batches.",
            edit=(
                "(loss(replica(inputs), targets) / len(micro_batches)).backward()",
                "loss(replica(inputs), targets).backward()",
            ),
        ),
        Slip(
            "Clipping came with each micro-batch: only the sum of all has the norm that is asked for.",
            edits=(
                (_CLIP, ""),
                (
                    "/ len(micro_batches)).backward()\n",
                    "/ len(micro_batches)).backward()\n"
                    "            norm = torch.nn.utils.clip_grad_norm_(replica.parameters(), max_norm)\n",
                ),
            ),
        ),
        Slip("The gradients were clipped after the step, too late.", edits=((_CLIP, ""), (_STEP, _STEP + _CLIP))),
        Slip("The gradients were not cleared: the next step adds to them.", edit=("    optimizer.zero_grad()\n", "")),
        Slip(
            "The optimizer stepped after each micro-batch.",
            edits=(
                (_STEP, ""),
                (
                    "/ len(micro_batches)).backward()\n",
                    "/ len(micro_batches)).backward()\n            optimizer.step()\n",
                ),
            ),
        ),
    ),
    rights=(
        Right(
            "cleared first",
            edits=(
                ("    optimizer.zero_grad()\n", ""),
                ("    for number, (inputs", "    optimizer.zero_grad()\n    for number, (inputs"),
            ),
        ),
        *(
            Right(f"clipped by hand, {how}", edit=(_CLIP, _BY_HAND.format(factor)))
            for how, factor in (
                ("as torch does", "max_norm / (norm.item() + 1e-6)"),
                ("to the norm itself", "max_norm / norm.item()"),
            )
        ),
    ),
    promises=(
        Promise("The gradients are reduced once", edit=(_LAST, "        with nullcontext():\n")),
        Promise(
            "and the gradients are cleared for the next step",
            edit=("    optimizer.zero_grad()\n", ""),
        ),
        Promise(
            "The gradient's norm before it was clipped.",
            edit=("return norm.item()", "return min(norm.item(), max_norm)"),
        ),
    ),
)
