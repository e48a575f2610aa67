"""The pictures in steps of chapter 2: a ring of blocking calls in rounds, and a relay in chunks."""

from __future__ import annotations

import itertools

import pytest

from experiments.ch02.relay_steps import relay_scene, relay_states
from experiments.ch02.ring_policies import ring_programs
from experiments.ch02.round_steps import ring_of_four_scene, round_states
from rankzero.explore import Arrow, Box, frames
from solutions.ch02.deadlock import simulate


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
    assert scenes[3].says.startswith("Step 3 of 6, 3 of 3 links work: rank 0 sends chunk 2 to rank 1")
    assert scenes[-1].says.endswith("The last rank has everything.")
