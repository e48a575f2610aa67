"""What several exercises of chapter 3 share."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank.vectors import alike
from autograder.items import Case, Tensor


def uneven(rng: Random, ranks: int) -> int:
    """A length that ``ranks`` do not divide, and that gives each of them something."""
    return ranks * rng.randint(2, 12) + rng.randint(1, ranks - 1)


def few_elements(rng: Random) -> list[Case]:
    """One rank, fewer elements than ranks, or none."""
    return [alike(rng, ranks, count) for ranks, count in ((1, 5), (4, 3), (3, 1), (3, 0))]


def long_tensors(rng: Random) -> Case:
    ranks, dtype = rng.choice([3, 4]), rng.choice(["float32", "int64"])
    return alike(rng, ranks, rng.randint(4090, 4099), dtype)


def parts(*rows: Sequence[float], dtype: str = "float32") -> Case:
    """One vector for each rank."""
    return Case(args=tuple((Tensor.of(row, dtype),) for row in rows))


def passed_on(outgoing, arriving, to, source):
    """Send to one rank while receiving from another, in a batch of calls."""
    import torch.distributed as dist

    calls = [dist.P2POp(dist.isend, outgoing, to)] if outgoing.numel() else []
    calls += [dist.P2POp(dist.irecv, arriving, source)] if arriving.numel() else []
    for request in dist.batch_isend_irecv(calls) if calls else []:
        request.wait()


def scattered_leftwards(x):
    """A reduce-scatter that runs the other way round, with the own numbers added to what arrives."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = x.tensor_split(ranks)
    partial = chunks[(rank + 1) % ranks].clone() if ranks > 1 else x.clone()
    for step in range(2, ranks + 1):
        mine = chunks[(rank + step) % ranks]
        arrived = torch.empty_like(mine)
        passed_on(partial, arrived, (rank - 1) % ranks, (rank + 1) % ranks)
        partial = arrived + mine
    return partial


def gathered_leftwards(x, sizes):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    parts: list[Any] = [None] * ranks
    parts[rank] = x.flatten().clone()
    for step in range(1, ranks):
        source = (rank + step) % ranks
        parts[source] = x.new_zeros(sizes[source])
        passed_on(parts[(source - 1) % ranks], parts[source], (rank - 1) % ranks, (rank + 1) % ranks)
    return torch.cat(parts)


#: What is empty is sent like everything else.
EMPTY = (
    ("    if outgoing.numel():", "    if outgoing is not None:"),
    ("    if arriving.numel():", "    if arriving is not None:"),
)
