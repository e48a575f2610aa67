"""The pools, against vLLM's published example and against a memory that really holds tokens."""

from __future__ import annotations

from random import Random

import pytest

from solutions.ch09.block_pool import BlockPool, OutOfBlocks, PrefixPool


def vllms_example(pool: PrefixPool) -> list[list[int]]:
    """The requests of vLLM's docs/design/prefix_caching.md: 10 blocks of 4; the free queue at its times 1, 3 to 7."""
    first = list(range(15))
    second = [*first[:10], 100, 101, 102, 103]
    third = [*first[:12], *range(200, 217)]
    seen = []
    pool.share("0", first)
    pool.append("0", 15)
    pool.keep("0", first)
    seen.append(pool.free_queue())
    pool.append("0")
    pool.keep("0", [*first, 15])
    pool.append("0")
    seen.append(pool.free_queue())
    assert pool.share("1", second) == 8
    pool.append("1", 6)
    pool.keep("1", second)
    seen.append(pool.free_queue())
    pool.free("0")
    seen.append(pool.free_queue())
    pool.free("1")
    seen.append(pool.free_queue())
    assert pool.share("2", third) == 12
    pool.append("2", 17)
    seen.append(pool.table("2"))
    return seen


def test_vllms_example_with_its_newer_rule():
    """Blocks without a hash, 4 and 6, join the head of the queue, as in vLLM since 2026."""
    assert vllms_example(PrefixPool(10, 4)) == [
        [4, 5, 6, 7, 8, 9],
        [5, 6, 7, 8, 9],
        [7, 8, 9],
        [4, 7, 8, 9, 3, 2],
        [6, 4, 7, 8, 9, 3, 2, 5, 1, 0],
        [0, 1, 2, 6, 4, 7, 8, 9],
    ]


def test_vllms_example_as_its_design_document_prints_it():
    """With every freed block at the tail: queue 7 8 9 4 3 2 6 5 1 0, and request 2 gets 0 1 2 7 8 9 4 3."""

    class Tail(PrefixPool):
        def free(self, sequence):
            before = self.free_queue()
            super().free(sequence)
            freed = [block for block in self.queue if block not in before]
            self.queue.clear()
            table_order = {"0": [4, 3, 2, 1, 0], "1": [6, 5, 1, 0]}[sequence]
            self.queue.extend([*before, *(block for block in table_order if block in freed)])

    seen = vllms_example(Tail(10, 4))
    assert seen[3:] == [[7, 8, 9, 4, 3, 2], [7, 8, 9, 4, 3, 2, 6, 5, 1, 0], [0, 1, 2, 7, 8, 9, 4, 3]]


@pytest.mark.parametrize("seed", range(20))
def test_a_sequence_finds_its_own_tokens_in_a_memory_of_real_slots(seed):
    """Every token is written where the table says, by random requests; nobody's tokens are ever overwritten."""
    rng = Random(seed)
    blocks, size = rng.randint(4, 12), rng.randint(1, 4)
    pool, memory = BlockPool(blocks, size), [None] * (blocks * size)
    texts: dict[str, list[int]] = {}
    for number in range(200):
        name = rng.choice("abcd")
        tokens = [number * 10 + place for place in range(rng.randint(0, 2 * size + 1))]
        before = pool.free_queue(), {one: pool.table(one) for one in texts}
        try:
            if name in texts and rng.random() < 0.3:
                pool.free(name)
                del texts[name]
            elif name in texts:
                pool.append(name, len(tokens))
                texts[name] += tokens
            else:
                pool.allocate(name, len(tokens))
                texts[name] = tokens
        except OutOfBlocks:
            assert (pool.free_queue(), {one: pool.table(one) for one in texts}) == before
        for one, text in texts.items():
            table = pool.table(one)
            assert len(table) == -(-len(text) // size)
            if one == name:
                for place in range(max(0, len(text) - len(tokens)), len(text)):
                    memory[table[place // size] * size + place % size] = text[place]
            assert [memory[table[place // size] * size + place % size] for place in range(len(text))] == text
        held = [block for one in texts for block in pool.table(one)]
        assert sorted(held + pool.free_queue()) == list(range(blocks))


@pytest.mark.parametrize("seed", range(30))
def test_what_a_prefix_pool_finds_is_there(seed):
    """Blocks that hold whole texts as their content: what is matched was written by the same salt after the same
    tokens, what could have been found is found, and a held block is never written again."""
    rng = Random(seed)
    blocks, size = rng.randint(5, 14), rng.randint(1, 3)
    pool = PrefixPool(blocks, size)
    content: dict[int, tuple] = {}
    held: dict[str, tuple[str, list[int]]] = {}
    for number in range(150):
        if held and (len(held) > 3 or rng.random() < 0.4):
            name = rng.choice(sorted(held))
            pool.free(name)
            del held[name]
            continue
        salt, name = rng.choice(("", "x")), f"r{number}"
        text = [rng.randint(1, 2) for _ in range(rng.randint(1, 4 * size))]
        prefixes = [(salt, *text[:stop]) for stop in range(size, len(text), size)]
        matched = pool.match(text, salt)
        assert [content[block] for block in matched] == prefixes[: len(matched)]
        if len(matched) < len(prefixes):
            findable = {content[block] for block in pool.found.values()}
            assert prefixes[len(matched)] not in findable
        assert pool.share(name, text, salt) == len(matched) * size
        try:
            pool.append(name, len(text) - len(matched) * size)
        except OutOfBlocks:
            pool.free(name)
            continue
        table = pool.table(name)
        assert not set(table[len(matched) :]) & {block for one in held for block in pool.table(one)}
        for place, block in enumerate(table[len(matched) :], len(matched)):
            content[block] = (salt, *text[: (place + 1) * size])
        pool.keep(name, text, salt)
        held[name] = (salt, text)
        counts = [sum(block in pool.table(one) for one in held) for block in range(blocks)]
        assert pool.holders == counts
        assert sorted(pool.queue) == [block for block, count in enumerate(counts) if count == 0]


def test_a_beginning_of_several_users_is_stored_once():
    """Ten users behind a system prompt of 2,000 tokens in blocks of 16: 125 blocks in all for it."""
    pool, system = PrefixPool(1000, 16), list(range(2000))
    for user in range(10):
        found = pool.share(user, [*system, 5000 + user])
        pool.append(user, 2001 - found)
        pool.keep(user, [*system, 5000 + user])
    assert 1000 - len(pool.queue) == 125 + 10
