"""The worked examples of chapter 3: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch03.appointments import WORK, meetings
from experiments.ch03.explorers import MESSAGE, starting_blocks
from experiments.ch03.ring_steps import bytes_sent, ring_states
from experiments.ch03.rounding import NUMBERS, totals
from rankzero.facts.units import GB, MB, ms
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch03.collective_semantics import collective_outputs
from solutions.ch03.naive_all_reduce_costs import star_all_reduce_time
from tests.worked_examples import examples, missing

BEFORE = starting_blocks("all_reduce", 4)
BLOCKS = starting_blocks("all_to_all", 4)
ARRIVED = collective_outputs("all_to_all", BLOCKS)
THREE = starting_blocks("all_reduce", 3)
GATHERED = collective_outputs("all_gather", starting_blocks("all_gather", 3))
RING = ring_states(4)
FIRST = meetings(WORK)[0]
LINK = {"ranks": 4, "bandwidth": MB / ms, "latency": ms}
STAR_8, RING_8 = (time(8 * MB, **LINK) / ms for time in (star_all_reduce_time, ring_all_reduce_time))


def diary(rank: int, step: int) -> str:
    """A row of the table that follows one rank: what it sends, receives, adds and holds in a step."""
    before, after, ranks = RING[step - 1].sums, RING[step].sums, 4
    sent = next(chunk for chunk, sender in RING[step].senders.items() if sender == rank)
    got = next(chunk for chunk, sender in RING[step].senders.items() if sender == (rank - 1) % ranks)
    arrived = before[(rank - 1) % ranks][got]
    return (
        f"| {step} | chunk {sent}: {before[rank][sent]:g} | chunk {got}: {arrived:g} | {before[rank][got]:g} "
        f"| {after[rank][got]:g} |"
    )


COMPUTED = {
    "contract-example": [
        "The ranks work for {:g}, {:g} and {:g} ms".format(*FIRST.arrives),
        f"the all-reduce itself takes {FIRST.ends - FIRST.starts:g} ms",
        f"before rank {FIRST.waits.index(0)} calls it at {FIRST.starts:g} ms",
        f"rank 0 waits {FIRST.waits[0]:g} ms, rank 2 waits {FIRST.waits[2]:g} ms",
        f"all three leave at {FIRST.ends:g} ms",
    ],
    "eight-example": [
        "The ranks hold {:g}, {:g} and {:g}".format(*(row[2] for row in THREE)),
        f"their sum, {collective_outputs('all_reduce', THREE)[0][2]:g}, ends up on every rank",
        f"the same {collective_outputs('reduce_scatter', THREE)[2][0]:g} ends up on rank 2",
    ],
    "where-example": [
        "which holds {:g}, {:g} and {:g}".format(*THREE[1]),
        "`x` holds {:g}, {:g} and {:g}".format(*collective_outputs("all_reduce", THREE)[1]),
        f"its own {starting_blocks('all_gather', 3)[1][0]:g}",
        "`parts` holds {:g}, {:g} and {:g}".format(*GATHERED[1]),
    ],
    "star-example": [
        f"Rank 0 receives {4 - 1} MB",
        f"{2 * (4 - 1)} MB passes through its link",
        f"A fifth rank makes it {2 * (5 - 1)} MB",
    ],
    "ring-example": [
        f"which sends its {RING[0].sums[1][0]:g} to rank 2. Rank 2 adds {RING[0].sums[2][0]:g} and holds"
        f" {RING[1].sums[2][0]:g}",
        f"sends the {RING[1].sums[2][0]:g} to rank 3, which adds {RING[0].sums[3][0]:g}: {RING[2].sums[3][0]:g}",
        f"sends the {RING[2].sums[3][0]:g} to rank 0, which adds {RING[0].sums[0][0]:g}. Now rank 0 holds"
        f" {RING[3].sums[0][0]:g}",
        *(diary(2, step) for step in (1, 2, 3)),
    ],
    "gather-example": [
        f"Chunk 0 is complete on rank 0: {RING[3].sums[0][0]:g}",
        f"six messages of {MESSAGE / 4 / MB:g} MB",
        f"{bytes_sent(6, 4, MESSAGE) / MB:g} MB for a tensor of {MESSAGE / MB:g} MB",
    ],
    "time-example": [
        f"6 start-ups of 1 ms and {STAR_8 - 6:g} ms for the bytes, {STAR_8:g} ms in all",
        f"each moves a chunk of {8 / 4:g} MB",
        f"6 ms of start-ups and {RING_8 - 6:g} ms for the bytes, {RING_8:g} ms in all",
    ],
    "rounding-example": [
        f"{NUMBERS[3]:g} + {NUMBERS[0]:g} is {NUMBERS[3] + NUMBERS[0]:g}",
        f"the machine keeps {totals(2)[1]:g}",
        f"{totals(2)[2]:g} - 200 leaves {totals(2)[3]:g}. Chunk 3",
        f"but then {totals(3)[1]:g} - 200 leaves {totals(3)[2]:g}, and the second {totals(3)[3]:g} survives",
        f"The exact sum is {sum(NUMBERS):g}",
    ],
    "statistics-example": [
        f"with a mean of {(1 + 2 + 3) / 3:g}",
        f"The mean of the two means is {(2 + 10) / 2:g}",
        f"{1 + 2 + 3 + 10} / 4 = {(1 + 2 + 3 + 10) / 4:g}",
    ],
}
DEEPER = {
    "meaning-example": [
        f"rank 2 brings {starting_blocks('all_gather', 4)[2][0]:g}",
        f"rank 2 gets {collective_outputs('scatter', starting_blocks('scatter', 4))[2][0]:g}",
        f"the root holds {collective_outputs('reduce', BEFORE)[0][2]:g}",
    ],
    "bytes-example": [
        f"{traffic('broadcast', 8 * MB, 4, 1)[0] / MB:g} MB each and rank 3 sends nothing",
        f"three parts of {8 / 4:g} MB, {traffic('all_gather', 8 * MB, 4, 0)[0] / MB:g} MB in all",
    ],
    "more-time-example": [
        f"= {traffic('all_reduce', 2 * GB, 4, 0)[0] / GB:g}$ GB",
        f"takes {ring_all_reduce_time(2 * GB, 4, 50 * GB) / ms:g} ms",
        f"less than {4 * GB / (50 * GB) / ms:g} ms",
    ],
    "all-to-all-example": [
        "Rank 1 begins with {:g}, {:g}, {:g} and {:g}".format(*BLOCKS[1]),
        f"It keeps {BLOCKS[1][1]:g}, its own",
        f"{BLOCKS[1][0]:g} to rank 0, {BLOCKS[1][2]:g} to rank 2, {BLOCKS[1][3]:g} to rank 3",
        f"it gets {ARRIVED[1][0]:g}, {ARRIVED[1][2]:g} and {ARRIVED[1][3]:g}",
    ],
    "exact-example": [f"over 3 + 0 + 1 is {(1 + 2 + 3 + 10) / 4:g}"],
}


FOUND = examples("03-collectives") | examples("deeper/03-collectives-deeper")
COMPUTED |= DEEPER


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], COMPUTED[name]) == []


def test_every_example_with_a_number_is_computed():
    assert FOUND.keys() - COMPUTED.keys() == {"which-example"}
