"""Mixtures of experts: published counts, layers of torch that hold no memory, counting, and routing at random."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
import torch
from torch import nn

from rankzero.facts.models import MIXTRAL_8X7B
from solutions.ch07.experts import all_to_all_bytes, expert_capacity, keep_within_capacity, moe_parameters


def test_published_counts():
    """Mixtral 8x7B and DeepSeek-V3, total and active."""
    assert moe_parameters(4096, 14336, 8, 2, 32, 1_605_636_096) == (46_702_792_704, 12_879_925_248)
    assert moe_parameters(7168, 2048, 256, 8, 58, 14_563_317_248, 1) == (671_026_419_200, 37_552_297_472)
    assert moe_parameters(8, 16, 4, 4, 1, 100) == (1636, 1636)


def test_the_total_is_that_of_the_record():
    m = MIXTRAL_8X7B
    expert = 3 * m.hidden * m.expert_ffn
    shared = m.parameters - m.layers * m.experts * expert
    assert moe_parameters(m.hidden, m.expert_ffn, m.experts, m.top_k, m.layers, shared)[0] == m.parameters


@pytest.mark.parametrize("gated", [True, False])
def test_counts_are_those_of_torch(gated):
    hidden, ffn, experts, top_k, layers = 24, 40, 6, 2, 3

    def feed_forward():
        inner = [nn.Linear(hidden, ffn, bias=False) for _ in range(2 if gated else 1)]
        return nn.ModuleList([*inner, nn.Linear(ffn, hidden, bias=False)])

    def count(module):
        return sum(parameter.numel() for parameter in module.parameters())

    with torch.device("meta"):
        mixture = nn.ModuleList(nn.ModuleList(feed_forward() for _ in range(experts + 1)) for _ in range(layers))
        others = nn.ModuleList([nn.Embedding(50, hidden), nn.Linear(hidden, experts, bias=False)])
    visited = [module[place] for module in mixture for place in range(top_k + 1)]
    total, active = moe_parameters(hidden, ffn, experts, top_k, layers, count(others), 1, gated)
    assert total == count(mixture) + count(others)
    assert active == sum(map(count, visited)) + count(others)


def test_capacities_of_the_page():
    rows = {(4096, 64, 2, 1.25): 160, (4096, 8, 1, 1.25): 640, (100, 8, 2, 1.0): 25, (100, 16, 1, 1.0): 7}
    rows |= {(50, 1, 1, 1.1): 55, (0, 8, 2, 1.25): 0, (1, 64, 1, 0.25): 1}
    for given, right in rows.items():
        assert expert_capacity(*given) == right


def test_an_even_router_loses_nothing_at_factor_one():
    for tokens in range(0, 60):
        for experts in (1, 3, 8):
            for top_k in range(1, experts + 1):
                capacity = expert_capacity(tokens, experts, top_k)
                assert (capacity - 1) * experts < tokens * top_k <= capacity * experts


def kept_in_turn(choices, experts, capacity):
    """Serve every assignment in the order of (choice, token), from a multiset of free places."""
    free = Counter(dict.fromkeys(range(experts), capacity))
    kept = {}
    for place, token in sorted((p, t) for t, chosen in enumerate(choices) for p in range(len(chosen))):
        expert = choices[token][place]
        kept[token, place] = free[expert] > 0
        free[expert] -= kept[token, place]
    return [[kept[token, place] for place in range(len(chosen))] for token, chosen in enumerate(choices)]


def test_places_are_given_choice_by_choice():
    assert keep_within_capacity([[0, 1], [0, 2], [0, 1], [1, 0]], 3, 2) == [
        [True, True],
        [True, True],
        [False, False],
        [True, False],
    ]
    kept = [[True, True], [True, True], [True, False], [True, False]]  # the example of the deeper page
    assert keep_within_capacity([[0, 1], [0, 1], [0, 1], [1, 0]], 2, 3) == kept
    rng = Random(8)
    for _ in range(200):
        experts, tokens, capacity = rng.randint(1, 9), rng.randint(0, 30), rng.randint(0, 8)
        top_k = rng.randint(1, experts)
        choices = [rng.sample(range(experts), top_k) for _ in range(tokens)]
        kept = keep_within_capacity(choices, experts, capacity)
        assert kept == kept_in_turn(choices, experts, capacity)
        pairs = [pair for rows in zip(choices, kept, strict=True) for pair in zip(*rows, strict=True)]
        held = Counter(expert for expert, keeps in pairs if keeps)
        assert all(count <= capacity for count in held.values())


def test_bytes_of_the_page():
    assert all_to_all_bytes(512, 4096, 2, 8) == pytest.approx(7.34003e6, rel=1e-6)
    assert all_to_all_bytes(4096, 4096, 2, 8) == pytest.approx(5.87203e7, rel=1e-6)
    assert all_to_all_bytes(4096, 7168, 8, 32, 2) == pytest.approx(4.55082e8, rel=1e-6)
    assert all_to_all_bytes(4096, 7168, 8, 32, 2, True, 256) == pytest.approx(4.13374e8, rel=1e-6)
    assert all_to_all_bytes(4096, 7168, 8, 8, 2, True, 256) == pytest.approx(2.72040e8, rel=1e-5)
    assert all_to_all_bytes(4096, 4096, 2, 1) == all_to_all_bytes(0, 4096, 2, 8) == 0.0


@pytest.mark.parametrize("once", [False, True])
def test_bytes_of_random_routing(once):
    """Monte Carlo: tokens that choose k different experts at random, counted one by one."""
    rng, tokens, experts, ranks, top_k = Random(9), 20_000, 16, 4, 3
    sent = 0
    for _ in range(tokens):
        owners = [expert // (experts // ranks) for expert in rng.sample(range(experts), top_k)]
        sent += sum(owner != 0 for owner in (set(owners) if once else owners))
    assert all_to_all_bytes(tokens, 1, top_k, ranks, 1, once, experts) == pytest.approx(sent, rel=0.01)
