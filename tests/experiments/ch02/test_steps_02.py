"""The pictures in steps of chapter 2: a message, a chain, a ring in rounds, an overlap, and a relay in chunks."""

from __future__ import annotations

import itertools

import pytest

from experiments.ch02 import chain_steps, message_steps, overlap_steps
from experiments.ch02.relay_steps import relay_scene, relay_states
from experiments.ch02.ring_policies import ring_programs
from experiments.ch02.round_steps import ring_of_four_scene, round_states
from rankzero import world
from rankzero.explore import Arrow, Box, frames
from solutions.ch02.deadlock import simulate
from solutions.ch02.point_to_point import relay


@pytest.mark.parametrize(
    ("policy", "ranks"), [("parity", 4), ("parity", 7), ("one_receives_first", 5), ("all_send", 3)]
)
def test_rounds_are_those_of_the_chapters_referee(policy, ranks):
    """Kills a round too many, and a rank that makes two calls in one."""
    programs = ring_programs(policy, ranks)
    states = round_states(programs)
    rounds, blocked = simulate(programs)
    assert len(states) == 1 + rounds
    assert {rank for rank, done in enumerate(states[-1].done) if done < 2} == set(blocked)


def test_the_picture_of_the_ring():
    scenes = frames(ring_of_four_scene, 2)
    done = [[mark.tone for mark in scene.marks if isinstance(mark, Box)].count("right") for scene in scenes]
    assert done == [0, 4, 8]
    assert [sum(isinstance(mark, Arrow) for mark in scene.marks) for scene in scenes] == [0, 2, 2]
    assert scenes[1].says.startswith("Round 1 of 2: rank 0 sends to rank 1, rank 2 sends to rank 3.")


@pytest.mark.parametrize(("ranks", "chunks"), [(4, 4), (2, 3), (5, 1)])
def test_a_relay_takes_hops_plus_chunks_minus_one_steps(ranks, chunks):
    """Kills a relay that sends what a rank has not got, or that is a step too long."""
    states = relay_states(ranks, chunks)
    assert len(states) == 1 + (ranks - 1) + chunks - 1
    assert all(map(all, states[-1].has))
    for before, after in itertools.pairwise(states):
        assert all(before.has[rank][chunk] for rank, chunk in after.messages)
        assert len({rank for rank, _ in after.messages}) == len(after.messages)


def test_the_picture_of_the_relay():
    scenes = frames(relay_scene, 6)
    assert [sum(isinstance(mark, Arrow) for mark in scene.marks) for scene in scenes] == [0, 1, 2, 3, 3, 2, 1]
    assert scenes[3].says == "Step 3 of 6: chunks 2, 1 and 0 move; 3 of 3 links are busy."
    assert scenes[-1].says.endswith("The last rank has everything.")


def test_the_picture_of_a_message():
    scenes = frames(message_steps.message_scene, 2)
    assert [sum(isinstance(mark, Arrow) for mark in scene.marks) for scene in scenes] == [0, 1, 0]
    held = [[mark.text for mark in scene.marks if isinstance(mark, Box)] for scene in scenes]
    assert held == [["3", "1", "4", "0", "0", "0"], *[["3", "1", "4"] * 2] * 2]
    assert "12 bytes" in scenes[1].says


def test_the_chain_is_that_of_real_ranks():
    """Kills a picture with an addition too many: four real ranks hold what its last step shows."""
    scenes = frames(chain_steps.chain_scene, 3)
    assert tuple(chain_steps.chain_states()[-1]) == world.run(relay, 42, 10, ranks=4).values
    assert [sum(isinstance(mark, Arrow) for mark in scene.marks) for scene in scenes] == [0, 1, 1, 1]
    assert scenes[-1].says.startswith("Step 3 of 3: rank 2 sends 62. Rank 3 adds 10 and keeps 72.")


def test_what_overlaps_takes_as_long_as_the_longer():
    blocking, posted = overlap_steps.schedules().values()
    assert max(end for _, end in blocking.values()) == overlap_steps.MESSAGE + overlap_steps.PRODUCT
    assert max(end for _, end in posted.values()) == max(overlap_steps.MESSAGE, overlap_steps.PRODUCT)
    assert overlap_steps.INSTANTS == (6, 10, 16)
    scenes = frames(overlap_steps.overlap_scene, 2)
    done = [[mark.text for mark in scene.marks if isinstance(mark, Box) and mark.text] for scene in scenes]
    assert done == [["6 ms"] * 3, ["6 ms", "4 ms", "6 ms", "10 ms"], ["6 ms", "10 ms"] * 2]
