"""Chapter 09: attention over a cache, whole or in blocks, and a mask to correct."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch09.wrong_cached_attention import CACHED, MASK, PAGED, wrong_mask
from autograder.items import Build, Case, Debug, Group, Tensor


def _drawn(rng: Random, *shape: int) -> Tensor:
    return Tensor.of([rng.uniform(-2, 2) for _ in range(math.prod(shape))], "float64", shape)


def _after(rng: Random, past: int, new: int, heads: int = 2, width: int = 5) -> Case:
    shapes = ((heads, new, width),) * 3 + ((heads, past, width),) * 2
    return Case(tuple(_drawn(rng, *shape) for shape in shapes))


def _chunk(rng: Random) -> Case:
    return _after(rng, rng.randint(2, 12), rng.randint(2, 6), rng.randint(1, 4), rng.choice((3, 5, 6)))


CACHED_ATTENTION = Build(
    id="09-cached-attention",
    module="cached_attention",
    function="cached_attention",
    grade="tensor",
    section="9.2",
    topic="attention over a cache",
    cases=(
        _after(Random("after 2"), 2, 2, 1, 3),
        _after(Random("after 0"), 0, 3, 1, 2),
        _after(Random("one"), 4, 1, 2, 3),
    ),
    groups=(
        Group("chunks after a cache", _chunk, 5, "New token i sees the P cached ones and the new ones up to itself."),
        Group(
            "nothing cached", lambda rng: _after(rng, 0, rng.randint(2, 6)), 2, "P may be 0: plain causal attention."
        ),
        Group("one new token", lambda rng: _after(rng, rng.randint(2, 12), 1), 2, "T may be 1: it sees everything."),
    ),
    slips=CACHED,
)


def _last(rng: Random, new: int, total: int, heads: int = 2, width: int = 5) -> Case:
    return Case((_drawn(rng, heads, new, width), *(_drawn(rng, heads, total, width) for _ in "kv")))


def _last_chunk(rng: Random) -> Case:
    new = rng.randint(2, 7)
    return _last(rng, new, new + rng.randint(2, 13), rng.randint(1, 3))


DEBUG_MASK = Debug(
    id="09-debug-mask",
    module="cached_attention",
    function="debug_mask",
    grade="tensor",
    section="9.2",
    topic="attention over a cache",
    cases=(_last(Random("seven"), 7, 20, 1, 2), _last(Random("whole"), 3, 3, 1, 2)),
    groups=(
        Group("chunks after others", _last_chunk, 5, "Query i is at position S - T + i and sees the keys up to there."),
        Group("the whole prompt", lambda rng: _last(rng, size := rng.randint(2, 8), size), 2, "T may be S."),
    ),
    slips=MASK,
    wrong=wrong_mask,
)


def _paged(rng: Random, heads: int, kv_heads: int, length: int, block: int, rest: float, width: int = 4) -> Case:
    """A sequence in blocks out of order; every place that it does not use holds ``rest``."""
    count = -(-length // block)
    blocks = count + rng.randint(1, 3)
    table = rng.sample(range(blocks), count)
    while count > 1 and table == sorted(table):
        rng.shuffle(table)
    used = {(table[i // block], i % block) for i in range(length)}
    pools = []
    for _ in "kv":
        flat: list[float] = []
        for place in ((b, i) for b in range(blocks) for i in range(block)):
            free = [rest] * kv_heads * width
            flat += [rng.uniform(-2, 2) for _ in free] if place in used else free
        pools.append(Tensor.of(flat, "float64", (blocks, block, kv_heads, width)))
    return Case((_drawn(rng, heads, width), *pools, table, length))


def _any_pool(rng: Random) -> Case:
    kv_heads, block = rng.choice((1, 2, 4)), rng.choice((2, 3, 4, 8))
    length = block * rng.randint(1, 4) + rng.randint(1, block - 1)
    return _paged(rng, kv_heads * rng.choice((1, 2)), kv_heads, length, block, rng.choice((0.0, 3.0, -5.0)))


def _pools(rng: Random) -> list[Case]:
    """Shared heads, blocks out of order, a last block with places left, and numbers in them."""
    return [
        _paged(rng, 4, 2, 11, 4, 3.0),
        _paged(rng, 8, 4, 13, 8, -5.0),
        _paged(rng, 4, 2, rng.randint(25, 27), 8, 1.5),
    ]


def _with_nan(rng: Random) -> Case:
    kv_heads, block = rng.choice((1, 2)), rng.choice((3, 4, 8))
    length = block * rng.randint(1, 3) + rng.randint(1, block - 1)
    return _paged(rng, 2 * kv_heads, kv_heads, length, block, math.nan)


def _edges(rng: Random) -> list[Case]:
    return [
        _paged(rng, 2, 1, 1, 16, math.nan),
        _paged(rng, 2, 2, 12, 4, math.nan),
        _paged(rng, 4, 2, 9, 1, math.nan),
        _paged(rng, 3, 3, rng.randint(60, 70), 16, 2.0, 2),
    ]


PAGED_ATTENTION = Build(
    id="09-paged-attention",
    module="cached_attention",
    function="paged_attention",
    grade="tensor",
    section="9.6",
    topic="paging",
    cases=(
        _paged(Random("plain"), 2, 2, 5, 2, 0.0, 2),
        _paged(Random("shared"), 4, 2, 7, 4, 9.0, 2),
        _paged(Random("nan"), 2, 1, 3, 2, math.nan, 2),
    ),
    groups=(
        Group("pools", _any_pool, 6, "Token i lies in block table[i // block_size]; only length tokens count.", _pools),
        Group("NaN in unused places", _with_nan, 3, "Nothing that is not of the sequence may reach the output."),
        Group(
            "ends",
            lambda rng: rng.choice(_edges(rng)),
            4,
            "One token, full blocks, blocks of one token, heads that share nothing.",
            _edges,
        ),
    ),
    slips=PAGED,
)

ITEMS = (CACHED_ATTENTION, DEBUG_MASK, PAGED_ATTENTION)
