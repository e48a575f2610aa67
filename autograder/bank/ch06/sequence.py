"""Chapter 6: parts of a sequence joined and split again, on real ranks."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from autograder.bank.ch06 import rules
from autograder.bank.ch06.linear import tensor, vector
from autograder.bank.ch06.wrong_sequence import GATHERS, SCATTERS
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Rule

#: Makes a case for so many ranks, a shape and a dimension.
Make = Callable[[Random, int, tuple[int, ...], int], Case]


def _longer(shape: tuple[int, ...], dim: int, ranks: int) -> tuple[int, ...]:
    return tuple(size * ranks if place == dim % len(shape) else size for place, size in enumerate(shape))


def _gather(rng: Random, ranks: int, shape: tuple[int, ...], dim: int) -> Case:
    whole = _longer(shape, dim, ranks)
    return Case(tuple((tensor(rng, *shape), dim, tensor(rng, *whole)) for _ in range(ranks)))


def _scatter(rng: Random, ranks: int, shape: tuple[int, ...], dim: int) -> Case:
    whole = _longer(shape, dim, ranks)
    return Case(tuple((tensor(rng, *whole), dim, tensor(rng, *shape)) for _ in range(ranks)))


def _groups(make: Make, hint: str) -> tuple[Group, Group, Group]:
    """What joining and splitting are both tried with; ``hint`` is said of ordinary cases."""

    def each(rng: Random) -> list[Case]:
        """Two to four ranks, along the second dimension, whose size all of them divide."""
        return [make(rng, ranks, (12, rng.randint(1, 3), 2), 1) for ranks in (2, 3, 4)]

    def dims(rng: Random) -> list[Case]:
        return [make(rng, 2, (3,), 0), make(rng, 3, (2, 3), -1), make(rng, 2, (2, 2, 1), -2), make(rng, 1, (2, 3), 1)]

    def pairs(rng: Random) -> Case:
        """Four ranks in two groups, each with a sequence of its own."""
        shape = (4, rng.randint(1, 3))
        return Case((*make(rng, 2, shape, 0).args, *make(rng, 2, shape, 0).args), {"pairs": True})

    any_dimension = "There may be one rank, and any dimension, counted from the front or the back."
    return (
        listed("two to four ranks", each, hint, 3),
        listed("dimensions", dims, any_dimension, 4),
        Group("groups", pairs, 1, "Only the ranks of the group hold parts."),
    )


def _even(rng: Random) -> list[Case]:
    return [_scatter(rng, 2, (2, 2), 1), _scatter(rng, 3, (3, 2), -1)]


def _calls(place: int, whole: int) -> Rule:
    """One all-gather of a part and one reduce-scatter of the whole."""

    def allowed(case: Case) -> list[tuple[str, int]]:
        args = case.args[0]
        return [("all_gather", rules.bytes_of(args[place])), ("reduce_scatter", rules.bytes_of(args[whole]))]

    why = "one all-gather of a part and one reduce-scatter of the whole are enough"
    return rules.calls_at_most(allowed, why, lambda case: sum(size for _, size in allowed(case)))


GATHER = Build(
    id="06-gather-sequence",
    module="sharded_layers",
    function="gather_sequence",
    grade="world",
    probe="ch06.differentiated",
    section="6.17",
    topic="sequence parallelism",
    bonus=True,
    cases=(
        Case(((vector(1), 0, vector(1, 10)), (vector(2), 0, vector(100, 1000)))),
        _gather(Random("gather"), 3, (2, 1), 1),
        _gather(Random("gather 1"), 1, (2, 2), 0),
    ),
    groups=_groups(_gather, "What every rank computes from a part contributes to its gradient."),
    slips=GATHERS,
    rule=_calls(0, 2),
)

_SCATTERED = _groups(_scatter, "Each rank keeps a part of the sum; its gradient goes to all of them.")

SCATTER = Build(
    id="06-scatter-sequence",
    module="sharded_layers",
    function="scatter_sequence",
    grade="world",
    probe="ch06.differentiated",
    section="6.17",
    topic="sequence parallelism",
    bonus=True,
    cases=(
        Case(((vector(1, 2), 0, vector(5)), (vector(10, 20), 0, vector(7)))),
        _scatter(Random("scatter"), 3, (2, 1), 1),
        _scatter(Random("scatter 1"), 1, (2, 2), 0),
    ),
    groups=(
        *_SCATTERED[:2],
        listed("columns", _even, "The parts are cut along `dim`, which is not always the first dimension."),
        _SCATTERED[2],
    ),
    slips=SCATTERS,
    rule=_calls(2, 0),
)

ITEMS = (GATHER, SCATTER)
