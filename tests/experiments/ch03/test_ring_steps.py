"""The ring that the stepper of chapter 3 shows: the chapter's own program, message by message, and its bytes."""

from __future__ import annotations

import itertools
import re

import pytest
import torch
import torch.distributed as dist

from experiments.ch03.explorers import MESSAGE, starting_blocks
from experiments.ch03.ring_steps import bytes_sent, ring_all_reduce_scene, ring_states
from experiments.ch03.ring_trace import traced_contributions
from rankzero import world
from rankzero.explore import Arrow, Box, Scene, frames
from rankzero.facts.units import MB
from solutions.ch03.collective_cost import traffic
from solutions.ch03.collective_semantics import collective_outputs
from solutions.ch03.collectives import ring_all_reduce


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
def test_two_phases_of_ranks_minus_one_steps_end_in_the_sum(ranks):
    """Kills a walk that is one step short, and one that adds a number twice."""
    states = ring_states(ranks)
    assert len(states) == 1 + 2 * (ranks - 1)
    assert states[-1].sums == collective_outputs("all_reduce", starting_blocks("all_reduce", ranks))
    assert states[0].sums == starting_blocks("all_reduce", ranks)
    for rank in range(ranks):
        assert states[ranks - 1].counts[rank][rank] == ranks, "the reduce-scatter gives rank r chunk r"


@pytest.mark.parametrize("ranks", [2, 3, 4, 6])
def test_a_number_is_the_sum_of_as_many_ranks_as_it_says(ranks):
    """A chunk on its way holds the numbers of the ranks that it came from, and the complete ones those of all."""
    start = starting_blocks("all_reduce", ranks)
    for state in ring_states(ranks):
        for rank, row in enumerate(state.sums):
            for chunk, value in enumerate(row):
                count = state.counts[rank][chunk]
                behind = [start[(rank - back) % ranks][chunk] for back in range(count)]
                assert value == sum(behind), (rank, chunk)


@pytest.mark.parametrize("ranks", [2, 4, 5])
def test_in_each_step_every_rank_sends_one_chunk_that_it_has(ranks):
    states = ring_states(ranks)
    for before, after in itertools.pairwise(states):
        assert sorted(after.senders.values()) == list(range(ranks))
        for chunk, rank in after.senders.items():
            right = (rank + 1) % ranks
            own = before.sums[right][chunk] if before.counts[rank][chunk] < ranks else 0
            assert after.sums[right][chunk] == before.sums[rank][chunk] + own
            assert after.sums[rank][chunk] == before.sums[rank][chunk], "what is sent stays"


def test_it_is_the_walk_of_the_chapters_program_on_real_ranks():
    """Kills a picture of another schedule: every message of the program carries what the picture shows."""
    states = ring_states(4)
    assert traced_contributions(ring_all_reduce, ranks=4) == [state.counts for state in states]


def reduced(rows: list[list[float]]) -> list[float]:
    return ring_all_reduce(torch.tensor(rows[dist.get_rank()])).tolist()


def test_the_last_picture_is_the_result_of_real_ranks_and_their_ledger():
    rows = starting_blocks("all_reduce", 4)
    run = world.run(reduced, rows, ranks=4)
    assert [*run.values] == ring_states(4)[-1].sums
    size = 4 * 4  # four float32
    assert [run.ledger().sent(rank) for rank in range(4)] == [bytes_sent(6, 4, size)] * 4


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_bytes_are_those_of_the_formula(ranks):
    sent, _ = traffic("all_reduce", MESSAGE, ranks, rank=0)
    assert bytes_sent(2 * (ranks - 1), ranks, MESSAGE) == pytest.approx(sent)
    assert bytes_sent(0, ranks, MESSAGE) == 0


def boxes(scene: Scene) -> list[Box]:
    return [mark for mark in scene.marks if isinstance(mark, Box)]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_the_pictures_show_the_states(ranks):
    """Numbers, notes and arrows; what this step changed has a strong outline."""
    scenes = frames(lambda step: ring_all_reduce_scene(step, ranks), 2 * (ranks - 1))
    for step, (scene, state) in enumerate(zip(scenes, ring_states(ranks), strict=True)):
        assert [float(box.text) for box in boxes(scene)] == [value for row in state.sums for value in row]
        counts = [count for row in state.counts for count in row]
        notes = {1: "own", ranks: "complete"}
        assert [box.note for box in boxes(scene)] == [notes.get(n, f"{n} of {ranks}") for n in counts]
        changed = sum(box.strong for box in boxes(scene))
        assert changed == (ranks if step else 0)
        arrows = [mark for mark in scene.marks if isinstance(mark, Arrow)]
        assert len(arrows) == (ranks + 1 if step else 0), "one for each message, and the one around the ring is in two"
        assert f"sent by each rank so far: {step * MESSAGE / ranks / MB:g} MB" in scene.svg()


def test_the_sentences_name_what_arrives():
    """Every sum in a sentence is right, and it is the number in the box that it names."""
    sums = 0
    for step in range(7):
        scene = ring_all_reduce_scene(step)
        held = [box.text for box in boxes(scene)]
        news = re.findall(r"(?:(\d+) \+ (\d+) = )?(\d+) in chunk (\d) of rank (\d)", scene.says)
        assert len(news) == (4 if step else 0)
        for one, other, total, chunk, rank in news:
            assert held[4 * int(rank) + int(chunk)] == total
            if one:
                assert int(one) + int(other) == int(total)
                sums += 1
        if step:
            phase = "reduce-scatter" if step <= 3 else "all-gather"
            assert scene.says.startswith(f"Step {step} of 6, {phase}.")
    assert sums == 12


def test_a_ring_too_wide_for_a_phone_is_refused():
    with pytest.raises(ValueError, match="narrow screen"):
        ring_all_reduce_scene(0, ranks=6)
