"""Speculation: closed forms against enumeration and simulation, the step against the exact law of its target."""

from __future__ import annotations

import math
from itertools import product
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from experiments.ch11.speculation_law import law_of, plain_law, total_variation
from experiments.ch11.wrong_samplers import WRONG, without_bonus
from solutions.ch11 import speculation_costs as costs
from solutions.ch11.speculative import (
    acceptance_probability,
    debug_accept,
    expected_tokens,
    optimal_draft_length,
    residual_distribution,
    speculative_speedup,
    speculative_step,
)

#: Peak over bandwidth of an H100 in bf16, in sequences (chapter 8).
RIDGE = 989.4e12 / 3.35e12

shares = st.floats(0, 1)
lengths = st.integers(0, 12)


@st.composite
def pairs(draw, most: int = 8):
    """Two distributions of one length; entries may be 0."""
    size = draw(st.integers(1, most))
    weights = st.lists(st.integers(0, 20), min_size=size, max_size=size)
    rows = []
    for row in (draw(weights), draw(weights)):
        assume(sum(row))
        rows.append([weight / sum(row) for weight in row])
    return rows


# Expected tokens.


@pytest.mark.parametrize(
    ("arguments", "tokens"),
    [
        ((0.8, 5), 3.68928),
        ((0.8, 4), 3.36160),
        ((0.75, 4), 3.05078),
        ((0.7, 5), 2.94117),
        ((1, 5), 6),
        ((0, 5), 1),
        ((0.9, 8), 6.12580),
        ((0.3, 0), 1),
    ],
)
def test_expected_tokens_of_the_paper(arguments, tokens):
    assert expected_tokens(*arguments) == pytest.approx(tokens, rel=4e-6)


@given(shares, st.integers(0, 8))
def test_expected_tokens_are_those_of_all_verdicts(alpha, k):
    """An independent count: 2^k verdicts, each with its probability."""
    mean = 0.0
    for verdicts in product((True, False), repeat=k):
        chance = math.prod(alpha if yes else 1 - alpha for yes in verdicts)
        accepted = next((i for i, yes in enumerate(verdicts) if not yes), k)
        mean += chance * (accepted + 1)
    assert expected_tokens(alpha, k) == pytest.approx(mean, rel=1e-9)


@given(st.floats(0, 1e-5), st.integers(0, 64))
def test_expected_tokens_near_one(gap, k):
    """Kills cancellation: a second-order series in the gap."""
    alpha = 1 - gap
    gap = 1 - alpha
    series = sum((-gap) ** i * math.comb(k + 1, i + 1) for i in range(4))
    assert expected_tokens(alpha, k) == pytest.approx(series, rel=1e-9)


def test_a_learned_rate_and_a_simulated_one_agree():
    """Rounds of coins, 200,000 tokens: the speed-up within a percent."""
    rng, alpha, k, c, v = Random(11), 0.8, 4, 0.05, 1.3
    tokens = time = 0.0
    while tokens < 200_000:
        accepted = 0
        while accepted < k and rng.random() < alpha:
            accepted += 1
        tokens += accepted + 1
        time += k * c + v
    assert tokens / time == pytest.approx(speculative_speedup(alpha, k, c, v), rel=0.01)


# Speed-up.


@pytest.mark.parametrize(
    ("arguments", "ratio"),
    [
        ((0.8, 5, 0.05), 2.95142),
        ((0.75, 4, 0.05), 2.54232),
        ((0.8, 5, 0.1), 2.45952),
        ((0.7, 3, 0.2), 1.58312),
        ((1, 8, 0.2), 3.46154),
        ((0.5, 1, 0.2), 1.25),
        ((0.7, 5, 1), 0.490195),
        ((0.8, 4, 0.05, 4.33394), 0.741430),
    ],
)
def test_speedups(arguments, ratio):
    assert speculative_speedup(*arguments) == pytest.approx(ratio, rel=4e-6)


@given(shares, st.floats(0, 1))
def test_one_draft_gives_the_corollary(alpha, c):
    assert speculative_speedup(alpha, 1, c) == pytest.approx((1 + alpha) / (1 + c), rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "length"),
    [
        ((0.7, 0.2), 3),
        ((0.8, 0.05), 8),
        ((0.9, 0.05), 13),
        ((0.75, 0.05), 7),
        ((0.5, 0.2), 1),
        ((0.5, 0.1), 2),
        ((0.6, 0.01), 7),
        ((0.2, 0.2), 0),
        ((0.3, 0.5), 0),
        ((0.95, 0.02), 31),
        ((1, 0.5, 10), 10),
        ((0.9, 0.05, 0), 0),
        ((1.0, 1.0), 0),
    ],
)
def test_best_lengths(arguments, length):
    assert optimal_draft_length(*arguments) == length


@given(st.floats(0, 0.99), st.floats(0.001, 1), st.integers(0, 64))
def test_no_length_beats_the_best(alpha, c, most):
    """Brute force; and some length helps exactly when alpha > c."""
    best = optimal_draft_length(alpha, c, most)
    speeds = [speculative_speedup(alpha, k, c) for k in range(most + 1)]
    assert speeds[best] >= max(speeds) * (1 - 1e-9)
    if most and abs(alpha - c) > 1e-9:
        assert (best > 0) == (alpha > c)


# One token.


@pytest.mark.parametrize(
    ("p", "q", "alpha", "rest"),
    [
        ((0.5, 0.3, 0.2, 0), (0.25,) * 4, 0.7, (5 / 6, 1 / 6, 0, 0)),
        ((0.6, 0.3, 0.1), (0.1, 0.6, 0.3), 0.5, (1, 0, 0)),
        ((0.5, 0.3, 0.15, 0.05), (0.25,) * 4, 0.7, (5 / 6, 1 / 6, 0, 0)),
        ((1, 0), (0, 1), 0, (1, 0)),
        ((0.4, 0.6), (0.4, 0.6), 1, (0.4, 0.6)),
    ],
)
def test_acceptance_and_residual(p, q, alpha, rest):
    assert acceptance_probability(p, q) == pytest.approx(alpha)
    assert residual_distribution(p, q) == pytest.approx(rest)


@given(pairs())
def test_both_parts_add_up_to_the_target(rows):
    """The one-line proof, in numbers; and alpha is 1 minus half of the L1 distance."""
    p, q = rows
    alpha, rest = acceptance_probability(p, q), residual_distribution(p, q)
    assert alpha == pytest.approx(1 - sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
    assert [min(a, b) + (1 - alpha) * r for a, b, r in zip(p, q, rest, strict=True)] == pytest.approx(p, abs=1e-12)


# The step.

P, Q = (0.5, 0.3, 0.2, 0.0), (0.25,) * 4


@pytest.mark.parametrize(
    ("tokens", "uniforms", "emitted"),
    [
        ([0, 1], (0.9, 0.9, 0.5), [0, 1, 1]),
        ([2, 0], (0.79, 0.1, 0.5), [2, 0, 1]),
        ([2, 0], (0.81, 0.1, 0.5), [0]),
        ([3, 0], (0, 0.1, 0.9), [1]),
        ([0, 3], (0.5, 0.5, 0.99), [0, 1]),
        ([], (0.6,), [1]),
    ],
)
def test_rounds_of_the_page(tokens, uniforms, emitted):
    assert speculative_step(tokens, [Q] * len(tokens), [P] * (len(tokens) + 1), uniforms) == emitted


def test_what_rounding_leaves_goes_to_the_last_with_mass():
    short = [1 / 3 - 1e-7, 1 / 3, 1 / 3, 0.0]
    assert speculative_step([], [], [short], [1 - 2**-53]) == [2]


def test_a_token_that_is_not_looked_at_is_not_judged():
    rows = [(0.0, 1.0), (1.0, 0.0)]
    assert speculative_step([1, 1], rows, [(1.0, 0.0)] * 3, [0.5, 0.5, 0.5]) == [0]


# Its law, exactly.


def context_rows(name: str, size: int = 3):
    """A next-token law that depends on the whole context, with zeros here and there."""

    def row(context):
        rng = Random(f"{name} {context}")
        weights = [rng.random() * (rng.random() > 0.15) + 0.01 * (i == len(context) % size) for i in range(size)]
        return [weight / sum(weights) for weight in weights]

    return row


TARGET, DRAFT = context_rows("p"), context_rows("q")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_law_is_exactly_the_targets(k):
    """Every draft and every verdict, over three tokens, without chance."""
    found, wanted = law_of(speculative_step, DRAFT, TARGET, k, 3), plain_law(TARGET, 3)
    assert set(found) == set(wanted)
    assert max(abs(found[key] - p) for key, p in wanted.items()) < 1e-12


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(0, 2))
@settings(max_examples=25, deadline=None)
def test_the_law_is_the_targets_for_any_rows(seed, size, k):
    target, draft = context_rows(f"p{seed}", size), context_rows(f"q{seed}", size)
    assert total_variation(law_of(speculative_step, draft, target, k, 2), plain_law(target, 2)) < 1e-12


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", WRONG)
@pytest.mark.proof(part="runs")
def test_a_wrong_sampler_has_another_law(name, k):
    """Over k + 1 tokens: the additional one is the first that some of them get wrong."""
    found, wanted = law_of(WRONG[name], DRAFT, TARGET, k, k + 1), plain_law(TARGET, k + 1)
    assert sum(found.values()) == pytest.approx(1)
    assert total_variation(found, wanted) > 0.02


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_missing_bonus_is_slow_and_not_wrong(k):
    """Without the additional token the law stays: only tokens per pass are lost."""
    assert total_variation(law_of(without_bonus, DRAFT, TARGET, k, 3), plain_law(TARGET, 3)) < 1e-12


def test_the_replacement_from_the_target_is_off_by_a_tenth():
    law = law_of(WRONG["residual"], lambda _: Q, lambda _: P, 1, 1)
    assert [law.get((token,), 0.0) for token in range(4)] == pytest.approx([0.40, 0.34, 0.26, 0])
    assert total_variation(law, plain_law(lambda _: P, 1)) == pytest.approx(0.1)


@given(pairs(5))
def test_the_mended_function_has_the_law_of_the_target(rows):
    """The debug item as a step of one token."""
    p, q = rows

    def step(tokens, draft, target, uniforms):
        return [debug_accept(tokens[0], draft[0], target[0], (uniforms[0], uniforms[-1]))]

    assert total_variation(law_of(step, lambda _: q, lambda _: p, 1, 1), plain_law(lambda _: p, 1)) < 1e-12


def test_more_samples_come_nearer_to_the_target_alone():
    """As vLLM tests its own: the distance to p shrinks 20 times more than that to an unrelated law."""
    rng, size = Random(5), 20
    p, q, other = (
        [weight / sum(row) for weight in row] for row in ([rng.random() for _ in range(size)] for _ in "pqo")
    )
    seen, distances = [0] * size, {}
    for drawn in range(1, 40_001):
        (token,) = rng.choices(range(size), q)
        seen[speculative_step([token], [q], [p, p], [rng.random(), rng.random()])[0]] += 1
        if drawn in (10, 40_000):
            distances[drawn] = [math.dist([n / drawn for n in seen], law) for law in (p, other)]
    shrunk = [first / last for first, last in zip(distances[10], distances[40_000], strict=True)]
    assert shrunk[0] > 20 * shrunk[1]


# Batches.


def test_speculation_loses_in_large_batches():
    speeds = [costs.batched_speedup(0.8, 4, 0.05, batch, RIDGE) for batch in (1, 32, 128, 256)]
    assert speeds == pytest.approx([2.80133, 2.80133, 1.42, 0.74143], rel=1e-3)
    even = costs.break_even_batch(0.8, 4, 0.05, RIDGE)
    assert even == pytest.approx(186.751, rel=1e-5)
    assert costs.batched_speedup(0.8, 4, 0.05, even, RIDGE) == pytest.approx(1)


def test_drafts_that_cost_more_than_they_bring_pay_at_no_batch():
    assert costs.batched_speedup(0.1, 4, 0.2, 1, RIDGE) < 1
    with pytest.raises(ValueError, match="acceptance"):
        costs.break_even_batch(0.1, 4, 0.2, RIDGE)


def test_above_the_ridge_every_position_costs():
    assert costs.verification_cost(2 * RIDGE, 3, RIDGE) == pytest.approx(4)
    assert costs.verification_cost(1, 3, RIDGE) == 1
    with pytest.raises(ValueError, match="batch"):
        costs.verification_cost(0, 3, RIDGE)


def test_the_best_length_shrinks_with_the_batch():
    assert costs.best_batched(0.8, 0.05, 128, RIDGE) == (2, pytest.approx(1.74263, rel=1e-5))
    best = [costs.best_batched(0.8, 0.05, batch, RIDGE)[0] for batch in (1, 64, 128, 300)]
    assert best == [8, 4, 2, 0]
