"""Who holds which blocks: running requests, and the beginnings of requests that have ended.

One prefix pool does both. A request that begins shares the blocks of its longest known beginning, gets blocks of its
own for the rest, and names its full blocks once they are computed. Only full blocks are shared, so no block is written
while two requests hold it. A free block keeps its name, and can be found, until it is taken.

Two requests that compute the same beginning in the same step keep their own copies; the first one is found.
"""

from __future__ import annotations

from collections.abc import Sequence

from rankzero.server.parts import Parts


class Memory:
    """The blocks of requests and of known beginnings in one pool.

    Args:
        parts: supplies the prefix pool.
        blocks: the number of blocks in the pool.
        block_size: tokens in a block.
        reuse: whether beginnings are shared.
    """

    def __init__(self, parts: Parts, blocks: int, block_size: int, reuse: bool = True) -> None:
        self.blocks, self.block_size, self.reuse = blocks, block_size, reuse
        self.pool = parts.prefix_pool(blocks, block_size)
        self._lengths: dict[str, int] = {}  # tokens of the requests' sequences

    @property
    def free(self) -> int:
        """The number of blocks that nobody holds and nobody can find."""
        return sum(self.pool.named[block] is None for block in self.pool.free_queue())

    @property
    def cached(self) -> int:
        """The number of blocks that nobody holds and that can be found; they are taken last."""
        return len(self.pool.free_queue()) - self.free

    @property
    def used(self) -> int:
        """The number of blocks that requests hold."""
        return self.blocks - len(self.pool.free_queue())

    def table(self, name: str) -> list[int]:
        """The blocks of a request, in order."""
        return self.pool.table(name)

    def own(self, name: str) -> int:
        """The number of blocks that this request alone holds: so many join the queue when it leaves."""
        return sum(self.pool.holders[block] == 1 for block in self.table(name)) if name in self._lengths else 0

    def found(self, tokens: Sequence[int], salt: str = "") -> tuple[int, int]:
        """Of a request that begins: its known tokens, in whole blocks, and how many of these blocks requests hold.

        The last of its tokens is never known, because its logits are needed for the next one.
        """
        blocks = self.pool.match(tokens, salt) if self.reuse else []
        return len(blocks) * self.block_size, sum(self.pool.holders[block] > 0 for block in blocks)

    def share(self, name: str, tokens: Sequence[int], salt: str = "") -> int:
        """Let a request that has no blocks yet share those of its longest known beginning under its salt.

        Returns:
            How many of its tokens have keys and values now: those of the shared blocks, or what it has computed.
        """
        if name not in self._lengths:
            if self.reuse:
                self._lengths[name] = self.pool.share(name, tokens, salt)
            else:
                self.pool.allocate(name, 0)
                self._lengths[name] = 0
        return self._lengths[name]

    def grow(self, name: str, length: int) -> None:
        """Give a request blocks for ``length`` tokens.

        Raises:
            RuntimeError: too few blocks are free; the pool raises it.
        """
        self.pool.append(name, max(0, length - self._lengths[name]))
        self._lengths[name] = max(length, self._lengths[name])

    def remember(self, name: str, tokens: Sequence[int], salt: str = "") -> None:
        """Name the full blocks of a request's first tokens, which have been computed, under its salt."""
        if self.reuse and name in self._lengths:
            self.pool.keep(name, tokens, salt)

    def release(self, name: str) -> None:
        """Release all blocks of a request; those with a name can still be found."""
        if self._lengths.pop(name, None) is not None:
            self.pool.free(name)

    def clear(self) -> None:
        """Let no free block be found any more: who takes a block takes its name away."""
        self.pool.allocate("all", len(self.pool.free_queue()) * self.block_size)
        self.pool.free("all")

    def check(self) -> None:
        """Check that the pool adds up.

        Raises:
            AssertionError: a block is both free and held or neither, or is found under a name that it does not have.
        """
        pool = self.pool
        free = sorted(pool.free_queue())
        if free != [block for block, count in enumerate(pool.holders) if count == 0]:
            raise AssertionError(f"free blocks are {free}, and holders are {pool.holders}")
        for name, block in pool.found.items():
            if pool.named[block] != name:
                raise AssertionError(f"block {block} is found as {name!r}, and its name is {pool.named[block]!r}")
