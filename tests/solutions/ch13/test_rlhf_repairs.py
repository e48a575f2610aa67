"""What was fixed: the same numbers as the functions of the chapter give, and each fault of the broken step shows."""

from __future__ import annotations

import math

import pytest
import torch

from autograder import bank
from autograder.probes.ch13 import Descent, learned
from solutions.ch13.rlhf import masked_gae, policy_loss, response_log_probs, token_rewards
from solutions.ch13.rlhf_repairs import debug_core_loop, debug_nan, debug_shift


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def batch(seed=0):
    """Three responses of at most three tokens after prompts of two, and what is known of them."""
    tokens = torch.randint(6, (3, 5), generator=torch.Generator().manual_seed(seed))
    tokens[0, 0] = 5
    mask = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 0, 0]], dtype=torch.float64)
    return tokens, 2, mask, drawn(3, seed=seed), -drawn(3, 3, seed=seed + 1).abs()


def test_the_shift():
    logits, tokens = drawn(2, 6, 7), torch.randint(7, (2, 6), generator=torch.Generator().manual_seed(0))
    for prompt in (1, 3, 5):
        torch.testing.assert_close(debug_shift(logits, tokens, prompt), response_log_probs(logits, tokens, prompt))


def test_padding_that_is_infinite():
    new = torch.tensor([[-1.0, -math.inf]], requires_grad=True)
    value = debug_nan(new, torch.tensor([[-1.5, -math.inf]]), torch.tensor([[2.0, 1.0]]), torch.tensor([[1.0, 0.0]]))
    value.backward()
    assert value.item() == pytest.approx(2 * math.exp(0.5))
    assert new.grad is not None
    assert new.grad.tolist() == [[pytest.approx(2 * math.exp(0.5)), 0.0]]


def test_a_real_fault_is_seen():
    faulty = torch.tensor([[math.nan, -1.0]])
    assert debug_nan(faulty, torch.zeros(1, 2), torch.ones(1, 2), torch.ones(1, 2)).isnan()


def by_the_chapter(policy, critic, optimizer, tokens, prompt_length, mask, scores, reference, epochs=2, beta=0.1):
    """The same step from the chapter's functions."""

    def look():
        values = critic(tokens)[:, prompt_length - 1 : -1]
        return response_log_probs(policy(tokens), tokens, prompt_length), values

    with torch.no_grad():
        old, values = look()
        rewards = token_rewards(scores, old, reference, mask, beta)
        advantages, returns = masked_gae(rewards, values, mask, 1.0, 1.0)
    for _ in range(epochs):
        new, said = look()
        error = ((said - returns).square() * mask).sum() / mask.sum()
        optimizer.zero_grad()
        (policy_loss(new, old, advantages, mask)[0] + 0.5 * error).backward()
        optimizer.step()


@pytest.mark.parametrize("options", [{}, {"epochs": 1}, {"epochs": 4, "beta": 0.7}, {"beta": 0.0, "rate": 3.0}])
def test_the_step_is_that_of_the_chapter(options):
    for seed in range(4):
        found, wanted = (
            learned(program, seed, *batch(seed), **options) for program in (debug_core_loop, by_the_chapter)
        )
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("slip", bank.find("13-debug-core-loop").slips[1:], ids=lambda slip: slip.name)
def test_each_fault_shows_by_itself(slip):
    wrong = bank.find("13-debug-core-loop").program_of(slip)
    found, wanted = (learned(program, 0, *batch()) for program in (wrong, debug_core_loop))
    assert max((one - other).abs().max().item() for one, other in zip(found, wanted, strict=True)) > 1e-3


def test_plain_descent_is_the_librarys():
    ours, theirs = (torch.nn.Parameter(drawn(3)) for _ in range(2))
    plain, library = Descent([ours], 0.1), torch.optim.SGD([theirs], lr=0.1)
    for parameter, optimizer in ((ours, plain), (theirs, library)):
        for _ in range(3):
            optimizer.zero_grad()
            parameter.square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(ours, theirs)
