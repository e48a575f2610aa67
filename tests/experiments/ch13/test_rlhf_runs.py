"""The steps and the loops: their tensors against loops over tokens, and learning with a margin."""

from __future__ import annotations

import functools
import math
from dataclasses import fields, replace
from statistics import fmean

import pytest
import torch

from experiments.ch12.toy_models import CONFIG, GPT, LENGTH, Scorer, reference, scorer, with_one_output
from experiments.ch13 import rlhf_runs, rlhf_steps
from experiments.ch13.rlhf_runs import (
    Parts,
    Settings,
    assemble,
    best_of,
    generate,
    grpo,
    judged,
    passes,
    ppo,
    prompt_rows,
)
from rankzero.grammar.toy_language import EOS, PROMPT
from solutions.ch12.rl import gae
from solutions.ch13 import beta_sweep, rlhf
from solutions.ch13.kl import kl_estimates

RUNS = pytest.mark.proof(part="runs")
trained = pytest.mark.xdist_group("rlhf runs")  # one process, which trains each of them once


@pytest.fixture
def team():
    """Untrained models: an actor that has left its reference, and rewards of any kind."""
    model = GPT(CONFIG, seed=1)
    made = assemble(model, Scorer(with_one_output(model, seed=2), 0.1, 2.0))
    with torch.no_grad():
        for value in (*made.actor.parameters(), *made.critic.parameters()):
            value += 0.05 * torch.randn(value.shape, generator=torch.Generator().manual_seed(value.numel()))
    return made


@pytest.fixture
def rollout(team):
    return generate(team.actor, prompt_rows(12), LENGTH, torch.Generator().manual_seed(3))


# One step.


def test_a_second_look_finds_what_was_drawn(team, rollout):
    again = rlhf_runs.look_again(team.actor, rollout)
    assert torch.allclose(again, rollout.log_probs, atol=1e-5)
    assert not torch.allclose(rlhf_runs.look_again(team.reference, rollout), again, atol=1e-2)


def test_a_batch_token_by_token(team, rollout):
    """Rewards and returns of each response, computed alone with plain numbers and chapter 12's estimator."""
    batch = rlhf_runs.prepare(team, rollout, Settings(beta=0.3))
    whole = []
    for row, count in enumerate(rollout.mask.sum(1).int().tolist()):
        tokens = rollout.tokens[row : row + 1, : PROMPT + count]
        alone = {
            name: rlhf_steps.word_logits(model, tokens)[0].log_softmax(-1)
            for name, model in (("actor", team.actor), ("reference", team.reference))
        }
        values = team.critic(tokens)[0, PROMPT - 1 : -1, 0].tolist()
        gaps = [
            (alone["actor"] - alone["reference"])[PROMPT - 1 + place, tokens[0, PROMPT + place]].item()
            for place in range(count)
        ]
        rewards = [-0.3 * gap for gap in gaps]
        rewards[-1] += team.reward(tokens).item()
        gains = gae(rewards, values, [*values[1:], 0.0], [False] * (count - 1) + [True], [False] * count, 1.0, 0.95)
        assert batch.rewards[row, :count].tolist() == pytest.approx(rewards, abs=1e-4)
        returns = [gain + value for gain, value in zip(gains, values, strict=True)]
        assert batch.returns[row, :count].tolist() == pytest.approx(returns, abs=1e-4)
        assert not batch.returns[row, count:].any()
        whole.append(sum(gaps))
    assert batch.kl == pytest.approx(sum(whole) / len(whole), abs=1e-4)
    real = batch.advantages[rollout.mask == 1]
    assert real.mean().item() == pytest.approx(0, abs=1e-5)
    assert real.std(correction=0).item() == pytest.approx(1, abs=1e-4)


def test_only_actor_and_critic_learn(team, rollout):
    before = {name: [value.clone() for value in model.parameters()] for name, model in team.models().items()}
    settings = Settings()
    optimizers = rlhf_runs.optimizer_of(team.actor, settings), rlhf_runs.optimizer_of(team.critic, settings)
    batch = rlhf_runs.prepare(team, rollout, settings)
    stats = rlhf_runs.ppo_step(team, optimizers, batch, settings, generator=torch.Generator().manual_seed(0))
    assert len(stats) == settings.epochs * settings.minibatches
    assert stats[0].approx_kl == pytest.approx(0, abs=1e-6)
    assert stats[-1].approx_kl > 0
    moved = {
        name: any(not torch.equal(*pair) for pair in zip(before[name], model.parameters(), strict=True))
        for name, model in team.models().items()
    }
    assert moved == {"actor": True, "critic": True, "reference": False, "reward": False}


@pytest.mark.parametrize(("epochs", "minibatches"), [(1, 1), (4, 1), (4, 2)])
def test_passes_are_counted(team, rollout, epochs, minibatches):
    """Four forward passes, then one forward and one backward of actor and critic for each update."""
    settings = Settings(epochs=epochs, minibatches=minibatches)

    def job():
        batch = rlhf_runs.prepare(team, rollout, settings)
        optimizers = rlhf_runs.optimizer_of(team.actor, settings), rlhf_runs.optimizer_of(team.critic, settings)
        rlhf_runs.ppo_step(team, optimizers, batch, settings)

    updates = epochs * minibatches
    assert passes(team, job) == {
        "actor": (1 + updates, updates),
        "critic": (1 + updates, updates),
        "reference": (1, 0),
        "reward": (1, 0),
    }


def test_the_parts_of_a_reader_are_run(team):
    """Every part is called: a page shows the run of whoever wrote it."""
    called = set()

    def noting(name):
        def run(*args, **kwargs):
            called.add(name)
            return getattr(rlhf, name)(*args, **kwargs)

        return run

    mine = Parts(**{field.name: noting(field.name) for field in fields(Parts)})
    few = Settings(responses=8, epochs=1)
    ppo(team, few, 1, parts=mine)
    grpo(team, replace(few, beta=0.1), 1, parts=mine)
    assert called == {field.name for field in fields(Parts)}


def test_k3_of_the_loss_is_that_of_the_chapter():
    log_probs, ref = torch.tensor([[-1.0, -0.2, -5.0]]), torch.tensor([[-1.5, -0.1, -9.0]])
    found = rlhf_steps.k3_loss(log_probs, ref, torch.tensor([[1.0, 1.0, 0.0]]))
    wanted = [kl_estimates(-1.0, -1.5).k3, kl_estimates(-0.2, -0.1).k3]
    assert found.item() == pytest.approx(sum(wanted) / 2, rel=1e-5)


def test_grpo_pays_the_better_answer(team):
    """One step raises the log-probability of the answers that were paid, and needs a reference for its price."""
    prompts = prompt_rows(1).expand(8, -1)
    rollout = generate(team.actor, prompts, LENGTH, torch.Generator().manual_seed(4))
    rewards = torch.tensor([1.0, 0.0] * 4)
    settings = Settings(beta=0.0, epochs=1, minibatches=1, learning_rate=1e-4)
    rlhf_runs.grpo_step(team.actor, rlhf_runs.optimizer_of(team.actor, settings), rollout, rewards, settings)
    gain = (rlhf_runs.look_again(team.actor, rollout) - rollout.log_probs).sum(1) / rollout.mask.sum(1)
    assert gain[rewards == 1].mean() > gain[rewards == 0].mean()
    with pytest.raises(ValueError, match="origin"):
        rlhf_runs.grpo_step(team.actor, None, rollout, rewards, Settings(beta=0.1))


def test_equal_rewards_teach_nothing(team):
    before = [value.clone() for value in team.actor.parameters()]
    rollout = generate(team.actor, prompt_rows(8), LENGTH, torch.Generator().manual_seed(4))
    settings = Settings(beta=0.0, epochs=1)
    plain = torch.optim.SGD(team.actor.parameters(), lr=1.0)
    rlhf_runs.grpo_step(team.actor, plain, rollout, torch.ones(8), settings)
    assert all(torch.equal(*pair) for pair in zip(before, team.actor.parameters(), strict=True))


def test_groups_share_a_prompt():
    rows = rlhf_runs.grouped_prompts(Settings(responses=12, group_size=4), seed=1)
    assert rows.shape == (12, PROMPT)
    assert all((group == group[0]).all() for group in rows.split(4))


def test_best_of_n_keeps_the_best(team):
    """The score counts the tokens of <eos>: found by hand from the same draws."""

    def score(tokens):
        return tokens.float().sum(1)

    one, many = (best_of(team.reference, score, n, prompts=6, seed=2) for n in (1, 8))
    assert one.kl_bound == 0
    assert many.kl_bound == pytest.approx(math.log(8) - 7 / 8)
    prompts = [prompt for prompt in prompt_rows(6, 2).tolist() for _ in range(8)]
    drawn = generate(team.reference, torch.tensor(prompts), LENGTH, torch.Generator().manual_seed(2)).tokens.tolist()
    wanted = [max(sum(answer) for answer in drawn[8 * place : 8 * place + 8]) for place in range(6)]
    assert many.score == pytest.approx(sum(wanted) / 6)
    assert many.score > one.score


# Learning, with the models of the page: the stored runs, and the same runs again.


@functools.cache
def again(beta: float, seed: int) -> list[rlhf_runs.Point]:
    model = reference()
    return ppo(assemble(model, scorer(model)), Settings(beta=beta), 60, seed)


def kept(beta: float, seed: int) -> tuple[beta_sweep.Moment, ...]:
    return beta_sweep.run_of(beta, seed).moments


#: Of a run, the iterations that are stored, or all of them, by training once more.
either = pytest.mark.parametrize("run", [kept, pytest.param(again, marks=RUNS)])


@trained
@either
def test_the_run_of_the_page_learns(run):
    """The reward rises by more than a deviation and stays, the judge agrees, and the KL stays bounded."""
    points = run(0.1, 2)
    for late in (range(20, 31), range(51, 61)):  # the page goes half as far as the stored runs
        assert min(point.score for point in points if point.iteration in late) > points[0].score + 0.8
        assert min(point.judge for point in points if point.iteration in late) > points[0].judge + 0.7
    assert max(point.kl for point in points) < 8
    assert points[0].kl == pytest.approx(0, abs=1e-4)


@trained
@either
@pytest.mark.parametrize("seed", [2, 3])
def test_without_a_price_the_reward_is_hacked(run, seed):
    """A higher score and a lower judge than with a price of 0.1, much further from the reference.

    One batch may fall out of line, so the score is that of the last twenty iterations.
    """
    free, priced = run(0.0, seed), run(0.1, seed)
    late = [fmean(point.score for point in points if point.iteration > 40) for points in (free, priced)]
    assert late[0] > late[1] + 0.1
    assert free[-1].judge < priced[-1].judge - 1
    assert free[-1].kl > 3 * priced[-1].kl
    assert max(point.judge for point in free if point.iteration < 15) > free[0].judge + 0.8


@trained
@RUNS
@pytest.mark.parametrize(("beta", "seed"), [(0.1, 2), (0.0, 2), (0.0, 3), (0.1, 3)])
def test_the_stored_runs_are_what_the_program_gives(beta, seed):
    """At first number by number; rounding, which machines do differently, grows from iteration to iteration."""
    points, moments = again(beta, seed), kept(beta, seed)
    for moment in moments[:4]:
        point = points[moment.iteration]
        assert (point.score, point.judge, point.kl) == pytest.approx((moment.score, moment.judge, moment.kl), abs=0.2)
    assert all(0 <= point.clipped < 0.5 for point in points)


@RUNS
@trained
def test_grpo_learns_from_a_verifiable_reward():
    points = grpo(assemble(reference(), judged), Settings(beta=0.0), 10, 2)
    assert points[0].judge < 0.6
    assert min(point.judge for point in points[-5:]) > 1.2


def test_a_run_is_the_same_twice():
    """One thread, one seed, one machine."""
    few = Settings(responses=8, epochs=1)
    first, second = (ppo(assemble(reference(0, 5), judged), few, 2, 1) for _ in range(2))
    assert first == second


def test_every_iteration_draws_prompts_of_its_own(team):
    found = [prompt_rows(64, seed=1000 * 2 + iteration) for iteration in range(3)]
    assert not torch.equal(found[0], found[1])
    assert (found[0][:, -1] != EOS).all()
