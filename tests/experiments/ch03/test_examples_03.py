"""The worked examples of chapter 3: each number that a text computes by hand is computed here."""

from __future__ import annotations

import pytest

from experiments.ch03.explorers import MESSAGE, starting_blocks
from experiments.ch03.ring_steps import bytes_sent, ring_states
from rankzero.facts.units import MB
from solutions.ch03.collective_semantics import collective_outputs
from tests.worked_examples import examples, missing

SUMS = collective_outputs("reduce_scatter", starting_blocks("reduce_scatter", 4))
BLOCKS = starting_blocks("all_to_all", 4)
ARRIVED = collective_outputs("all_to_all", BLOCKS)
RING = ring_states(4)
COMPUTED = {
    "eight-example": [
        "The ranks hold {:g}, {:g}, {:g} and {:g}".format(*(row[2] for row in starting_blocks("reduce_scatter", 4))),
        f"their sum, {SUMS[2][0]:g}, ends on rank 2",
        f"the same {collective_outputs('all_reduce', starting_blocks('all_reduce', 4))[3][2]:g} ends on every rank",
    ],
    "star-example": [
        f"Rank 0 receives {4 - 1} MB",
        f"{2 * (4 - 1)} MB pass through its link",
        f"With a fifth rank it is {2 * (5 - 1)} MB",
    ],
    "ring-example": [
        f"Rank 1 sends its {RING[0].sums[1][0]:g} to rank 2, which adds {RING[0].sums[2][0]:g} and holds"
        f" {RING[1].sums[2][0]:g}",
        f"sends the {RING[1].sums[2][0]:g} to rank 3, which adds {RING[0].sums[3][0]:g}: {RING[2].sums[3][0]:g}",
        f"sends the {RING[2].sums[3][0]:g} to rank 0, which adds {RING[0].sums[0][0]:g}. Now rank 0 holds"
        f" {RING[3].sums[0][0]:g}",
    ],
    "gather-example": [
        f"Chunk 0 is complete on rank 0: {RING[3].sums[0][0]:g}",
        f"six messages of {MESSAGE / 4 / MB:g} MB",
        f"{bytes_sent(6, 4, MESSAGE) / MB:g} MB for a tensor of {MESSAGE / MB:g} MB",
    ],
    "all-to-all-example": [
        "Rank 1 begins with {:g}, {:g}, {:g} and {:g}".format(*BLOCKS[1]),
        f"It keeps {BLOCKS[1][1]:g}, its own",
        f"{BLOCKS[1][0]:g} to rank 0, {BLOCKS[1][2]:g} to rank 2, {BLOCKS[1][3]:g} to rank 3",
        f"it gets {ARRIVED[1][0]:g}, {ARRIVED[1][2]:g} and {ARRIVED[1][3]:g}",
    ],
    "statistics-example": [
        f"with a mean of {(1 + 2 + 3) / 3:g}",
        f"the two means is {(2 + 10) / 2:g}",
        f"{1 + 2 + 3 + 10} / 4 = {(1 + 2 + 3 + 10) / 4:g}",
    ],
}


FOUND = examples("03-collectives")


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], COMPUTED[name]) == []


def test_every_example_with_a_number_is_computed():
    assert FOUND.keys() - COMPUTED.keys() == {"where-example"}
