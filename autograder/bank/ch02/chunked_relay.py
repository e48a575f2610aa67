"""Chapter 2: ``chunked_relay``, pipelined relay."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.ch02.rules import calls, messages
from autograder.bank.groups import listed
from autograder.bank.rules import every, only_messages
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Promise, Right, Slip, Tensor
from rankzero.events import Event


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


def chunk_sizes(x: Tensor, chunks: int) -> list[int]:
    """Bytes of each chunk that ``tensor_split`` makes of a 1-D tensor, without empty ones."""
    elements = x.shape[0]
    size = len(x.data) // elements if elements else 0
    parts = [elements // chunks + (part < elements % chunks) for part in range(min(chunks, elements))]
    return [size * part for part in parts]


def chunk_ledger(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every rank but the last sends every chunk once, to the next rank."""
    x, chunks = case.args[0]
    sizes = chunk_sizes(x, chunks)
    for rank in range(len(case.args)):
        sent = [event.sent for event in calls(events, rank, "send")]
        due = sizes if rank < len(case.args) - 1 else []
        if sent != due:
            return (
                f"rank {rank} sent {messages(len(sent))}, {sum(sent):,} bytes in all; {messages(len(due))}, "
                f"{sum(due):,} bytes in all, are due: the chunks of tensor_split, in order"
            )
    return None


def chunks_overlap(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """Every middle rank posts the receive of the next chunk before the send of the last one is over."""
    for rank in range(1, len(case.args) - 1):
        sends, receives = calls(events, rank, "send"), calls(events, rank, "recv")
        for number, (sending, following) in enumerate(zip(sends, receives[1:], strict=False)):
            if following.start > sending.end:
                return (
                    f"rank {rank} sent chunk {number} and only then posted the receive of chunk {number + 1}: nothing "
                    "arrives meanwhile"
                )
    return None


def relayed_all_posted(x, chunks):
    """All receives at once, and every chunk is sent as soon as it is there."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    whole = x.clone() if rank == 0 else torch.zeros_like(x)
    parts = [part for part in whole.tensor_split(chunks) if part.numel()]
    receives: list[Any] = [dist.irecv(part, rank - 1) for part in parts] if rank else []
    sends: list[Any] = []
    for number, part in enumerate(parts):
        if rank:
            receives[number].wait()
        if rank < ranks - 1:
            sends.append(dist.isend(part, rank + 1))
    for handle in sends:
        handle.wait()
    return whole


def relayed_chunk_by_chunk(x, chunks):
    """Every chunk has a tensor of its own; they are joined at the end."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    parts = [part.clone() for part in x.tensor_split(chunks)]
    there = [part for part in parts if len(part)]
    arriving: Any = dist.irecv(there[0], rank - 1) if rank and there else None
    for number, part in enumerate(there):
        if arriving:
            arriving.wait()
            arriving = dist.irecv(there[number + 1], rank - 1) if number + 1 < len(there) else None
        if rank + 1 < ranks:
            leaving: Any = dist.isend(part, rank + 1)
            leaving.wait()
    return torch.cat(parts)


EXERCISE = Build(
    "02 point_to_point.chunked_relay",
    section="2.14",
    topic="pipelined relay",
    bonus=True,
    grade="world",
    probe="ch02.written_over",
    rule=every(only_messages, chunk_ledger, chunks_overlap),
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
    rights=(
        Right("all receives posted", program=relayed_all_posted),
        Right("a tensor for each chunk", program=relayed_chunk_by_chunk),
    ),
    promises=(
        Promise(
            "empty ones are not sent.",
            edit=("whole.tensor_split(min(chunks, max(1, len(x)))) if len(part)]", "whole.tensor_split(chunks)]"),
        ),
        Promise(
            "it posts that receive before it waits for the send",
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
        Promise(
            "on the other ranks ``x`` gives length and type only.",
            edits=(
                ("x.new_empty(x.shape)", "x.clone()"),
                ("    return whole", "    return whole if rank == 0 else whole + 0 * x + x.sum()"),
            ),
        ),
        Promise("Unchanged afterwards.", edit=("    return whole", "    x.copy_(whole)\n    return whole")),
        Promise(
            "Rank 0's tensor, a new one on every rank.",
            edit=("x.detach().clone() if rank == 0", "x.detach() if rank == 0"),
        ),
        Promise(
            "There may be more than elements.",
            edit=("whole.tensor_split(min(chunks, max(1, len(x))))", "whole.split(len(x) // chunks)"),
        ),
    ),
)
