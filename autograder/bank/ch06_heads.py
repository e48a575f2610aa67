"""Chapter 6: which rank holds which heads, and the rows of a fused weight: closed forms."""

# The wrong programs carry no types: they are code as learners write it.

from __future__ import annotations

from random import Random

from autograder.items import Build, Case, Debug, Group, Slip, invalid

# --- head_partition


def slip_heads_in_turn(heads, kv_heads, ranks, rank):
    for count in (heads, kv_heads, ranks):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ValueError("count")
    if isinstance(rank, bool) or rank not in range(ranks) or heads % kv_heads or heads % ranks:
        raise ValueError("rank or heads")
    query = range(rank * heads // ranks, (rank + 1) * heads // ranks)
    if kv_heads % ranks == 0:
        return query, range(rank * kv_heads // ranks, (rank + 1) * kv_heads // ranks), 1
    if ranks % kv_heads:
        raise ValueError("kv_heads")
    return query, range(rank % kv_heads, rank % kv_heads + 1), ranks // kv_heads


def slip_heads_floored(heads, kv_heads, ranks, rank):
    for count in (heads, kv_heads, ranks):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ValueError("count")
    if isinstance(rank, bool) or rank not in range(ranks):
        raise ValueError("rank")
    query, block = heads // ranks, max(1, kv_heads // ranks)
    first = rank * kv_heads // ranks
    return range(rank * query, (rank + 1) * query), range(first, first + block), max(1, ranks // kv_heads)


def slip_heads_without_replicas(heads, kv_heads, ranks, rank):
    for count in (heads, kv_heads, ranks):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ValueError("count")
    if isinstance(rank, bool) or rank not in range(ranks) or heads % kv_heads or heads % ranks or kv_heads % ranks:
        raise ValueError("rank or heads")
    query = range(rank * heads // ranks, (rank + 1) * heads // ranks)
    return query, range(rank * kv_heads // ranks, (rank + 1) * kv_heads // ranks), 1


def slip_heads_counted_once(heads, kv_heads, ranks, rank):
    for count in (heads, kv_heads, ranks):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ValueError("count")
    if isinstance(rank, bool) or rank not in range(ranks) or heads % kv_heads or heads % ranks:
        raise ValueError("rank or heads")
    if kv_heads % ranks and ranks % kv_heads:
        raise ValueError("kv_heads")
    first = rank * kv_heads // ranks
    query = range(rank * heads // ranks, (rank + 1) * heads // ranks)
    return query, range(first, first + max(1, kv_heads // ranks)), 1


def slip_heads_all_keys(heads, kv_heads, ranks, rank):
    for count in (heads, kv_heads, ranks):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ValueError("count")
    if isinstance(rank, bool) or rank not in range(ranks) or heads % kv_heads or heads % ranks:
        raise ValueError("rank or heads")
    if kv_heads % ranks and ranks % kv_heads:
        raise ValueError("kv_heads")
    return range(rank * heads // ranks, (rank + 1) * heads // ranks), range(kv_heads), ranks


def slip_heads_unchecked(heads, kv_heads, ranks, rank):
    query = range(rank * heads // max(1, ranks), (rank + 1) * heads // max(1, ranks))
    if kv_heads >= ranks:
        block = kv_heads // max(1, ranks)
        return query, range(rank * block, (rank + 1) * block), 1
    replicas = ranks // max(1, kv_heads)
    return query, range(rank // replicas, rank // replicas + 1), replicas


# --- debug_qkv


def wrong_qkv(hidden, ranks, rank):
    return list(range(rank * 3 * hidden // ranks, (rank + 1) * 3 * hidden // ranks))


def slip_qkv_in_turn(hidden, ranks, rank):
    return [third * hidden + row for third in range(3) for row in range(rank, hidden, ranks)]


def slip_qkv_interleaved(hidden, ranks, rank):
    block = hidden // ranks
    return [third * hidden + rank * block + row for row in range(block) for third in range(3)]


def slip_qkv_queries_only(hidden, ranks, rank):
    block = hidden // ranks
    return list(range(rank * block, (rank + 1) * block)) + list(range(hidden, 3 * hidden))


def _split(rng: Random) -> Case:
    """The ranks divide the key-value heads."""
    ranks, per_rank, group = rng.choice((1, 2, 4, 8, 3)), rng.randint(1, 4), rng.choice((1, 2, 4, 8))
    return Case((ranks * per_rank * group, ranks * per_rank, ranks, rng.randrange(ranks)))


def _replicated(rng: Random) -> Case:
    """The key-value heads divide the ranks; a late rank, so that pairing in turn is wrong."""
    kv_heads, replicas, per_rank = rng.choice((2, 4, 8)), rng.choice((2, 4, 8)), rng.choice((1, 2, 4))
    ranks = kv_heads * replicas
    return Case((ranks * per_rank, kv_heads, ranks, rng.choice((1, ranks - 2, ranks // 2))))


def _one_key(rng: Random) -> Case:
    ranks = rng.choice((2, 4, 8, 64))
    return Case((ranks * rng.randint(1, 4), 1, ranks, rng.randrange(ranks)))


def _bad_heads(rng: Random) -> Case:
    return rng.choice(_bad_heads_of_each(rng))


def _bad_heads_of_each(rng: Random) -> list[Case]:
    ranks = rng.choice((2, 4, 8))
    shapes = [
        invalid(12, 4, 8, rng.randrange(8)),  # 12 query heads on 8 ranks, and nothing else is wrong
        invalid(20, 8, 4, rng.randrange(4)),  # 8 key-value heads for 20 query heads, and nothing else
        invalid(64, 8, 3, 1),
        invalid(24, 6, 4, rng.randrange(4)),  # 6 key-value heads on 4 ranks
        invalid(36, 4, 6, rng.randrange(6)),
    ]
    places = [invalid(64, 8, ranks, rank) for rank in (ranks, -1, 1.5, True)]
    counts = [invalid(0, 8, ranks, 0), invalid(64, 0, ranks, 0), invalid(64, 8, 0, 0), invalid(64, 8.0, ranks, 0)]
    return [*shapes, *places, *counts]


HEAD_PARTITION = Build(
    id="06-head-partition",
    module="heads",
    function="head_partition",
    grade="call",
    section="6.4",
    topic="heads of attention",
    cases=(
        Case((64, 8, 8, 3)),  # Llama 3 70B at 8 ranks: 8 query heads and 1 key-value head
        Case((64, 8, 16, 3)),
        Case((32, 32, 4, 3)),
        Case((12, 12, 4, 3)),
        Case((8, 1, 4, 3)),
        invalid(12, 12, 8, 3),
        invalid(64, 6, 4, 3),
        invalid(64, 8, 3, 1),
    ),
    groups=(
        Group("whole heads for each rank", _split, 6, "Where the ranks divide the key-value heads, each has a block."),
        Group("fewer key-value heads than ranks", _replicated, 6, "A key-value head stands where its query heads are."),
        Group("one key-value head", _one_key, 3, "One key-value head stands on every rank."),
        Group("bad input", _bad_heads, 13, "Bad input must raise ValueError.", _bad_heads_of_each),
    ),
    slips=(
        Slip(
            "Key-value heads were dealt out in turn: a rank then lacks the ones that its query heads read.",
            slip_heads_in_turn,
        ),
        Slip("Numbers that do not divide were rounded down: heads get lost.", slip_heads_floored),
        Slip("With fewer key-value heads than ranks each is copied to several ranks.", slip_heads_without_replicas),
        Slip("A copied key-value head stands on ranks / kv_heads ranks, not on one.", slip_heads_counted_once),
        Slip("Every rank keeps all key-value heads: it needs those that its query heads read.", slip_heads_all_keys),
        Slip("Impossible arguments were accepted.", slip_heads_unchecked),
    ),
)


def _fused(rng: Random) -> Case:
    ranks = rng.choice((2, 3, 4, 8))
    return Case((ranks * rng.randint(2, 6), ranks, rng.randrange(ranks)))


DEBUG_QKV = Debug(
    id="06-debug-qkv",
    module="heads",
    function="debug_qkv",
    grade="call",
    section="6.4",
    topic="heads of attention",
    cases=(Case((4, 2, 0)), Case((4, 2, 1)), Case((6, 3, 1)), Case((5, 1, 0))),
    groups=(
        Group("several ranks", _fused, 8, "Queries, keys and values are three matrices, one under the other."),
        Group("one rank", lambda rng: Case((rng.randint(1, 9), 1, 0)), 2, "One rank keeps all rows."),
    ),
    slips=(
        Slip(
            "The fused weight was cut as one: rank 0 then holds queries only. Cut each of its three blocks.", wrong_qkv
        ),
        Slip("Rows were dealt out in turn: a rank keeps consecutive rows of each block.", slip_qkv_in_turn),
        Slip("The rows of the three blocks were mixed: list them in ascending order.", slip_qkv_interleaved),
        Slip("Only the queries were cut: keys and values are split too.", slip_qkv_queries_only),
    ),
    wrong=wrong_qkv,
)

ITEMS = (HEAD_PARTITION, DEBUG_QKV)
