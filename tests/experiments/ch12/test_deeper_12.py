"""What the deeper page of chapter 12 draws: every step of the agent's loop has news, on a phone as well."""

from __future__ import annotations

from experiments.ch12 import agent_steps
from rankzero.explore.scene import NARROW
from rankzero.explore.steppers import frames
from solutions.ch12.rl import discounted_returns


def test_every_step_says_something_else():
    """Kills a picture that does not fit a phone, and a step without news."""
    scenes = frames(agent_steps.agent_scene, agent_steps.STEPS)
    assert scenes[0].width <= NARROW
    assert len({scene.svg() for scene in scenes}) == len({scene.says for scene in scenes}) == len(scenes)


def test_one_reward_at_the_end_is_the_return_of_every_word():
    rewards = [turn.reward for turn in agent_steps.TURNS["sentence"]]
    assert discounted_returns(rewards, 1.0) == [1, 1, 1]
    assert [turn.over for turn in agent_steps.TURNS["sentence"]] == [False, False, True]
