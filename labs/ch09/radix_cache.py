# Generated from solutions/ch09/radix_cache.py by make stubs. Write the bodies; names and signatures stay.
"""A radix tree that knows for which prefixes of token sequences keys and values are already in memory, and where.

Standard library only. A *slot* is the place of one token's keys and values in the pool; slots are numbers that the
caller chose, and the tree does not interpret them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero import checks


@dataclass(frozen=True)
class RadixNode:
    """A node of the tree, for a picture.

    Attributes:
        parent: its parent's index in the list of nodes; -1 below the root, which is not in the list.
        tokens: of the edge that leads to it.
        slots: of these tokens.
        locks: requests that use it.
        touched: time of the last match, insert or lock that went through it.
        number: nodes are numbered from 1 in the order of their creation; a split creates a node for the upper half.
    """

    parent: int
    tokens: tuple[int, ...]
    slots: tuple[int, ...]
    locks: int
    touched: int
    number: int


class RadixCache:
    """The slots of cached prefixes, shared by sequences with a common beginning.

    Sequences are cut to whole pages of ``page_size`` tokens, and edges part only between pages. A clock ticks once in
    each :meth:`match`, :meth:`insert` and :meth:`lock`, so that the first of them has time 1; every node on the path
    that is walked gets that time, also one that is matched only in part. Such a node is then split where the match
    ends, and both halves keep its time and its locks.

    Args:
        page_size: tokens of a page; at least 1.

    Source: Zheng et al. (2023), arXiv:2312.07104, section 3; the rules are those of SGLang's ``RadixCache``.
    """

    def __init__(self, page_size: int = 1) -> None:
        checks.count(page_size=page_size)
        raise NotImplementedError("09-radix-cache: not written yet")

    @property
    def evictable_size(self) -> int:
        """Cached tokens that no request uses."""
        raise NotImplementedError("09-radix-cache: not written yet")

    @property
    def protected_size(self) -> int:
        """Cached tokens that a lock protects."""
        raise NotImplementedError("09-radix-cache: not written yet")

    def match(self, tokens: Sequence[int]) -> tuple[int, list[int]]:
        """The length of the longest cached prefix of ``tokens``, in whole pages, and its slots."""
        raise NotImplementedError("09-radix-cache: not written yet")

    def insert(self, tokens: Sequence[int], slots: Sequence[int]) -> int:
        """Remember the slots of ``tokens``, one for each, in whole pages; what is not cached yet becomes one new leaf.

        Returns:
            How many of the tokens were cached already. Their slots stay as they were: the caller frees its duplicates,
            ``slots[:result]``, and the slots of the tail that fills no page.
        """
        checks.require(len(slots) == len(tokens), f"be as many as tokens = {len(tokens)}", slots=len(slots))
        raise NotImplementedError("09-radix-cache: not written yet")

    def lock(self, tokens: Sequence[int]) -> int:
        """Protect the longest cached prefix of ``tokens``: no node from its end up to the root is evicted.

        Returns:
            A handle for :meth:`unlock`: 0, 1, 2, ...
        """
        raise NotImplementedError("09-radix-cache: not written yet")

    def unlock(self, handle: int) -> None:
        """Release a lock, from the node that it was put on up to the root, as the tree is now.

        Raises:
            ValueError: there is no lock of this handle, or it was taken back already.
        """
        raise NotImplementedError("09-radix-cache: not written yet")

    def evict(self, count: int) -> list[int]:
        """Forget leaves that nobody uses until ``count`` tokens are free, or nothing more can go.

        A leaf goes as a whole; the one that was touched longest ago goes first, and of those of the same time the one
        that was created first. A parent whose last child went is a leaf from then on.

        Args:
            count: tokens; at least 0.

        Returns:
            The slots, in the order in which they were given up.
        """
        checks.count(0, count=count)
        raise NotImplementedError("09-radix-cache: not written yet")

    def nodes(self) -> list[RadixNode]:
        """The tree for a picture, depth first: a node, then all below it, children in the order of their tokens."""
        raise NotImplementedError("09-radix-cache: not written yet")

    def check(self) -> None:
        """Count everything again.

        Raises:
            AssertionError: a size is not the sum over the nodes, a lock count is not the number of locks at and below
                a node, an edge is empty or does not fill its pages, or a child hangs in the wrong place.
        """
        raise NotImplementedError("09-radix-cache: not written yet")
