"""Losses and updates of chapter 12: the page's figures, plain loops, torchrl, and laws."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from solutions.ch12.policy import Batch, PpoStats, ppo_loss, ppo_update, reinforce_loss
from solutions.ch12.policy_repairs import debug_detach, debug_zero_grad
from solutions.ch12.rl import ppo_clip_objective


def table(*rows: tuple[float, ...], gradient: bool = False) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64, requires_grad=gradient)


# reinforce_loss.

LOG_PROBS = ((-0.7, -0.7, -0.7), (-0.5, -1.0, 0.0))
WEIGHTS = ((3.0, 2.0, 1.0), (2.0, 1.0, 0.0))
MASK = ((1.0, 1.0, 1.0), (1.0, 1.0, 0.0))


def test_reinforce_loss_of_the_page():
    log_probs, weights = table(*LOG_PROBS, gradient=True), table(*WEIGHTS, gradient=True)
    loss = reinforce_loss(log_probs, weights, table(*MASK))
    loss.backward()
    assert loss.item() == pytest.approx(3.1)
    assert log_probs.grad.tolist() == [[-1.5, -1.0, -0.5], [-1.0, -0.5, 0.0]]
    assert weights.grad is None
    assert reinforce_loss(log_probs, weights - 2, table(*MASK)).item() == pytest.approx(-0.5)


@pytest.mark.parametrize("seed", range(5))
def test_reinforce_loss_is_a_sum_over_steps(seed):
    generator = torch.Generator().manual_seed(seed)
    log_probs, weights = torch.randn(2, 4, 7, generator=generator, dtype=torch.float64)
    mask = torch.rand(4, 7, generator=generator) < 0.6
    total = 0.0
    for row in range(4):
        for place in range(7):
            if mask[row, place]:
                total -= log_probs[row, place].item() * weights[row, place].item()
    assert reinforce_loss(log_probs, weights, mask).item() == pytest.approx(total / 4)


def test_what_stands_behind_an_end_does_not_matter():
    """Kills infinity times 0: a token that cannot be drawn has a log-probability of minus infinity."""
    log_probs = table((-0.7, -math.inf), gradient=True)
    loss = reinforce_loss(log_probs, table((2.0, 1.0)), table((1.0, 0.0)))
    loss.backward()
    assert loss.item() == pytest.approx(1.4)
    assert log_probs.grad.tolist() == [[-2.0, 0.0]]


@pytest.mark.parametrize("shapes", [((2, 3), (2, 3), (2, 1)), ((2, 3), (1, 3), (2, 3)), ((3,), (3,), (3,))])
def test_reinforce_loss_wants_one_shape(shapes):
    with pytest.raises(ValueError, match=r"shapes must be equal|log_probs must be \[B, T\]"):
        reinforce_loss(*(torch.ones(shape) for shape in shapes))


def test_reinforce_loss_wants_a_step():
    with pytest.raises(ValueError, match="mask"):
        reinforce_loss(torch.ones(2, 3), torch.ones(2, 3), torch.zeros(2, 3))


# ppo_loss.


def page() -> tuple[torch.Tensor, torch.Tensor, Batch]:
    logits = table((0.2, -0.1), (0.0, 0.0), (1.0, -1.0), (0.5, 0.5), gradient=True)
    values = torch.tensor([0.5, 1.0, 0.0, 2.0], dtype=torch.float64, requires_grad=True)
    old, advantages = torch.full((4,), math.log(0.5), dtype=torch.float64), torch.tensor([1, -1, 2, -0.5]).double()
    return logits, values, Batch(torch.zeros(4, 1), torch.tensor([0, 1, 0, 1]), old, advantages, torch.ones(4).double())


def test_ppo_loss_of_the_page():
    logits, values, batch = page()
    loss, stats = ppo_loss(logits, values, batch, entropy_weight=0.01, normalize=False)
    loss.backward()
    assert loss.item() == pytest.approx(-0.237055, abs=1e-6)
    assert (stats.policy, stats.value, stats.entropy) == pytest.approx((-0.512221, 0.5625, 0.608413), abs=1e-6)
    assert stats.outside_fraction == stats.clipped_fraction == 0.25
    assert values.grad.tolist() == [-0.125, 0.0, -0.25, 0.25]
    assert logits.grad[2].tolist() == pytest.approx([0.000525, -0.000525], abs=1e-6)  # the entropy alone
    normalized, stats = ppo_loss(logits, values, batch, entropy_weight=0.01)
    assert (normalized.item(), stats.policy) == pytest.approx((0.199261, -0.0759054), abs=1e-6)


def drawn(seed: int, count: int = 12, actions: int = 4) -> tuple[torch.Tensor, torch.Tensor, Batch]:
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(count, actions, generator=generator, dtype=torch.float64).requires_grad_()
    values, advantages, returns, moved = torch.randn(4, count, generator=generator, dtype=torch.float64)
    taken = torch.randint(actions, (count,), generator=generator)
    old = logits.detach().log_softmax(-1)[range(count), taken] + 0.4 * moved
    return logits, values.requires_grad_(), Batch(torch.zeros(count, 1), taken, old, advantages, returns)


@pytest.mark.parametrize("seed", range(5))
def test_ppo_loss_step_by_step(seed):
    """In plain numbers, one step after the other."""
    logits, values, batch = drawn(seed)
    loss, stats = ppo_loss(logits, values, batch, 0.1, 0.7, 0.3, normalize=False)
    policy = value = entropy = 0.0
    for row in range(12):
        weights = [math.exp(x) for x in logits[row].tolist()]
        chances = [weight / sum(weights) for weight in weights]
        ratio = chances[batch.actions[row]] / math.exp(batch.old_log_probs[row].item())
        advantage = batch.advantages[row].item()
        policy -= min(ratio * advantage, min(max(ratio, 0.9), 1.1) * advantage) / 12
        value += (values[row].item() - batch.returns[row].item()) ** 2 / 12
        entropy -= sum(chance * math.log(chance) for chance in chances) / 12
    assert (stats.policy, stats.value, stats.entropy) == pytest.approx((policy, value, entropy))
    assert loss.item() == pytest.approx(policy + 0.7 * value - 0.3 * entropy)


def test_a_policy_that_has_hardly_moved_keeps_the_digits_of_its_divergence():
    """Kills exp(d) - 1, which has lost its digits there."""
    logits, values, batch = drawn(0)
    new = logits.log_softmax(-1)[range(12), batch.actions].detach()
    _, stats = ppo_loss(logits, values, replace(batch, old_log_probs=new - 2.0**-20), normalize=False)
    assert stats.approx_kl == pytest.approx(2.0**-41, rel=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_ppo_loss_agrees_with_the_closed_form(seed):
    logits, values, batch = drawn(seed)
    _, stats = ppo_loss(logits, values, batch, normalize=False)
    new = logits.log_softmax(-1)[range(12), batch.actions].tolist()
    found = ppo_clip_objective(new, batch.old_log_probs.tolist(), batch.advantages.tolist())
    assert stats.policy == pytest.approx(-found.objective)
    assert stats.outside_fraction == pytest.approx(found.outside_fraction)
    assert stats.clipped_fraction == pytest.approx(found.clipped_fraction)
    moved = [one - old for one, old in zip(new, batch.old_log_probs.tolist(), strict=True)]
    assert stats.approx_kl == pytest.approx(sum(math.exp(one) - 1 - one for one in moved) / 12)


@pytest.mark.parametrize("seed", range(5))
def test_a_clipped_step_pulls_at_nothing(seed):
    logits, values, batch = drawn(seed)
    loss, stats = ppo_loss(logits, values, batch, 0.05, 0.0, normalize=False)
    loss.backward()
    assert stats.clipped_fraction == pytest.approx((logits.grad.abs().sum(1) == 0).double().mean().item())
    assert 0 < stats.clipped_fraction < stats.outside_fraction


@pytest.mark.parametrize("advantage", [0.0, 2.0])
def test_a_clipped_step_whose_ratio_overflows_pulls_at_nothing(advantage):
    """Kills: 0 times the infinite exp, which is nan, in the gradient of the term that does not count."""
    logits = torch.zeros(2, 2, requires_grad=True)
    old = torch.tensor([-200.0, -0.6])
    batch = Batch(torch.zeros(2, 1), torch.tensor([0, 1]), old, torch.tensor([advantage, 1.0]), torch.zeros(2))
    loss, stats = ppo_loss(logits, torch.zeros(2), batch, clip=0.2, normalize=False)
    loss.backward()
    ratio = math.exp(0.6) / 2
    assert loss.item() == pytest.approx(-(1.2 * advantage + ratio) / 2, rel=1e-6)
    assert logits.grad.tolist() == [[0.0, 0.0], pytest.approx([ratio / 4, -ratio / 4], rel=1e-6)]
    assert stats.approx_kl == math.inf


def test_data_gets_no_gradient():
    logits, values, batch = drawn(0)
    data = Batch(
        batch.observations, batch.actions, *(part.clone().requires_grad_() for part in list(vars(batch).values())[2:])
    )
    ppo_loss(logits, values, data, entropy_weight=0.1)[0].backward()
    assert [part.grad for part in (data.old_log_probs, data.advantages, data.returns)] == [None] * 3
    assert logits.grad.abs().sum() > 0
    assert values.grad.abs().sum() > 0


@pytest.mark.parametrize("seed", range(3))
def test_ppo_loss_agrees_with_torchrl(seed):
    """The library's loss, fed with our numbers: a network that looks its answers up."""
    tensordict = pytest.importorskip("tensordict")
    objectives = pytest.importorskip("torchrl.objectives")
    from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule

    logits, values, batch = (part for part in drawn(seed))
    look = TensorDictModule(nn.Identity(), ["given"], ["logits"])
    draw = ProbabilisticTensorDictModule(
        ["logits"], ["action"], distribution_class=torch.distributions.Categorical, return_log_prob=True
    )
    critic = TensorDictModule(nn.Identity(), ["said"], ["state_value"])
    actor = ProbabilisticTensorDictSequential(look, draw)
    theirs = objectives.ClipPPOLoss(
        actor,
        critic,
        clip_epsilon=0.2,
        entropy_coeff=0.3,
        critic_coeff=0.7,
        loss_critic_type="l2",
        normalize_advantage=True,
    )
    theirs.set_keys(advantage="advantage", value_target="value_target", value="state_value", action="action")
    found = theirs(
        tensordict.TensorDict(
            {
                "given": logits,
                "said": values.unsqueeze(1),
                "action": batch.actions,
                "action_log_prob": batch.old_log_probs,
                "advantage": batch.advantages.unsqueeze(1),
                "value_target": batch.returns.unsqueeze(1),
            },
            [12],
        )
    )
    ours, stats = ppo_loss(logits, values, batch, 0.2, 0.7, 0.3)
    assert found["loss_objective"].item() == pytest.approx(stats.policy, rel=1e-5)
    assert found["loss_critic"].item() == pytest.approx(0.7 * stats.value, rel=1e-5)
    assert found["loss_entropy"].item() == pytest.approx(-0.3 * stats.entropy, rel=1e-5)
    parts = found["loss_objective"] + found["loss_critic"] + found["loss_entropy"]
    for leaf in (logits, values):
        right, own = (torch.autograd.grad(loss.sum(), leaf, retain_graph=True)[0] for loss in (parts, ours))
        torch.testing.assert_close(own, right, rtol=1e-5, atol=1e-8)


def test_ppo_loss_refuses_what_does_not_fit():
    logits, values, batch = drawn(0)
    with pytest.raises(ValueError, match=r"shapes must be \[12\] each, got \[\(12, 1\)"):
        ppo_loss(logits, values.unsqueeze(1), batch)
    with pytest.raises(ValueError, match="steps must be at least 2, got 1"):
        ppo_loss(logits[:1], values[:1], batch.rows(torch.tensor([0])))
    with pytest.raises(ValueError, match="steps must be at least 1, got 0"):
        ppo_loss(logits[:0], values[:0], batch.rows(torch.tensor([], dtype=torch.long)), normalize=False)


# ppo_update.


def small(seed: int = 0) -> tuple[nn.Sequential, nn.Sequential, Batch]:
    """Networks, and steps that the actor has played itself."""
    torch.manual_seed(seed)
    policy, value = (nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, size)).double() for size in (3, 1))
    seen, actions = torch.randn(10, 3).double(), torch.randint(3, (10,))
    with torch.no_grad():
        old = policy(seen).log_softmax(-1)[range(10), actions]
    return policy, value, Batch(seen, actions, old, *torch.randn(2, 10).double())


ROUNDS = [torch.tensor([0, 3, 6, 9, 1]), torch.tensor([2, 4, 5, 7, 8])] * 3


def sgd(*networks: nn.Module, rate: float = 0.3) -> torch.optim.SGD:
    return torch.optim.SGD([p for one in networks for p in one.parameters()], lr=rate)


def same(left: nn.Module, right: nn.Module) -> bool:
    return all(torch.allclose(a, b) for a, b in zip(left.parameters(), right.parameters(), strict=True))


def test_six_steps_by_hand():
    policy, value, batch = small()
    ours, other = small()[:2]
    ppo_update(policy, value, sgd(policy, value), batch, ROUNDS, 0.2, 0.4, 0.1, 0.5)
    parameters = [*ours.parameters(), *other.parameters()]
    for index in ROUNDS:
        part = batch.rows(index)
        logs = ours(part.observations).log_softmax(-1)
        advantages = (part.advantages - part.advantages.mean()) / (part.advantages.std() + 1e-8)
        ratio = (logs[range(5), part.actions] - part.old_log_probs).exp()
        bound = torch.stack((ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)).amin(0).mean()
        error = (other(part.observations)[:, 0] - part.returns).pow(2).mean()
        loss = -bound + 0.4 * error + 0.1 * (logs.exp() * logs).sum(1).mean()
        gradients = torch.autograd.grad(loss, parameters)
        norm = math.sqrt(sum(gradient.square().sum().item() for gradient in gradients))
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= 0.3 * gradient * min(1.0, 0.5 / norm)
    assert all(torch.allclose(a, b, rtol=1e-4) for a, b in zip(policy.parameters(), ours.parameters(), strict=True))
    assert all(torch.allclose(a, b, rtol=1e-4) for a, b in zip(value.parameters(), other.parameters(), strict=True))


def test_the_first_step_is_actor_critic():
    """Whatever the clip range: the ratio is 1 everywhere."""
    policy, value, batch = small()
    stats = ppo_update(policy, value, sgd(policy, value), batch, [torch.arange(10)], 0.2)
    ours, other = small()[:2]
    advantages = (batch.advantages - batch.advantages.mean()) / (batch.advantages.std() + 1e-8)
    taken = ours(batch.observations).log_softmax(-1)[range(10), batch.actions]
    error = (other(batch.observations)[:, 0] - batch.returns).square().mean()
    (-(taken * advantages).mean() + 0.5 * error).backward()
    sgd(ours, other).step()
    assert same(policy, ours)
    assert same(value, other)
    assert stats[0].outside_fraction == 0
    assert stats[0].approx_kl == pytest.approx(0, abs=1e-12)


def test_reuse_moves_the_ratio():
    """Kills old log-probabilities that are computed anew: the share outside never left 0."""
    policy, value, batch = small()
    stats = ppo_update(policy, value, sgd(policy, value), batch, [torch.arange(10)] * 10, 0.1)
    assert stats[0].outside_fraction == 0
    assert stats[-1].outside_fraction > 0
    assert all(isinstance(one, PpoStats) for one in stats)


def test_gradients_from_before_do_not_count():
    policy, value, batch = small()
    for parameter in (*policy.parameters(), *value.parameters()):
        parameter.grad = torch.ones_like(parameter)
    ppo_update(policy, value, sgd(policy, value), batch, ROUNDS[:1], 0.2)
    ours, other = small()[:2]
    ppo_update(ours, other, sgd(ours, other), batch, ROUNDS[:1], 0.2)
    assert same(policy, ours)


def test_a_critic_may_say_a_row_or_a_column():
    policy, value, batch = small()
    ppo_update(policy, value, sgd(policy, value), batch, iter(ROUNDS), 0.2)
    ours, other = small()[:2]
    ppo_update(ours, nn.Sequential(other, nn.Flatten(0)), sgd(ours, other), batch, ROUNDS, 0.2)
    assert same(value, other)
    assert ppo_update(ours, other, sgd(ours, other), batch, [], 0.2) == []


# What was fixed.


def test_each_episode_steps_by_its_own_gradient():
    policy, _, batch = small()
    parts = [(batch.observations[i : i + 3], batch.actions[i : i + 3], batch.returns[i : i + 3]) for i in (0, 3, 6)]
    debug_zero_grad(policy, sgd(policy, rate=0.1), parts)
    ours = small()[0]
    for seen, actions, weights in parts:
        loss = -(ours(seen).log_softmax(-1)[range(3), actions] * weights).sum()
        gradients = torch.autograd.grad(loss, list(ours.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(ours.parameters(), gradients, strict=True):
                parameter -= 0.1 * gradient
    assert same(policy, ours)


def test_the_critic_learns_from_its_own_term():
    log_probs, values, reached, rewards = torch.randn(4, 6, dtype=torch.float64)
    over = torch.tensor([False, True, False, False, True, False])
    leaves = [part.requires_grad_() for part in (log_probs, values, reached)]
    debug_detach(*leaves, rewards, over, 0.9).backward()
    errors = (rewards + 0.9 * reached * ~over - values).detach()
    torch.testing.assert_close(log_probs.grad, -errors / 6)
    torch.testing.assert_close(values.grad, -errors / 6)
    assert reached.grad is None
