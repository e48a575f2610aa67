# Generated from solutions/ch09/block_pool.py by make stubs. Write the bodies; names and signatures stay.
"""A pool of equal blocks for keys and values: who holds which block, and which blocks hold a known prefix.

Standard library only. Only numbers of blocks are handled here; the tensors belong to somebody else.

>>> pool = BlockPool(blocks=6, block_size=4)
>>> pool.allocate("a", 6), pool.allocate("b", 3)
([0, 1], [2])
>>> pool.append("a", 3)
[0, 1, 3]
"""

from __future__ import annotations

import collections
from collections.abc import Hashable, Mapping, Sequence

from rankzero import checks


class OutOfBlocks(RuntimeError):
    """Too few blocks are free; nothing was changed."""


class BlockPool:
    """Which blocks of a pool hold the tokens of which sequence, and which blocks are free.

    It keeps ``block_size``; ``queue``, the free blocks, at first 0, 1, 2, ...; ``tables``, the blocks of each sequence
    in the order of its tokens; ``lengths``, the tokens of each sequence. A sequence of n tokens has
    ``ceil(n / block_size)`` blocks. A call that raises changes nothing.

    Args:
        blocks: in the pool; at least 1.
        block_size: tokens that a block holds; at least 1.

    Source: Kwon et al. (2023), arXiv:2309.06180, sections 4.2 and 4.3.
    """

    def __init__(self, blocks: int, block_size: int) -> None:
        checks.count(blocks=blocks, block_size=block_size)
        raise NotImplementedError("09-block-pool: not written yet")

    def table(self, sequence: Hashable) -> list[int]:
        """The blocks of a sequence, as a new list."""
        raise NotImplementedError("09-block-pool: not written yet")

    def free_queue(self) -> list[int]:
        """The free blocks, the next one to be taken first, as a new list."""
        raise NotImplementedError("09-block-pool: not written yet")

    def take(self, count: int) -> list[int]:
        """Take ``count`` blocks from the head of the queue; OutOfBlocks if fewer are free: "need 4 blocks, 2 free"."""
        checks.count(0, count=count)
        raise NotImplementedError("09-block-pool: not written yet")

    def allocate(self, sequence: Hashable, tokens: int) -> list[int]:
        """Give a new sequence the blocks for its first ``tokens`` tokens, and return its table.

        No other sequence of the pool has its name. OutOfBlocks if too few blocks are free.
        """
        raise NotImplementedError("09-block-pool: not written yet")

    def free(self, sequence: Hashable) -> None:
        """Forget a sequence. Its blocks join the tail of the queue, the last one of its table first."""
        raise NotImplementedError("09-block-pool: not written yet")

    def append(self, sequence: Hashable, tokens: int = 1) -> list[int]:
        """Make room for more tokens at the end of a sequence, and return its table.

        A block is taken only for a token that has no place in the last one. OutOfBlocks if too few are free.
        """
        raise NotImplementedError("09-block-pool: not written yet")


class PrefixPool(BlockPool):
    """A pool in which sequences with a common beginning share its full blocks.

    A full block may have a name, which stands for its tokens and all tokens before them. Beside what a BlockPool keeps,
    it keeps ``holders``, how many sequences hold each block; ``named``, the name of each block, or None; ``found``, the
    block of each name. A free block keeps its content and its name until it is taken.

    Args:
        blocks: in the pool; at least 1.
        block_size: tokens that a block holds; at least 1.

    Source: vLLM, ``docs/design/prefix_caching.md``; Kwon et al. (2023), arXiv:2309.06180, section 4.4.
    """

    def __init__(self, blocks: int, block_size: int) -> None:
        checks.count(blocks=blocks, block_size=block_size)
        raise NotImplementedError("09-prefix-pool: not written yet")

    def names(self, tokens: Sequence[int], salt: str = "") -> list[Hashable]:
        """The names of the full blocks of ``tokens``, in their order.

        Two names are equal exactly where the salt and all tokens up to the block's end are. How they look is up to
        you. The ``salt`` keeps apart those who must not share.
        """
        raise NotImplementedError("09-prefix-pool: not written yet")

    def keep(self, sequence: Hashable, tokens: Sequence[int], salt: str = "") -> None:
        """Name the full blocks of a sequence of which the first tokens, ``tokens``, are computed.

        A block that has a name keeps it, and a name that another block has is not given again.
        """
        raise NotImplementedError("09-prefix-pool: not written yet")

    def match(self, tokens: Sequence[int], salt: str = "") -> list[int]:
        """The blocks of the longest prefix of ``tokens`` that the pool holds; nothing changes.

        The block of the last token is never among them: it has to be computed, for its logits.
        """
        raise NotImplementedError("09-prefix-pool: not written yet")

    def share(self, sequence: Hashable, tokens: Sequence[int], salt: str = "") -> int:
        """Begin a new sequence with the blocks that :meth:`match` finds; nobody else can take them from then on.

        Returns how many of the tokens have keys and values already. :meth:`append` makes room for the others.
        """
        raise NotImplementedError("09-prefix-pool: not written yet")

    def take(self, count: int) -> list[int]:
        """Take blocks as a :class:`BlockPool` does; from then on they have one holder and no name."""
        raise NotImplementedError("09-prefix-pool: not written yet")

    def free(self, sequence: Hashable) -> None:
        """Forget a sequence: each of its blocks, the last one first, has one holder less.

        A block that nobody holds any more joins the queue: with a name its tail, without one its head.
        """
        raise NotImplementedError("09-prefix-pool: not written yet")


def debug_free(tables: Mapping[str, Sequence[int]], queue: Sequence[int], finished: Sequence[str]) -> list[int]:
    """The queue of free blocks after some sequences are forgotten, one after another.

    The blocks of a sequence lose one reference each, from the last to the first, and a block that is left with none
    joins the tail of the queue.

    Args:
        tables: the blocks of each sequence, in the order of its tokens; a block may be in several tables.
        queue: the free blocks, in the order in which they will be taken.
        finished: the sequences to forget, in this order; each has a table and is listed once.
    """
    counts = collections.Counter(block for table in tables.values() for block in table)
    free = list(queue)
    for sequence in finished:
        for block in reversed(tables[sequence]):
            counts[block] -= 1
            free.append(block)
    return free
