"""What the deeper page of chapter 13 draws and tells: against autograd, the references and plain arithmetic."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch

from experiments.ch13 import family, node_layouts, preference_steps, process_steps
from rankzero.explore.scene import NARROW
from rankzero.explore.steppers import frames
from rankzero.grammar.toy_language import judge, may_follow, read
from solutions.ch12.rl import discounted_returns
from solutions.ch13.rlhf import policy_loss

SCENES = {
    "tilt": (preference_steps.tilt_scene, 3),
    "bounds": (family.bound_scene, 5),
    "process": (process_steps.process_scene, 3),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_says_something_else(name):
    """Kills a picture that does not fit a phone, and a step without news."""
    scenes = frames(*SCENES[name])
    assert scenes[0].width <= NARROW
    assert len({scene.svg() for scene in scenes}) == len({scene.says for scene in scenes}) == len(scenes)


def test_the_clip_pushes_as_the_policy_loss_does():
    old = torch.full((1, 5), -3.0, dtype=torch.float64)
    now = (old + torch.tensor([family.RATIOS], dtype=torch.float64).log()).requires_grad_()
    loss, _ = policy_loss(now, old, torch.full_like(old, family.GAIN), torch.ones_like(old), family.CLIP)
    loss.backward()
    assert now.grad is not None
    assert [-5 * push for push in now.grad[0].tolist()] == pytest.approx(family.pushes("clip"))


def test_a_capped_weight_keeps_what_a_clip_and_a_mask_drop():
    """Of the token that rose to 1.5: what the question about a rare word asks."""
    rose = {bound: family.pushes(bound)[2] for bound in family.BOUNDS}
    assert rose["clip"] == rose["mask"] == 0 < rose["weight"] < rose["gate"]
    assert family.whole() == pytest.approx(math.prod(family.RATIOS) ** (1 / 5))


def test_every_member_of_the_family_has_a_source_and_a_row_that_fits():
    for one in family.FAMILY:
        assert one.source
        assert len(one.name) < 18
        assert len(one.baseline) < 12
        assert len(one.divided) < 12
        assert len(one.ratio) < 10
        assert len(one.bound) < 18


def test_progress_sums_to_the_gain_of_the_whole():
    for pay in (process_steps.outcome(), process_steps.step_marks(), process_steps.progress()):
        assert process_steps.to_go(pay) == pytest.approx(discounted_returns(pay, 1.0))
    assert sum(process_steps.progress()) == pytest.approx(process_steps.CHANCES[-1] - process_steps.CHANCES[0])


def test_who_may_follow_is_what_the_judge_counts():
    good = read("the film was good .")
    assert all(may_follow(*pair) for pair in pairwise(good))
    assert not may_follow(*read("was was", finished=False)[1:])
    assert judge(read("the film was was good .")) < judge(good)


def test_the_node_is_what_was_worked_out_by_hand():
    """In GB and tokens: 36 bytes for each of 70.55 billion parameters, an eighth of their weights."""
    assert node_layouts.job_bytes() / 1e9 == pytest.approx(36 * 70.5537, rel=1e-4)
    assert node_layouts.fitted_bytes() / 8e9 == pytest.approx((4 * 78.5537 + 2 * 78.5537) / 8, rel=1e-4)
    assert node_layouts.copy_bytes(8) / 1e9 == pytest.approx(17.638, rel=1e-3)
    assert node_layouts.tensor_bytes(node_layouts.crossing()) == pytest.approx(node_layouts.sharded_bytes())
    read_whole = [node_layouts.token_time(tp) for tp in (2, 4, 8)]
    assert read_whole[0] > 1.5 * read_whole[1] > 2 * read_whole[2]
