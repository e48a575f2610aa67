"""Who holds which blocks: running requests, and the cached prefixes of requests that have ended.

The block manager counts the holders of each block; the radix cache knows which tokens a block contains. The cache holds
a block through a sequence of its own, ``cache/BLOCK``: a fork of the request that computed the block, up to the block's
end. Evicting a block therefore frees it like any other. Only full blocks are shared, and no sequence writes to a block
that another one holds too.

Two requests may compute the same prefix in the same step. The one that reaches the cache second switches to the blocks
of the first (:meth:`Memory._rebind`), so that each prefix is stored only once.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.server.parts import Parts
from rankzero.server.pool import Pool


class Memory:
    """The blocks of requests and of cached prefixes in one pool.

    Args:
        parts: supplies the block manager and the radix cache.
        pool: the tensors, for the rare copies.
        blocks: the number of blocks in the pool.
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
        """The number of blocks that nobody holds."""
        return len(self.manager.free_queue())

    @property
    def cached(self) -> int:
        """The number of blocks that only the prefix cache holds; they are evicted when memory is short."""
        return self.cache.evictable_size // self.block_size if self.cache else 0

    @property
    def used(self) -> int:
        """The number of blocks that requests hold."""
        return self.blocks - self.free - self.cached

    def table(self, name: str) -> list[int]:
        """The blocks of a request, in order."""
        return self.manager.table(name)

    def own(self, name: str) -> int:
        """The number of blocks that this request alone holds: so many are free, or only cached, when it leaves."""
        others = {block for other in self._lengths if other != name for block in self.table(other)}
        return len(set(self.table(name)) - others) if name in self._lengths else 0

    def found(self, tokens: Sequence[int]) -> tuple[int, int]:
        """The length of the longest cached prefix, in whole blocks, and how many of these blocks requests hold."""
        if self.cache is None or self._whole(len(tokens)) == 0:
            return 0, 0
        found, slots = self.cache.match(tokens)
        blocks = {slot // self.block_size for slot in slots}
        return found, len(blocks & {block for other in self._lengths for block in self.table(other)})

    def reuse(self, name: str, tokens: Sequence[int]) -> int:
        """Let a request share the longest cached prefix of ``tokens``, if that is longer than what it has computed.

        Returns:
            How many tokens of the request have keys and values now.
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
        """Give a request blocks for ``length`` tokens, evicting cached prefixes if too few blocks are free.

        Raises:
            RuntimeError: there are too few blocks even with an empty cache; the block manager raises it.
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
        """Cache the full blocks of ``tokens``, a prefix of a request that has been computed."""
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
        """Release all blocks of a request; cached ones stay in the cache."""
        if self._lengths.pop(name, None) is None:
            return
        if self.cache is not None and name in self._locks:
            self.cache.unlock(self._locks.pop(name))
        self.manager.free(name)

    def clear(self) -> None:
        """Evict everything from the cache that no request uses."""
        if self.cache is not None:
            self._evict(self.cached)

    def check(self) -> None:
        """Run the consistency checks of the block manager and the cache, which raise if something does not add up."""
        self.manager.check()
        if self.cache is not None:
            self.cache.check()

    def _rebind(self, name: str, found: int, slots: Sequence[int]) -> None:
        """Replace the first ``found`` tokens of a request's sequence by the cached ones, and keep what follows them.

        The old blocks are freed before new ones are allocated, so there are always enough.
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
        """Protect the cached prefix that a request uses from eviction, replacing the request's earlier lock."""
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
    """The name of the sequence through which the cache holds a block."""
    return f"cache/{block}"
