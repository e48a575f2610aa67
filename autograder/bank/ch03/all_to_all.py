"""Chapter 3: ``all_to_all``, all-to-all."""

from __future__ import annotations

from random import Random
from typing import Any

from autograder.bank import least_received, rules
from autograder.bank.ch03.shared import passed_on
from autograder.bank.groups import listed
from autograder.bank.vectors import vector
from autograder.items import Build, Case, Promise, Right, Slip, Tensor


def _blocks(rng: Random, lengths: list[list[int]]) -> Case:
    """``lengths[r][c]`` elements from rank r to rank c."""
    return Case(args=tuple(([vector(rng, length) for length in row],) for row in lengths))


def _skewed(rng: Random, ranks: int) -> Case:
    lengths = rng.sample(range(1, 4 * ranks * ranks), ranks * ranks)  # all different
    return _blocks(rng, [lengths[r * ranks : (r + 1) * ranks] for r in range(ranks)])


def _exchanged_of_each(rng: Random) -> list[Case]:
    return [_skewed(rng, ranks) for ranks in (4, 3, 2)]


def _equal_and_empty(rng: Random) -> list[Case]:
    one_way = [[0, 0, 0], [0, 0, 0], [7, 0, 0]]
    return [_blocks(rng, lengths) for lengths in ([[5]], [[3] * 4] * 4, [[0] * 3] * 3, one_way)]


def exchanged_pair_by_pair(blocks):
    """One partner after the other, the lower rank of a pair sends first."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    received = [block.clone() for block in blocks]
    for total in range(2 * ranks - 1):
        partner = total - rank
        if partner == rank or not 0 <= partner < ranks:
            continue
        count = torch.zeros(1, dtype=torch.int64)
        passed_on(torch.tensor([blocks[partner].numel()]), count, partner, partner)
        received[partner] = blocks[rank].new_zeros(int(count))
        passed_on(blocks[partner], received[partner], partner, partner)
    return received


def exchanged_with_small_counts(blocks):
    """Counts in int32, and everything is posted at once."""
    import torch
    import torch.distributed as dist

    rank, ranks = dist.get_rank(), dist.get_world_size()
    others = [peer for peer in range(ranks) if peer != rank]
    counts = torch.zeros(ranks, 1, dtype=torch.int32)
    waiting: list[Any] = [dist.irecv(counts[peer], peer) for peer in others]
    waiting += [dist.isend(torch.tensor([len(blocks[peer])], dtype=torch.int32), peer) for peer in others]
    for request in waiting:
        request.wait()
    received = [blocks[rank].new_empty(int(count)) for count in counts]
    received[rank] = blocks[rank].clone()
    waiting = [dist.irecv(received[peer], peer) for peer in others if counts[peer]]
    waiting += [dist.isend(blocks[peer], peer) for peer in others if len(blocks[peer])]
    for request in waiting:
        request.wait()
    return received


EXERCISE = Build(
    "03 collectives.all_to_all",
    section="3.16",
    topic="all-to-all",
    bonus=True,
    grade="world",
    probe="ch02.written_over",
    rule=rules.every(
        rules.only_messages, rules.all_to_all_ledger, rules.no_empty_messages, least_received.heard(rules.blocks_for)
    ),
    cases=(
        Case(args=tuple(([Tensor.of([10.0 * r + c] * ((r + 2 * c) % 4)) for c in range(3)],) for r in range(3))),
        Case(args=tuple(([Tensor.of([10.0 * r + c]) for c in range(4)],) for r in range(4))),
        Case(args=(([Tensor.of([1.0, 2.0])],),)),
    ),
    groups=(
        listed("unequal blocks", _exchanged_of_each, "Every block may have another length."),
        listed("equal or empty", _equal_and_empty, "There may be one rank, equal blocks, or empty blocks."),
    ),
    slips=(
        Slip(
            "A receiver assumed that as much arrives as it sends: exchange the counts first.",
            edit=("    _swap(counts, arriving_counts)\n", ""),
        ),
        Slip(
            "The blocks are in the order in which they arrived: put each at its sender's place.",
            edit=("    return arriving", "    return [arriving[(rank - step) % ranks] for step in range(ranks)]"),
        ),
        Slip(
            "A rank sent its own block to itself: it can simply keep it.",
            edit=("for step in range(1, ranks):", "for step in range(ranks):"),
        ),
        Slip(
            "Blocks were padded to the longest one: once the counts are known, send only what there is.",
            edits=(
                ("[len(block)]", "[len(block), 1 + max(len(block) for block in blocks)]"),
                ("int(count)) for count", "int(count[1])) for count"),
                (
                    "    arriving[rank].copy_(blocks[rank])\n    _swap(blocks, arriving)\n    return arriving",
                    (
                        "    longest = len(arriving[rank])\n"
                        "    padded = [torch.nn.functional.pad(block, (0, longest - len(block))) for block in blocks]\n"
                        "    arriving[rank].copy_(padded[rank])\n"
                        "    _swap(padded, arriving)\n"
                        "    return [block[: int(count[0])].clone() for block, count in zip(arriving, arriving_counts)]"
                    ),
                ),
            ),
        ),
    ),
    rights=(
        Right("pair by pair", program=exchanged_pair_by_pair),
        Right("small counts", program=exchanged_with_small_counts),
    ),
    promises=(
        Promise(
            "Only messages are used",
            edit=("    _swap(blocks, arriving)", "    dist.barrier()\n    _swap(blocks, arriving)"),
        ),
        Promise(
            "a rank's own block does not travel", edit=("for step in range(1, ranks):", "for step in range(ranks):")
        ),
        Promise(
            "and neither do empty blocks",
            edits=(
                ("        if outgoing[right].numel():", "        if outgoing:"),
                ("        if arriving[left].numel():", "        if arriving:"),
            ),
        ),
        Promise("unchanged afterwards.", edit=("    return arriving", "    blocks[rank].zero_()\n    return arriving")),
        Promise(
            "One 1-D tensor per rank, new tensors.",
            edit=("    return arriving", "    arriving[rank] = blocks[rank]\n    return arriving"),
        ),
    ),
)
