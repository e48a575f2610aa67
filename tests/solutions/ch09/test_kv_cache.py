"""The KV cache in numbers: published figures, the bytes of a real cache, counting block by block."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rankzero.facts.models import LLAMA2_7B, LLAMA3_8B, LLAMA3_70B
from rankzero.facts.units import GB, GiB, KiB, MiB
from rankzero.tiny import GPT, GPTConfig, KVCache
from solutions.ch09.block_manager import BlockManager
from solutions.ch09.kv_cache import (
    debug_units,
    kv_bytes_per_token,
    kv_capacity_tokens,
    max_concurrent_requests,
    mla_bytes_per_token,
    paged_waste,
    prefix_sharing_saving,
)
from solutions.ch09.radix_cache import RadixCache

LLAMA70_WEIGHTS = 2 * LLAMA3_70B.parameters


# Bytes of a token.


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((80, 8, 128), 327_680),
        ((32, 32, 128), 524_288),
        ((126, 8, 128), 516_096),
        ((80, 64, 128), 2_621_440),
        ((80, 8, 128, 1), 163_840),
        ((80, 8, 128, 2, 8), 40_960),
        ((80, 8, 128, 2, 16), 40_960),
        ((12, 12, 64), 36_864),
        ((40, 40, 128), 800 * KiB),  # OPT-13B in Kwon et al. (2023): "800 KB"
    ],
)
def test_bytes_of_the_page(arguments, expected):
    assert kv_bytes_per_token(*arguments) == expected


def test_what_the_story_says_of_heads():
    """The same 80 layers: full heads, groups of eight, one head."""
    assert kv_bytes_per_token(80, 64, 128) == 2.5 * MiB
    assert kv_bytes_per_token(80, 8, 128) == 320 * KiB
    assert kv_bytes_per_token(80, 1, 128) == 40 * KiB


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (4, 1), (6, 3)])
def test_a_real_cache_has_these_bytes(heads, kv_heads):
    """Kills a count of query heads: the tensors of the tiny model say how large they are."""
    config = GPTConfig(layers=3, heads=heads, kv_heads=kv_heads, head_dim=16, context=32)
    cache = KVCache(GPT(config), batch=2)
    assert cache.nbytes == 2 * 32 * kv_bytes_per_token(3, kv_heads, 16, 4)


@given(st.integers(1, 160), st.integers(0, 7), st.integers(0, 7))
def test_ranks_together_hold_at_least_the_whole(layers, heads, ranks):
    """Split up to one head each; beyond that every rank holds a whole head."""
    whole, share = (kv_bytes_per_token(layers, 2**heads, 128, 2, t) for t in (1, 2**ranks))
    assert share * 2**ranks == max(whole, 2**ranks * kv_bytes_per_token(layers, 1, 128))


def test_the_latent_of_the_page():
    assert mla_bytes_per_token(61, 512, 64) == 70_272
    assert mla_bytes_per_token(61, 512, 64, 1) == 35_136
    assert mla_bytes_per_token(1, 1, 0) == 2
    assert mla_bytes_per_token(27, 512, 64) == 31_104  # DeepSeek-V2-Lite
    full = kv_bytes_per_token(61, 128, 128)
    assert full == 3_997_696
    assert full / mla_bytes_per_token(61, 512, 64) == pytest.approx(56.9, abs=0.05)


def test_deepseek_v2_saves_what_its_paper_says():
    """Table 1 of the paper: the latent of DeepSeek-V2 is as large as the cache of grouped queries with 2.25 groups."""
    assert mla_bytes_per_token(60, 512, 64) == 2.25 * kv_bytes_per_token(60, 1, 128)


# Capacity.


def start_up_arithmetic(total: float, gpus: int, usable: float, weights: float, peak: float, layers, heads, width, w):
    """What an engine does when it starts, rank by rank and layer by layer, in blocks of 16."""
    page = 2 * 16 * max(1, heads // gpus) * width * w  # one block of one layer
    free = int(total * usable) - int(weights / gpus) - int(peak)
    return max(0, int(free // page // layers)) * 16


@pytest.mark.parametrize("gpus", [1, 2, 4, 8])
def test_capacity_is_that_of_an_engine_at_its_start(gpus):
    engine = start_up_arithmetic(80 * GB, gpus, 0.9, LLAMA70_WEIGHTS, 1 * GB, 80, 8, 128, 2)
    ours = kv_capacity_tokens(80 * GB, gpus, LLAMA70_WEIGHTS, kv_bytes_per_token(80, 8, 128), 0.9, 1 * GB)
    assert 0 <= ours - engine < 16 + 1


def test_capacities_of_the_page():
    kv = kv_bytes_per_token(80, 8, 128)
    assert [kv_capacity_tokens(80 * GB, n, LLAMA70_WEIGHTS, kv) for n in (8, 4, 1)] == [1_327_186, 448_280, 0]
    assert kv_capacity_tokens(80 * GB, 1, 2 * LLAMA3_8B.parameters, 131_072) == 426_784
    assert kv_capacity_tokens(80 * GB, 8, LLAMA70_WEIGHTS, kv / 2) == 2_654_373
    assert kv_capacity_tokens(80 * GB, 8, 140 * GB, kv, 1.0, 2.5 * GB) == 1_464_843


def test_requests_of_the_page():
    contexts = (4096, 8192, 32_768, 131_072)
    assert [max_concurrent_requests(1_464_843, c, 16) for c in contexts] == [357, 178, 44, 11]
    assert [max_concurrent_requests(1_327_186, c, 16) for c in contexts] == [324, 162, 40, 10]
    assert max_concurrent_requests(100, 17, 16) == 3
    assert max_concurrent_requests(15, 1, 16) == 0
    llama2 = kv_capacity_tokens(80 * GB, 1, 2 * LLAMA2_7B.parameters, kv_bytes_per_token(32, 32, 128))
    llama3 = kv_capacity_tokens(80 * GB, 1, 2 * LLAMA3_8B.parameters, kv_bytes_per_token(32, 8, 128))
    assert [max_concurrent_requests(tokens, 8192, 16) for tokens in (llama2, llama3)] == [13, 52]


@given(st.integers(0, 500), st.integers(1, 80), st.integers(1, 32))
def test_requests_are_those_that_a_pool_takes(capacity, context, block):
    """Taken block by block until one request does not fit."""
    free, taken = capacity // block, 0
    while free >= math.ceil(context / block):
        free -= math.ceil(context / block)
        taken += 1
    assert max_concurrent_requests(capacity, context, block) == taken


@given(st.integers(0, 400), st.integers(1, 60), st.integers(1, 16))
def test_requests_are_those_that_a_block_manager_takes(capacity, context, block):
    assume(capacity >= block)
    pool, taken = BlockManager(capacity // block, block), 0
    while pool.can_allocate(context):
        pool.allocate(taken, context)
        taken += 1
    assert max_concurrent_requests(capacity, context, block) == taken


# Waste and sharing.


def test_waste_of_the_page():
    assert paged_waste([1000, 2000, 1000], 16) == (16, pytest.approx(0.00398406, rel=1e-5))
    assert paged_waste([1, 17, 33, 100], 16) == (57, pytest.approx(0.274038, rel=1e-5))
    assert paged_waste([1000, 2000, 1000], 256) == (96, pytest.approx(0.0234375))
    assert paged_waste([16], 16) == (0, 0.0)
    assert paged_waste([], 16) == (0, 0.0) == paged_waste([0, 0], 16)
    reserved = paged_waste([4000], 3 * 32_768)  # three reservations, as one block
    assert reserved[1] == pytest.approx(0.95931, abs=1e-5)


@given(st.lists(st.integers(0, 900), max_size=8), st.integers(1, 256))
def test_waste_is_what_tables_leave_empty(lengths, block):
    """A set of slots, one by one; and less than a block for each sequence."""
    slots = {(s, place // block) for s, length in enumerate(lengths) for place in range(length)}
    empty = len(slots) * block - sum(lengths)
    wasted, share = paged_waste(lengths, block)
    assert wasted == empty <= (block - 1) * len(lengths)
    assert share == pytest.approx(empty / (len(slots) * block) if slots else 0.0)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((100, 500, 100), 0.825),
        ((100, 1000, 50), 0.942857),
        ((3, 7, 96), 0.0453074),
        ((100, 500, 100, 16), 0.807632),
        ((100, 500, 100, 256), 0.33),
        ((1, 500, 100), 0.0),
        ((1_000_000, 500, 100), 0.833333),
        ((5, 0, 0), 0.0),
    ],
)
def test_savings_of_the_page(arguments, expected):
    assert prefix_sharing_saving(*arguments) == pytest.approx(expected, rel=2e-6)


@given(st.integers(1, 12), st.integers(0, 60), st.integers(0, 40), st.integers(1, 24))
def test_a_saving_is_counted_block_by_block(requests, prefix, unique, block):
    """Blocks as sets of (what stands in them): blocks wholly within the prefix are one and the same."""
    blocks, alone = set(), 0
    for request in range(requests):
        for first in range(0, prefix + unique, block):
            whole = first + block <= prefix
            blocks.add((first, None if whole else request))
            alone += 1
    saved = Fraction(alone - len(blocks), alone) if alone else 0
    assert prefix_sharing_saving(requests, prefix, unique, block) == pytest.approx(float(saved), abs=1e-12)


@given(st.integers(2, 6), st.integers(1, 24), st.integers(1, 12), st.sampled_from((1, 4, 16)))
def test_a_saving_is_what_a_radix_tree_holds(requests, prefix, unique, page):
    """Lengths in whole pages, so that nothing is cut off."""
    cache = RadixCache(page)
    prefix, unique = prefix * page, unique * page
    total = prefix + unique
    for request in range(requests):
        tokens = [*range(prefix), *range(1000 * (request + 1), 1000 * (request + 1) + unique)]
        cache.insert(tokens, list(range(request * total, (request + 1) * total)))
    held = cache.evictable_size + cache.protected_size
    assert prefix_sharing_saving(requests, prefix, unique, page) == pytest.approx(1 - held / (requests * total))


@given(st.integers(1, 10**6), st.integers(0, 4000), st.integers(1, 1000))
def test_the_limit_is_the_share_of_the_prefix(requests, prefix, unique):
    assert prefix_sharing_saving(requests, prefix, unique) <= prefix / (prefix + unique) + 1e-12


# Debug and bad input.


def test_gb_by_gb():
    assert debug_units(72, 16, 131_072, 8192) == 52
    assert debug_units(10, 16, 131_072, 8192) == 0
    assert GiB / GB == pytest.approx(1.0737, abs=1e-4)
