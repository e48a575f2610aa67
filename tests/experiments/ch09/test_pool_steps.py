"""The steppers of chapter 9: their pools, and pictures that hold what they say."""

from __future__ import annotations

import pytest

from experiments.ch09 import memory_steps, pool_steps
from rankzero.explore.steppers import frames

STEPPERS = (
    (pool_steps.block_scene, 5),
    (pool_steps.sharing_scene, 5),
    (pool_steps.shortage_scene, 2),
    (memory_steps.token_scene, 2),
    (memory_steps.room_scene, 1),
    (memory_steps.reservation_scene, 5),
    (memory_steps.lookup_scene, 2),
)


@pytest.mark.parametrize(("draw", "steps"), STEPPERS)
def test_each_step_is_a_picture_of_its_own(draw, steps):
    scenes = frames(draw, steps)
    assert len({scene.says for scene in scenes}) == steps + 1


def test_the_moments_of_the_pool_are_those_of_the_text():
    assert [moment.queue for moment in pool_steps.block_story()] == [
        (2, 3, 4, 5),
        (3, 4, 5),
        (4, 5),
        (4, 5, 2),
        (2,),
        (),
    ]


def test_the_sharing_story_is_vllms_example():
    """As in tests/solutions/ch09/test_block_pool.py, which says where vLLM's document differs."""
    assert pool_steps.sharing_story()[4].queue == (6, 4, 7, 8, 9, 3, 2, 5, 1, 0)
    assert pool_steps.sharing_story()[5].tables == {"R": (0, 1, 2, 6, 4, 7, 8, 9)}


@pytest.mark.parametrize("story", [pool_steps.block_story, pool_steps.sharing_story, pool_steps.shortage_story])
def test_every_block_is_held_or_in_the_queue(story):
    for moment in story():
        held = {block for table in moment.tables.values() for block in table}
        assert not held & set(moment.queue)
        assert held | set(moment.queue) == set(range(len(held) + len(moment.queue)))


def test_reservations_do_not_overlap():
    for _, held in memory_steps.RESERVATIONS:
        taken = [slot for one in held for slot in range(one.start, one.start + one.size)]
        assert len(set(taken)) == len(taken) <= memory_steps.SLOTS
        assert all(one.filled <= one.size for one in held)


def test_requests_that_run_side_by_side_write_as_fast_as_each_other():
    """Kills: A writes six tokens while B and C write three."""
    (_, before), (_, after) = memory_steps.RESERVATIONS[2:4]
    filled = {one.name: one.filled for one in before}
    assert {one.filled - filled[one.name] for one in after} == {6 - filled["C"]}  # C ends after 6 tokens
