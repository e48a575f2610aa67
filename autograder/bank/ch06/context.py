"""Chapter 6: attention over a sequence split over ranks: merging two partial results, and the ring on real ranks."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received, rules
from autograder.bank.ch06.linear import tensor, vector
from autograder.bank.ch06.wrong_context import MERGES, RINGS
from autograder.bank.groups import listed
from autograder.items import Build, Case, Choice, Group, Tensor
from rankzero.events import Event, Ledger


def _partial(rng: Random, shape: tuple[int, ...], width: int, scale: float = 3.0) -> list[Tensor]:
    """Largest scores up to ``scale``, sums of exponentials from 1 on, weighted values."""
    count = 1
    for size in shape:
        count *= size
    largest = Tensor.of([rng.uniform(-scale, scale) for _ in range(count)], "float64", shape)
    total = Tensor.of([rng.uniform(1, 9) for _ in range(count)], "float64", shape)
    return [largest, total, tensor(rng, *shape, width)]


def _pair(rng: Random, shape: tuple[int, ...], width: int = 3, scale: float = 3.0) -> Case:
    return Case((_partial(rng, shape, width, scale), _partial(rng, shape, width, scale)))


def _ordinary(rng: Random) -> Case:
    return _pair(rng, (rng.randint(1, 3), rng.randint(2, 5)), rng.randint(2, 4))


def _far_apart(rng: Random) -> list[Case]:
    """Maxima so large that exponentials of them overflow, and so far apart that one block does not count."""
    return [_pair(rng, (2, 3), scale=5000.0), _pair(rng, (4,), scale=900.0)]


#: Scores 3 and 2 with values 10 and 40, and scores 5 and 4 with values 8 and 20; powers of e.
MERGED = Case(
    (
        [vector(3.0), vector(1.5), Tensor.of([30.0], "float64", (1, 1))],
        [vector(5.0), vector(1.5), Tensor.of([18.0], "float64", (1, 1))],
    )
)

MERGE = Build(
    id="06-merge-partials",
    module="context_parallel",
    function="merge_partials",
    grade="tensor",
    section="6.11",
    topic="context parallelism",
    bonus=True,
    cases=(MERGED, _pair(Random("merge"), (2, 3)), _pair(Random("merge far"), (3,), 2, 2000.0)),
    groups=(
        Group("two blocks", _ordinary, 5, "Scale what was formed with the smaller maximum down, then add."),
        listed("large scores", _far_apart, "Scores may be thousands: exponentials of them overflow.", 3),
        Group("a query alone", lambda rng: _pair(rng, (1,), 1), 2, "There may be a single query of a single feature."),
    ),
    slips=MERGES,
)


def _ring(rng: Random, ranks: int, heads: int, tokens: int, width: int, scale: float = 1.0) -> Case:
    def drawn() -> Tensor:
        numbers = [scale * rng.uniform(-2, 2) for _ in range(heads * tokens * width)]
        return Tensor.of(numbers, "float64", (heads, tokens, width))

    return Case(tuple((drawn(), drawn(), drawn()) for _ in range(ranks)))


def _rings(rng: Random) -> list[Case]:
    return [_ring(rng, ranks, rng.randint(1, 2), rng.randint(2, 4), rng.randint(2, 3)) for ranks in (2, 3, 4)]


def _few(rng: Random) -> list[Case]:
    return [_ring(rng, 1, 2, 3, 2), _ring(rng, 4, 1, 1, 2)]


def _block_bytes(case: Case) -> int:
    """Bytes of one block of keys and values."""
    _, k, v = case.args[0]
    return len(k.data) + len(v.data)


def _earlier_blocks(case: Case) -> list[int]:
    """What each rank cannot do without: all blocks before its own."""
    return [rank * _block_bytes(case) for rank in range(len(case.args))]


def ring_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Each rank sends every block of keys and values at most once around the ring."""
    ranks = len(case.args)
    ledger, limit = Ledger(events, ranks), (ranks - 1) * _block_bytes(case)
    for rank in range(ranks):
        if ledger.sent(rank) > limit:
            return f"rank {rank} sent {ledger.sent(rank):,} bytes; a block of keys and values per step is {limit:,}"
    return None


RING = Build(
    id="06-ring-attention",
    module="context_parallel",
    function="ring_attention",
    grade="world",
    section="6.11",
    topic="context parallelism",
    bonus=True,
    cases=(
        _ring(Random("ring 2"), 2, 1, 2, 2),
        _ring(Random("ring 4"), 4, 1, 1, 2),
        _ring(Random("ring 1"), 1, 1, 3, 2),
    ),
    groups=(
        listed("two to four ranks", _rings, "After step s, rank r has the block of rank r - s."),
        listed("few tokens", _few, "There may be one rank, or one token on each."),
        listed(
            "large scores",
            lambda rng: [_ring(rng, 3, 1, 2, 3, 30.0)],
            "Scores may be thousands: keep the running maximum.",
        ),
    ),
    slips=RINGS,
    rule=rules.every(rules.only_messages, rules.to_one_neighbour, ring_ledger, least_received.heard(_earlier_blocks)),
)

QUESTIONS = (
    Choice(
        id="06-causal-ring",
        kind="trace",
        title="Who works in a causal ring",
        section="6.11",
        options=(
            "Rank 0 uses one block and the last rank all of them, so everyone waits for the last rank.",
            "Every rank uses half of the blocks, so the work is even and half of a step is idle.",
            "Every rank uses all blocks, because each of them passes through every rank.",
            "The last rank uses one block, because all others belong to earlier tokens.",
        ),
        correct=0,
        derivation="A query sees only the tokens before it. Rank 0 holds the first ones, so of all the blocks that "
        "come by it can use none but its own; the last rank uses every block. All ranks have to take part in every "
        "step of the ring, so a step takes as long as its busiest rank.",
        slips={
            1: "That is the average. A query near the start of the sequence sees almost nothing, one at the end "
            "almost everything.",
            2: "All blocks do pass through, but in causal attention a query ignores the keys of later tokens.",
            3: "It is the other way around: in causal attention a query sees the earlier tokens, not the later ones.",
        },
        bonus=True,
    ),
)

ITEMS = (MERGE, RING)
