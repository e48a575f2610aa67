"""Chapter 03: the ring, in three build items: reduce-scatter, all-gather, all-reduce.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

from random import Random

from autograder.bank import least, rules
from autograder.bank.vectors import alike, vector
from autograder.items import Build, Case, Group, Slip, Tensor


def uneven(rng: Random, ranks: int) -> int:
    """A length that ``ranks`` do not divide, and that gives each of them something."""
    return ranks * rng.randint(2, 12) + rng.randint(1, ranks - 1)


# --- ring_reduce_scatter


def slip_next_chunk(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.tensor_split(ranks)]
    for step in range(ranks - 1):
        mine = chunks[(rank - step - 1) % ranks]
        arrived = torch.empty_like(mine)
        sending = dist.isend(chunks[(rank - step) % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        mine += arrived
    return chunks[(rank + 1) % ranks]


def slip_own_chunk_each_step(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.tensor_split(ranks)]
    originals = [chunk.clone() for chunk in chunks]
    for step in range(ranks - 1):
        mine = chunks[(rank - step - 2) % ranks]
        arrived = torch.empty_like(mine)
        sending = dist.isend(originals[(rank - step - 1) % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        mine += arrived
    return chunks[rank]


def slip_added_before_wait(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.tensor_split(ranks)]
    for step in range(ranks - 1):
        mine = chunks[(rank - step - 2) % ranks]
        arrived = torch.zeros_like(mine)
        receiving = dist.irecv(arrived, (rank - 1) % ranks)
        mine += arrived
        dist.send(chunks[(rank - step - 1) % ranks], (rank + 1) % ranks)
        receiving.wait()
    return chunks[rank]


def slip_remainder_dropped(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    size = len(x) // ranks
    chunks = [x[r * size : (r + 1) * size].clone() for r in range(ranks)]
    for step in range(ranks - 1):
        mine = chunks[(rank - step - 2) % ranks]
        arrived = torch.empty_like(mine)
        sending = dist.isend(chunks[(rank - step - 1) % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        mine += arrived
    return chunks[rank]


def slip_all_send_first(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.tensor_split(ranks)]
    for step in range(ranks - 1):
        mine = chunks[(rank - step - 2) % ranks]
        arrived = torch.empty_like(mine)
        dist.send(chunks[(rank - step - 1) % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        mine += arrived
    return chunks[rank]


def slip_adds_into_x(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = x.tensor_split(ranks)
    for step in range(ranks - 1):
        mine = chunks[(rank - step - 2) % ranks]
        arrived = torch.empty_like(mine)
        sending = dist.isend(chunks[(rank - step - 1) % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        mine += arrived
    return chunks[rank]


def _scattered(rng: Random) -> Case:
    ranks = rng.randint(2, 4)
    return alike(rng, ranks, uneven(rng, ranks), rng.choice(["float32", "float64", "int64"]))


def _scattered_of_each(rng: Random) -> list[Case]:
    sizes = ((4, "float32"), (3, "int64"), (2, "float64"), (4, "int64"))
    return [alike(rng, ranks, uneven(rng, ranks), dtype) for ranks, dtype in sizes]


def few_elements(rng: Random) -> Case:
    """One rank, fewer elements than ranks, or none."""
    return alike(rng, *rng.choice([(1, 5), (4, 3), (4, 1), (3, 0)]))


def few_elements_of_each(rng: Random) -> list[Case]:
    return [alike(rng, ranks, count) for ranks, count in ((1, 5), (4, 3), (3, 1), (3, 0))]


def long_tensors(rng: Random) -> Case:
    ranks, dtype = rng.choice([3, 4]), rng.choice(["float32", "int64"])
    return alike(rng, ranks, rng.randint(4090, 4099), dtype)


def _matrices(rng: Random) -> Case:
    """A matrix on each rank."""
    numbers = [float(rng.randint(1, 9)) for _ in range(4)]
    return Case(args=((Tensor.of(numbers, shape=(2, 2)),),) * rng.randint(1, 3), raises="ValueError")


RING_REDUCE_SCATTER = Build(
    id="03-ring-reduce-scatter",
    module="collectives",
    function="ring_reduce_scatter",
    grade="world",
    probe="ch02.written_over",
    section="3.6",
    topic="ring reduce-scatter",
    tolerance=1e-5,
    cases=(
        Case(args=tuple((Tensor.of([(r + 1) * v for v in (1, 2, 3, 4)], "int64"),) for r in range(4))),
        Case(args=tuple((Tensor.of([v + 10 * r for v in range(7)], "int64"),) for r in range(3))),
        Case(args=((Tensor.of([1.0, 2.0, 3.0]),), (Tensor.of([0.5, 0.25, 0.125]),))),
        Case(args=((Tensor.of([1.0, 2.0, 3.0]),),)),
    ),
    groups=(
        Group(
            "uneven chunks",
            _scattered,
            4,
            "Chunk sizes differ by one when the ranks do not divide the length.",
            _scattered_of_each,
        ),
        Group(
            "few elements",
            few_elements,
            4,
            "There may be one rank, fewer elements than ranks, or no elements.",
            few_elements_of_each,
        ),
        Group("long tensors", long_tensors, 1, "Tensors may be long: sends and receives then overlap."),
        Group("bad input", _matrices, 1, "Bad input must raise ValueError: x has more than one dimension."),
    ),
    slips=(
        Slip("Rank r returned chunk r+1: to end with chunk r, rank r first sends chunk r-1.", slip_next_chunk),
        Slip("Every step forwarded the rank's own numbers: send the partial sum.", slip_own_chunk_each_step),
        Slip("The buffer was read before its wait: what arrives is there only after it.", slip_added_before_wait),
        Slip("The elements past N equal chunks were dropped: cut with tensor_split.", slip_remainder_dropped),
        Slip("All ranks send first and wait for each other: use isend, or let one rank receive.", slip_all_send_first),
        Slip("The sums were added into x: copy the chunks first.", slip_adds_into_x),
    ),
    rule=rules.every(rules.only_messages, rules.to_one_neighbour, rules.reduce_scatter_ledger, rules.no_empty_messages),
)


# --- ring_all_gather


def slip_own_part_each_step(x, sizes):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if x.numel() != sizes[rank]:
        raise ValueError("sizes")
    parts = [x.clone() for _ in range(ranks)]
    for step in range(ranks - 1):
        arrived = x.new_empty(sizes[(rank - 1) % ranks])
        sending = dist.isend(x, (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        parts[(rank - step - 1) % ranks] = arrived
    return torch.cat(parts)


def slip_arrival_order(x, sizes):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if x.numel() != sizes[rank]:
        raise ValueError("sizes")
    parts = [x.clone()]
    for step in range(ranks - 1):
        parts.append(x.new_empty(sizes[(rank - step - 1) % ranks]))
        sending = dist.isend(parts[-2], (rank + 1) % ranks)
        dist.recv(parts[-1], (rank - 1) % ranks)
        sending.wait()
    return torch.cat(parts)


def slip_own_size(x, sizes):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    if x.numel() != sizes[rank]:
        raise ValueError("sizes")
    parts = [x.clone() for _ in range(ranks)]
    for step in range(ranks - 1):
        sending = dist.isend(parts[(rank - step) % ranks], (rank + 1) % ranks)
        dist.recv(parts[(rank - step - 1) % ranks], (rank - 1) % ranks)
        sending.wait()
    return torch.cat(parts)


def _parts(rng: Random, sizes: list[int], told: list[int] | None = None) -> Case:
    """Parts of these sizes; every rank is told ``told``, or the truth."""
    return Case(args=tuple((vector(rng, size), told or sizes) for size in sizes))


def _gathered(rng: Random) -> Case:
    return _parts(rng, rng.sample(range(1, 20), rng.randint(2, 4)))


def _gathered_of_each(rng: Random) -> list[Case]:
    return [_parts(rng, rng.sample(range(1, 20), ranks)) for ranks in (4, 3, 2)]


def _equal_or_empty(rng: Random) -> Case:
    return _parts(rng, rng.choice([[5], [3, 3, 3, 3], [0, 0, 0], [0, 4, 0, 0]]))


def _equal_and_empty(rng: Random) -> list[Case]:
    return [_parts(rng, sizes) for sizes in ([5], [3, 3, 3, 3], [0, 0, 0], [0, 4, 0, 0])]


def _false_sizes(rng: Random) -> Case:
    sizes = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    told = [size + 1 for size in sizes]
    return Case(args=_parts(rng, sizes, told).args, raises="ValueError")


def _too_many_sizes(rng: Random) -> list[Case]:
    sizes = [rng.randint(1, 5) for _ in range(2)]
    return [Case(args=_parts(rng, sizes, [*sizes, 1]).args, raises="ValueError")]


RING_ALL_GATHER = Build(
    id="03-ring-all-gather",
    module="collectives",
    function="ring_all_gather",
    grade="world",
    probe="ch02.written_over",
    section="3.7",
    topic="ring all-gather",
    cases=(
        Case(args=tuple((Tensor.of([r + 1.0]), [1, 1, 1, 1]) for r in range(4))),
        Case(args=tuple((Tensor.of([float(r)] * r), [0, 1, 2]) for r in range(3))),
        Case(args=((Tensor.of([0.0]), [1, 2, 0]), (Tensor.of([1.0, 1.0]), [1, 2, 0]), (Tensor.of([]), [1, 2, 0]))),
        Case(args=((Tensor.of([1.0]), [2, 2]), (Tensor.of([1.0]), [2, 2])), raises="ValueError"),
    ),
    groups=(
        Group("unequal parts", _gathered, 3, "Parts may have different lengths.", _gathered_of_each),
        Group(
            "equal or empty",
            _equal_or_empty,
            4,
            "There may be one rank, equal parts, or empty parts.",
            _equal_and_empty,
        ),
        Group(
            "bad input",
            _false_sizes,
            2,
            "Bad input must raise ValueError: x is not as long as sizes says, or sizes lacks an entry per rank.",
            _too_many_sizes,
        ),
    ),
    slips=(
        Slip("Each step sent the rank's own part: pass on what arrived last.", slip_own_part_each_step),
        Slip("The parts are in the order of arrival: put each at the place of its rank.", slip_arrival_order),
        Slip("The buffers have the size of the own part: they take the sender's.", slip_own_size),
    ),
    rule=rules.every(
        rules.only_messages,
        rules.to_one_neighbour,
        rules.all_gather_ledger,
        rules.no_empty_messages,
        least.heard(rules.other_parts),
    ),
)

ITEMS = (RING_REDUCE_SCATTER, RING_ALL_GATHER)
