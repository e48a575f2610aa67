"""The explorers of paging and of shared prefixes: every state is a chart, and its numbers are counted elsewhere."""

from __future__ import annotations

import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch09.paging_explorers import SIZES, capacities, drawn_lengths, fragmentation, prefix_sharing
from rankzero.explore import VEGA_LITE
from solutions.ch09.block_manager import BlockManager, OutOfBlocks
from solutions.ch09.kv_cache import prefix_sharing_saving
from solutions.ch09.radix_cache import RadixCache

fragments = st.fixed_dictionaries(
    {
        "block_size": st.sampled_from(SIZES),
        "median": st.integers(10, 2000),
        "spread": st.floats(0, 1.5),
        "longest": st.sampled_from((2048, 8192, 32768)),
        "requests": st.integers(1, 500),
    }
)
prefixes = st.fixed_dictionaries(
    {
        "prefix": st.integers(0, 4000),
        "unique": st.integers(10, 1000),
        "requests": st.integers(1, 1000),
        "page": st.sampled_from((1, 16, 64, 256)),
        "memory": st.integers(10_000, 1_000_000),
    }
)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("explorer", "states"), [(fragmentation, fragments), (prefix_sharing, prefixes)])
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=4, deadline=None)
    @given(states)
    def check(state):
        assert vl_convert.vegalite_to_svg(json.dumps(explorer(**state), allow_nan=False), vl_version=VEGA_LITE)

    check()


def test_used_shares_are_those_of_a_manager():
    lengths = drawn_lengths(200, 0.8, 4096, 50)
    spec = json.dumps(fragmentation(requests=50))
    for size in SIZES:
        manager = BlockManager(sum(lengths), size)
        taken = sum(len(manager.allocate(place, length)) for place, length in enumerate(lengths)) * size
        assert json.dumps(100 - 100 * (taken - sum(lengths)) / taken)[:12] in spec


def test_short_requests_and_large_blocks_waste_most_of_the_memory():
    """Paging has no fixed share: blocks of 256 hold less than half of a token's slots for requests of about 60."""
    text = fragmentation(block_size=256, median=60, spread=0.5)["description"]
    assert float(text.partition("blocks of 256: ")[2].partition(" % used")[0]) < 50


@given(st.integers(0, 600), st.integers(1, 100), st.sampled_from((1, 16, 64)), st.integers(100, 3000))
@settings(max_examples=40, deadline=None)
def test_capacities_are_those_of_a_manager(prefix, unique, page, memory):
    """Allocate, or fork a holder of the prefix, until the pool refuses."""
    memory = memory // page * page or page
    alone, shared = BlockManager(memory // page, page), BlockManager(memory // page, page)
    whole = prefix // page * page
    counts = []
    for manager, start in ((alone, 0), (shared, whole)):
        count = 0
        try:
            manager.allocate("holder", start)
            while True:
                manager.fork("holder", count)
                manager.append(count, prefix + unique - start)
                count += 1
        except OutOfBlocks:
            counts.append(count)
    assert capacities(prefix, unique, page, memory) == tuple(counts)


@given(st.integers(1, 6), st.integers(0, 40), st.integers(0, 20), st.sampled_from((1, 4, 8)))
@settings(max_examples=40, deadline=None)
def test_a_radix_cache_stores_what_the_formula_says(requests, prefix, unique, page):
    """Whole pages only, on both sides: lengths are multiples, as a tail that fills no page is not cached."""
    unique = unique // page * page + (-prefix) % page
    cache = RadixCache(page)
    for name in range(requests):
        tokens = [*range(prefix), *range(1000 * (name + 1), 1000 * (name + 1) + unique)]
        cache.insert(tokens, tokens)
    whole = requests * (prefix + unique)
    expected = prefix_sharing_saving(requests, prefix, unique, page)
    assert (1 - cache.evictable_size / whole if whole else 0.0) == pytest.approx(expected)


def test_the_saving_of_the_page():
    assert "100 requests save 80.8 %;" in prefix_sharing()["description"]
    assert "100 requests save 82.5 %;" in prefix_sharing(page=1)["description"]
    assert "100 requests save 33 %;" in prefix_sharing(page=256)["description"]
