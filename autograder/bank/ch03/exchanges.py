"""Chapter 03: two more build items made of messages: all-reduce and all-to-all.

Wrong programs are complete in themselves: each imports what it needs and holds its own helpers.
"""

# The wrong programs carry no types: they are code as learners write it.
# mypy: disable-error-code="union-attr"

from __future__ import annotations

from random import Random

from autograder.bank import least, rules
from autograder.bank.ch03.rings import few_elements, few_elements_of_each, long_tensors, uneven
from autograder.bank.refusals import bad_input
from autograder.bank.vectors import alike, vector
from autograder.items import Build, Case, Group, Slip, Tensor

# --- ring_all_reduce


def slip_tensor_by_tensor(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    tensors = [x.clone() for _ in range(ranks)]
    for step in range(ranks - 1):
        sending = dist.isend(tensors[(rank - step) % ranks], (rank + 1) % ranks)
        dist.recv(tensors[(rank - step - 1) % ranks], (rank - 1) % ranks)
        sending.wait()
    return torch.stack(tensors).sum(0)


def slip_added_as_it_comes(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    total, passing = x.clone(), x.clone()
    for _ in range(ranks - 1):
        arrived = torch.empty_like(x)
        sending = dist.isend(passing, (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        total, passing = total + arrived, arrived
    return total


def slip_gathers_incomplete(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.flatten().tensor_split(ranks)]

    def shift(out, into):
        arrived = torch.empty_like(chunks[into % ranks])
        sending = dist.isend(chunks[out % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        return arrived

    for step in range(ranks - 1):
        chunks[(rank - step - 1) % ranks] += shift(rank - step, rank - step - 1)
    for step in range(ranks - 1):
        chunks[(rank - step - 1) % ranks] = shift(rank - step, rank - step - 1)
    return torch.cat(chunks).reshape(x.shape)


def slip_one_step_more(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.flatten().tensor_split(ranks)]

    def shift(out, into):
        arrived = torch.empty_like(chunks[into % ranks])
        sending = dist.isend(chunks[out % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        return arrived

    for step in range(ranks if ranks > 1 else 0):
        chunks[(rank - step - 2) % ranks] += shift(rank - step - 1, rank - step - 2)
    for step in range(ranks if ranks > 1 else 0):
        chunks[(rank - step - 2) % ranks] = shift(rank - step - 1, rank - step - 2)
    return torch.cat(chunks).reshape(x.shape)


def slip_average(x):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = [chunk.clone() for chunk in x.flatten().tensor_split(ranks)]

    def shift(out, into):
        arrived = torch.empty_like(chunks[into % ranks])
        sending = dist.isend(chunks[out % ranks], (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        sending.wait()
        return arrived

    for step in range(ranks - 1):
        chunks[(rank - step - 2) % ranks] += shift(rank - step - 1, rank - step - 2)
    for step in range(ranks - 1):
        chunks[(rank - step - 1) % ranks] = shift(rank - step, rank - step - 1)
    return (torch.cat(chunks) / ranks).to(x.dtype).reshape(x.shape)


def _matrix(rng: Random, ranks: int, rows: int, columns: int) -> Case:
    flat = alike(rng, ranks, rows * columns)
    return Case(args=tuple((Tensor(x.dtype, (rows, columns), x.data),) for (x,) in flat.args))


def _reduced(rng: Random) -> Case:
    ranks = rng.randint(2, 4)
    return alike(rng, ranks, uneven(rng, ranks), rng.choice(["float32", "float64", "int64"]))


def _reduced_of_each(rng: Random) -> list[Case]:
    plain = [alike(rng, ranks, uneven(rng, ranks), dtype) for ranks, dtype in ((4, "float32"), (2, "int64"))]
    return [*plain, _matrix(rng, 3, 5, 4), _matrix(rng, 4, 3, 5)]


def _rounding(rng: Random) -> list[Case]:
    """One large number and two that vanish beside it one by one, but not together; and long tensors."""
    small = rng.choice([2.0**-24, 2.0**-23.5])
    numbers = [[1.0] * 6, [small] * 6, [small] * 6]
    return [Case(args=tuple((Tensor.of(row),) for row in numbers)), long_tensors(rng)]


RING_ALL_REDUCE = Build(
    id="03-ring-all-reduce",
    module="collectives",
    function="ring_all_reduce",
    grade="world",
    probe="ch02.written_over",
    section="3.7",
    topic="ring all-reduce",
    tolerance=1e-5,
    cases=(
        Case(args=tuple((Tensor.of([r + 1.0, 2.0 * (r + 1)]),) for r in range(4))),
        Case(args=tuple((Tensor.of([r + 1.0]),) for r in range(4))),
        Case(args=tuple((Tensor.of([v + 10 * r for v in range(6)], "int64", (2, 3)),) for r in range(3))),
        Case(args=tuple((Tensor.of([v / (r + 3) for v in range(64)]),) for r in range(4))),
    ),
    groups=(
        Group(
            "any shape",
            _reduced,
            4,
            "The tensor may have any shape, and a length that the ranks do not divide.",
            _reduced_of_each,
        ),
        Group(
            "few elements",
            few_elements,
            4,
            "There may be one rank, fewer elements than ranks, or no elements.",
            few_elements_of_each,
        ),
        Group(
            "rounding, long tensors",
            long_tensors,
            2,
            "All ranks hold the same bits, however the numbers round; tensors may be long.",
            _rounding,
        ),
    ),
    slips=(
        Slip("Whole tensors went round the ring: the sum is right, but N/2 times the bytes.", slip_tensor_by_tensor),
        Slip(
            "Whole tensors went round the ring, N/2 times the bytes, and every rank added in another order, so their "
            "bits differ: cut the tensor, and let one rank finish each chunk.",
            slip_added_as_it_comes,
        ),
        Slip("The second phase starts from the chunk that is not complete.", slip_gathers_incomplete),
        Slip("N steps in a phase add one contribution twice: N-1 are enough.", slip_one_step_more),
        Slip("The sum was divided by N: that is the average.", slip_average),
    ),
    rule=rules.every(
        rules.only_messages,
        rules.same_bits,
        rules.all_reduce_ledger,
        rules.to_one_neighbour,
        least.by_everyone(least.first_tensor),
    ),
)


# --- all_to_all


def slip_same_size_back(blocks):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = [block.clone() for block in blocks]
    for step in range(1, ranks):
        to, source = (rank + step) % ranks, (rank - step) % ranks
        received[source] = torch.empty_like(blocks[source])
        sending = dist.isend(blocks[to], to)
        dist.recv(received[source], source)
        sending.wait()
    return received


def slip_order_of_arrival(blocks):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = [blocks[rank].clone()]
    for step in range(1, ranks):
        to, source = (rank + step) % ranks, (rank - step) % ranks
        count = torch.empty(1, dtype=torch.int64)
        sending = dist.isend(torch.tensor([len(blocks[to])]), to)
        dist.recv(count, source)
        sending.wait()
        received.append(blocks[rank].new_empty(int(count)))
        requests = [dist.isend(blocks[to], to)] if len(blocks[to]) else []
        requests += [dist.irecv(received[-1], source)] if count else []
        for request in requests:
            request.wait()
    return received


def slip_sends_to_itself(blocks):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = []
    for step in range(ranks):
        to, source = (rank + step) % ranks, (rank - step) % ranks
        count = torch.empty(1, dtype=torch.int64)
        sending = dist.isend(torch.tensor([len(blocks[to])]), to)
        dist.recv(count, source)
        sending.wait()
        received.append((source, blocks[rank].new_empty(int(count))))
        requests = [dist.isend(blocks[to], to)] if len(blocks[to]) else []
        requests += [dist.irecv(received[-1][1], source)] if count else []
        for request in requests:
            request.wait()
    return [block for _, block in sorted(received, key=lambda pair: pair[0])]


def slip_padded(blocks):
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = [block.clone() for block in blocks]
    longest = max(len(block) for block in blocks) + 1
    for step in range(1, ranks):
        to, source = (rank + step) % ranks, (rank - step) % ranks
        counts = torch.empty(2, dtype=torch.int64)
        sending = dist.isend(torch.tensor([len(blocks[to]), longest]), to)
        dist.recv(counts, source)
        sending.wait()
        padded, arrived = blocks[to].new_zeros(longest), blocks[rank].new_empty(int(counts[1]))
        padded[: len(blocks[to])] = blocks[to]
        sending = dist.isend(padded, to)
        dist.recv(arrived, source)
        sending.wait()
        received[source] = arrived[: int(counts[0])].clone()
    return received


def _blocks(rng: Random, lengths: list[list[int]]) -> Case:
    """``lengths[r][c]`` elements from rank r to rank c."""
    return Case(args=tuple(([vector(rng, length) for length in row],) for row in lengths))


def _skewed(rng: Random, ranks: int) -> Case:
    lengths = rng.sample(range(1, 4 * ranks * ranks), ranks * ranks)  # all different
    return _blocks(rng, [lengths[r * ranks : (r + 1) * ranks] for r in range(ranks)])


def _exchanged(rng: Random) -> Case:
    return _skewed(rng, rng.randint(2, 4))


def _exchanged_of_each(rng: Random) -> list[Case]:
    return [_skewed(rng, ranks) for ranks in (4, 3, 2)]


def _equal_and_empty(rng: Random) -> list[Case]:
    one_way = [[0, 0, 0], [0, 0, 0], [7, 0, 0]]
    return [_blocks(rng, lengths) for lengths in ([[5]], [[3] * 4] * 4, [[0] * 3] * 3, one_way)]


def _equal_or_empty(rng: Random) -> Case:
    return rng.choice(_equal_and_empty(rng))


def _numbers_of_blocks(rng: Random) -> list[Case]:
    """A block too few or too many, on every rank."""
    ranks = rng.randint(2, 3)
    counts = (ranks - 1, ranks + 1)
    return [Case(_blocks(rng, [[2] * count] * ranks).args, raises="ValueError") for count in counts]


ALL_TO_ALL = Build(
    id="03-all-to-all",
    module="collectives",
    function="all_to_all",
    grade="world",
    probe="ch02.written_over",
    section="3.9",
    topic="all-to-all",
    bonus=True,
    cases=(
        Case(args=tuple(([Tensor.of([10.0 * r + c] * ((r + 2 * c) % 4)) for c in range(3)],) for r in range(3))),
        Case(args=tuple(([Tensor.of([10.0 * r + c]) for c in range(4)],) for r in range(4))),
        Case(args=(([Tensor.of([1.0, 2.0])],),)),
    ),
    groups=(
        Group("unequal blocks", _exchanged, 3, "Every block may have another length.", _exchanged_of_each),
        Group(
            "equal or empty",
            _equal_or_empty,
            4,
            "There may be one rank, equal blocks, or empty blocks.",
            _equal_and_empty,
        ),
        bad_input(_numbers_of_blocks, "Bad input must raise ValueError: not one block for each rank."),
    ),
    slips=(
        Slip("The size that arrives was taken to be the size that is sent: exchange counts.", slip_same_size_back),
        Slip("The blocks are in the order of arrival: put each at its sender's place.", slip_order_of_arrival),
        Slip("A rank sent its own block to itself: keep it.", slip_sends_to_itself),
        Slip("Blocks were padded to the longest one: after the counts, send what there is.", slip_padded),
    ),
    rule=rules.every(
        rules.only_messages, rules.all_to_all_ledger, rules.no_empty_messages, least.heard(rules.blocks_for)
    ),
)

ITEMS = (RING_ALL_REDUCE, ALL_TO_ALL)
