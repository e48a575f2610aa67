"""A whole step of REINFORCE: against the chapter's loss and returns, and against a regression in closed form."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from solutions.ch12.policy import reinforce_loss
from solutions.ch12.reinforce import reinforce_update
from solutions.ch12.rl import discounted_returns

LENGTHS = (3, 1, 4)


def episodes(seed: int = 0):
    """Observations, actions, rewards and mask of three episodes; nan behind their ends."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.tensor([[float(t < length) for t in range(max(LENGTHS))] for length in LENGTHS])
    seen = torch.randn(3, 4, 2, generator=generator).masked_fill(mask.unsqueeze(-1) == 0, torch.nan)
    rewards = torch.randn(3, 4, generator=generator).masked_fill(mask == 0, torch.nan)
    return seen, torch.randint(2, (3, 4), generator=generator), rewards, mask


def networks(seed: int = 1) -> tuple[nn.Module, nn.Module]:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Linear(2, 2), nn.Linear(2, 1)


def by_hand(policy, seen, actions, rewards, mask, discount, value=None):
    """The policy after a step of 0.1 on the chapter's loss."""
    earned = torch.zeros_like(rewards)
    for row, length in enumerate(LENGTHS):
        earned[row, :length] = torch.tensor(discounted_returns(rewards[row, :length].tolist(), discount))
    seen = seen.nan_to_num()
    weights = earned if value is None else earned - value(seen).squeeze(-1)
    log_probs = policy(seen).log_softmax(-1).gather(-1, actions.unsqueeze(-1)).squeeze(-1)
    reinforce_loss(log_probs, weights, mask).backward()
    with torch.no_grad():
        return [parameter - 0.1 * parameter.grad for parameter in policy.parameters()]


@pytest.mark.parametrize("with_value", [False, True])
def test_the_policy_takes_the_step_of_the_chapter_s_loss(with_value):
    policy, value = networks()
    wanted = by_hand(copy.deepcopy(policy), *episodes(), 0.9, value if with_value else None)
    more = {"value": value, "value_optimizer": torch.optim.SGD(value.parameters(), 0.1)} if with_value else {}
    reinforce_update(policy, torch.optim.SGD(policy.parameters(), 0.1), *episodes(), discount=0.9, **more)
    for found, right in zip(policy.parameters(), wanted, strict=True):
        torch.testing.assert_close(found.detach(), right)


def test_with_many_steps_the_value_network_is_the_least_squares_fit():
    policy, value = networks()
    seen, actions, rewards, mask = episodes()
    optimizers = torch.optim.SGD(policy.parameters(), 0.0), torch.optim.SGD(value.parameters(), 0.2)
    batch = optimizers[0], seen, actions, rewards, mask
    reinforce_update(policy, *batch, value=value, value_optimizer=optimizers[1], value_steps=3000)
    real = mask.bool()
    rows = torch.cat([seen[real], torch.ones(int(real.sum()), 1)], 1)
    earned = [discounted_returns(rewards[row, :length].tolist(), 1.0) for row, length in enumerate(LENGTHS)]
    wanted = torch.linalg.lstsq(rows, torch.tensor([one for row in earned for one in row])[:, None]).solution[:, 0]
    found = torch.cat([value.weight.detach()[0], value.bias.detach()])
    torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-3)


def test_a_value_network_and_its_optimizer_come_together():
    policy, value = networks()
    with pytest.raises(ValueError, match="value_optimizer must come with a value network"):
        reinforce_update(policy, torch.optim.SGD(policy.parameters(), 0.1), *episodes(), value=value)
