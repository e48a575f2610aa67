"""Chapter 07: what crosses the boundaries of a pipeline."""

from __future__ import annotations

from random import Random

from autograder.bank.ch07_words import UNCHECKED
from autograder.items import Build, Case, Group, Slip, invalid


def slip_one_boundary(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    for value in (ranks, microbatches, virtual_stages):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError("out of range")
    if type(rank) is not int or rank not in range(ranks) or not 0 <= activation_bytes < float("inf"):
        raise ValueError("out of range")
    return microbatches * activation_bytes * ((rank < ranks - 1) + (rank > 0))


def slip_forward_only(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    for value in (ranks, microbatches, virtual_stages):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError("out of range")
    if type(rank) is not int or rank not in range(ranks) or not 0 <= activation_bytes < float("inf"):
        raise ValueError("out of range")
    return microbatches * activation_bytes * (virtual_stages - (rank == ranks - 1)) if ranks > 1 else 0.0


def slip_received_too(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    for value in (ranks, microbatches, virtual_stages):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError("out of range")
    if type(rank) is not int or rank not in range(ranks) or not 0 <= activation_bytes < float("inf"):
        raise ValueError("out of range")
    ways = 2 * virtual_stages - (rank == ranks - 1) - (rank == 0)
    return 2 * microbatches * activation_bytes * ways if ranks > 1 else 0.0


def slip_one_message(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    for value in (ranks, microbatches, virtual_stages):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError("out of range")
    if type(rank) is not int or rank not in range(ranks) or not 0 <= activation_bytes < float("inf"):
        raise ValueError("out of range")
    return activation_bytes * (2 * virtual_stages - (rank == ranks - 1) - (rank == 0)) if ranks > 1 else 0.0


def slip_all_boundaries(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    for value in (ranks, microbatches, virtual_stages):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError("out of range")
    if type(rank) is not int or rank not in range(ranks) or not 0 <= activation_bytes < float("inf"):
        raise ValueError("out of range")
    return 2 * virtual_stages * microbatches * activation_bytes


def slip_any_rank(rank, ranks, microbatches, activation_bytes, virtual_stages=1):
    if ranks == 1:
        return 0.0
    return microbatches * activation_bytes * (2 * virtual_stages - (rank == ranks - 1) - (rank == 0))


def _sends(rng: Random, chunks: int = 1, rank: int | None = None) -> Case:
    ranks = rng.randint(3, 16)
    place = rng.randrange(ranks) if rank is None else rank % ranks
    more = [chunks] if chunks > 1 else []
    return Case((place, ranks, rng.randint(2, 64), float(rng.randint(1, 1000) * 1_000_000), *more))


def _each_end(rng: Random) -> list[Case]:
    return [_sends(rng, rank=rank) for rank in (0, 1, -1)]


def _each_end_with_chunks(rng: Random) -> list[Case]:
    return [_sends(rng, rng.randint(2, 8), rank) for rank in (0, 1, -1)]


def _bad_sends(rng: Random) -> list[Case]:
    ranks = rng.randint(2, 8)
    return [
        invalid(ranks, ranks, 4, 1e6),
        invalid(-1, ranks, 4, 1e6),
        invalid(0, 0, 4, 1e6),
        invalid(0, ranks, 0, 1e6),
        invalid(0, ranks, 4, -1.0),
        invalid(0, ranks, 4, 1e6, 0),
        invalid(0, ranks, 4, float("nan")),
    ]


BYTES = Build(
    id="07-pipeline-bytes-sent",
    module="pipeline",
    function="pipeline_bytes_sent",
    grade="call",
    section="7.8",
    topic="what crosses a boundary",
    bonus=True,
    cases=(
        *(Case((rank, 4, 12, 0.5e9)) for rank in (0, 1, 3)),
        *(Case((rank, 4, 12, 0.5e9, 4)) for rank in (0, 1, 3)),
        Case((0, 1, 8, 1e6, 4)),
        Case((1, 2, 1, 268_435_456.0)),  # one micro-batch of 8,192 tokens of Llama 3.1 405B, bf16
        invalid(4, 4, 12, 0.5e9),
    ),
    groups=(
        Group("one chunk per rank", _sends, 6, "The ends of the pipeline send one way, the others both.", _each_end),
        Group(
            "several chunks",
            lambda rng: _sends(rng, rng.randint(2, 8)),
            6,
            "Every boundary between chunks is crossed both ways; only the very first and the very last are none.",
            _each_end_with_chunks,
        ),
        Group(
            "one rank",
            lambda rng: Case((0, 1, rng.randint(1, 64), 1e6, rng.randint(1, 8))),
            3,
            "One rank sends nothing, however many chunks it holds.",
            lambda rng: [Case((0, 1, 4, 1e6)), Case((0, 1, 4, 1e6, 3))],
        ),
        Group(
            "bad input",
            lambda rng: rng.choice(_bad_sends(rng)),
            7,
            "Bad input must raise ValueError: a rank outside the pipeline, negative bytes.",
            _bad_sends,
        ),
    ),
    slips=(
        Slip("The chunks were ignored: with v of them there are v times as many boundaries.", slip_one_boundary),
        Slip("The gradients were forgotten: what goes forward comes back.", slip_forward_only),
        Slip("That counts what is received as well: it is what others send.", slip_received_too),
        Slip("That is one micro-batch: each of them crosses every boundary.", slip_one_message),
        Slip("The first stage sends no gradient back, and the last no activation on.", slip_all_boundaries),
        Slip(UNCHECKED.format("a rank outside the pipeline, negative bytes"), slip_any_rank),
    ),
)

ITEMS = (BYTES,)
