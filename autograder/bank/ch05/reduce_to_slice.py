"""Chapter 5: ``reduce_to_slice``, ZeRO stage 2."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from autograder.bank.ch05.rules import Events, Values, exactly
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


def one_reduction(case: Case, _values: Values, events: Events) -> str | None:
    """One reduce-scatter of the whole gradient, padded."""
    ranks = len(case.args)
    if ranks == 1:
        return None
    gradient = case.args[0][0]
    element = len(gradient.data) // math.prod(gradient.shape)
    allowed = {"reduce_scatter": ranks * element * -(-math.prod(gradient.shape) // ranks)}
    return exactly(ranks, 1, allowed, events, "the gradient goes through one reduce-scatter")


def _gradients(rng: Random, ranks: int, shape: tuple[int, ...], kept: int | None = None, **more: Any) -> Case:
    """A gradient of this shape on every rank, and a slice of ``kept`` elements that is there already."""

    def drawn(*size: int) -> Tensor:
        return Tensor.of([rng.uniform(-2, 2) for _ in range(math.prod(size))], "float64", size)

    return Case(tuple((drawn(*shape), *(() if kept is None else (drawn(kept),))) for _ in range(ranks)), **more)


def _first(rng: Random) -> Case:
    ranks = rng.randint(2, 4)
    return _gradients(rng, ranks, (ranks * rng.randint(1, 6), rng.randint(1, 6)))


def _first_of_each(rng: Random) -> list[Case]:
    return [_gradients(rng, ranks, shape) for ranks, shape in ((2, (4, 3)), (3, (6,)))]


def _later(rng: Random) -> Case:
    ranks, length = rng.randint(2, 4), rng.randint(2, 20)
    return _gradients(rng, ranks, (ranks * length,), length)


def _odd(rng: Random) -> Case:
    ranks, length = rng.randint(2, 4), rng.randint(2, 20)
    return _gradients(rng, ranks, (ranks * length - rng.randint(1, ranks - 1),), length)


def _alone(rng: Random) -> Case:
    return _gradients(rng, 1, (rng.randint(2, 4), rng.randint(1, 3)))


def _page(*, kept: bool) -> Case:
    """Two ranks, three elements: slices of two, the last of which is padding."""
    rows = (([1.0, 2.0, 3.0], [10.0, 20.0]), ([3.0, 4.0, 5.0], [30.0, 0.0]))
    return Case(tuple((Tensor.of(g, "float64"), *((Tensor.of(k, "float64"),) if kept else ())) for g, k in rows))


EXERCISE = Build(
    "05 data_parallel.reduce_to_slice",
    section="5.14",
    topic="ZeRO stage 2",
    bonus=True,
    grade="world",
    rule=one_reduction,
    cases=(
        _page(kept=False),
        _page(kept=True),
        _gradients(Random("05-reduce-to-slice"), 3, (2, 3)),
    ),
    groups=(
        Group("first micro-step", _first, 3, "Lay the gradient end to end; each rank keeps its slice.", _first_of_each),
        Group("later micro-steps", _later, 1, "The slice of this micro-step is added to what is kept."),
        Group("padding", _odd, 2, "The number of ranks need not divide that of the elements: pad with zeros."),
        Group("one rank", _alone, 1, "One rank keeps everything, 1-D."),
    ),
    slips=(
        Slip("The gradients were summed: the mean over the ranks is asked for.", edit=("    mine /= ranks\n", "")),
        Slip(
            "Each rank kept its part of its own gradient: the others' rows are missing.",
            edit=(
                "mine = padded.new_empty(length)\n"
                "    dist.reduce_scatter(mine, list(padded.tensor_split(ranks)), group=group)\n"
                "    mine /= ranks",
                "mine = padded.tensor_split(ranks)[dist.get_rank(group)]",
            ),
        ),
        Slip(
            "What was kept of earlier micro-steps is gone: add to it.",
            edit=("return mine if kept is None else kept + mine", "return mine"),
        ),
        Slip("What was kept was divided once more: it is a mean already.", edit=("kept + mine", "kept / ranks + mine")),
        Slip(
            "The whole gradient was all-reduced: each rank needs its slice alone.",
            edit=(
                "mine = padded.new_empty(length)\n"
                "    dist.reduce_scatter(mine, list(padded.tensor_split(ranks)), group=group)",
                "dist.all_reduce(padded, group=group)\n    mine = padded.tensor_split(ranks)[dist.get_rank(group)]",
            ),
        ),
        Slip(
            "The gradient was not padded: the ranks need not divide the number of elements.",
            edit=(
                "torch.nn.functional.pad(gradient.flatten(), (0, ranks * length - gradient.numel()))",
                "gradient.flatten()",
            ),
        ),
    ),
    rights=(
        Right(
            "divided before the sum",
            edits=(
                ("list(padded.tensor_split(ranks))", "list((padded / ranks).tensor_split(ranks))"),
                ("    mine /= ranks\n", ""),
            ),
        ),
        Right(
            "the kept slice is part of the sum",
            edits=(
                ("    mine /= ranks\n", ""),
                (
                    "mine if kept is None else kept + mine",
                    "(mine if kept is None else mine.add_(kept, alpha=ranks)) * (1 / ranks)",
                ),
            ),
        ),
    ),
    promises=(
        Promise("added to what it has kept", edit=("mine if kept is None else kept + mine", "mine")),
        Promise("slice of the mean of all ranks' gradients", edit=("    mine /= ranks\n", "")),
    ),
)
