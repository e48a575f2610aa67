"""Direct preference optimisation: the best policy at a price stands for its rewards, and shared changes cancel."""

from __future__ import annotations

import math

import pytest
import torch

from solutions.ch13.dpo import dpo_loss
from solutions.ch13.kl import tilted_policy
from solutions.ch13.rlhf import preference_loss

REFERENCE, REWARDS = (0.5, 0.3, 0.15, 0.05), (0.3, -1.0, 2.0, 0.7)


def logs(shares) -> torch.Tensor:
    return torch.tensor(shares, dtype=torch.float64).log()


@pytest.mark.parametrize("beta", [0.1, 0.5, 2.0])
def test_the_best_policy_at_a_price_stands_for_its_rewards(beta):
    """Rafailov et al. (2023), section 4: with it, the loss is that of a reward model that knows the rewards."""
    policy, reference = logs(tilted_policy(REFERENCE, REWARDS, beta)), logs(REFERENCE)
    first, second = torch.tensor([0, 2, 3]), torch.tensor([1, 0, 2])
    found = dpo_loss(policy[first], policy[second], reference[first], reference[second], beta)
    rewards = torch.tensor(REWARDS, dtype=torch.float64)
    torch.testing.assert_close(found, preference_loss(rewards[first], rewards[second]))


def test_at_the_reference_every_pair_costs_the_logarithm_of_2_and_pulls_both_ways():
    chosen, rejected = (torch.tensor([-8.0, -3.0], requires_grad=True) for _ in range(2))
    loss = dpo_loss(chosen, rejected, chosen.detach(), rejected.detach(), beta=0.4)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(2))
    assert chosen.grad is not None
    assert rejected.grad is not None
    assert chosen.grad.tolist() == pytest.approx([-0.1, -0.1])  # beta / 2 over two pairs
    assert rejected.grad.tolist() == pytest.approx([0.1, 0.1])


def test_what_both_answers_lose_is_not_seen():
    four = [torch.tensor([value], dtype=torch.float64) for value in (-4.0, -6.0, -5.0, -5.5)]
    fallen = [four[0] - 7, four[1] - 7, *four[2:]]
    torch.testing.assert_close(dpo_loss(*fallen, beta=0.3), dpo_loss(*four, beta=0.3))
