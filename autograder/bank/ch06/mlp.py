"""Chapter 6: an MLP split over ranks."""

from __future__ import annotations

from random import Random

from autograder.bank.ch06 import rules
from autograder.bank.ch06.linear import tensor
from autograder.bank.ch06.wrong_layers import MLPS
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Tensor


def _mlp(rng: Random, ranks: int, hidden: int, ffn: int, batch: tuple[int, ...]) -> Case:
    shapes = ((*batch, hidden), (ffn, hidden), (ffn,), (hidden, ffn), (hidden,), (*batch, hidden))
    return Case((tuple(tensor(rng, *shape) for shape in shapes),) * ranks)


def _ordinary(rng: Random) -> Case:
    ranks = rng.randint(2, 4)
    return _mlp(rng, ranks, rng.randint(2, 6), ranks * rng.randint(2, 5), (rng.randint(1, 4),))


def _ordinary_of_each(rng: Random) -> list[Case]:
    return [_mlp(rng, ranks, rng.randint(2, 6), 12, (rng.randint(1, 4),)) for ranks in (2, 3, 4)]


def _other_batches(rng: Random) -> list[Case]:
    return [_mlp(rng, 2, 4, 6, ()), _mlp(rng, 3, 3, 6, (2, 2)), _mlp(rng, 1, 5, 3, (2,)), _zero(rng, 4, 3, 8)]


def _zero(rng: Random, ranks: int, hidden: int, ffn: int) -> Case:
    """A zero input leaves what the biases make."""
    (_, *rest) = _mlp(rng, ranks, hidden, ffn, (2,)).args[0]
    return Case(((Tensor.of([0.0] * 2 * hidden, "float64", (2, hidden)), *rest),) * ranks)


PARALLEL_MLP = Build(
    id="06-parallel-mlp",
    module="tensor_parallel",
    function="parallel_mlp",
    grade="world",
    probe="ch06.mlp",
    section="6.3",
    topic="column, then row",
    cases=(
        _mlp(Random("mlp 2"), 2, 2, 4, (1,)),
        _mlp(Random("mlp 4"), 4, 2, 4, ()),
        _zero(Random("mlp 0"), 2, 2, 2),
        _mlp(Random("mlp 1"), 1, 2, 3, (1,)),
    ),
    groups=(
        Group(
            "two to four ranks",
            _ordinary,
            3,
            "The first layer puts out just the slice that the second one takes in.",
            _ordinary_of_each,
        ),
        listed(
            "batches",
            _other_batches,
            "There may be one rank, no batch or two dimensions of it, or nothing but zeros.",
        ),
    ),
    slips=MLPS,
    rule=rules.calls_at_most(
        lambda case: [("all_reduce", rules.bytes_of(case.args[0][0]))] * 2,
        "one all-reduce forward and one backward are enough, each as large as x",
        least=lambda case: 2 * rules.bytes_of(case.args[0][0]),
    ),
)

ITEMS = (PARALLEL_MLP,)
