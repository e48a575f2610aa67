"""What chapter 13 draws step by step, and what others measured."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.ch13 import batch_steps, group_steps, hacking_steps, kl_steps, published
from experiments.ch13.kl_autograd import divergence_gradients
from rankzero.explore.scene import NARROW
from rankzero.explore.steppers import frames
from solutions.ch13.beta_sweep import run_of
from solutions.ch13.rlhf import group_advantages, masked_gae, policy_loss, token_rewards

SCENES = {
    "batch": (batch_steps.batch_scene, 3),
    "shift": (batch_steps.shift_scene, 3),
    "step": (batch_steps.step_scene, 3),
    "estimates": (kl_steps.estimate_scene, 3),
    "pushes": (kl_steps.push_scene, 3),
    "groups": (group_steps.group_scene, 3),
    "lengths": (group_steps.length_scene, 3),
    "run": (hacking_steps.run_scene, 3),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_says_something_else(name):
    """Kills a picture that does not fit a phone, and a step without news."""
    scenes = frames(*SCENES[name])
    assert scenes[0].width <= NARROW
    assert len({scene.svg() for scene in scenes}) == len({scene.says for scene in scenes}) == len(scenes)


def padded(rows) -> torch.Tensor:
    return torch.tensor([[*row, *[0.0] * (4 - len(row))] for row in rows], dtype=torch.float64)


def test_the_small_batch_is_what_the_references_compute():
    mask = padded([[1.0] * len(row) for row in batch_steps.WORDS])
    scores = torch.tensor(batch_steps.SCORES, dtype=torch.float64)
    ours, theirs, values = (padded(rows) for rows in (batch_steps.ACTOR, batch_steps.REFERENCE, batch_steps.VALUES))
    rewards = token_rewards(scores, ours, theirs, mask, batch_steps.BETA)
    assert torch.allclose(rewards, padded(batch_steps.token_pay()))
    gains, _ = masked_gae(rewards, values, mask, gae_lambda=1.0)
    assert torch.allclose(gains, padded(batch_steps.gains()))


def test_k1_as_a_loss_comes_back_and_k1_in_the_reward_ends_at_the_divergence():
    sums = [[sum(parts) for parts in zip(*kl_steps.pushes(weighted), strict=True)] for weighted in (False, True)]
    assert sums[0] == pytest.approx([0.0] * 3, abs=1e-12)
    target = divergence_gradients(kl_steps.LOGITS, kl_steps.REFERENCE_LOGITS)["KL(policy||reference)"]
    assert sums[1] == pytest.approx(target, abs=1e-12)


def test_the_four_groups_are_what_the_reference_computes():
    marks = torch.tensor(group_steps.MARKS, dtype=torch.float64)
    for normalize, rows in ((True, group_steps.divided()), (False, group_steps.centred())):
        found = group_advantages(marks.flatten(), 4, normalize, eps=1e-12)
        assert found.view(4, 4).tolist() == [pytest.approx(row) for row in rows]


def test_a_rare_success_counts_two_and_a_half_times_as_much():
    assert group_steps.success_gain(1 / 8, 8) / group_steps.success_gain(1 / 2, 8) == pytest.approx(2.65, abs=0.01)


def test_the_push_on_a_word_by_token_is_the_gradient_of_the_reference():
    """The other two means by autograd, on the page; this one is the policy loss of the labs."""
    mask = torch.tensor([[1.0] * 5 + [0.0] * 5, [1.0] * 10], dtype=torch.float64)
    now = torch.zeros(2, 10, dtype=torch.float64, requires_grad=True)
    policy_loss(now, torch.zeros_like(mask), -torch.ones_like(mask), mask)[0].backward()
    assert now.grad is not None
    assert now.grad[0, 0].item() == pytest.approx(-group_steps.pushes("by token")[0])
    assert now.grad[1, 9].item() == pytest.approx(-group_steps.pushes("by token")[1])


@pytest.mark.parametrize("seed", [2, 3])
def test_the_law_fits_the_runs_without_a_price(seed):
    """The page: off by about 0.2 where the judge moves by nine points, and highest between 2 and 3 nats."""
    first, *moments = run_of(0.0, seed).moments
    d = torch.tensor([moment.kl for moment in moments], dtype=torch.float64).sqrt()
    gain = torch.tensor([moment.judge - first.judge for moment in moments], dtype=torch.float64)
    columns = torch.stack([d, -d * d.log()], 1)
    alpha, beta = torch.linalg.lstsq(columns, gain[:, None]).solution[:, 0].tolist()
    laws = [hacking_steps.law(moment.kl, alpha, beta) for moment in moments]
    off = math.sqrt(sum((law - one) ** 2 for law, one in zip(laws, gain.tolist(), strict=True)) / len(moments))
    assert off < 0.25 < 5 < gain.max() - gain.min()
    assert 2 < math.exp(2 * (alpha / beta - 1)) < 3


def test_what_the_ablation_and_its_reproduction_say():
    assert published.gains() == (8, 2)
    ours, theirs = zip(*published.DAPO.values(), strict=True)
    assert list(ours) == sorted(ours)
    assert [one for one in theirs if one] == [0.44, 0.50, 0.52]
