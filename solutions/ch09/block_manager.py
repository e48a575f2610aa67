"""Paged memory for keys and values: a pool of blocks of equal size, and a table of blocks for each sequence.

Standard library only. Only block numbers are handled here; whoever owns the tensors makes the copies that ``append``
reports.
"""

from __future__ import annotations

import collections
from collections.abc import Hashable

from rankzero import checks


class OutOfBlocks(RuntimeError):
    """The pool holds too few free blocks; nothing was changed."""


class BlockManager:
    """Which blocks of a pool hold which sequence, how many sequences share a block, and which blocks are free.

    Free blocks wait in a queue, at first 0, 1, 2, ...: blocks are taken from its head and come back to its tail. A
    sequence of ``length`` tokens has a table of ``ceil(length / block_size)`` blocks, in the order of its tokens. The
    number of tables that hold a block is its reference count; a block is free when that is 0. A call that raises
    changes nothing. Tables are handed out as new lists: no later call changes them, and a caller may.

    Args:
        blocks: in the pool; at least 1.
        block_size: tokens that a block holds; at least 1.

    Source: Kwon et al. (2023), arXiv:2309.06180, sections 4.2 to 4.4. The queue is simpler than vLLM's, in which freed
    blocks without a hash, which nobody could find again, join the head.
    """

    OutOfBlocks = OutOfBlocks

    def __init__(self, blocks: int, block_size: int) -> None:
        checks.count(blocks=blocks, block_size=block_size)
        self._block_size = block_size
        self._free = collections.deque(range(blocks))
        self._counts = [0] * blocks
        self._tables: dict[Hashable, list[int]] = {}
        self._lengths: dict[Hashable, int] = {}

    def can_allocate(self, tokens: int) -> bool:
        """Whether the free blocks could hold a new sequence.

        Args:
            tokens: of the sequence; at least 0.
        """
        checks.count(0, tokens=tokens)
        return self._blocks(tokens) <= len(self._free)

    def allocate(self, sequence: Hashable, tokens: int) -> list[int]:
        """Give a new sequence the blocks for its first tokens, and return its table.

        Args:
            sequence: its name.
            tokens: how many it begins with; at least 0.

        Raises:
            OutOfBlocks: too few are free: "need 4 blocks, 2 free".
            ValueError: the sequence is known.
        """
        checks.count(0, tokens=tokens)
        self._refuse_known(sequence)
        self._need_free(self._blocks(tokens))
        self._lengths[sequence], self._tables[sequence] = tokens, self._take(self._blocks(tokens))
        return self.table(sequence)

    def append(self, sequence: Hashable, tokens: int = 1) -> list[tuple[int, int]]:
        """Make room for more tokens at the end of a sequence.

        Blocks are taken only where the last one does not suffice. A last block that is partly filled and shared must
        not be written: then the first block that is taken replaces it in this table, and its tokens are to be copied.

        Args:
            sequence: a known one.
            tokens: how many more; at least 0.

        Returns:
            ``[(source, destination)]``, the block to copy before the tokens are written, or ``[]``.

        Raises:
            KeyError: the sequence is unknown.
            OutOfBlocks: too few blocks are free for the copy and the new tokens together.
        """
        checks.count(0, tokens=tokens)
        table, length = self._tables[sequence], self._lengths[sequence]
        copied = tokens > 0 and length % self._block_size > 0 and self._counts[table[-1]] > 1
        more = self._blocks(length + tokens) - len(table)
        self._need_free(copied + more)
        copies = [self._replace_last(table)] if copied else []
        table += self._take(more)
        self._lengths[sequence] = length + tokens
        return copies

    def fork(self, parent: Hashable, child: Hashable, tokens: int | None = None) -> list[int]:
        """Make a new sequence of the first ``tokens`` tokens of ``parent``, which share their blocks.

        Args:
            parent: a known sequence.
            child: a new one.
            tokens: from 0 to the parent's length; None takes them all.

        Returns:
            The child's table.

        Raises:
            KeyError: the parent is unknown.
            ValueError: the child is known.
        """
        if tokens is not None:
            checks.count(0, self.length(parent), tokens=tokens)
        table, length = self._tables[parent], self._lengths[parent]
        self._refuse_known(child)
        tokens = length if tokens is None else tokens
        shared = table[: self._blocks(tokens)]
        for block in shared:
            self._counts[block] += 1
        self._lengths[child], self._tables[child] = tokens, shared
        return list(shared)

    def free(self, sequence: Hashable) -> None:
        """Forget a sequence: its blocks lose one reference each, from the last to the first.

        A block that is left with none joins the tail of the queue at once. So the head of a sequence, which others are
        most likely to share, is the last to be taken again.

        Raises:
            KeyError: the sequence is unknown.
        """
        table = self._tables.pop(sequence)
        del self._lengths[sequence]
        for block in reversed(table):
            self._counts[block] -= 1
            if self._counts[block] == 0:
                self._free.append(block)

    def table(self, sequence: Hashable) -> list[int]:
        """The blocks of a sequence, in the order of its tokens; KeyError when it is unknown."""
        return list(self._tables[sequence])

    def length(self, sequence: Hashable) -> int:
        """The tokens of a sequence; KeyError when it is unknown."""
        return self._lengths[sequence]

    def free_queue(self) -> list[int]:
        """The free blocks, in the order in which they will be taken."""
        return list(self._free)

    def references(self, block: int) -> int:
        """How many tables hold a block of the pool."""
        return self._counts[block]

    def check(self) -> None:
        """Check all counters against a full recount.

        Raises:
            AssertionError: a count is not the number of tables that hold the block, a block is both free and held or
                neither, or a table does not have as many blocks as its length needs. The message says which.
        """
        held = [0] * len(self._counts)
        for sequence, table in self._tables.items():
            if len(table) != self._blocks(self._lengths[sequence]) or len(set(table)) != len(table):
                raise AssertionError(f"sequence {sequence!r} of {self._lengths[sequence]} tokens has blocks {table}")
            for block in table:
                held[block] += 1
        for block, count in enumerate(held):
            if self._counts[block] != count:
                raise AssertionError(f"block {block} is in {count} tables, and its count is {self._counts[block]}")
        if sorted(self._free) != [block for block, count in enumerate(held) if count == 0]:
            raise AssertionError(f"free blocks are {sorted(self._free)}, and the tables hold {held}")

    def _blocks(self, tokens: int) -> int:
        return -(-tokens // self._block_size)

    def _refuse_known(self, sequence: Hashable) -> None:
        if sequence in self._tables:
            raise ValueError(f"sequence {sequence!r} has a table already")

    def _need_free(self, need: int) -> None:
        if need > len(self._free):
            raise OutOfBlocks(f"need {need} blocks, {len(self._free)} free")

    def _take(self, count: int) -> list[int]:
        taken = [self._free.popleft() for _ in range(count)]
        for block in taken:
            self._counts[block] = 1
        return taken

    def _replace_last(self, table: list[int]) -> tuple[int, int]:
        """Replace a sequence's shared last block by one of its own; returns ``(shared, own)``."""
        (own,) = self._take(1)
        shared, table[-1] = table[-1], own
        self._counts[shared] -= 1
        return shared, own
