"""Sampling and batches: against loops that are too slow to serve with."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rankzero.tiny import GPT, GPTConfig, KVCache
from solutions.ch08.tiny_serving import GrowingCache, generate_batch, next_token_probabilities

LOGITS = torch.tensor([2.0, 1.0, 0.0, -1.0], dtype=torch.float64)
CONFIG = GPTConfig(vocab=13, layers=2, heads=4, kv_heads=2, head_dim=8, context=48)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0.643914, 0.236883, 0.087144, 0.032059)),
        ({"temperature": 0.5}, (0.864955, 0.117059, 0.015842, 0.002144)),
        ({"top_k": 2}, (0.731059, 0.268941, 0, 0)),
        ({"top_p": 0.7}, (0.731059, 0.268941, 0, 0)),
        ({"top_p": 0.6}, (1, 0, 0, 0)),
        ({"temperature": 2, "top_k": 3, "top_p": 0.8}, (0.622459, 0.377541, 0, 0)),
        ({"temperature": 0}, (1, 0, 0, 0)),
        ({"top_k": 9}, (0.643914, 0.236883, 0.087144, 0.032059)),
    ],
)
def test_the_table(options, expected):
    assert next_token_probabilities(LOGITS, **options).tolist() == pytest.approx(expected, abs=1e-6)


def by_hand(logits: list[float], temperature: float, top_k: int, top_p: float) -> list[float]:
    """One token after another, in the order of their logits, until enough are kept."""
    order = sorted(range(len(logits)), key=lambda token: -logits[token])[: top_k or None]
    weights = {token: 2.718281828459045 ** ((logits[token] - max(logits)) / temperature) for token in order}
    total, mass, kept = sum(weights.values()), 0.0, []
    for token in order:
        kept.append(token)
        mass += weights[token] / total
        if mass >= top_p:
            break
    kept_mass = sum(weights[token] for token in kept)
    return [weights[token] / kept_mass if token in kept else 0.0 for token in range(len(logits))]


@given(
    st.lists(st.integers(-800, 800), min_size=1, max_size=40, unique=True),
    st.floats(0.2, 5),
    st.integers(0, 50),
    st.floats(0.05, 1),
)
def test_the_filters_one_token_after_another(hundredths, temperature, top_k, top_p):
    """Kills: top-p before the temperature, a lost crossing token, no renormalising."""
    logits = [value / 100 for value in hundredths]
    expected = by_hand(logits, temperature, top_k, top_p)
    slack = [by_hand(logits, temperature, top_k, top_p * (1 + 1e-9 * sign)) for sign in (-1, 1)]
    if slack[0] == slack[1]:  # else the sum crosses top_p within the rounding
        found = next_token_probabilities(torch.tensor(logits, dtype=torch.float64), temperature, top_k, top_p)
        assert found.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("options", [(0.7, 0, 1.0), (1.0, 5, 1.0), (1.0, 0, 0.8), (1.3, 20, 0.9)])
def test_the_processors_of_transformers(options):
    pytest.importorskip("transformers")
    from transformers.generation import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

    scores = torch.randn(4, 50, generator=torch.Generator().manual_seed(8), dtype=torch.float64)
    temperature, top_k, top_p = options
    expected = TemperatureLogitsWarper(temperature)(None, scores)
    expected = TopKLogitsWarper(top_k)(None, expected) if top_k else expected
    expected = TopPLogitsWarper(top_p)(None, expected) if top_p < 1 else expected
    torch.testing.assert_close(next_token_probabilities(scores, *options), expected.softmax(-1))


def test_rows_do_not_meet_and_the_argument_stays():
    scores = torch.randn(2, 3, 20, generator=torch.Generator().manual_seed(8))
    before = scores.clone()
    found = next_token_probabilities(scores, 0.8, 7, 0.9)
    assert torch.equal(scores, before)
    assert found.shape == scores.shape
    assert found.dtype == scores.dtype
    for row, own in zip(scores.flatten(0, 1), found.flatten(0, 1), strict=True):
        torch.testing.assert_close(next_token_probabilities(row, 0.8, 7, 0.9), own)


def test_the_lowest_of_equal_logits_wins():
    assert next_token_probabilities(torch.tensor([0.0, 3.0, 1.0, 3.0]), temperature=0).tolist() == [0, 1, 0, 0]


# Batches.


def alone(model: GPT, prompt: list[int], steps: int, eos: int | None) -> list[int]:
    """Without a batch and without a cache: everything from the start for each token."""
    tokens = list(prompt)
    for _ in range(steps):
        with torch.no_grad():
            token = int(model(torch.tensor([tokens]))[0, -1].argmax())
        if token == eos:
            break
        tokens.append(token)
    return tokens[len(prompt) :]


PROMPTS = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=20), max_size=6)


@settings(max_examples=30, deadline=None)
@given(PROMPTS, st.integers(1, 16), st.none() | st.integers(0, 12), st.integers(0, 3))
def test_each_row_is_what_its_prompt_gives_alone(prompts, steps, eos, seed):
    """Kills: padding attended, positions that count padding, the wrong column, a row that goes on after its end."""
    model = GPT(CONFIG, seed).double()
    assert generate_batch(model, prompts, steps, eos) == [alone(model, prompt, steps, eos) for prompt in prompts]


def test_bad_batches():
    model = GPT(CONFIG)
    with pytest.raises(ValueError, match="at least one token each"):
        generate_batch(model, [[1], []], 2)


def test_the_growing_cache_is_a_cache():
    model, tokens = GPT(CONFIG).double(), torch.arange(12).reshape(2, 6) % 13
    ours, theirs = GrowingCache(), KVCache(model, 2)
    for piece in tokens.split(2, dim=1):
        torch.testing.assert_close(model(piece, cache=ours), model(piece, cache=theirs))
    assert ours.length == theirs.length == 6
