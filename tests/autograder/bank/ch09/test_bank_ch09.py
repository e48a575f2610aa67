"""Chapter 09's bank: answers as worked out by hand, what options say, and other right programs that must pass."""

from __future__ import annotations

import math
from random import Random

import pytest

from autograder.bank.ch09 import attention, capacity, quantization
from autograder.bank.ch09 import items as bank
from autograder.items import Build, Choice, Question
from autograder.marking import compare, trusted
from solutions.ch09.radix_cache import RadixCache
from tests.autograder import handed_in

QUESTIONS = {item.id: item for item in bank.ITEMS if isinstance(item, Question)}
CHOICES = {item.id: item for item in bank.ITEMS if isinstance(item, Choice)}

TOKEN = 2 * 80 * 8 * 128 * 2
ANSWERS = {
    "09-token-forwards": (6225, 149),
    "09-llama70": (327_680,),
    "09-32k": (10.7374, 10.0),
    "09-mla": (70_272, 70_272),
    "09-your-model": (52,),
    "09-node-plan": (357, 178, 44, 11),
    "09-fp8": (480_000_000_000 // (163_840 * 32_768),),
    "09-weights-vs-kv": (math.ceil(141.1e9 / (TOKEN * 32_768)),),
    "09-reservation": (0.958333,),
    "09-four-fleets": (0.0625, 0.25, 0.125, 0.0625),
    "09-block-256": (127.5,),
    "09-sharing-3": (14 / 310, 14 * TOKEN / 1e6),
    "09-sharing-limit": (0.825, 0.833333),
    "09-few-shot": (0.942857,),
    "09-chat-hits": (2800 / 3250,),
    "09-quant": (166_400, 92_160),
}

#: Wrong numbers of the page, by question and place of the part.
SLIPS = {
    ("09-token-forwards", 0): {7500},
    ("09-llama70", 0): {2_621_440, 163_840},
    ("09-mla", 0): {140_544, 62_464},
    ("09-mla", 1): {8_784},
    ("09-your-model", 0): {53, 13},
    ("09-node-plan", 0): {375},
    ("09-node-plan", 1): {187},
    ("09-node-plan", 2): {46},
    ("09-fp8", 0): {44, 88},
    ("09-block-256", 0): {255, 128},
}


def answer(identifier: str) -> str:
    choice = CHOICES[identifier]
    return choice.options[choice.correct]


def test_every_question_is_answered_here_too():
    assert set(QUESTIONS) == set(ANSWERS)


@pytest.mark.parametrize("identifier", ANSWERS)
def test_the_answers_worked_out_by_hand(identifier):
    parts = QUESTIONS[identifier].parts
    assert [part.answer() for part in parts] == pytest.approx(ANSWERS[identifier], rel=1e-5)


@pytest.mark.parametrize("place", SLIPS)
def test_wrong_numbers_that_people_give(place):
    identifier, part = place
    values = [slip.value for slip in QUESTIONS[identifier].parts[part].slips]
    assert {value() if callable(value) else value for value in values} >= SLIPS[place]


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


def faults(item: Build, program, key: int = 0) -> list[str | None]:
    cases = [*item.cases, *(case for _, drawn in item.hidden(Random(f"right {key}")) for case in drawn)]
    outcomes = handed_in.outcomes(item, program, cases)
    expected = trusted.run(item, item.solution(), cases)
    return [compare.fault(item, *row) for row in zip(cases, expected, outcomes, strict=True)]


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

    if type(bits) is not int or bits not in range(2, 9):
        raise ValueError("bits")
    top = 2 ** (bits - 1) - 1
    largest = x.abs().amax(-1, keepdim=True)
    largest = torch.where(largest == 0, float(top), largest)
    return torch.round(x * top / largest).to(torch.int8), largest / top


@pytest.mark.parametrize(
    ("item", "program"),
    [
        (attention.CACHED_ATTENTION, fused),
        (attention.PAGED_ATTENTION, block_by_block),
        (quantization.QUANTIZE, times_top_over_largest),
    ],
)
def test_other_right_programs_pass(item, program):
    assert [fault for fault in faults(item, program) if fault] == []


def term_by_term(memory_per_gpu, gpus, weight_bytes, kv_bytes_per_token, usable=0.9, overhead_per_gpu=0.0):
    if not 0 < usable <= 1 or gpus < 1 or memory_per_gpu <= 0 or kv_bytes_per_token <= 0:
        raise ValueError("range")
    if weight_bytes < 0 or overhead_per_gpu < 0:
        raise ValueError("range")
    tokens = gpus * memory_per_gpu * usable / kv_bytes_per_token
    tokens -= gpus * overhead_per_gpu / kv_bytes_per_token + weight_bytes / kv_bytes_per_token
    return int(tokens) if tokens > 0 else 0


def test_another_order_of_sums_gives_the_same_tokens():
    """No hidden case lies on the edge between two whole numbers."""
    for key in range(5):
        assert [fault for fault in faults(capacity.KV_CAPACITY, term_by_term, key) if fault] == []
