"""What chapter 9 shows live: memory over time, tables call by call, and two ways to find a prefix."""

from __future__ import annotations

from random import Random

import pytest

from experiments.ch09.memory_traces import KINDS, Contiguous, Job, Paged, play, requests
from experiments.ch09.paging_runs import (
    conversation,
    distinct_pages,
    hits_with_hashes,
    hits_with_tree,
    tell,
    tree_after,
    tree_text,
)
from solutions.ch09.block_manager import BlockManager
from solutions.ch09.radix_cache import RadixCache

SLOTS = 2048


def memories(size: int = 16):
    blocks = SLOTS // size
    return Contiguous(SLOTS), Paged(BlockManager(blocks, size), blocks, size)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_slot_is_counted_once(kind):
    for memory in memories():
        played = play(requests(kind), memory)
        assert all(sum(moment.parts.values()) == SLOTS for moment in played.moments)
        assert all(min(moment.parts.values()) >= 0 for moment in played.moments)
        assert all(sum(size for size, _, _ in moment.strips) == SLOTS for moment in played.moments)
        assert sum(played.shares().values()) == pytest.approx(1)
        assert played.moments[-1].waiting == 0


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_blocks_hold_more_requests_and_end_sooner(kind):
    reserved, paged = (play(requests(kind), memory) for memory in memories())
    assert paged.most > 2 * reserved.most
    assert paged.steps < reserved.steps
    assert paged.shares()["tokens"] > 0.9 > 0.4 > reserved.shares()["tokens"]


def test_a_block_wastes_less_than_itself():
    size = 16
    for moment in play(requests(), memories(size)[1]).moments:
        assert moment.held - moment.used < size * moment.running


def test_reservations_leave_holes():
    """Three of 400 in 1,000: when the middle one leaves, nothing larger fits in its place."""
    jobs = [Job("a", 0, 10, 30, 290), Job("b", 0, 10, 2, 290), Job("c", 0, 10, 30, 290), Job("d", 1, 60, 9, 290)]
    played = play(jobs, Contiguous(1000))
    later = played.moments[5]
    assert [(size, owner) for size, owner, _ in later.strips] == [(300, "a"), (300, None), (300, "c"), (100, None)]
    assert (later.waiting, later.parts["outside"]) == (1, 400)


def test_a_pool_without_room_preempts_the_newest():
    jobs = [Job("a", 0, 8, 9, 50), Job("b", 0, 7, 3, 50)]
    played = play(jobs, Paged(BlockManager(5, 4), 5, 4))
    assert played.preempted >= 1
    assert all("a" in {owner for _, owner, _ in moment.strips} for moment in played.moments[:9])
    assert {owner for _, owner, _ in played.moments[-1].strips} == {"b", None}


@pytest.mark.parametrize("memory", [Contiguous(16), Paged(BlockManager(2, 8), 2, 8)])
def test_a_request_must_fit_into_the_empty_memory(memory):
    with pytest.raises(ValueError, match="must fit into a memory of 16 slots"):
        play([Job("a", 0, 10, 20, 20)], memory)


def test_tables_call_by_call():
    calls = [
        ("1", "allocate", "p", 6),
        ("2", "fork", "p", "c"),
        ("3", "append", "c"),
        ("4", "free", "p"),
    ]
    told = tell(BlockManager(4, 4), calls)
    assert told.tables["2"] == {"p": [0, 1], "c": [0, 1]}
    assert told.copies == {"1": [], "2": [], "3": [(1, 2)], "4": []}
    assert told.tables["4"] == {"c": [0, 2]}
    assert told.queues["4"] == [3, 1]


def test_trees_call_by_call():
    shown = tree_after(RadixCache(), [("1", "insert", [1, 2], [1, 2]), ("2", "match", [1]), ("3", "evict", 9)])
    assert [len(nodes) for nodes in shown.values()] == [1, 2, 0]


def test_the_chat_of_the_page():
    """2,800 of 3,250 prompt tokens; without the answers 2,200, without the whole turn before 2,000."""
    prompts = conversation(200, 5, 50, 150)
    assert sum(map(len, prompts)) == 3250
    assert sum(hits_with_tree(RadixCache(), prompts, answer=150)) == 2800
    assert sum(hits_with_tree(RadixCache(), prompts)) == 2200


@pytest.mark.parametrize("page", [1, 3, 16])
@pytest.mark.parametrize("seed", range(5))
def test_a_tree_and_chained_hashes_find_the_same(page, seed):
    rng = Random(seed)
    texts = [[rng.randint(1, 2) for _ in range(rng.randint(1, 40))] for _ in range(30)]
    prompts = [rng.choice(texts)[: rng.randint(1, 40)] + [rng.randint(1, 2) for _ in range(20)] for _ in range(60)]
    assert hits_with_hashes(prompts, page) == hits_with_tree(RadixCache(page), prompts)


@pytest.mark.parametrize("page", [1, 2, 5])
def test_the_tree_holds_each_page_once(page):
    rng = Random(page)
    prompts = [[rng.randint(1, 2) for _ in range(rng.randint(0, 15))] for _ in range(40)]
    cache = RadixCache(page)
    hits_with_tree(cache, [prompt for prompt in prompts if prompt])
    assert cache.evictable_size == page * distinct_pages(prompts, page)


def test_a_tree_as_text():
    cache = RadixCache()
    assert tree_text(cache.nodes()) == "  empty"
    cache.insert([1, 2], [7, 8])
    cache.lock([1])
    assert tree_text(cache.nodes()) == "  1  (slots 7, locks 1, touched 2)\n    2  (slots 8, locks 0, touched 2)"
