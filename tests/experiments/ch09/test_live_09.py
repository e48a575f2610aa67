"""The live runs of chapter 9: what they count and compare is checked, what they time is not."""

from __future__ import annotations

import pytest
import torch

from experiments.ch09 import kv_runs
from experiments.ch09.kv_runs import CONFIG, causal_mask, chunked_logits, generate, quantized_runs, with_outliers
from rankzero.facts.units import MB
from rankzero.server.pool import Pool
from rankzero.tiny import GPT
from solutions.ch09.kv_cache import kv_bytes_per_token, kv_capacity_tokens, max_concurrent_requests

MODEL = kv_runs.in_double(GPT(CONFIG, seed=3))
TOKENS = kv_runs.prompt_tokens(20)


def test_a_cached_generation_is_the_uncached_one():
    prompt = kv_runs.prompt_tokens(30)
    cached, uncached = (generate(MODEL, prompt, 12, way) for way in (True, False))
    assert cached.tokens == uncached.tokens
    torch.testing.assert_close(cached.logits, uncached.logits, rtol=1e-9, atol=1e-9)
    assert (cached.token_forwards, uncached.token_forwards) == (30 + 11, 12 * 30 + 12 * 11 // 2)


def test_the_counts_of_the_page():
    prompt, new = 100, 50
    assert (prompt + new - 1, new * prompt + new * (new - 1) // 2) == (149, 6225)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("first", range(1, 20))
def test_every_cut_of_twenty_tokens_gives_the_same_logits(first):
    whole = chunked_logits(MODEL, TOKENS, [20])
    torch.testing.assert_close(chunked_logits(MODEL, TOKENS, [first, 20 - first]), whole, rtol=1e-9, atol=1e-9)
    wrong = chunked_logits(MODEL, TOKENS, [first, 20 - first], "start")
    assert torch.equal(wrong[:first], chunked_logits(MODEL, TOKENS, [first, 20 - first])[:first])
    assert (wrong - whole)[first:].abs().max() > 0.1


def test_one_by_one():
    whole = chunked_logits(MODEL, TOKENS, [20])
    torch.testing.assert_close(chunked_logits(MODEL, TOKENS, [1] * 20), whole, rtol=1e-9, atol=1e-9)


def test_masks():
    assert causal_mask(2, 4).tolist() == [[True, True, True, False], [True] * 4]
    assert causal_mask(2, 4, "start").tolist() == [[True, False, False, False], [True, True, False, False]]


def test_outliers_change_no_logit():
    """Not a bit: the factor is a power of two."""
    model = GPT(CONFIG, seed=3)
    pieces = kv_runs.windows(2, 20)
    assert torch.equal(with_outliers(model, 8.0)(pieces), model(pieces))
    plain, large = kv_runs.channel_sizes(model), kv_runs.channel_sizes(with_outliers(model, 8.0))
    assert [big / small for small, big in zip(plain, large, strict=True)] == [1] * 7 + [8] + [1] * 7 + [8]


def test_fewer_bits():
    """Fewer bytes cost accuracy; scales by channel do not feel outliers, scales by token do."""
    model = with_outliers(GPT(CONFIG, seed=3), 16.0)
    whole, eight, four, channel = quantized_runs(model, count=4)
    assert (whole.divergence, whole.agreement) == (0, 1)
    assert whole.bytes_per_token == 2 * 3 * 2 * 16 * 4
    assert eight.bytes_per_token == 2 * 3 * 2 * (16 + 4)
    assert four.bytes_per_token == 2 * 3 * 2 * (8 + 4)
    assert channel.bytes_per_token == 3 * 2 * (8 + 16 * 4 / 96) + 3 * 2 * (8 + 4)
    assert eight.divergence < four.divergence
    assert channel.divergence < four.divergence / 2
    (_, plain) = quantized_runs(GPT(CONFIG, seed=3), ((4, True),), count=4)
    assert plain.divergence == channel.divergence


# By hand, and in the server's engine.


def test_a_pass_written_out_is_the_models():
    whole = chunked_logits(MODEL, TOKENS, [20])
    first, past = kv_runs.layer_by_layer(MODEL, TOKENS[:7])
    rest, past = kv_runs.layer_by_layer(MODEL, TOKENS[7:], past)
    torch.testing.assert_close(torch.cat([first, rest]), whole, rtol=1e-9, atol=1e-9)
    assert past[0][0].shape == (CONFIG.heads, 20, CONFIG.head_dim)
    written, cached = kv_runs.generate_by_layer(MODEL, TOKENS, 5), generate(MODEL, TOKENS, 5, True)
    assert (written.tokens, written.token_forwards) == (cached.tokens, cached.token_forwards)


def test_the_engine_runs_as_many_as_the_formula_says():
    model = GPT(CONFIG, seed=3)
    token = kv_bytes_per_token(CONFIG.layers, CONFIG.kv_heads, CONFIG.head_dim, 4)
    room = kv_capacity_tokens(2 * MB, 1, sum(p.nbytes for p in model.parameters()), token)
    assert Pool(model, room // 16, 16).nbytes == room // 16 * 16 * token
    engine = kv_runs.first_step(model, [kv_runs.prompt_tokens(63)] * 30, room // 16, 16)
    running = max_concurrent_requests(room, 64, 16)
    assert (engine.metrics()["running"], engine.metrics()["waiting"]) == (running, 30 - running)
    engine.close()


def test_reuse_changes_no_answer():
    model, prompts = GPT(CONFIG, seed=3), kv_runs.real_prompts(document=10)
    assert len(prompts) == 30
    fresh, reused = (kv_runs.serve_prompts(model, prompts[:8], 3, 128, reuse=way) for way in (False, True))
    assert fresh.answers == reused.answers
    assert sum(fresh.cached) == 0
    same = [
        next(n for n, (a, b) in enumerate(zip(*pair, strict=False)) if a != b)
        for pair in zip(prompts[:6], prompts[2:8], strict=True)
    ]
    assert all(found >= shared // 8 * 8 for found, shared in zip(reused.cached[2:], same, strict=True))


def test_short_memory_changes_no_answer():
    model = GPT(CONFIG, seed=3)
    prompts = [kv_runs.prompt_tokens(80)[i * 20 : i * 20 + 20] for i in range(4)]
    plenty, short = (kv_runs.serve_prompts(model, prompts, 20, blocks, together=True) for blocks in (40, 8))
    assert plenty.answers == short.answers
    assert plenty.preemptions == 0 < short.preemptions
    assert plenty.steps == 20 < short.steps


def test_a_longer_context_changes_nothing():
    model = GPT(CONFIG, seed=3)
    wide = kv_runs.with_context(model, 400)
    assert torch.equal(wide(torch.tensor([TOKENS])), model(torch.tensor([TOKENS])))
    assert wide.config.context == 400
