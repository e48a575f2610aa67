"""What chapter 14's deeper page draws and computes in its last sections."""

from __future__ import annotations

import json

import pytest
import torch
import vl_convert

from autograder.bank.ch14 import section_26, section_30
from experiments.ch14 import deeper_steps, mixture_runs, systems, throughput
from experiments.ch14.deeper_explorers import BATCHES, MODELS
from experiments.ch14.deeper_explorers import throughput as explorer
from rankzero.explore import VEGA_LITE
from rankzero.explore.scene import NARROW
from rankzero.explore.steppers import frames
from rankzero.facts.models import LLAMA3_70B, LLAMA3_405B
from rankzero.facts.units import GB
from solutions.ch13.rlhf_memory import role_bytes
from solutions.ch14.rlhf_profile import Iteration, phase_seconds

SCENES = {
    "pools": (deeper_steps.pool_scene, 3),
    "batches": (deeper_steps.batch_scene, 2),
    "levels": (deeper_steps.level_scene, 4),
    "tie": (deeper_steps.tie_scene, 2),
    "changes": (deeper_steps.delta_scene, 3),
    "agent": (deeper_steps.agent_scene, 3),
}


@pytest.mark.parametrize("name", SCENES)
def test_every_step_says_something_else(name):
    """Kills a picture that does not fit a phone (it raises), and a step without news."""
    scenes = frames(*SCENES[name])
    assert scenes[0].width <= NARROW
    assert len({scene.says for scene in scenes}) == len(scenes)
    assert len({scene.svg() for scene in scenes}) == len(scenes)


# Memory of two pools


def test_a_training_gpu_holds_an_actor_and_a_reference():
    """By the roles of chapter 13: 16 bytes for what learns, 2 for what is frozen."""
    parameters = LLAMA3_70B.parameters
    states = sum(role_bytes(parameters, trained=how)["total"] for how in (True, False))
    training, writing = throughput.pool_memory(parameters, 32, 0, 8)
    assert training == pytest.approx(states / 32 + throughput.WORK)
    gradients = role_bytes(parameters, trained=True)["gradients"]
    assert writing == pytest.approx((states - gradients) / 32 + 2 * parameters / 8)


def test_what_fits_on_the_page():
    def fits(model, train, write, copy_gpus, away=False) -> bool:
        return max(throughput.pool_memory(model.parameters, train, write, copy_gpus, away)) < throughput.USABLE

    assert not fits(LLAMA3_70B, 8, 0, 8, away=True)
    assert fits(LLAMA3_70B, 32, 0, 8)
    assert fits(LLAMA3_70B, 24, 8, 8)
    assert not fits(LLAMA3_405B, 128, 0, 16)
    assert fits(LLAMA3_405B, 128, 0, 16, away=True)
    assert not fits(LLAMA3_405B, 96, 32, 16)
    assert fits(LLAMA3_405B, 192, 64, 16)
    assert 2 * LLAMA3_405B.parameters / 8 > 80 * GB


def test_one_node_holds_two_models_without_optimizers_and_not_three_that_learn():
    """GRPO: 6 bytes for each parameter, beside the work. PPO: 12 bytes of four models leave nothing."""
    each = LLAMA3_70B.parameters / 8
    assert 6 * each + throughput.WORK < throughput.USABLE < 12 * each


def test_a_quarter_of_the_gpus_has_most_of_the_room():
    free = [
        gpus * (throughput.USABLE - throughput.pool_memory(LLAMA3_70B.parameters, *plan, 8)[1])
        for gpus, plan in ((8, (24, 8)), (32, (32, 0)))
    ]
    (room,) = (one for one in section_26.QUESTIONS if one.id == "14-pool-room")
    assert room.answer() == pytest.approx(100 * free[0] / free[1])
    assert 65 < room.answer() < 75


# Answers per second


def test_writing_is_the_roofline_of_the_chapter_where_all_answers_fit():
    work = Iteration(256, 100, 8192, critic=False)
    seconds = phase_seconds(LLAMA3_70B, 128, work)
    assert throughput.writing_time(LLAMA3_70B, 128, 256, throughput.ROOM) == pytest.approx(seconds["generate"])
    together = seconds["train"] + seconds["score"]
    assert throughput.training_time(LLAMA3_70B, 128, 256) == pytest.approx(together)


def test_the_gain_rises_and_falls():
    gains = [
        throughput.turn_time(LLAMA3_70B, 128, batch) / throughput.pool_time(LLAMA3_70B, 128, batch)[0]
        for batch in BATCHES
    ]
    best = gains.index(max(gains))
    assert 0 < best < len(gains) - 1
    assert gains[: best + 1] == sorted(gains[: best + 1])
    assert gains[best:] == sorted(gains[best:], reverse=True)
    assert max(gains) > 1.3 > 1.05 > gains[0]


def test_with_a_tail_few_answers_gain_as_much_as_the_tail():
    turn = throughput.turn_time(LLAMA3_70B, 128, 16, longest=3.0)
    assert turn / throughput.pool_time(LLAMA3_70B, 128, 16)[0] == pytest.approx(3, abs=0.05)
    assert turn / throughput.pool_time(LLAMA3_70B, 128, 16, longest=3.0)[0] < 1.05


def test_a_pool_that_trains_holds_the_states():
    _, writers = throughput.pool_time(LLAMA3_70B, 128, 16)
    training, _ = throughput.pool_memory(LLAMA3_70B.parameters, 128 - writers, writers, 8)
    assert training <= throughput.USABLE
    with pytest.raises(ValueError, match="gpus must hold the states and a copy of 8 GPUs, got 16"):
        throughput.pool_time(LLAMA3_70B, 16, 16)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("longest", [1.0, 4.0])
def test_the_explorer_draws(model, longest):
    spec = explorer(model=model, gpus=64, tokens=512, longest=longest, batch=4096)
    json.dumps(spec, allow_nan=False)
    assert vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).startswith("<svg")


def test_the_small_example_rises_and_falls_too():
    gains = [deeper_steps.turn(batch) / deeper_steps.pools(batch) for batch in deeper_steps.BATCHES]
    assert gains[0] < gains[1] > 1 > gains[2]


# The same weights, other experts


def test_replayed_routes_leave_rounding_only():
    """In float32 a pass with its own routes is the same pass; with coarse ones, replaying them brings it nearer."""
    model = mixture_runs.mixture(layers=12)
    x = torch.randn(200, mixture_runs.HIDDEN, generator=torch.Generator().manual_seed(1))
    exact, routes = mixture_runs.log_probs(model, x, torch.float32)
    again, _ = mixture_runs.log_probs(model, x, torch.float32, routes)
    assert torch.equal(exact, again)
    engine, coarse = mixture_runs.log_probs(model, x, torch.bfloat16)
    replayed, _ = mixture_runs.log_probs(model, x, torch.float32, coarse)
    words = engine.argmax(-1, keepdim=True)
    assert mixture_runs.other_routes(routes, coarse).any()
    own, near = (mixture_runs.differences(engine, one, words) for one in (exact, replayed))
    assert near[0] < own[0]
    assert near[1] < own[1]


def test_the_tie_of_the_picture():
    coarse = deeper_steps.rounded(deeper_steps.SCORES, deeper_steps.STEP)
    assert coarse == (0.6, 0.35, 0.35, 0.1)
    assert deeper_steps.chosen(deeper_steps.SCORES) == (0, 2)
    assert deeper_steps.chosen(coarse) == (0, 1)


# Systems


def test_every_system_says_what_was_read_and_fits_the_page():
    assert len({one.name for one in systems.SYSTEMS}) == 7
    assert all(one.read for one in systems.SYSTEMS)
    assert all(len(line) <= 88 for aspect in systems.ASPECTS for line in systems.table(aspect))
    with pytest.raises(ValueError, match="aspect must be one of trains with"):
        systems.table("speed")


def test_few_bf16_weights_change_in_a_step():
    """The formula of the answer against a million weights."""
    draw = torch.Generator().manual_seed(3)
    exact = 0.02 * torch.randn(10**6, generator=draw)
    moved = exact + 1e-6 * torch.randn(10**6, generator=draw).sign()
    share = (exact.bfloat16() != moved.bfloat16()).float().mean().item()
    (changed,) = (one for one in section_30.QUESTIONS if one.id == "14-changed-share")
    assert changed.answer() == pytest.approx(100 * share, rel=0.03)


def test_what_changed_is_what_the_picture_marks():
    assert [len(deeper_steps.sent(step)) for step in range(4)] == [0, 1, 0, 2]
