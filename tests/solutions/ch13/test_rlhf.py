"""The tensors of an RLHF step: against loops, chapter 12's closed forms and the same responses one by one."""

from __future__ import annotations

import math
from statistics import fmean, pvariance, stdev

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from rankzero.tiny import GPT, GPTConfig
from solutions.ch12.rl import gae, ppo_clip_objective
from solutions.ch13.kl import kl_estimates
from solutions.ch13.rlhf import (
    group_advantages,
    masked_gae,
    masked_whiten,
    policy_loss,
    preference_loss,
    response_log_probs,
    response_mask,
    token_rewards,
    value_loss,
)

#: What may stand in the padding and must not be seen.
REST = (math.nan, -math.inf, math.inf, 1e6)


def tensor(*rows):
    return torch.tensor(rows, dtype=torch.float64)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def close(found, wanted, rtol=1e-9, atol=1e-12):
    torch.testing.assert_close(found, wanted, rtol=rtol, atol=atol)


def spoiled(values, mask):
    """The same, with anything at all where the mask is 0."""
    rest = torch.tensor(REST, dtype=values.dtype).repeat(values.numel())[: values.numel()].view_as(values)
    return torch.where(mask.bool(), values, rest)


@st.composite
def masks(draw, holes=True):
    """[B, T] with a real token in every row; with gaps, or with padding at the end alone."""
    batch, length = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    if holes:
        row = st.lists(st.booleans(), min_size=length, max_size=length).filter(any)
        return tensor(*draw(st.lists(row, min_size=batch, max_size=batch))).double()
    counts = draw(st.lists(st.integers(1, length), min_size=batch, max_size=batch))
    return tensor(*[[float(t < count) for t in range(length)] for count in counts])


SEEDS = st.integers(0, 10_000)
few = settings(max_examples=60, deadline=None)


# Masks and log-probabilities.


def test_the_mask_of_the_page():
    tokens = torch.tensor([[5, 2, 0, 0], [5, 6, 7, 8], [2, 2, 5, 2]])
    assert response_mask(tokens, 2).tolist() == [[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]]


@few
@given(st.integers(1, 7).flatmap(lambda n: st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1)))
def test_the_mask_is_what_a_loop_says(rows):
    wanted = []
    for row in rows:
        last = row.index(2) if 2 in row else len(row)
        wanted.append([float(place <= last) for place in range(len(row))])
    assert response_mask(torch.tensor(rows), 2).tolist() == wanted


def test_the_log_probs_of_the_page():
    logits = (2 * torch.arange(24, dtype=torch.float64).sin()).view(1, 4, 6)
    close(response_log_probs(logits, torch.tensor([[1, 3, 0, 5]]), 2), tensor([-3.21759, -4.58239]), 1e-5)


@few
@given(st.integers(1, 4), st.integers(2, 8), st.data())
def test_log_probs_are_negative_cross_entropies(batch, length, data):
    prompt, seed = data.draw(st.integers(1, length - 1)), data.draw(SEEDS)
    logits = 30 * drawn(batch, length, 5, seed=seed)
    tokens = torch.randint(5, (batch, length), generator=torch.Generator().manual_seed(seed))
    losses = functional.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    close(response_log_probs(logits, tokens, prompt), -losses[:, prompt - 1 :])


def test_log_probs_of_a_padded_batch_are_those_of_the_responses_alone():
    """Kills a model that sees the padding behind a response, and a shift that reads it."""
    model = GPT(GPTConfig(20, layers=2, heads=2, head_dim=16, context=24), 0)
    tokens = torch.randint(3, 20, (4, 12), generator=torch.Generator().manual_seed(1))
    counts, prompt = (8, 3, 1, 5), 4
    with torch.no_grad():
        whole = response_log_probs(model(tokens), tokens, prompt)
        for row, count in enumerate(counts):
            short = tokens[row : row + 1, : prompt + count]
            torch.testing.assert_close(
                whole[row : row + 1, :count], response_log_probs(model(short), short, prompt), rtol=0, atol=1e-5
            )


# Rewards of tokens.

PAGE = {
    "scores": torch.tensor([1, -0.5], dtype=torch.float64),
    "log_probs": tensor([-1, -0.5, -2, -9], [-1, -1, -1, -1]),
    "ref_log_probs": tensor([-1.2, -0.5, -1, -1], [-1, -2, -1, -0.5]),
    "mask": tensor([1, 1, 1, 0], [1, 1, 1, 1]),
}
PAGE_VALUES = tensor([0.2, 0.3, 0.4, 7], [0, 0.1, 0.2, 0.3])


def test_the_rewards_of_the_page():
    close(token_rewards(**PAGE, beta=0.1), tensor([-0.02, 0, 1.1, 0], [0, -0.1, 0, -0.45]))


@few
@given(masks(), SEEDS, st.floats(0, 2))
def test_a_row_is_paid_its_score_less_its_distance(mask, seed, beta):
    """And every token but the last real one is paid -beta k1 of the closed form."""
    new, ref, scores = (-drawn(*mask.shape, seed=seed + k).abs() for k in range(3))
    rewards = token_rewards(scores[:, 0], spoiled(new, mask), spoiled(ref, mask), mask, beta)
    close(rewards.sum(1), scores[:, 0] - beta * ((new - ref) * mask).sum(1))
    for row in range(len(mask)):
        last = int(mask[row].nonzero()[-1])
        for t in range(mask.shape[1]):
            paid = -beta * kl_estimates(float(new[row, t]), float(ref[row, t])).k1 * float(mask[row, t])
            wanted = paid + (float(scores[row, 0]) if t == last else 0.0)
            assert float(rewards[row, t]) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


# Advantages.


def test_the_advantages_of_the_page():
    rewards = token_rewards(**PAGE, beta=0.1)
    advantages, returns = masked_gae(rewards, PAGE_VALUES, PAGE["mask"])
    close(advantages, tensor([0.80675, 0.765, 0.7, 0], [-0.452781, -0.581875, -0.6125, -0.75]), 1e-5)
    close(returns, tensor([1.00675, 1.065, 1.1, 0], [-0.452781, -0.481875, -0.4125, -0.45]), 1e-5)
    white = tensor([1.21873, 1.15703, 1.06097, 0], [-0.642667, -0.833448, -0.878707, -1.08191])
    close(masked_whiten(advantages, PAGE["mask"]), white, 1e-5)


def test_a_gap_of_the_page():
    given_ = (tensor([0, 0, 5, 5, 0, 1]), tensor([0.1, 0.2, 9, 9, 0.3, 0.4]), tensor([1, 1, 0, 0, 1, 1]))
    close(masked_gae(*given_, 1.0, 0.9)[0], tensor([0.7084, 0.676, 0, 0, 0.64, 0.6]))


@few
@given(masks(), SEEDS, st.floats(0, 1), st.floats(0, 1))
def test_advantages_are_chapter_12s_on_the_real_tokens_alone(mask, seed, discount, gae_lambda):
    """Masked tokens have no influence, at the end or in the middle, whatever stands there."""
    rewards, values = drawn(*mask.shape, seed=seed), drawn(*mask.shape, seed=seed + 1)
    found, returns = masked_gae(spoiled(rewards, mask), spoiled(values, mask), mask, discount, gae_lambda)
    for row in range(len(mask)):
        real = mask[row].bool()
        paid, said = rewards[row][real].tolist(), values[row][real].tolist()
        ends = [False] * (len(paid) - 1) + [True]
        wanted = gae(paid, said, [*said[1:], 0.0], ends, [False] * len(paid), discount, gae_lambda)
        close(found[row][real], torch.tensor(wanted, dtype=torch.float64))
        close(returns[row], (found[row] + torch.where(real, values[row], 0.0)))
        assert found[row][~real].tolist() == [0.0] * int((~real).sum())


@few
@given(masks(), SEEDS)
def test_whitened_real_tokens_have_mean_zero_and_variance_one(mask, seed):
    values = 3 + drawn(*mask.shape, seed=seed)
    found, real = masked_whiten(spoiled(values, mask), mask), mask.bool()
    assert found[~real].tolist() == [0.0] * int((~real).sum())
    plain = values[real].tolist()
    wanted = [(v - fmean(plain)) / math.sqrt(pvariance(plain) + 1e-8) for v in plain]
    close(found[real], torch.tensor(wanted, dtype=torch.float64), 1e-6, 1e-9)


def test_whitened_row_by_row_a_reward_and_a_tenth_of_it_are_alike():
    """And a punishment is the mirror image of a reward: why the mean runs over the batch."""
    mask, rewards = torch.ones(1, 4, dtype=torch.float64), tensor([0, 0, 0, 1.0])
    gains = {paid: masked_gae(paid * rewards, 0 * rewards, mask)[0] for paid in (1.0, 0.1, -1.0)}
    rows = {paid: masked_whiten(gain, mask) for paid, gain in gains.items()}
    close(rows[1.0], tensor([-1.31848, -0.469668, 0.423818, 1.36433]), 1e-5)
    close(rows[0.1], rows[1.0], 1e-3)
    close(rows[-1.0], -rows[1.0])
    together = masked_whiten(torch.cat(list(gains.values())), mask.expand(3, 4))
    assert together[0].min() > together[1].max() > together[1].min() > together[2].max()


@pytest.mark.parametrize(
    ("rewards", "size", "normalize", "wanted"),
    [
        ((1, 0, 0, 1), 4, True, (0.865875, -0.865875, -0.865875, 0.865875)),
        ((1, 0, 0, 0), 4, True, (1.4997, -0.4999, -0.4999, -0.4999)),
        ((1, 1, 1, 1), 4, True, (0, 0, 0, 0)),
        ((1, 0, 0, 0), 4, False, (0.75, -0.25, -0.25, -0.25)),
        ((1, 0, 0, 0, 0, 0, 0, 0), 8, True, (2.47417, *[-0.353453] * 7)),
    ],
)
def test_the_groups_of_the_page(rewards, size, normalize, wanted):
    found = group_advantages(torch.tensor(rewards, dtype=torch.float64), size, normalize)
    close(found, torch.tensor(wanted, dtype=torch.float64), 1e-5)


@few
@given(st.integers(1, 4), st.integers(2, 6), SEEDS, st.booleans())
def test_groups_are_centred_and_know_no_level(groups, size, seed, normalize):
    rewards = drawn(groups * size, seed=seed)
    found = group_advantages(rewards, size, normalize)
    close(found.view(groups, size).sum(1), torch.zeros(groups, dtype=torch.float64), atol=1e-9)
    shifted = rewards.view(groups, size) + drawn(groups, 1, seed=seed + 1)
    close(group_advantages(shifted.flatten(), size, normalize), found, 1e-7, 1e-9)
    for start in range(0, len(rewards), size):
        group = rewards[start : start + size].tolist()
        divisor = stdev(group) + 1e-4 if normalize else 1.0
        wanted = [(one - fmean(group)) / divisor for one in group]
        close(found[start : start + size], torch.tensor(wanted, dtype=torch.float64))


def test_leave_one_out_is_the_centred_reward_times_g_over_g_less_one():
    rewards = drawn(6)
    others = (rewards.sum() - rewards) / 5
    close(rewards - others, 6 / 5 * group_advantages(rewards, 6, normalize=False))


# Losses.


def test_the_losses_of_the_page():
    ratio, nothing = tensor([math.log(1.5), math.log(0.5), 0, 3]), tensor([0, 0, 0, 0])
    loss, stats = policy_loss(ratio, nothing, tensor([1, -1, 2, 50]), tensor([1, 1, 1, 0]))
    assert (loss.item(), stats.clipped_fraction) == (pytest.approx(-0.8), pytest.approx(2 / 3))
    assert stats.approx_kl == pytest.approx(0.0958940, rel=1e-6)
    said, old, meant = tensor([1, 0, 5]), tensor([0.5, 0.1, 5]), tensor([1.5, 1, 0])
    assert value_loss(said, old, meant, tensor([1, 1, 0])).item() == pytest.approx(0.41)
    assert value_loss(said, old, meant, tensor([1, 1, 0]), clip=9.0).item() == pytest.approx(0.3125)


def test_a_policy_that_has_hardly_moved_keeps_the_digits_of_its_divergence():
    moved = 1e-7
    _, stats = policy_loss(tensor([moved]), tensor([0.0]), tensor([1.0]), tensor([1]))
    assert stats.approx_kl == pytest.approx(moved**2 / 2, rel=1e-6)


@few
@given(masks(), SEEDS, st.floats(0.05, 0.5))
def test_the_policy_loss_is_chapter_12s_on_the_real_tokens_alone(mask, seed, clip):
    new, old, gains = (drawn(*mask.shape, seed=seed + k) for k in range(3))
    leaf = spoiled(new, mask).requires_grad_()
    loss, stats = policy_loss(leaf, spoiled(old, mask), spoiled(gains, mask), mask, clip)
    loss.backward()
    real = mask.bool()
    wanted = ppo_clip_objective(new[real].tolist(), old[real].tolist(), gains[real].tolist(), clip)
    assert loss.item() == pytest.approx(-wanted.objective, rel=1e-9, abs=1e-12)
    assert stats.outside_fraction == pytest.approx(wanted.outside_fraction)
    assert stats.clipped_fraction == pytest.approx(wanted.clipped_fraction)
    moved = (new - old)[real].tolist()
    divergence = sum(math.expm1(one) - one for one in moved) / len(moved)
    assert stats.approx_kl == pytest.approx(divergence, rel=1e-9, abs=1e-12)
    assert leaf.grad.isfinite().all()
    assert leaf.grad[~real].tolist() == [0.0] * int((~real).sum())


@few
@given(masks(), SEEDS, st.floats(0.05, 0.5))
def test_the_value_loss_is_what_a_loop_says(mask, seed, clip):
    said, old, meant = (drawn(*mask.shape, seed=seed + k) for k in range(3))
    leaf = spoiled(said, mask).requires_grad_()
    loss = value_loss(leaf, spoiled(old, mask), spoiled(meant, mask), mask, clip)
    loss.backward()
    errors = []
    for v, was, target in zip(*(one[mask.bool()].tolist() for one in (said, old, meant)), strict=True):
        held = min(max(v, was - clip), was + clip)
        errors.append(max((v - target) ** 2, (held - target) ** 2))
    assert loss.item() == pytest.approx(fmean(errors) / 2)
    assert leaf.grad.isfinite().all()


@few
@given(masks(holes=False), SEEDS)
def test_a_padded_batch_is_the_same_responses_one_by_one(mask, seed):
    """Losses of a batch are the means of its rows' losses, weighted with their tokens; advantages are theirs."""
    new, old, ref, values, meant = (drawn(*mask.shape, seed=seed + k) for k in range(5))
    scores = drawn(len(mask), seed=seed + 5)
    new, old, ref, values, meant = (spoiled(one, mask) for one in (new, old, ref, values, meant))
    rewards = token_rewards(scores, old, ref, mask, 0.1)
    advantages, _ = masked_gae(rewards, values, mask)
    parts = []
    for row, count in enumerate(mask.sum(1).int().tolist()):
        cut = (slice(row, row + 1), slice(0, count))
        real, paid = mask[cut], token_rewards(scores[row : row + 1], old[cut], ref[cut], mask[cut], 0.1)
        gains, _ = masked_gae(paid, values[cut], real)
        close(rewards[cut], paid)
        close(advantages[cut], gains)
        loss = policy_loss(new[cut], old[cut], gains, real)[0] + value_loss(new[cut], values[cut], meant[cut], real)
        parts.append(count * loss)
    whole = policy_loss(new, old, advantages, mask)[0] + value_loss(new, values, meant, mask)
    close(whole, sum(parts) / mask.sum(), 1e-9, 1e-9)


@pytest.mark.parametrize(
    ("chosen", "rejected", "wanted"),
    [((1, 2), (0, 2), 0.503204), ((3,), (3,), math.log(2)), ((0,), (100,), 100.0), ((2,), (0,), 0.126928)],
)
def test_the_preferences_of_the_page(chosen, rejected, wanted):
    found = preference_loss(torch.tensor(chosen).float(), torch.tensor(rejected).float())
    assert found.item() == pytest.approx(wanted, rel=1e-5)


@few
@given(st.integers(1, 9), SEEDS, st.floats(0, 300))
def test_a_preference_is_a_coin_with_the_gap_as_its_logit(count, seed, scale):
    chosen, rejected = (scale * drawn(count, seed=seed + k) for k in range(2))
    gap = (chosen - rejected).requires_grad_()
    wanted = functional.binary_cross_entropy_with_logits(gap, torch.ones_like(gap))
    close(preference_loss(gap, torch.zeros_like(gap)), wanted, 1e-9, 1e-12)
    close(preference_loss(chosen + 7, rejected + 7), wanted.detach(), 1e-6, 1e-9)


# A ratio that overflows, and what the padding may hold.


@pytest.mark.parametrize(("dtype", "far"), [(torch.float32, 200.0), (torch.float64, 800.0)])
@pytest.mark.parametrize("advantage", [0.0, 2.0])
def test_a_clipped_token_whose_ratio_overflows_sends_no_gradient(dtype, far, advantage):
    """Kills: 0 times the infinite exp, which is nan, in the gradient of the term that does not count."""
    new = torch.tensor([[far - 1, -1.0]], dtype=dtype, requires_grad=True)
    old, gains, mask = (torch.tensor([row], dtype=dtype) for row in ([-1.0, -1.1], [advantage, 1.0], [1.0, 1.0]))
    loss, stats = policy_loss(new, old, gains, mask, clip=0.2)
    loss.backward()
    ratio = math.exp(0.1)
    assert loss.item() == pytest.approx(-(1.2 * advantage + ratio) / 2, rel=1e-6)
    assert new.grad.tolist()[0] == pytest.approx([0.0, -ratio / 2], rel=1e-6)
    assert stats.approx_kl == math.inf
    assert stats.outside_fraction == 0.5
    assert stats.clipped_fraction == (0.5 if advantage else 0.0)


@pytest.mark.parametrize("rest", [math.nan, math.inf, -math.inf])
def test_whatever_the_padding_holds_nothing_changes(rest):
    mask = tensor([1, 1, 0], [1, 0, 0])
    new, old, third = (drawn(2, 3, seed=seed) for seed in range(3))
    spoiled = [one.masked_fill(mask == 0, rest) for one in (new, old, third)]
    functions = (
        lambda a, b, _: token_rewards(drawn(2), a, b, mask, 0.1),
        lambda a, b, _: torch.stack(masked_gae(a, b, mask)),
        lambda a, *_: masked_whiten(a, mask),
        lambda *given: policy_loss(*given, mask)[0],
        lambda *given: value_loss(*given, mask),
    )
    for function in functions:
        assert torch.equal(function(*spoiled), function(new, old, third))


# Types, and what is refused.


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_type_stays(dtype):
    mask = tensor([1, 1, 0], [1, 1, 1]).to(dtype)
    new, old = (drawn(2, 3, seed=k).to(dtype) for k in range(2))
    advantages, returns = masked_gae(new, old, mask)
    made = (
        token_rewards(new[:, 0], new, old, mask, 0.1),
        advantages,
        returns,
        masked_whiten(new, mask),
        policy_loss(new, old, advantages, mask)[0],
        value_loss(new, old, returns, mask),
        preference_loss(new[:, 0], old[:, 0]),
        group_advantages(new.flatten(), 3),
        response_log_probs(drawn(1, 3, 4).to(dtype), torch.tensor([[0, 1, 2]]), 1),
    )
    assert {one.dtype for one in made} == {dtype}
    assert all(one.isfinite().all() for one in made)


def test_a_mask_may_be_of_truths():
    mask = tensor([1, 1, 0], [1, 1, 1])
    close(masked_whiten(drawn(2, 3), mask.bool()), masked_whiten(drawn(2, 3), mask))


EMPTY, FULL = tensor([1, 1], [0, 0]), tensor([1, 1], [1, 1])
ONES = torch.ones(2, 2, dtype=torch.float64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: token_rewards(ONES[0], ONES, ONES, EMPTY, 0.1), "mask must have a 1"),
        (lambda: masked_gae(ONES, ONES, EMPTY), "mask must have a 1"),
        (lambda: masked_whiten(ONES, EMPTY), "mask must have a 1"),
        (lambda: policy_loss(ONES, ONES, ONES, EMPTY), "mask must have a 1"),
        (lambda: value_loss(ONES, ONES, ONES, EMPTY), "mask must have a 1"),
        (lambda: token_rewards(ONES, ONES, ONES, FULL, 0.1), "scores must be"),
        (lambda: masked_gae(ONES, ONES[:1], FULL), r"values must be \(2, 2\), got \(1, 2\)"),
        (lambda: preference_loss(ONES[0], ONES[0, :1]), "rejected must fit chosen"),
        (lambda: preference_loss(ONES[0, :0], ONES[0, :0]), "chosen must be"),
        (lambda: group_advantages(torch.ones(6), 4), "rewards must be whole groups"),
        (lambda: response_log_probs(drawn(1, 4, 6), torch.zeros(1, 4, dtype=torch.long), 4), "prompt_length must be"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
