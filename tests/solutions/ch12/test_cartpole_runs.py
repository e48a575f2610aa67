"""CartPole: what the environment is, what a rollout keeps at an end, and that the programs of the page learn."""

from __future__ import annotations

import math

import gymnasium
import pytest
import torch

from experiments.ch12 import ppo_training_runs as runs
from experiments.ch12 import reinforce_runs
from experiments.ch12.ppo_training_runs import Settings, learning_batch, training, value_near_the_end
from solutions.ch12.cartpole_runs import Game, mean_return, networks, play_episodes, states, steady
from solutions.ch12.ppo_runs import train_cartpole
from solutions.ch12.rl import gae

RUNS = pytest.mark.proof(part="runs")


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# The environment.


def test_the_world_is_the_one_of_the_text():
    world = gymnasium.make("CartPole-v1").unwrapped
    assert (world.tau, world.masscart, world.masspole, world.length) == (0.02, 1.0, 0.1, 0.5)
    assert (world.force_mag, world.gravity, world.x_threshold) == (10.0, 9.8, 2.4)
    assert math.degrees(world.theta_threshold_radians) == pytest.approx(12)
    assert gymnasium.spec("CartPole-v1").max_episode_steps == 500


def test_an_untrained_policy_soon_falls():
    policy, _ = networks(0)
    episodes = play_episodes(policy, 20, 0)
    assert 10 < episodes.lengths.double().mean() < 60
    assert episodes.observations[:, 0].abs().max() <= 0.05
    whole = states(episodes, 3)
    assert len(whole) == episodes.lengths[3]
    assert {len(row) for row in whole} == {4}


def test_episodes_end_where_they_should():
    """The last state that is kept is within the limits: it is the one in which the last action was taken."""
    episodes = play_episodes(networks(1)[0], 30, 3)
    kept = episodes.observations[episodes.mask]
    assert kept[:, 0].abs().max() <= 2.4
    assert kept[:, 2].abs().max() <= math.radians(12)
    assert bool((episodes.mask[:, 1:] <= episodes.mask[:, :-1]).all())  # no step behind an end


def test_a_policy_by_hand_lasts():
    assert play_episodes(steady(), 50, 0).lengths.tolist() == [500] * 50
    assert play_episodes(steady(), 5, 0, limit=30, greedy=True).lengths.tolist() == [30] * 5


# Rollouts.


def test_the_state_before_the_reset_is_kept():
    """Kills a bootstrap from the next episode's first state: with a limit of 10 steps, replayed by hand."""
    game = Game(3, seed=5, limit=10)
    rollout = game.play(steady(), 10)
    assert rollout.truncated[9].tolist() == [True] * 3
    assert not rollout.terminated.any()
    for place in range(3):
        alone = gymnasium.make("CartPole-v1")
        alone.reset(seed=5 + place)
        for step in range(10):
            seen, *_ = alone.step(int(rollout.actions[step, place]))
        torch.testing.assert_close(rollout.reached[9, place], torch.from_numpy(seen))
    assert (game.observations.abs() <= 0.05).all()
    assert not torch.allclose(game.observations, rollout.reached[9])
    assert rollout.returns == (10.0,) * 3


def test_the_batch_bootstraps_from_it():
    rollout = Game(2, seed=1, limit=10).play(steady(), 15)
    _, value = networks(3)
    batch = learning_batch(rollout, value, Settings())
    with torch.no_grad():
        first, after = value(rollout.observations[9, 0]), value(rollout.reached[9, 0])
    delta = 1 + 0.98 * after.item() - first.item()
    assert batch.advantages[9 * 2].item() == pytest.approx(delta, rel=1e-5)  # nothing flows back over the cut-off
    assert batch.returns[9 * 2].item() == pytest.approx(delta + first.item(), rel=1e-5)
    wrong = learning_batch(rollout, value, Settings(cutoffs_end=True))
    assert wrong.advantages[9 * 2].item() == pytest.approx(1 - first.item(), rel=1e-5)


def test_states_follow_each_other_until_an_end():
    game = Game(4, seed=0)
    rollout, policy = game.play(networks(0)[0], 60), networks(0)[0]
    over = rollout.terminated | rollout.truncated
    follows = (rollout.reached[:-1] == rollout.observations[1:]).all(-1)
    assert (follows | over[:-1]).all()
    assert not follows[over[:-1]].any()
    assert len(rollout.returns) == over.sum()
    assert sum(rollout.returns) + game.running.sum() == 4 * 60
    again = policy(rollout.observations).log_softmax(-1).gather(-1, rollout.actions.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(rollout.log_probs, again.detach())


# PPO.


def test_the_milestone_is_the_run_of_the_page():
    """Two programs, one result: the same episodes and the same weights."""
    run = training(3, steps=6 * 256 + 100)
    policy, value = networks(3)
    assert train_cartpole(policy, value, 6 * 256 + 100, 3) == list(run.returns)
    pairs = [*zip(policy.parameters(), run.policy.parameters(), strict=True)]
    pairs += zip(value.parameters(), run.value.parameters(), strict=True)
    assert all(torch.equal(left, right) for left, right in pairs)
    assert run.steps == 6 * 256


def test_the_parts_are_those_that_are_given():
    calls = []

    def counted(*args):
        calls.append(len(args[0]))
        return gae(*args)

    training(0, Settings(epochs=1), steps=512, gae=counted)
    assert calls == [32] * 16


@RUNS
def test_ppo_learns():
    """With a wide margin: solved means 475, and these steps are more than it takes on average."""
    run = training(0, steps=100_000, stop_at=450)
    assert run.steps < 80_000
    assert mean_return(run.policy) > 300
    assert all(report.first_outside == 0 for report in run.reports)
    assert any(report.outside_fraction > 0 for report in run.reports)
    assert all(report.clipped_fraction <= report.outside_fraction for report in run.reports)


@pytest.mark.proof(part="runs")
def test_one_epoch_does_not():
    run = training(0, runs.ABLATIONS["one epoch"], steps=20_000)
    assert mean_return(run.policy) < 200


@RUNS
@pytest.mark.parametrize("seed", [0, 1])
def test_clipping_buys_tolerance_of_the_step_size(seed):
    """Ten times the rate and no limit of the gradients: a sixth of the steps of the stored runs tells them apart."""
    wild = "rate 1e-2, no norm limit"
    clipped, free = (training(seed, runs.ABLATIONS[name], steps=10_240) for name in (wild, f"{wild}, no clipping"))
    moved = [max(report.approx_kl for report in run.reports) for run in (clipped, free)]
    assert moved[1] > 10 * moved[0]
    for report in clipped.reports:
        assert report.first_outside == 0
        assert report.clipped_fraction <= report.outside_fraction
    assert clipped.reports[-1].episode_return > 1.5 * free.reports[-1].episode_return


@pytest.mark.proof(part="runs")
@RUNS
@pytest.mark.parametrize(("limit", "least"), [(500, 1.0), (50, 15.0)])
def test_a_cutoff_that_counts_as_an_end_is_a_bias(limit, least):
    assert value_near_the_end(steady(), False, limit) == pytest.approx(50, abs=1)
    assert value_near_the_end(steady(), True, limit) < 50 - least


def test_stored_ablations_tell_what_the_page_says():
    found = {name: [run for run in runs.stored_ablations() if run.name == name] for name in runs.ABLATIONS}
    assert all([run.seed for run in kept] == list(runs.ABLATION_SEEDS) for kept in found.values())
    scores = {name: [run.evaluation for run in kept] for name, kept in found.items()}
    assert min(scores["as it should be"]) > 475
    assert max(scores["one epoch"]) < 80
    assert all(80 < score < 475 for score in scores["one epoch, rate 1e-2"])
    assert scores["one epoch"] == list(runs.stored_ends("one epoch"))
    assert sum(score >= 475 for score in scores["no clipping"]) >= 2
    wild = "rate 1e-2, no norm limit"
    assert sum(score >= 475 for score in scores[wild]) >= 2
    assert sum(score < 475 for score in scores[f"{wild}, no clipping"]) >= 2


# REINFORCE.


def test_weights_of_one_episode():
    """Rewards of 1: the return is what is left."""
    episodes = play_episodes(networks(0)[0], 4, 0)
    length = int(episodes.lengths[1])
    to_go = reinforce_runs.weights(episodes, "to-go")
    assert to_go[1, :length].tolist() == [float(length - t) for t in range(length)]
    assert reinforce_runs.weights(episodes, "episode")[1, : length - 1].tolist() == [float(length)] * (length - 1)
    assert reinforce_runs.weights(episodes, "mean")[episodes.mask].mean().item() == pytest.approx(0, abs=1e-4)
    with pytest.raises(ValueError, match="critic"):
        reinforce_runs.weights(episodes, "value")


@pytest.mark.proof(part="runs")
def test_each_weight_scatters_less():
    half = reinforce_runs.half_trained(count=64)
    found = reinforce_runs.scatters(half)
    assert found["episode"].variance > 2 * found["to-go"].variance > 2 * found["value"].variance


def test_reinforce_learns():
    curve = reinforce_runs.learn("value", seed=0, steps=20_000, enough=100)
    assert max(mean for _, mean in curve.points) >= 80
    assert curve.points[0][1] < 60


def test_stored_curves_tell_what_the_page_says():
    """Plain REINFORCE solves the task with one seed and falls apart with the other; less scatter needs less luck."""
    found = reinforce_runs.stored_curves()
    assert list(found) == [(kind, seed) for kind in reinforce_runs.KINDS for seed in reinforce_runs.STORED_SEEDS]
    for points in found.values():
        assert points[-2][0] < reinforce_runs.STORED_STEPS <= points[-1][0] or points[-1][1] >= 495
    best = {key: max(mean for _, mean in points) for key, points in found.items()}
    assert best["episode", 0] > 300
    assert best["episode", 1] < 100
    assert found["episode", 1][-1][1] < 0.8 * best["episode", 1]
    assert all(best[kind, seed] > 350 for kind in ("to-go", "mean", "value") for seed in reinforce_runs.STORED_SEEDS)


def test_curves_there_and_back(tmp_path, monkeypatch):
    kept = {("to-go", 0): ((320, 20.0), (700, 23.5))}
    reinforce_runs.store(kept, tmp_path / "curves.json")
    monkeypatch.setattr(reinforce_runs, "STORED", tmp_path / "curves.json")
    assert reinforce_runs.stored_curves.__wrapped__() == kept


@pytest.mark.proof(part="runs")
def test_stored_curves_are_those_of_the_loop():
    """Rounding grows from batch to batch, so another processor gives the same curve at the start alone."""
    found = reinforce_runs.learn("mean", 0, 3000).points
    kept = reinforce_runs.stored_curves()["mean", 0]
    assert found[0] == kept[0]
    assert [mean for _, mean in found[:4]] == pytest.approx([mean for _, mean in kept[:4]], rel=0.1)
