"""Chapter 6: ``ring_attention``, context parallelism."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received, rules
from autograder.bank.groups import listed
from autograder.items import Build, Case, Right, Slip, Tensor
from rankzero.events import Event, Ledger


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


EXERCISE = Build(
    "06 context_parallel.ring_attention",
    section="6.11",
    topic="context parallelism",
    bonus=True,
    grade="world",
    rule=rules.every(rules.only_messages, rules.to_one_neighbour, ring_ledger, least_received.heard(_earlier_blocks)),
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
    slips=(
        Slip(
            "The own block was not masked: a query must not see the tokens after it.",
            edit=("partial_attention(q, k, v, later)", "partial_attention(q, k, v)"),
        ),
        Slip(
            "Blocks of later tokens were merged too: attention is causal.",
            edit=("if rank >= step:  # the block of rank - step lies before these queries", "if True:"),
        ),
        Slip(
            "Blocks were taken for those of other ranks: after step s to the right, rank r has the block of rank r - "
            "s.",
            edit=("k, v = ring_shift(k), ring_shift(v)", "k, v = ring_shift(k, -1), ring_shift(v, -1)"),
        ),
        Slip(
            "The blocks' results were averaged: each counts as much as its sum of exponentials.",
            edits=(
                (
                    "    result = partial_attention(q, k, v, later)\n",
                    "    result = partial_attention(q, k, v, later)\n    blocks = [result[2] / result[1][..., None]]\n",
                ),
                (
                    "result = merge_partials(result, partial_attention(q, k, v))",
                    "_, total, weighted = partial_attention(q, k, v)\n"
                    "            blocks.append(weighted / total[..., None])",
                ),
                (
                    "    _, total, weighted = result\n    return weighted / total[..., None]",
                    "    return torch.stack(blocks).mean(0)",
                ),
            ),
        ),
        Slip(
            "Only the first block that arrived was merged: pass it on, and merge those that follow.",
            edit=("for step in range(1, ranks):", "for step in range(1, min(ranks, 2)):"),
        ),
        Slip(
            "Keys and values were gathered with a collective: in a ring they travel as messages.",
            edit=(
                "k, v = ring_shift(k), ring_shift(v)",
                "parts = [torch.empty_like(q) for _ in range(2 * ranks)]\n"
                "        dist.all_gather(parts[:ranks], k.contiguous())\n"
                "        dist.all_gather(parts[ranks:], v.contiguous())\n"
                "        k, v = parts[(rank - 1) % ranks], parts[ranks + (rank - 1) % ranks]",
            ),
        ),
    ),
    rights=(
        Right(
            "the ring turns the other way",
            edits=(
                ("ring_shift(k), ring_shift(v)", "ring_shift(k, -1), ring_shift(v, -1)"),
                ("if rank >= step:", "if rank + step >= ranks:"),
            ),
        ),
        Right(
            "all earlier keys at once",
            edits=(
                (
                    "    result = partial_attention(q, k, v, later)\n",
                    "    result = partial_attention(q, k, v, later)\n    keys, values = [], []\n",
                ),
                (
                    "            result = merge_partials(result, partial_attention(q, k, v))\n",
                    "            keys.append(k)\n            values.append(v)\n",
                ),
                (
                    "    _, total, weighted = result\n",
                    "    if keys:\n"
                    "        block = partial_attention(q, torch.cat(keys, -2), torch.cat(values, -2))\n"
                    "        result = merge_partials(block, result)\n"
                    "    _, total, weighted = result\n",
                ),
            ),
        ),
    ),
)
