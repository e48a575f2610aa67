"""The steppers of chapter 1: what they show is what real ranks and the reference functions come to."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
import torch.distributed as dist

from experiments.ch01 import cost_steps, group_steps, process_steps, program_steps, published_runs, shard_steps
from rankzero import world
from rankzero.explore import Box
from rankzero.explore.steppers import frames
from solutions.ch01.ranks import process_groups

#: Every stepper, and how many steps the page gives it.
STEPPERS = {
    program_steps.pass_it_on_scene: 3,
    program_steps.hello_scene: 2,
    process_steps.lock_scene: 2,
    process_steps.meeting_scene: 3,
    group_steps.square_scene: 2,
    group_steps.groups_scene: 4,
    shard_steps.shard_scene: 3,
    cost_steps.weight_scene: 3,
}


@pytest.mark.parametrize("draw", STEPPERS)
def test_every_picture_says_something_else(draw):
    scenes = frames(draw, STEPPERS[draw])
    assert all(one.says != next_.says for one, next_ in pairwise(scenes))
    assert all(one.alt.endswith(".") for one in scenes)


def passed():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    number = torch.tensor([0])
    if rank > 0:
        dist.recv(number, src=rank - 1)
    if rank < ranks - 1:
        dist.send(number + 1, dst=rank + 1)
    return number.item()


def said():
    pair = torch.tensor([10 * dist.get_rank(), 10 * dist.get_rank() + 1])
    pairs, total = [torch.empty_like(pair) for _ in range(dist.get_world_size())], torch.tensor(dist.get_rank())
    dist.all_gather(pairs, pair)
    dist.all_reduce(total)
    return [tuple(one.tolist()) for one in pairs], total.item()


def test_the_number_that_travels_is_that_of_real_ranks():
    assert tuple(program_steps.passed_on(3)[-1]) == world.run(passed, ranks=3).values


def test_what_is_heard_is_what_real_ranks_hear():
    last = program_steps.heard(3)[-1]
    for pairs, total in world.run(said, ranks=3).values:
        assert (pairs, total) == (last.pairs[0], last.total)


def test_one_lock_lets_one_thread_run():
    """Kills threads that run at the same moment, and processes that wait for each other."""
    for before, after in pairwise([(0, 0), *process_steps.turns(shared=True)]):
        assert sum(after) - sum(before) == 1
    for before, after in pairwise([(0, 0), *process_steps.turns(shared=False)]):
        assert sum(after) - sum(before) == 2


def test_a_meeting_ends_when_all_have_come():
    states = process_steps.meeting((0, 2, 1))
    assert [len(one.come) for one in states] == [0, 1, 2, 3, 3]
    assert [one.written for one in states] == [(), (), (2,), (2, 1, 0), (2, 1, 0)]  # rank 0 waits, then writes
    assert [one.told for one in states] == [False] * 4 + [True]
    with pytest.raises(ValueError, match="begin with rank 0"):
        process_steps.meeting((1, 0, 2))


@pytest.mark.parametrize(("step", "groups"), [(1, [[0, 1], [2, 3]]), (2, [[0, 2], [1, 3]])])
def test_the_square_shows_the_groups_that_it_names(step, groups):
    scene = group_steps.square_scene(step)
    looks = {mark.text: (mark.tone, mark.fill) for mark in scene.marks if isinstance(mark, Box)}
    assert f"{groups[0]} and {groups[1]}" in scene.says
    assert all(looks[f"rank {one}"] == looks[f"rank {other}"] for one, other in groups)
    assert len(set(looks.values())) == 2


@pytest.mark.parametrize("axis", group_steps.AXES)
def test_colours_tell_the_groups_of_an_axis_apart(axis):
    """Ranks of a group have one look; groups whose boxes touch have different ones."""
    step = 1 + [*group_steps.AXES].index(axis)
    looks = [group_steps._look(step, rank) for rank in range(16)]
    groups = process_groups(group_steps.SIZES, axis)
    home = {rank: group[0] for group in groups for rank in group}
    assert all(len({looks[rank] for rank in group}) == 1 for group in groups)
    touching = [(r, r + 1) for r in range(16) if r % 4 < 3] + [(r, r + 4) for r in range(12)]
    assert all(looks[a] != looks[b] for a, b in touching if home[a] != home[b])


def test_the_groups_are_those_of_megatron_s_documentation():
    """The example in the docstring of ``parallel_state.initialize_model_parallel``: 16 GPUs, tp 2 and pp 4."""
    printed = {
        "dp": [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9, 11], [12, 14], [13, 15]],
        "tp": [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11], [12, 13], [14, 15]],
        "pp": [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]],
    }
    assert {axis: process_groups(group_steps.SIZES, axis) for axis in printed} == printed


def test_a_weight_costs_six():
    phases = [one.phase for one in cost_steps.operations()]
    assert (phases.count("forward"), phases.count("backward")) == (2, 4)


@pytest.mark.parametrize("one", cost_steps.operations())
def test_each_operation_is_right(one):
    left, right = one.what.replace("×", "*").split("=")
    assert eval(left) == int(right)


def test_the_gradients_of_the_picture_are_autograd_s():
    """y = w x with the gradient 5 at y: the products of the picture are x's and w's gradients."""
    w, x = torch.tensor(float(cost_steps.WEIGHT), requires_grad=True), torch.tensor(2.0, requires_grad=True)
    (w * x).backward(torch.tensor(float(cost_steps.BACK)))
    products = [one.what.rpartition("= ")[2] for one in cost_steps.operations()[2::2]]
    assert [x.grad.item(), w.grad.item()] == [float(product) for product in products]


def test_every_published_run_was_slower_than_half_of_the_peak():
    """The page's sentence, with what explains two of the three; device-hours as in the sources."""
    used = [run.utilization for run in published_runs.RUNS]
    assert used == pytest.approx([0.428, 0.318, 0.346], abs=0.001)
    assert [run.device_hours for run in published_runs.RUNS] == [1_720_320, 1_082_990, 30.84e6]
    assert used[2] < published_runs.LLAMA3_405B_SUSTAINED / published_runs.RUNS[2].peak < 0.5
    assert used[1] < 8 / 6 * used[1] < 0.5


def test_the_order_that_is_dealt_out():
    assert shard_steps.padded()[:10] == list(shard_steps.ORDER)
    assert shard_steps.padded((0, 1), 5) == [0, 1, 0, 1, 0]  # as on the page
    assert sorted(shard_steps.ORDER) == list(range(10))
