"""What chapter 12 draws step by step, against torch, and what others published."""

from __future__ import annotations

import math

import pytest
import torch

from experiments.ch12 import policy_steps, published
from experiments.ch12.random_walk import walk
from rankzero.explore.scene import NARROW
from rankzero.explore.steppers import frames
from solutions.ch12.rl import policy_value

SCENES = {
    "mark": (policy_steps.mark_scene, 3),
    "baseline": (policy_steps.baseline_scene, 2),
    "returns": (policy_steps.returns_scene, 3),
    "news": (policy_steps.news_scene, 5),
    "triangle": (policy_steps.triangle_scene, 3),
    "ratio": (policy_steps.ratio_scene, 3),
    "clip": (policy_steps.clip_scene, 5),
    "programs": (policy_steps.programs_scene, 3),
}


@pytest.mark.parametrize(("draw", "steps"), SCENES.values(), ids=SCENES)
def test_a_scene_fits_a_phone_and_says_something_new_at_each_step(draw, steps):
    scenes = frames(draw, steps)
    assert scenes[0].width <= NARROW
    assert len({scene.says for scene in scenes}) == len(scenes)


@pytest.mark.parametrize("mark", [1.0, -1.0, 0.0])
def test_a_step_on_three_words_is_one_of_gradient_descent(mark):
    """Kills: a push that is not the gradient of the log-probability in the logits."""
    logits = torch.tensor(policy_steps.PI, dtype=torch.float64).log().requires_grad_()
    (gradient,) = torch.autograd.grad(-mark * logits.log_softmax(0)[policy_steps.DRAWN], logits)
    after = (logits - policy_steps.RATE * gradient).softmax(0)
    assert policy_steps.stepped(policy_steps.PI, policy_steps.DRAWN, mark) == pytest.approx(after.tolist())


def test_a_constant_on_both_marks_keeps_the_mean_push():
    means = [math.fsum(policy_steps.pushes(*frame)) / 2 for frame in policy_steps.FRAMES]
    assert means == pytest.approx([0.25] * 3)
    first, second, third = (policy_steps.pushes(*frame) for frame in policy_steps.FRAMES)
    assert max(map(abs, second)) > 10 * max(map(abs, first))
    assert third[0] == third[1]


def test_the_news_of_a_walk_add_up_to_the_reward_less_what_was_expected():
    expected = policy_value(*walk(), 1.0)[policy_steps.VISITS[0]]
    assert math.fsum(policy_steps.news()) == pytest.approx(1 - expected)
    assert policy_steps.news() == pytest.approx([-1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6])


@pytest.mark.parametrize("gae_lambda", [0.0, 0.25, 0.5, 1.0])
def test_the_rows_of_the_triangle_are_the_advantages(gae_lambda):
    rows = [math.fsum(row) for row in policy_steps.triangle(gae_lambda)]
    assert rows == pytest.approx(policy_steps.advantages(gae_lambda))


def test_an_error_at_the_last_state_comes_through_best_in_the_middle():
    """Question 12-critic-error: lambda - lambda squared."""
    wrong = (*policy_steps.SAID[:2], policy_steps.SAID[2] + 1)
    for trace in (0.0, 0.25, 0.5, 0.75, 1.0):
        error = policy_steps.advantages(trace, wrong)[0] - policy_steps.advantages(trace)[0]
        assert error == pytest.approx(trace - trace**2)


def test_weighted_samples_count_as_the_new_policy_would_draw_them():
    ratios = [new / old for old, new in zip(policy_steps.OLD, policy_steps.NEW, strict=True)]
    counted = [10 * old * ratio for old, ratio in zip(policy_steps.OLD, ratios, strict=True)]
    assert counted == pytest.approx([3, 3, 4])
    assert (policy_steps.mean_worth(policy_steps.OLD), policy_steps.mean_worth(policy_steps.NEW)) == pytest.approx(
        (1.3, 2.3)
    )


@pytest.mark.parametrize(("advantage", "ratio"), policy_steps.REGIONS)
def test_a_region_by_automatic_differentiation(advantage, ratio):
    rho = torch.tensor(ratio, dtype=torch.float64, requires_grad=True)
    objective = torch.minimum(rho * advantage, rho.clamp(0.8, 1.2) * advantage)
    (gradient,) = torch.autograd.grad(objective, rho)
    found = policy_steps.region(advantage, ratio)
    assert found.objective == pytest.approx(objective.item())
    if ratio != 1:  # where both terms are equal torch splits the gradient between them, and both give the same
        assert found.gradient == pytest.approx(gradient.item())


@pytest.mark.parametrize("step", range(1, 4))
def test_each_program_changes_something_and_keeps_something(step):
    before, after = policy_steps.PROGRAMS[step - 1][1], policy_steps.PROGRAMS[step][1]
    same = [old == new for old, new in zip(before, after, strict=True)]
    assert any(same)
    assert not all(same)


def test_how_often_others_use_a_batch():
    """InstructGPT: "randomly split into 8 minibatches"; DeepSeek-R1: "randomly split into 16 minibatches"."""
    assert (published.INSTRUCT_GPT.steps, published.DEEPSEEK_R1.steps) == (8, 16)
    batches = published.EPISODES / published.INSTRUCT_GPT.responses
    assert (batches, batches * published.INSTRUCT_GPT.steps) == (500, 4000)


def test_a_rare_word_is_stopped_and_a_frequent_one_is_not():
    """DAPO, section 3.1, gives 0.012 and 1.08 for words of 0.01 and 0.9."""
    assert published.most_probable(0.01, published.LOW) == pytest.approx(0.012)
    assert published.most_probable(0.01, published.HIGH) == pytest.approx(0.0128)
    assert published.most_probable(0.9, published.LOW) == 1.0
    assert published.most_probable(0.01, published.R1_CLIP) == pytest.approx(0.11)
