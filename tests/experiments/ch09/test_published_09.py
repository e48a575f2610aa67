"""The published numbers of chapter 9 beside its formulas."""

from __future__ import annotations

import pytest

from experiments.ch09 import published
from rankzero.facts.units import GB, GiB
from solutions.ch09.kv_cache import kv_bytes_per_token, max_concurrent_requests, mla_bytes_per_token


def test_bytes_of_a_token_are_exact():
    for name, shape in published.TOKEN_SHAPES.items():
        assert kv_bytes_per_token(*shape) == published.TOKEN_BYTES[name]
    assert mla_bytes_per_token(61, 512, 64) == published.TOKEN_BYTES["DeepSeek-V3"]


@pytest.mark.parametrize("name", published.SLOTS)
def test_slots_agree_in_gib_and_not_in_gb(name):
    row = published.SLOTS[name]
    token = kv_bytes_per_token(row.layers, row.hidden // 128, 128)
    assert row.memory * GiB / token == pytest.approx(row.slots, rel=0.02)
    assert row.memory * GB / token < 0.94 * row.slots


def test_orca_ran_as_many_as_reservations_allow():
    slots = int(published.SLOTS["OPT-13B"].slots)
    assert max_concurrent_requests(slots, published.LONGEST) == published.BATCHED["Orca (Max)"]


def test_a_memory_is_a_memory():
    assert all(sum(row) == pytest.approx(100, abs=0.15) for row in published.MEMORY_USE.values())


def test_windows_shrink_a_request():
    """Gemma 3 27B at 32K: 16.6 GB if every layer saw all of it, 3.1 GB as built; gpt-oss-120b at 128K: 9.7 and 4.8."""
    found = {}
    for name, shape in published.HYBRIDS.items():
        layer = kv_bytes_per_token(1, shape.kv_heads, shape.head_dim)
        built = layer * (shape.full * shape.context + shape.windowed * shape.window) / GB
        found[name] = round(layer * (shape.full + shape.windowed) * shape.context / GB, 1), round(built, 1)
    assert found == {"Gemma 3 27B": (16.6, 3.1), "gpt-oss-120b": (9.7, 4.8)}
