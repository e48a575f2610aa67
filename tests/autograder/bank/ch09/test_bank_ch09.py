"""Chapter 09's bank: answers as worked out by hand, what options say, and other right programs that must pass."""

from __future__ import annotations

from random import Random

import pytest

from autograder import bank
from autograder.items import Build, Case, Choice, Debug
from autograder.marking import trusted
from solutions.ch09.block_manager import OutOfBlocks
from solutions.ch09.radix_cache import RadixCache
from tests.autograder import handed_in

CHOICES = {item.id: item for item in bank.of_chapter("ch09") if isinstance(item, Choice)}


def answer(identifier: str) -> str:
    choice = CHOICES[identifier]
    return choice.options[choice.correct]


def test_which_leaves_go():
    cache = RadixCache()
    for tokens in ([1, 1], [2, 2], [3, 3]):
        cache.insert(tokens, tokens)
    cache.match([1, 1])
    assert (cache.evict(1), cache.evict(1)) == ([2, 2], [3, 3])
    assert answer("09-which-evicted") == "B, then C"


def test_documents_in_front_share_more():
    held = {}
    for first in ("document", "question"):
        cache = RadixCache()
        for question in range(10):
            document, own = list(range(100)), list(range(1000 * (question + 1), 1000 * (question + 1) + 5))
            tokens = document + own if first == "document" else own + document
            cache.insert(tokens, tokens)
        held[first] = cache.evictable_size
    assert held == {"document": 150, "question": 1050}
    assert answer("09-prefix-order").startswith("the document")


# Other right programs pass.


def asked(item: Build, key: int = 0) -> list[Case]:
    """The public cases and the hidden ones."""
    return [*item.cases, *(case for _, drawn in item.hidden(Random(f"right {key}")) for case in drawn)]


def fused(query, key, value, past_key, past_value):
    import torch
    from torch.nn import functional

    keys, values = torch.cat([past_key, key], 1), torch.cat([past_value, value], 1)
    bias = torch.full((query.shape[1], keys.shape[1]), -torch.inf, dtype=query.dtype).triu(past_key.shape[1] + 1)
    return functional.scaled_dot_product_attention(query, keys, values, attn_mask=bias), keys, values


def block_by_block(query, key_pool, value_pool, table, length):
    """One block at a time, as a kernel goes: running maximum and sum."""
    import torch

    heads, width = query.shape
    share, size = heads // key_pool.shape[2], key_pool.shape[1]
    best = torch.full((heads, 1), -torch.inf, dtype=query.dtype)
    total, out = torch.zeros_like(best), torch.zeros_like(query)
    for place, block in enumerate(table):
        used = min(size, length - place * size)
        keys, values = (pool[block, :used].repeat_interleave(share, 1) for pool in (key_pool, value_pool))
        scores = torch.einsum("hd,shd->hs", query, keys) / width**0.5
        top = torch.maximum(best, scores.amax(1, keepdim=True))
        weights, fade = (scores - top).exp(), (best - top).exp()
        total, out = (
            total * fade + weights.sum(1, keepdim=True),
            out * fade + torch.einsum("hs,shd->hd", weights, values),
        )
        best = top
    return out / total


def times_top_over_largest(x, bits=8):
    import torch

    top = 2 ** (bits - 1) - 1
    largest = x.abs().amax(-1, keepdim=True)
    largest = torch.where(largest == 0, float(top), largest)
    return torch.round(x * top / largest).to(torch.int8), largest / top


@pytest.mark.parametrize(
    ("item", "program"),
    [
        (bank.find("09-cached-attention"), fused),
        (bank.find("09-paged-attention"), block_by_block),
        (bank.find("09-quantize-kv"), times_top_over_largest),
    ],
)
def test_other_right_programs_pass(item, program):
    assert not any(handed_in.faults(item, program, asked(item)))


def term_by_term(memory_per_gpu, gpus, weight_bytes, kv_bytes_per_token, usable=0.9, overhead_per_gpu=0.0):
    tokens = gpus * memory_per_gpu * usable / kv_bytes_per_token
    tokens -= gpus * overhead_per_gpu / kv_bytes_per_token + weight_bytes / kv_bytes_per_token
    return int(tokens) if tokens > 0 else 0


def test_another_order_of_sums_gives_the_same_tokens():
    """No hidden case lies on the edge between two whole numbers."""
    for key in range(5):
        assert not any(
            handed_in.faults(
                bank.find("09-kv-capacity-tokens"), term_by_term, asked(bank.find("09-kv-capacity-tokens"), key)
            )
        )


# Blocks.


def test_a_refusal_is_known_by_the_name_of_its_class():
    case = bank.find("09-block-manager").cases[1]
    (outcome,) = trusted.run(bank.find("09-block-manager"), bank.find("09-block-manager").solution(), [case])
    assert ("raises", OutOfBlocks.__name__) in outcome.value


def test_the_debug_exercise_is_wrong_where_blocks_are_shared():
    item = bank.find("09-debug-free")
    assert isinstance(item, Debug)
    tables, queue, finished = item.cases[0].args
    assert item.wrong is not None
    assert len(set(item.wrong(tables, queue, finished))) < len(item.wrong(tables, queue, finished))
    assert item.wrong({"a": [1, 2]}, [0], ["a"]) == item.solution()({"a": [1, 2]}, [0], ["a"]) == [0, 2, 1]


def unwritten(*args, **kwargs):
    raise NotImplementedError("09-block-manager: not written yet")


def test_who_allocates_and_frees_gets_the_points_of_that_step():
    item = bank.find("09-block-manager")
    missing = dict.fromkeys(("append", "fork", "can_allocate", "references", "check"), unwritten)
    mark = handed_in.marked(item, type("BlockManager", (item.solution(),), missing))
    assert [share.name for share in mark.shares if share.score] == ["allocate and free"]
