"""Chapter 4: ``tree_all_reduce``, tree all-reduce."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

from autograder.bank import least_received, rules
from autograder.bank.groups import listed
from autograder.bank.vectors import alike, matrices
from autograder.items import Build, Case, Group, Promise, Right, Slip, Tensor
from rankzero.events import Event


def tree_messages(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """2(N-1) messages at most, each of the whole tensor; at rank 0 at most one each way for each level."""
    ranks, size = len(case.args), len(case.args[0][0].data)
    sends = [event for event in events if event.operation == "send"]
    if any(event.sent != size for event in sends):
        return f"a message is not the whole tensor of {size:,} bytes: a tree passes it on uncut"
    if len(sends) > 2 * (ranks - 1):
        return (
            f"{len(sends)} messages were sent by {ranks} ranks; a tree needs one up and one down for each but the root"
        )
    levels = (ranks - 1).bit_length()
    for way, count in (("sent", _count(sends, 0)), ("received", sum(event.peers[0] == 0 for event in sends))):
        if count > levels:
            return f"rank 0 {way} {count} messages; a binomial tree of {ranks} ranks has {levels} levels"
    return None


def tree_levels(case: Case, _values: Sequence[Any], events: Sequence[Event]) -> str | None:
    """No message waits for more than 2 ceil(log2 N) - 1 others."""
    levels = (len(case.args) - 1).bit_length()
    longest = max(_depths(events), default=0)
    if longest <= 2 * levels:
        return None
    return f"{longest} messages wait for one another; up and down a binomial tree there are {2 * levels}"


def _count(sends: Sequence[Event], rank: int) -> int:
    return sum(event.rank == rank for event in sends)


def _depths(events: Sequence[Event]) -> list[int]:
    """For each message, the length of the longest chain of messages that ends with it.

    A message waits for those that its sender had received before it called send.
    """
    sends, receives = defaultdict(list), defaultdict(list)
    for event in events:
        if event.operation == "send":
            sends[event.rank, event.peers[0]].append(event)
        elif event.operation == "recv":
            receives[event.peers[0], event.rank].append(event)
    pairs = [pair for way, sent in sends.items() for pair in zip(sent, receives[way], strict=False)]
    arrived: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for sent, received in sorted(pairs, key=lambda pair: pair[1].end):
        before = [depth for end, depth in arrived[sent.rank] if end <= sent.start]
        arrived[received.rank].append((received.end, 1 + max(before, default=0)))
    return [depth for depths in arrived.values() for _, depth in depths]


def _tree_of_each(rng: Random) -> list[Case]:
    """Three and four ranks twice, and two."""
    sizes = ((4, "float32"), (3, "int64"), (4, "int64"), (3, "float32"), (2, "float64"))
    return [alike(rng, ranks, rng.randint(2, 40), dtype) for ranks, dtype in sizes]


def _shapes_of_each(rng: Random) -> list[Case]:
    """One rank, no elements, two dimensions."""
    return [alike(rng, 1, 5), alike(rng, 3, 0), matrices(rng, 4, 2, 3)]


def _long(rng: Random) -> Case:
    return alike(rng, rng.choice([3, 4]), rng.randint(4000, 5000))


def along_the_tree(x):
    """The same tree by parents and children, the last child first on the way down."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    lowest = rank & -rank or ranks
    children = [rank + 2**level for level in range(ranks.bit_length()) if 2**level < lowest and rank + 2**level < ranks]
    total = x.flatten().clone()
    if total.numel():
        for child in children:
            arrived = torch.zeros_like(total)
            dist.recv(arrived, child)
            total = arrived + total
        if rank:
            dist.send(total, rank & (rank - 1))
            dist.recv(total, rank & (rank - 1))
        for child in reversed(children):
            dist.send(total, child)
    return total.reshape(x.shape)


def along_the_tree_in_float64(x):
    """Every sum is made in float64 and rounded for the way."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    total, bit = x.clone(), 1
    if not x.numel():
        return total
    while bit < ranks and rank % (2 * bit) == 0:
        if rank + bit < ranks:
            arrived = torch.empty_like(total)
            request: Any = dist.irecv(arrived, rank + bit)
            request.wait()
            total = (
                torch.add(total.double(), arrived.double()).to(x.dtype) if x.is_floating_point() else total + arrived
            )
        bit *= 2
    if rank:
        dist.send(total, rank - bit)
        dist.recv(total, rank - bit)
    while bit > 1:
        bit //= 2
        if rank + bit < ranks:
            dist.send(total, rank + bit)
    return total


DOWN = "            dist.send(total, rank + bit)\n    return total"


EXERCISE = Build(
    "04 tree_collectives.tree_all_reduce",
    section="4.3",
    topic="tree all-reduce",
    grade="world",
    probe="ch02.written_over",
    tolerance=1e-5,
    rule=rules.every(
        rules.only_messages,
        tree_messages,
        tree_levels,
        rules.no_empty_messages,
        rules.same_bits,
        least_received.by_everyone(least_received.first_tensor),
    ),
    cases=(
        Case(args=tuple((Tensor.of([r + 1.0]),) for r in range(3))),
        Case(args=tuple((Tensor.of([(r + 1) * v for v in (1, 2, 3, 4)], "int64"),) for r in range(4))),
        Case(args=((Tensor.of([0.5, -1.0]),), (Tensor.of([0.25, 2.0]),))),
        Case(args=((Tensor.of([1.0, 2.0, 3.0]),),)),
    ),
    groups=(
        listed("two to four ranks", _tree_of_each, "With three ranks, rank 2 has no partner on the first level."),
        listed("shapes", _shapes_of_each, "There may be one rank, no elements, or more than one dimension."),
        Group("long tensors", _long, 2, "Tensors may be long: a send then waits for its receive."),
    ),
    slips=(
        Slip(
            "A partner lies outside the world: with three ranks, rank 2 has no child.",
            edits=(
                ("if rank + bit < ranks:\n            arrived", "if bit < ranks:\n            arrived"),
                ("if rank + bit < ranks:\n            dist.send", "if bit < ranks:\n            dist.send"),
            ),
        ),
        Slip(
            "That is a star: rank 0 takes in one message per rank, not one per level.",
            edits=(
                ("not rank & bit:", "not rank:"),
                ("bit *= 2", "bit += 1"),
                ("dist.send(total, rank - bit)", "dist.send(total, 0)"),
                ("dist.recv(total, rank - bit)", "dist.recv(total, 0)"),
                ("bit //= 2", "bit -= 1"),
            ),
        ),
        Slip(
            "That is a chain: its last rank is N-1 messages away from rank 0, not one per level.",
            edits=(
                ("bit < ranks and not rank & bit:", "bit == 1:"),
                ("dist.send(total, rank - bit)", "dist.send(total, rank - 1)"),
                ("dist.recv(total, rank - bit)", "dist.recv(total, rank - 1)"),
            ),
        ),
        Slip(
            "Rank 0 answered before all of its children had reported: their sums were missing.",
            edits=(
                (
                    "total += arrived",
                    "total += arrived\n            if rank == 0:\n                dist.send(total, rank + bit)",
                ),
                ("while bit > 1:", "while rank and bit > 1:"),
            ),
        ),
        Slip(
            "The sums were added into x: copy it first.", edit=("x.clone(memory_format=torch.contiguous_format)", "x")
        ),
    ),
    rights=(
        Right("by parents and children", program=along_the_tree),
        Right("sums in float64", program=along_the_tree_in_float64),
    ),
    promises=(
        Promise("Only messages are used, 2(N-1) in all", edit=("    bit = 1\n", "    dist.barrier()\n    bit = 1\n")),
        Promise(
            "rank 0 receives and sends one for each of the tree's levels",
            edits=(
                ("not rank & bit:", "not rank:"),
                ("bit *= 2", "bit += 1"),
                ("dist.send(total, rank - bit)", "dist.send(total, 0)"),
                ("dist.recv(total, rank - bit)", "dist.recv(total, 0)"),
                ("bit //= 2", "bit -= 1"),
            ),
        ),
        Promise("unchanged afterwards.", edit=(DOWN, DOWN.replace("return total", "return x.copy_(total).clone()"))),
        Promise("Without elements nothing is sent.", edit=("    if not x.numel():\n        return total\n", "")),
        Promise(
            "of the shape of ``x``, a new tensor with one rank, too.",
            edit=("    bit = 1\n", "    if ranks == 1:\n        return x\n    bit = 1\n"),
        ),
    ),
)
