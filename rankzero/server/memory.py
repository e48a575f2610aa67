"""Which blocks hold what: the sequences of requests, and the prefixes that stay cached when requests have gone.

The block manager counts who holds a block; the radix cache knows which tokens are in it. A cached block is held by a
sequence of the cache's own, ``cache/BLOCK``: a fork of the request that computed it, up to the end of that block. So a
block that leaves the cache is freed like any other. Only whole blocks are shared, and no sequence writes into a block
that another one holds.

Two requests may compute the same prefix in the same step. The one that comes to the cache second takes the blocks of
the first (:meth:`Memory._rebind`), so that a prefix is stored once.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.server.parts import Parts
from rankzero.server.pool import Pool


class Memory:
    """Blocks of requests and of cached prefixes in one pool.

    Args:
        parts: with the block manager and the radix cache.
        pool: the tensors, for the rare copies.
        blocks: in the pool.
        reuse: whether prefixes are cached.
    """

    def __init__(self, parts: Parts, pool: Pool, blocks: int, reuse: bool = True) -> None:
        self.blocks, self.block_size, self._pool = blocks, pool.block_size, pool
        self.manager = parts.block_manager(blocks, pool.block_size)
        self.cache = parts.radix_cache(pool.block_size) if reuse else None
        self._locks: dict[str, int] = {}
        self._lengths: dict[str, int] = {}  # tokens of the requests' sequences

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return len(self.manager.free_queue())

    @property
    def cached(self) -> int:
        """Blocks that the prefix cache alone holds; they are given up when memory is short."""
        return self.cache.evictable_size // self.block_size if self.cache else 0

    @property
    def used(self) -> int:
        """Blocks that requests hold."""
        return self.blocks - self.free - self.cached

    def table(self, name: str) -> list[int]:
        """Blocks of a request."""
        return self.manager.table(name)

    def reuse(self, name: str, tokens: Sequence[int]) -> int:
        """Let a request begin with the longest cached prefix of ``tokens``, if that is longer than what it has.

        Returns:
            The tokens of the request that have keys and values now.
        """
        length = self._lengths.get(name, 0)
        if self.cache is None or self._whole(len(tokens)) <= length:
            return length
        found, slots = self.cache.match(tokens)
        if found <= length:
            return length
        self._rebind(name, found, slots)
        self._lock(name, tokens[:found])
        return found

    def grow(self, name: str, length: int) -> None:
        """Give a request blocks for ``length`` tokens, from the cache's share where none is free.

        Raises:
            RuntimeError: there are too few blocks, whatever leaves the cache; of the manager's own class.
        """
        if name not in self._lengths:
            self.manager.allocate(name, 0)
        held = self._lengths.setdefault(name, 0)
        missing = self._blocks(length) - self._blocks(held)
        if missing > 0:
            self._evict(missing - self.free)
        copies = self.manager.append(name, max(0, length - held))
        for source, destination in copies:
            self._pool.copy(self._pool.slots([source], 0, self.block_size), self._slots_of(destination))
        self._lengths[name] = max(held, length)

    def remember(self, name: str, tokens: Sequence[int]) -> None:
        """Cache the whole blocks of ``tokens``, the first ones of a request, all of them computed."""
        stop = self._whole(len(tokens))
        if self.cache is None or stop == 0:
            return
        whole = tokens[:stop]
        found, slots = self.cache.match(whole)
        if slots != self._pool.slots(self.table(name), 0, found):
            self._rebind(name, found, slots)
        table = self.table(name)
        self.cache.insert(whole, self._pool.slots(table, 0, stop))
        for end in range(found + self.block_size, stop + 1, self.block_size):
            self.manager.fork(name, _holder(table[end // self.block_size - 1]), end)
        self._lock(name, whole)

    def release(self, name: str) -> None:
        """Take all blocks from a request; those that are cached stay in the cache."""
        if self._lengths.pop(name, None) is None:
            return
        if self.cache is not None and name in self._locks:
            self.cache.unlock(self._locks.pop(name))
        self.manager.free(name)

    def clear(self) -> None:
        """Empty the cache, but for what requests use."""
        if self.cache is not None:
            self._evict(self.cached)

    def check(self) -> None:
        """Have both parts count again; they raise when something does not add up."""
        self.manager.check()
        if self.cache is not None:
            self.cache.check()

    def _rebind(self, name: str, found: int, slots: Sequence[int]) -> None:
        """Let a request's sequence begin with the ``found`` cached tokens; what it had computed beyond moves over.

        The blocks are freed before others are taken, so there are always enough.
        """
        length = self._lengths.get(name, 0)
        sources = self._pool.slots(self.table(name), found, length) if length else []
        if name in self._lengths:
            self.manager.free(name)
        self.manager.fork(_holder(slots[found - 1] // self.block_size), name, found)
        if sources:
            self.manager.append(name, length - found)
            self._pool.copy(sources, self._pool.slots(self.table(name), found, length))
        self._lengths[name] = max(found, length)

    def _lock(self, name: str, tokens: Sequence[int]) -> None:
        """Protect the cached prefix that a request uses; an older lock of it goes."""
        assert self.cache is not None
        handle = self.cache.lock(tokens)
        if name in self._locks:
            self.cache.unlock(self._locks[name])
        self._locks[name] = handle

    def _evict(self, blocks: int) -> None:
        if blocks <= 0 or self.cache is None:
            return
        for slot in self.cache.evict(blocks * self.block_size):
            if slot % self.block_size == 0:
                self.manager.free(_holder(slot // self.block_size))

    def _slots_of(self, block: int) -> list[int]:
        return self._pool.slots([block], 0, self.block_size)

    def _blocks(self, tokens: int) -> int:
        return -(-tokens // self.block_size)

    def _whole(self, tokens: int) -> int:
        return tokens // self.block_size * self.block_size


def _holder(block: int) -> str:
    """The sequence by which the cache holds a block."""
    return f"cache/{block}"
