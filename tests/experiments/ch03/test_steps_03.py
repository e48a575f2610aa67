"""The other pictures in steps of chapter 3, and the published all-reduces: against programs and against arithmetic."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import nbformat
import pytest
import torch
import torch.distributed as dist

from experiments.ch03 import appointments, jobs, published, rounding
from experiments.ch03.explorers import starting_blocks
from rankzero import world
from rankzero.explore import Box, Scene, frames
from rankzero.facts import hardware
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch03.collective_semantics import OPERATIONS, collective_outputs
from solutions.ch03.collectives import ring_all_reduce
from tools.common import ROOT


def boxes(scene: Scene) -> list[Box]:
    return [mark for mark in scene.marks if isinstance(mark, Box)]


# Appointments


def test_a_collective_starts_with_its_last_rank_and_ends_for_all():
    """Kills a rank that leaves early, and a second all-reduce that begins before the first has ended."""
    held = appointments.meetings(appointments.WORK)
    for meeting in held:
        assert meeting.starts == max(meeting.arrives)
        assert min(meeting.waits) == 0
    for before, after in pairwise(held):
        assert min(after.arrives) > before.ends
        assert after.arrives == [before.ends + work for work in appointments.WORK[1]]


def test_the_pictures_of_appointments():
    scenes = frames(appointments.appointments_scene, 2)
    done = [sum(box.text == "sum" for box in boxes(scene)) for scene in scenes]
    assert done == [0, 3, 6]
    last = [box for box in boxes(scenes[2]) if box.text == "sum"][-1]
    assert last.x + last.width <= scenes[2].width


def _waited() -> dict[str, list[bool]]:
    """By call and rank, whether it spent more than half of the delay in the call: the page's own program."""
    source = nbformat.read(ROOT / "book/03-collectives.ipynb", 4)
    program = "\n".join(cell.source for cell in source.cells if cell.id in ("late-clock", "late-calls"))
    names = {"dist": dist, "time": time, "torch": torch}
    exec(program, names)
    seconds = world.run(names["late_to_four"], ranks=4).values
    return {name: [rank[name] > 0.2 for rank in seconds] for name in seconds[0]}


def test_who_needs_a_late_ranks_data_waits_for_it():
    """The order that 3.1 states: what the meaning of a call asks for, and who need not wait and does not, with Gloo. A
    busy machine may turn one run round, but not five."""
    for _ in range(5):
        found = _waited()
        if (
            found["all-reduce, rank 3 late"][:3] == [True] * 3
            and found["broadcast from 0, rank 3 late"] == [False, True, False, False]
            and found["broadcast from 0, rank 0 late"] == [False, True, True, True]
            and found["gather to 0, rank 3 late"] == [True, False, False, False]
        ):
            return
    pytest.fail(f"{found}")


# Jobs


def rows_hold(operation: str) -> tuple[list[int], list[int]]:
    """How many blocks each rank has before and after, by the meaning of the operation."""
    before = starting_blocks(operation, 4)
    after = collective_outputs(operation, before)
    return [len(row or ()) for row in before], [len(row or ()) for row in after]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_collective_stands_where_its_meaning_says(operation):
    """Kills a collective in the wrong row or column: who holds something before and after is computed."""
    has, needs = jobs.PLACES[operation]
    before, after = rows_hold(operation)
    holders = sum(map(bool, before))
    assert jobs.HAVES[has] == "one has all" if holders == 1 else holders == 4
    summed = collective_outputs(operation, starting_blocks(operation, 4)) != collective_outputs(
        operation, starting_blocks(operation, 4), 0, "max"
    )
    assert summed == (jobs.HAVES[has] == "summands")
    one = sum(map(bool, after)) == 1
    same = len({tuple(row or ()) for row in collective_outputs(operation, starting_blocks(operation, 4))}) == 1
    assert jobs.NEEDS[needs] == ("one" if one else "everyone" if same else "each its part")


def test_the_pictures_of_jobs():
    scenes = frames(jobs.chooser_scene, len(jobs.JOBS))
    marked = [[box.text for box in boxes(scene) if box.strong] for scene in scenes]
    assert marked == [[], *([operation] for operation in jobs.JOBS.values())]
    assert sorted(box.text for box in boxes(scenes[0])) == sorted(OPERATIONS)
    places = {(box.x, box.y) for box in boxes(scenes[0])}
    assert len(places) == len(OPERATIONS)
    assert "reduce_scatter" in scenes[2].says


# Rounding


@pytest.mark.parametrize(("number", "kept"), [(104.0, 100.0), (-96.0, -96.0), (8.0, 8.0), (0.0, 0.0), (12.4, 12.0)])
def test_two_digits(number, kept):
    assert rounding.two_digits(number) == kept


def summed_apart() -> list[float]:
    """What each chunk comes to when its numbers are added by the chapter's own ring, in exact arithmetic."""
    return ring_all_reduce(torch.full((4,), rounding.NUMBERS[dist.get_rank()])).tolist()


def test_the_exact_sum_is_that_of_real_ranks():
    """float32 holds these numbers exactly: only the machine of two digits loses some."""
    assert set(world.run(summed_apart, ranks=4).values[0]) == {sum(rounding.NUMBERS)} == {8.0}
    assert [rounding.totals(chunk)[-1] for chunk in range(4)] == [0, 4, 0, 4]


def test_every_sum_in_the_sentences_is_right():
    """Kills a sentence that names another sum than its box shows."""
    for step in (1, 2, 3):
        scene = rounding.rounding_scene(step)
        found = re.findall(r"(-?\d+) ([+-]) (\d+) is (-?\d+)(?:, kept as (-?\d+))?", scene.says)
        assert len(found) == 4
        shown = [box.text for box in boxes(scene)][step :: step + 1]
        for (one, sign, other, exact, kept), text in zip(found, shown, strict=True):
            assert int(one) + int(sign + other) == int(exact)
            assert text == (kept or exact)
    assert len(frames(rounding.rounding_scene, 3)) == 4


# Published


def test_the_published_bandwidths_are_those_of_the_table():
    """The bus bandwidths that the table prints beside them: 2 (N - 1) / N times the size over the time."""
    bus = [row.rate * 2 * 7 / 8 / 1e9 for row in published.ROWS]
    assert bus == pytest.approx([1.44, 11.74, 39.93, 367.61, 482.26], rel=5e-3)
    assert hardware.NVLINK4.bandwidth == published.BANDWIDTH


def test_a_switch_that_adds_takes_no_longer_with_more_gpus():
    """What the page says of 4 to 8 GPUs: the published gains, a ring that grows, and a switch that does not."""
    pairs = [published.times(gpus) for gpus in published.FEWER_GPUS]
    assert [f"{ring / chosen:.2f}" for chosen, ring in pairs] == ["1.00", "1.14", "1.19", "1.26", "1.29"]
    assert all(before[1] < after[1] for before, after in pairwise(pairs))
    assert all(before[0] > after[0] for before, after in pairwise(pairs[1:]))


def test_how_far_the_formula_is_off():
    """What the page says: 5 percent for small tensors, 18 percent for the large ring, slower than the switch."""
    first, *others = published.ROWS
    alpha = first.size / first.rate / 14
    off = [ring_all_reduce_time(row.size, 8, published.BANDWIDTH, alpha) / (row.size / row.rate) - 1 for row in others]
    assert max(map(abs, off[:2])) < 0.05
    assert f"{off[2]:.0%}" == "-18%"
    assert 0.07 < off[3] < 0.08
