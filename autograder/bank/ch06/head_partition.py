"""Chapter 6: ``head_partition``, heads of attention."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip, invalid


def slip_heads_floored(heads, kv_heads, ranks, rank):
    query, block = heads // ranks, max(1, kv_heads // ranks)
    first = rank * kv_heads // ranks
    return range(rank * query, (rank + 1) * query), range(first, first + block), max(1, ranks // kv_heads)


def _split(rng: Random) -> Case:
    """The ranks divide the key-value heads."""
    ranks, per_rank, group = rng.choice((1, 2, 4, 8, 3)), rng.randint(1, 4), rng.choice((1, 2, 4, 8))
    return Case((ranks * per_rank * group, ranks * per_rank, ranks, rng.randrange(ranks)))


def _replicated(rng: Random) -> Case:
    """The key-value heads divide the ranks; a high rank, so that dealing heads out in turn is wrong."""
    kv_heads, replicas, per_rank = rng.choice((2, 4, 8)), rng.choice((2, 4, 8)), rng.choice((1, 2, 4))
    ranks = kv_heads * replicas
    return Case((ranks * per_rank, kv_heads, ranks, rng.choice((1, ranks - 2, ranks // 2))))


def _one_key(rng: Random) -> Case:
    ranks = rng.choice((2, 4, 8, 64))
    return Case((ranks * rng.randint(1, 4), 1, ranks, rng.randrange(ranks)))


def _bad_heads_of_each(rng: Random) -> list[Case]:
    # Two draws are not used: the cases stay those of earlier exams.
    _, first, _, second, third = (rng.randrange(ranks) for ranks in (3, 8, 4, 4, 6))
    return [
        invalid(12, 4, 8, first),  # 12 query heads on 8 ranks, and nothing else is wrong
        invalid(64, 8, 3, 1),
        invalid(24, 6, 4, second),  # 6 key-value heads on 4 ranks
        invalid(36, 4, 6, third),
    ]


EXERCISE = Build(
    "06 heads.head_partition",
    section="6.14",
    topic="heads of attention",
    bonus=True,
    cases=(
        Case((64, 8, 8, 3)),  # Llama 3 70B at 8 ranks: 8 query heads and 1 key-value head
        Case((64, 8, 16, 3)),
        Case((32, 32, 4, 3)),
        Case((12, 12, 4, 3)),
        Case((8, 1, 4, 3)),
        invalid(12, 12, 8, 3),
        invalid(24, 6, 4, 3),
        invalid(64, 8, 3, 1),
    ),
    groups=(
        Group(
            "whole heads for each rank",
            _split,
            6,
            "Where the ranks divide the key-value heads, each rank has a block of them.",
        ),
        Group(
            "fewer key-value heads than ranks",
            _replicated,
            6,
            "A rank has the key-value head that its query heads read.",
        ),
        Group("one key-value head", _one_key, 3, "Every rank holds the only key-value head."),
        listed(
            "heads that do not fit",
            _bad_heads_of_each,
            "Where the heads cannot be split over the ranks, ValueError must be raised.",
        ),
    ),
    slips=(
        Slip(
            "Key-value heads were dealt out in turn: a rank then lacks the ones that its query heads read.",
            edit=("range(rank // replicas, rank // replicas + 1)", "range(rank % kv_heads, rank % kv_heads + 1)"),
        ),
        Slip("Numbers that do not divide were rounded down, so heads get lost.", slip_heads_floored),
        Slip(
            "With fewer key-value heads than ranks, each is copied to several ranks.",
            edit=("if ranks % kv_heads:", "if kv_heads % ranks:"),
        ),
        Slip(
            "A copied key-value head is held by ranks / kv_heads ranks, not by one.",
            edits=(
                ("ranks // kv_heads", "rank * kv_heads // ranks"),
                (
                    "query, range(rank // replicas, rank // replicas + 1), replicas",
                    "(query, range(replicas, replicas + max(1, kv_heads // ranks)), 1)",
                ),
            ),
        ),
        Slip(
            "Every rank keeps all key-value heads: it needs those that its query heads read.",
            edits=(
                ("range(rank * kv_heads // ranks, (rank + 1) * kv_heads // ranks), 1", "range(kv_heads), ranks"),
                ("range(rank // replicas, rank // replicas + 1), replicas", "range(kv_heads), ranks"),
            ),
        ),
    ),
    promises=(
        Promise(
            "each one is copied to ``ranks / kv_heads`` neighboring ranks",
            edit=("range(rank // replicas, rank // replicas + 1)", "range(rank % kv_heads, rank % kv_heads + 1)"),
        ),
        Promise(
            "so a rank holds exactly what its own query heads read",
            edit=("range(rank // replicas, rank // replicas + 1)", "range(kv_heads)"),
        ),
        Promise(
            "``replicas`` is 1 if only one rank holds a key-value head",
            edit=("(rank + 1) * kv_heads // ranks), 1\n", "(rank + 1) * kv_heads // ranks), ranks\n"),
        ),
    ),
)
