"""Chapter 9: ``paged_attention``, paging."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch09.shared import drawn
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor


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
    return Case((drawn(rng, heads, width), *pools, table, length))


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


def pool_walked_through(query, key_pool, value_pool, table, length):
    """Token by token with a running maximum, as a kernel does it."""
    import torch

    heads, width = query.shape
    size, shared = key_pool.shape[1], heads // key_pool.shape[2]
    top = torch.full((heads, 1), -math.inf, dtype=query.dtype)
    mass, total = torch.zeros_like(top), torch.zeros_like(query)
    for index in range(length):
        key, value = (
            pool[table[index // size], index % size].repeat_interleave(shared, 0) for pool in (key_pool, value_pool)
        )
        score = (query * key).sum(-1, keepdim=True) * width**-0.5
        new = torch.maximum(top, score)
        mass = mass * (top - new).exp() + (score - new).exp()
        total = total * (top - new).exp() + (score - new).exp() * value
        top = new
    return total / mass


def pool_in_groups(query, key_pool, value_pool, table, length):
    """Query heads in groups, one for each key-value head."""
    import torch

    keys, values = (torch.cat([pool[block] for block in table])[:length] for pool in (key_pool, value_pool))
    grouped = query.reshape(keys.shape[1], -1, query.shape[1]) / math.sqrt(query.shape[1])
    weights = torch.einsum("ngd,tnd->ngt", grouped, keys).softmax(-1)
    return torch.einsum("ngt,tnd->ngd", weights, values).reshape(query.shape)


EXERCISE = Build(
    "09 cached_attention.paged_attention",
    section="9.7",
    topic="paging",
    grade="tensor",
    cases=(
        _paged(Random("plain"), 2, 2, 5, 2, 0.0, 2),
        _paged(Random("shared"), 4, 2, 7, 4, 9.0, 2),
        _paged(Random("nan"), 2, 1, 3, 2, math.nan, 2),
    ),
    groups=(
        Group("pools", _any_pool, 6, "Token i lies in block table[i // block_size]; only length tokens count.", _pools),
        Group("NaN in unused places", _with_nan, 3, "Nothing that is not of the sequence may reach the output."),
        listed("ends", _edges, "One token, full blocks, blocks of one token, heads that share nothing."),
    ),
    slips=(
        Slip("The places after the last token were read: only length tokens are there.", edit=("[:length]", "")),
        Slip(
            "The table says in which order the blocks follow: not as they lie in the pool.",
            edit=("pool[list(table)]", "pool[sorted(table)]"),
        ),
        Slip(
            "Neighbouring query heads share a key-value head: h // (heads // kv_heads).",
            edit=("held.repeat_interleave(shared, dim=1)", "held.repeat(1, shared, 1)"),
        ),
        Slip(
            "A weight of 0 times NaN is NaN: leave the places after the last token out.",
            edits=(
                ("[:length]", ""),
                ("    return (scores", "    scores[:, length:] = -torch.inf\n    return (scores"),
            ),
        ),
        Slip("Scores are divided by the square root of d.", edit=(" / math.sqrt(width)", "")),
    ),
    rights=(
        Right("token by token, with a running maximum", program=pool_walked_through),
        Right("query heads in groups", program=pool_in_groups),
    ),
    promises=(
        Promise(
            "Attention of one new token to a sequence whose keys and values lie in blocks of a pool.",
            edit=("pool[list(table)]", "pool[sorted(table)]"),
        ),
        Promise(
            "Whatever else lies in the pool, NaN too, must not reach the output.",
            edits=(
                ("flatten(0, 1)[:length]", "flatten(0, 1)"),
                ("    return (scores", "    scores[:, length:] = -torch.inf\n    return (scores"),
            ),
        ),
        Promise("Args: query: of the new token, [heads, d].", why="what it is called with"),
        Promise(
            "length: tokens of the sequence, the new one included: it sees them all;",
            edit=("flatten(0, 1)[:length]", "flatten(0, 1)[: max(1, length - 1)]"),
        ),
        Promise(
            "Query head h uses key-value head",
            edit=(
                "held.repeat_interleave(shared, dim=1)",
                "held.repeat(1, shared, 1)",
            ),
        ),
        Promise("divided by the square root of d", edit=(" / math.sqrt(width)", "")),
    ),
)
