"""Chapter 02: a tensor that goes down a chain of ranks in chunks: a build item."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank.ch02 import rules
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Slip, Tensor


def slip_one_buffer(x, chunks):
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = x.clone() if rank == 0 else x.new_empty(x.shape)
    parts = [part for part in whole.tensor_split(min(chunks, max(1, len(x)))) if len(part)]
    buffer = x.new_empty(x.shape)
    leaving: list[Any] = []
    for part in parts:
        if rank:
            dist.recv(buffer[: len(part)], rank - 1)
            part.copy_(buffer[: len(part)])
        if rank < ranks - 1:
            leaving.append(dist.isend(buffer[: len(part)] if rank else part, rank + 1))
    for sending in leaving:
        sending.wait()
    return whole


def _relayed(rng: Random, ranks: int, elements: int, chunks: int, dtype: str = "float32") -> Case:
    """Other numbers on every rank: only those of rank 0 count."""
    return Case(args=tuple((vector(rng, elements, dtype), chunks) for _ in range(ranks)))


def _rests(rng: Random) -> list[Case]:
    """Chunks of unequal sizes."""
    chunks = [rng.randint(2, 5) for _ in range(3)]
    elements = [count * rng.randint(2, 6) + 1 for count in chunks]
    kinds = ((4, "float32"), (3, "int64"), (3, "float64"))
    return [
        _relayed(rng, ranks, length, count, dtype)
        for (ranks, dtype), length, count in zip(kinds, elements, chunks, strict=True)
    ]


def _few_or_alone(rng: Random) -> list[Case]:
    """More chunks than elements, no elements, one rank, two ranks."""
    few = rng.randint(2, 5)
    shapes = [(3, few, few + rng.randint(1, 5)), (4, 1, rng.randint(2, 9)), (3, 0, 3), (1, 7, 2)]
    return [_relayed(rng, *shape) for shape in shapes]


CHUNKED_RELAY = Build(
    id="02-chunked-relay",
    module="point_to_point",
    function="chunked_relay",
    grade="world",
    probe="ch02.written_over",
    section="2.14",
    topic="pipelined relay",
    bonus=True,
    cases=(
        Case(args=tuple((Tensor.of([v * (r == 0) for v in range(10)], "int64"), 4) for r in range(3))),
        Case(args=tuple((Tensor.of([v / (r + 1) for v in range(12)]), 3) for r in range(4))),
        Case(args=tuple((Tensor.of([2.5 - r]), 1) for r in range(2))),
    ),
    groups=(
        listed("chunks and a rest", _rests, "The chunks are those of `tensor_split`: nothing is left over."),
        listed(
            "few elements", _few_or_alone, "There may be one rank, few elements, or none; empty chunks are not sent."
        ),
    ),
    slips=(
        Slip(
            "The last rank must not send: nobody receives, so it never gets out of its send.",
            edits=(
                ("if rank < ranks - 1:", "if ranks > 1:"),
                ("dist.send(part, rank + 1)", "dist.send(part, (rank + 1) % ranks)"),
            ),
        ),
        Slip(
            "A middle rank received, then sent, one after the other: post the receive of the next chunk first.",
            edits=(
                ("            arriving = None if following is None else dist.irecv(following, rank - 1)\n", ""),
                (
                    "  # meanwhile the following chunk arrives",
                    (
                        "\n        if rank > 0 and following is not None:\n"
                        "            arriving = dist.irecv(following, rank - 1)"
                    ),
                ),
            ),
        ),
        Slip(
            "The elements that the chunks do not divide were lost: cut with `tensor_split`.",
            edits=(
                ("x.new_empty(x.shape)", "x.new_zeros(x.shape)"),
                (
                    "whole.tensor_split(min(chunks, max(1, len(x))))",
                    "whole[: len(x) // chunks * chunks].tensor_split(chunks)",
                ),
            ),
        ),
        Slip("Two chunks share one buffer: the next arrives in it before the last has left.", slip_one_buffer),
        Slip(
            "Empty chunks were sent: with more chunks than elements, some have nothing.",
            edit=(
                "[part for part in whole.tensor_split(min(chunks, max(1, len(x)))) if len(part)]",
                "whole.tensor_split(chunks)",
            ),
        ),
    ),
    rule=every(only_messages, rules.chunk_ledger, rules.chunks_overlap),
)

ITEMS = (CHUNKED_RELAY,)
