"""Chapter 3: ``ring_all_reduce``, ring all-reduce."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch03.shared import (
    few_elements,
    gathered_leftwards,
    long_tensors,
    passed_on,
    scattered_leftwards,
    uneven,
)
from autograder.bank.groups import listed
from autograder.bank.vectors import alike, matrices
from autograder.items import Build, Case, Promise, Right, Slip, Tensor


def _reduced_of_each(rng: Random) -> list[Case]:
    plain = [alike(rng, ranks, uneven(rng, ranks), dtype) for ranks, dtype in ((4, "float32"), (2, "int64"))]
    return [*plain, matrices(rng, 3, 5, 4), matrices(rng, 4, 3, 5)]


def _rounding(rng: Random) -> list[Case]:
    """One large number and two that vanish beside it one by one, but not together; and long tensors."""
    small = rng.choice([2.0**-24, 2.0**-23.5])
    numbers = [[1.0] * 6, [small] * 6, [small] * 6]
    return [Case(args=tuple((Tensor.of(row),) for row in numbers)), long_tensors(rng)]


def reduced_leftwards(x):
    import torch.distributed as dist

    flat = x.reshape(-1)
    sizes = [len(chunk) for chunk in flat.tensor_split(dist.get_world_size())]
    return gathered_leftwards(scattered_leftwards(flat), sizes).view(x.shape)


def reduced_in_one_buffer(x):
    """2(N-1) steps on views of one buffer."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    buffer = x.flatten().clone()
    chunks = buffer.tensor_split(ranks)
    for step in range(2 * (ranks - 1)):
        out, into = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
        arrived = torch.empty_like(into)
        passed_on(out, arrived, (rank + 1) % ranks, (rank - 1) % ranks)
        into.copy_(arrived + into if step < ranks - 1 else arrived)
    return buffer.reshape(x.shape)


EXERCISE = Build(
    "03 collectives.ring_all_reduce",
    section="3.7",
    topic="ring all-reduce",
    grade="world",
    probe="ch02.written_over",
    tolerance=1e-5,
    rule=rules.every(
        rules.only_messages,
        rules.same_bits,
        rules.all_reduce_ledger,
        rules.to_one_neighbour,
        least_received.by_everyone(least_received.first_tensor),
    ),
    cases=(
        Case(args=tuple((Tensor.of([r + 1.0, 2.0 * (r + 1)]),) for r in range(4))),
        Case(args=tuple((Tensor.of([r + 1.0]),) for r in range(4))),
        Case(args=tuple((Tensor.of([v + 10 * r for v in range(6)], "int64", (2, 3)),) for r in range(3))),
        Case(args=tuple((Tensor.of([v / (r + 3) for v in range(64)]),) for r in range(4))),
    ),
    groups=(
        listed(
            "any shape",
            _reduced_of_each,
            "The tensor may have any shape, and a length that the ranks do not divide.",
        ),
        listed("few elements", few_elements, "There may be one rank, fewer elements than ranks, or no elements."),
        listed(
            "rounding, long tensors",
            _rounding,
            "All ranks hold the same bits, however the numbers round; tensors may be long.",
        ),
    ),
    slips=(
        Slip(
            "Whole tensors went around the ring. The sum is right, but it took N/2 times the bytes.",
            edit=(
                "return ring_all_gather(ring_reduce_scatter(flat), sizes).reshape(x.shape)",
                "tensors = ring_all_gather(flat, [len(flat)] * len(sizes))\n"
                "    return tensors.reshape(len(sizes), *x.shape).sum(0)",
            ),
        ),
        Slip(
            "Whole tensors went around the ring, N/2 times the bytes, and every rank added in another order, so the "
            "bits can differ from rank to rank: cut the tensor, and let one rank finish each chunk.",
            edit=(
                "    return ring_all_gather(ring_reduce_scatter(flat), sizes).reshape(x.shape)",
                (
                    "    total, passing = x.clone(), x.clone()\n"
                    "    for _ in sizes[1:]:\n"
                    "        arrived = torch.empty_like(x)\n"
                    "        _pass_right(passing, arrived)\n"
                    "        total, passing = total + arrived, arrived\n"
                    "    return total"
                ),
            ),
        ),
        Slip(
            "The all-gather handed out chunks that hold one rank's numbers only: if rank r first sends chunk r, the "
            "chunk that is complete on rank r after N-1 steps is r+1, not r.",
            edits=(
                ("chunks[(rank - step - 1) % ranks]", "chunks[(rank - step) % ranks]"),
                ("chunks[(rank - step - 2) % ranks]", "chunks[(rank - step - 1) % ranks]"),
            ),
        ),
        Slip(
            "N steps in a phase add one rank's numbers twice: N-1 are enough.",
            edits=(
                ("range(ranks - 1):\n        partial", "range(ranks if ranks > 1 else 0):\n        partial"),
                ("return chunks[rank]", "return chunks[rank - 1]"),
                ("x.numel() == sizes[rank]", "x.numel() == sizes[rank - 1]"),
                ("parts[rank].copy_", "parts[rank - 1].copy_"),
                (
                    "parts[(rank - step) % ranks], parts[(rank - step - 1) % ranks]",
                    "parts[(rank - step - 1) % ranks], parts[(rank - step - 2) % ranks]",
                ),
            ),
        ),
        Slip(
            "The sum was divided by N: that is the average.",
            edit=("sizes).reshape(x.shape)", "sizes).div(len(sizes)).to(x.dtype).reshape(x.shape)"),
        ),
    ),
    rights=(
        Right("the other way round", program=reduced_leftwards),
        Right("one buffer", program=reduced_in_one_buffer),
    ),
    promises=(
        Promise(
            "unchanged afterwards.",
            edits=(
                ("    return ring_all_gather(", "    return x.copy_(ring_all_gather("),
                (".reshape(x.shape)\n", ".reshape(x.shape)).clone()\n"),
            ),
        ),
        Promise(
            "of the shape of ``x``, a new tensor.",
            edit=(
                "    flat = x.flatten()",
                "    if dist.get_world_size() == 1:\n        return x\n    flat = x.flatten()",
            ),
        ),
        Promise(
            "All ranks end with the same bits.",
            edit=(
                "    return ring_all_gather(ring_reduce_scatter(flat), sizes).reshape(x.shape)",
                (
                    "    total, passing = x.clone(), x.clone()\n"
                    "    for _ in sizes[1:]:\n"
                    "        arrived = torch.empty_like(x)\n"
                    "        _pass_right(passing, arrived)\n"
                    "        total, passing = total + arrived, arrived\n"
                    "    return total"
                ),
            ),
        ),
    ),
)
