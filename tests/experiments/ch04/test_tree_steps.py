"""The tree that the stepper of chapter 4 shows: the chapter's own program, message by message."""

from __future__ import annotations

import itertools

import pytest
import torch

from experiments.ch04.tree_steps import rounds, start, tree_all_reduce_scene, tree_states
from rankzero import world
from rankzero.explore import Arrow, Box, frames
from solutions.ch04.tree_collectives import tree_all_reduce


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8])
def test_up_and_down_end_in_the_sum_on_every_rank(ranks):
    """Kills a tree that loses a rank where their number is no power of two, and one with a round too many."""
    states = tree_states(ranks)
    assert len(states) == 1 + 2 * (ranks - 1).bit_length()
    assert states[0].sums == start(ranks)
    assert states[-1].sums == [sum(start(ranks))] * ranks
    assert states[len(states) // 2].counts[0] == ranks


@pytest.mark.parametrize("ranks", [4, 6, 8])
def test_in_each_step_a_rank_takes_part_once(ranks):
    for state in tree_states(ranks)[1:]:
        busy = [rank for message in state.messages for rank in message]
        assert len(busy) == len({*busy})


def test_it_is_the_chapters_program_on_real_ranks():
    """Kills a picture of another tree: every message of the program is one of the picture, in the order of its rank."""
    run = world.run(lambda: tree_all_reduce(torch.ones(3)), ranks=4)
    drawn = [message for state in tree_states(4)[1:] for message in state.messages]
    for rank in range(4):
        sent = [event.peers[0] for event in run.events if event.rank == rank and event.sent]
        assert sent == [receiver for sender, receiver in drawn if sender == rank]


def test_the_picture_shows_the_state():
    scenes = frames(tree_all_reduce_scene, 6)
    for scene, state in zip(scenes, tree_states(8), strict=True):
        boxes = [mark for mark in scene.marks if isinstance(mark, Box)]
        assert [box.text for box in boxes] == [f"{value:g}" for value in state.sums]
        assert sum(isinstance(mark, Arrow) for mark in scene.marks) == len(state.messages)
        assert [box.strong for box in boxes] == [any(rank == to for _, to in state.messages) for rank in range(8)]
        assert all(box.x >= 0 and box.x + box.width <= scene.width for box in boxes)
        assert all(box.y >= 0 and box.y + box.height <= scene.height for box in boxes)
    for one, other in itertools.combinations(boxes, 2):
        assert one.x + one.width < other.x or one.y != other.y


def test_what_a_step_says():
    assert tree_all_reduce_scene(1, 4).says == (
        "Step 1 of 4, up: a child sends its sum to its parent, which adds it. Now rank 0 has 10 + 20 = 30,"
        " rank 2 has 30 + 40 = 70."
    )
    assert tree_all_reduce_scene(4, 4).says.endswith("rank 3 has 100 from rank 2. All ranks have it.")
    assert rounds(1) == []
