"""Chapter 07: a pipeline step on real ranks, and the list of all items that run on ranks or on tensors."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch07 import expert_ranks, loops, mixtures, rules
from autograder.bank.ch07.draws import linear, numbers, one_of_each
from autograder.bank.ch07.times import gpipe, one_by_one
from autograder.items import Build, Case, Slip, Stage


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

PIPELINE_STEP = Build(
    id="07-pipeline-step",
    module="pipeline_run",
    function="pipeline_step",
    grade="world",
    probe="ch07.pipelined",
    section="7.5",
    topic="pipelines on real ranks",
    tolerance=1e-5,
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
            "`send` waits until the message is taken: two ranks that send to each other never go on. Use `isend`.",
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
            "The received activation asks for no gradient: x.grad is None and the chain is cut. `requires_grad_()`.",
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
            "The stage was run without autograd: there is no graph, so nothing to go back through.",
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
    rule=rules.one_message_each_way,
)

ITEMS = (PIPELINE_STEP, *loops.ITEMS, *mixtures.ITEMS, *expert_ranks.ITEMS)
