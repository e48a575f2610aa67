"""The halving-doubling that the stepper of chapter 4 shows: real sums, the closed form's bytes, and who is far away."""

from __future__ import annotations

import itertools

import pytest

from experiments.ch03.explorers import MESSAGE, starting_blocks
from experiments.ch04.halving_steps import across_the_middle, bytes_sent, halving_doubling_scene, halving_states
from rankzero.explore import Arrow, Box, frames
from solutions.ch03.collective_cost import traffic
from solutions.ch03.collective_semantics import collective_outputs


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_it_ends_in_an_all_reduce_and_is_a_reduce_scatter_half_way(ranks):
    """Kills a half that goes to the wrong partner: it would be added twice, or never."""
    states = halving_states(ranks)
    steps = 2 * (ranks.bit_length() - 1)
    assert len(states) == 1 + steps
    blocks = starting_blocks("all_reduce", ranks)
    assert states[-1].sums == collective_outputs("all_reduce", blocks)
    scattered = [[value for value in row if value is not None] for row in states[steps // 2].sums]
    assert scattered == collective_outputs("reduce_scatter", blocks)
    for state in states[: 1 + steps // 2]:
        assert [sum(column) for column in zip(*state.counts, strict=True)] == [ranks] * ranks


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_a_rank_sends_what_a_ring_sends(ranks):
    assert bytes_sent(2 * (ranks.bit_length() - 1), ranks, MESSAGE) == traffic("all_reduce", MESSAGE, ranks, 0)[0]


def test_most_bytes_go_to_the_most_distant_partner():
    """What the page says: half of the tensor goes N/2 away, first and last, and crosses the middle with everyone's."""
    states = halving_states(8)
    assert [len(state.messages[0].chunks) for state in states[1:]] == [4, 2, 1, 1, 2, 4]
    assert [abs(state.messages[0].source - state.messages[0].target) for state in states[1:]] == [4, 2, 1, 1, 2, 4]
    assert [across_the_middle(ranks) for ranks in (2, 4, 8, 64)] == [1, 2, 4, 32]


def test_the_picture_shows_the_state():
    scenes = frames(halving_doubling_scene, 4)
    for scene, state in zip(scenes, halving_states(4), strict=True):
        boxes = [mark for mark in scene.marks if isinstance(mark, Box)]
        held = [value for row in state.sums for value in row]
        assert [box.text for box in boxes] == ["" if value is None else f"{value:g}" for value in held]
        arrows = [mark for mark in scene.marks if isinstance(mark, Arrow)]
        assert len(arrows) == len(state.messages)
        for one, other in itertools.combinations(arrows, 2):
            apart = max(one.y1, one.y2) <= min(other.y1, other.y2) or max(other.y1, other.y2) <= min(one.y1, one.y2)
            assert one.x1 != other.x1 or apart
        assert all(mark.x1 < scene.width for mark in arrows)


def test_what_a_step_says():
    assert halving_doubling_scene(1).says == (
        "Step 1 of 4, halving. Every rank sends half of the tensor to the rank 2 away and adds what arrives to the"
        " chunks that it keeps: ranks 0 and 1 send chunks 2 and 3, ranks 2 and 3 send chunks 0 and 1. Rank 0 has"
        " 10 + 30 = 40 in chunk 0."
    )
    assert halving_doubling_scene(4).says.endswith(
        "and keeps both: ranks 0 and 1 send chunks 0 and 1, ranks 2 and 3 send chunks 2 and 3. All ranks now have the"
        " same sums."
    )
