"""Chapter 03: two more build items made of messages: all-reduce and all-to-all."""

from __future__ import annotations

from random import Random

from autograder.bank import least_received, rules
from autograder.bank.ch03.rings import few_elements, long_tensors, uneven
from autograder.bank.groups import listed
from autograder.bank.vectors import alike, matrices, vector
from autograder.items import Build, Case, Slip, Tensor


def _reduced_of_each(rng: Random) -> list[Case]:
    plain = [alike(rng, ranks, uneven(rng, ranks), dtype) for ranks, dtype in ((4, "float32"), (2, "int64"))]
    return [*plain, matrices(rng, 3, 5, 4), matrices(rng, 4, 3, 5)]


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
            "bits differ from rank to rank: cut the tensor, and let one rank finish each chunk.",
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
    rule=rules.every(
        rules.only_messages,
        rules.same_bits,
        rules.all_reduce_ledger,
        rules.to_one_neighbour,
        least_received.by_everyone(least_received.first_tensor),
    ),
)


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


ALL_TO_ALL = Build(
    id="03-all-to-all",
    module="collectives",
    function="all_to_all",
    grade="world",
    probe="ch02.written_over",
    section="3.16",
    topic="all-to-all",
    bonus=True,
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
    rule=rules.every(
        rules.only_messages, rules.all_to_all_ledger, rules.no_empty_messages, least_received.heard(rules.blocks_for)
    ),
)

ITEMS = (RING_ALL_REDUCE, ALL_TO_ALL)
