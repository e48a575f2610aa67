# Generated from solutions/ch09/block_manager.py by make stubs. Write the bodies; names and signatures stay.
"""Paged memory for keys and values: a pool of blocks of equal size, and a table of blocks for each sequence.

Standard library only. Only block numbers are handled here; whoever owns the tensors makes the copies that ``append``
reports.
"""

from __future__ import annotations

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
        raise NotImplementedError("09-block-manager: not written yet")

    def can_allocate(self, tokens: int) -> bool:
        """Whether the free blocks could hold a new sequence.

        Args:
            tokens: of the sequence; at least 0.
        """
        checks.count(0, tokens=tokens)
        raise NotImplementedError("09-block-manager: not written yet")

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
        raise NotImplementedError("09-block-manager: not written yet")

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
        raise NotImplementedError("09-block-manager: not written yet")

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
        raise NotImplementedError("09-block-manager: not written yet")

    def free(self, sequence: Hashable) -> None:
        """Forget a sequence: its blocks lose one reference each, from the last to the first.

        A block that is left with none joins the tail of the queue at once. So the head of a sequence, which others are
        most likely to share, is the last to be taken again.

        Raises:
            KeyError: the sequence is unknown.
        """
        raise NotImplementedError("09-block-manager: not written yet")

    def table(self, sequence: Hashable) -> list[int]:
        """The blocks of a sequence, in the order of its tokens; KeyError when it is unknown."""
        raise NotImplementedError("09-block-manager: not written yet")

    def length(self, sequence: Hashable) -> int:
        """The tokens of a sequence; KeyError when it is unknown."""
        raise NotImplementedError("09-block-manager: not written yet")

    def free_queue(self) -> list[int]:
        """The free blocks, in the order in which they will be taken."""
        raise NotImplementedError("09-block-manager: not written yet")

    def references(self, block: int) -> int:
        """How many tables hold a block of the pool."""
        raise NotImplementedError("09-block-manager: not written yet")

    def check(self) -> None:
        """Check all counters against a full recount.

        Raises:
            AssertionError: a count is not the number of tables that hold the block, a block is both free and held or
                neither, or a table does not have as many blocks as its length needs. The message says which.
        """
        raise NotImplementedError("09-block-manager: not written yet")
