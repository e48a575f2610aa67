"""A tiny model whose cache is a pool of blocks: the same logits, whatever is cut, forked or found in the cache."""

from __future__ import annotations

import pytest
import torch

from experiments.ch09.paged_cache import PagedPool, PrefixReuse, paged_step
from rankzero.tiny import GPT, GPTConfig
from solutions.ch09.block_manager import BlockManager, OutOfBlocks
from solutions.ch09.cached_attention import paged_attention
from solutions.ch09.radix_cache import RadixCache

CONFIG = GPTConfig(vocab=50, layers=2, heads=4, kv_heads=2, head_dim=8, context=64)
TOKENS = torch.randint(50, (20,), generator=torch.Generator().manual_seed(0)).tolist()
EXACT = {"rtol": 0, "atol": 1e-9}


@pytest.fixture(scope="module")
def model() -> GPT:
    return GPT(CONFIG).double().requires_grad_(False).eval()


@pytest.fixture(scope="module")
def uncached(model) -> torch.Tensor:
    return model(torch.tensor([TOKENS]))[0]


def pool(model: GPT, blocks: int = 16, size: int = 4) -> PagedPool:
    return PagedPool(model, BlockManager(blocks, size), blocks, size)


@pytest.mark.parametrize("cut", range(1, 21))
def test_two_chunks_give_the_logits_of_one(model, uncached, cut):
    """Every cut of 20 tokens, with a second sequence between the two, so that the blocks do not lie in a row."""
    paged = pool(model)
    first = model(torch.tensor([TOKENS[:cut]]), cache=paged.cache("a"))[0]
    model(torch.tensor([TOKENS[:3]]), cache=paged.cache("b"))
    rest = [model(torch.tensor([TOKENS[cut:]]), cache=paged.cache("a"))[0]] if cut < 20 else []
    torch.testing.assert_close(torch.cat([first, *rest]), uncached, **EXACT)


@pytest.mark.parametrize("size", [1, 3, 16])
@pytest.mark.parametrize("prompt", [1, 7, 16])
def test_attention_from_the_pool_gives_the_same(model, uncached, size, prompt):
    paged = pool(model, 24, size)
    model(torch.tensor([TOKENS[:prompt]]), cache=paged.cache("a"))
    rows = [paged_step(model, paged, "a", token, paged_attention) for token in TOKENS[prompt:]]
    torch.testing.assert_close(torch.stack(rows), uncached[prompt:], **EXACT)


def test_a_fork_goes_its_own_way(model):
    """Kills: a pool that does not make the copies that the manager reports."""
    paged = pool(model)
    model(torch.tensor([TOKENS[:6]]), cache=paged.cache("p"))
    paged.manager.fork("p", "c")
    paged_step(model, paged, "c", 1, paged_attention)
    paged_step(model, paged, "p", 2, paged_attention)
    assert paged.copied == [(1, 2)]
    for name, token in (("c", 1), ("p", 2)):
        expected = model(torch.tensor([[*TOKENS[:6], token, 3]]))[0, -1]
        torch.testing.assert_close(paged_step(model, paged, name, 3, paged_attention), expected, **EXACT)
    paged.manager.check()


def test_unused_slots_are_never_read(model):
    paged = pool(model, 16, 8)
    logits = model(torch.tensor([TOKENS[:3]]), cache=paged.cache("a"))
    assert torch.isnan(paged.keys).any()
    assert not torch.isnan(logits).any()
    assert not torch.isnan(paged_step(model, paged, "a", 5, paged_attention)).any()


def test_a_pool_that_is_full_says_so(model):
    paged = pool(model, 2, 4)
    with pytest.raises(OutOfBlocks, match="need 3 blocks, 2 free"):
        model(torch.tensor([TOKENS[:9]]), cache=paged.cache("a"))
    assert paged.nbytes == 2 * CONFIG.layers * 8 * CONFIG.kv_heads * CONFIG.head_dim * 8


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_cached_prefix_gives_the_logits_of_the_whole(model, uncached, cut):
    """Every common prefix of 20 tokens: other tokens after it first, then ours."""
    paged = pool(model)
    reuse = PrefixReuse(model, paged, RadixCache(4))
    other = [*TOKENS[:cut], *((token + 1) % 50 for token in TOKENS[cut:])]
    assert reuse.run("first", other).matched == 0
    found = reuse.run("second", TOKENS)
    assert (found.matched, found.computed) == (cut // 4 * 4, 20 - cut // 4 * 4)
    torch.testing.assert_close(found.logits, uncached[-1], **EXACT)
    assert found.slots[: found.matched] == paged.slots("first")[: found.matched]
    assert set(found.slots[found.matched :]).isdisjoint(paged.slots("first"))
    paged.manager.check()


def test_the_same_prompt_again_computes_its_last_block(model, uncached):
    """The last token always goes through the weights: its logits are not cached."""
    paged, cache = pool(model), RadixCache(4)
    reuse = PrefixReuse(model, paged, cache)
    reuse.run("first", TOKENS)
    again = reuse.run("again", TOKENS)
    assert (again.matched, again.computed) == (16, 4)
    torch.testing.assert_close(again.logits, uncached[-1], **EXACT)
    assert (cache.protected_size, cache.evictable_size) == (20, 0)
    cache.check()
