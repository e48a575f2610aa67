"""A radix tree that knows for which prefixes of token sequences keys and values are already in memory, and where.

Standard library only. A *slot* is the place of one token's keys and values in the pool; slots are numbers that the
caller chose, and the tree does not interpret them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

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


@dataclass(eq=False)
class _Node:
    tokens: Sequence[int] = ()
    slots: Sequence[int] = ()
    parent: _Node | None = None
    number: int = 0  # the order in which nodes were created
    touched: int = 0
    locks: int = 0
    children: dict[tuple[int, ...], _Node] = field(default_factory=dict)  # by the first page of their tokens


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
        self._page_size = page_size
        self._root = _Node()
        self._clock = 0
        self._created = 0
        self._evictable = 0
        self._protected = 0
        self._handles: dict[int, _Node] = {}
        self._next_handle = 0

    @property
    def evictable_size(self) -> int:
        """Cached tokens that no request uses."""
        return self._evictable

    @property
    def protected_size(self) -> int:
        """Cached tokens that a lock protects."""
        return self._protected

    def match(self, tokens: Sequence[int]) -> tuple[int, list[int]]:
        """The length of the longest cached prefix of ``tokens``, in whole pages, and its slots."""
        node, length = self._walk(tokens)
        return length, [slot for step in reversed(list(_path(node))) for slot in step.slots]

    def insert(self, tokens: Sequence[int], slots: Sequence[int]) -> int:
        """Remember the slots of ``tokens``, one for each, in whole pages; what is not cached yet becomes one new leaf.

        Returns:
            How many of the tokens were cached already. Their slots stay as they were: the caller frees its duplicates,
            ``slots[:result]``, and the slots of the tail that fills no page.
        """
        checks.require(len(slots) == len(tokens), f"be as many as tokens = {len(tokens)}", slots=len(slots))
        node, length = self._walk(tokens)
        stop = self._whole_pages(tokens)
        if length < stop:
            leaf = self._new_node(tokens[length:stop], slots[length:stop], node)
            leaf.touched = self._clock
            self._evictable += stop - length
        return length

    def lock(self, tokens: Sequence[int]) -> int:
        """Protect the longest cached prefix of ``tokens``: no node from its end up to the root is evicted.

        Returns:
            A handle for :meth:`unlock`: 0, 1, 2, ...
        """
        node, _ = self._walk(tokens)
        for step in _path(node):
            if step.locks == 0:
                self._move_to_protected(len(step.tokens))
            step.locks += 1
        handle = self._next_handle
        self._handles[handle] = node
        self._next_handle += 1
        return handle

    def unlock(self, handle: int) -> None:
        """Release a lock, from the node that it was put on up to the root, as the tree is now.

        Raises:
            ValueError: there is no lock of this handle, or it was taken back already.
        """
        if handle not in self._handles:
            raise ValueError(f"handle must be of a lock that holds, got {handle!r}")
        for step in _path(self._handles.pop(handle)):
            step.locks -= 1
            if step.locks == 0:
                self._move_to_protected(-len(step.tokens))

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
        heap = [_age(node) for node, _ in self._nodes() if _can_go(node)]
        heapq.heapify(heap)
        freed: list[int] = []
        while heap and len(freed) < count:
            *_, leaf = heapq.heappop(heap)
            freed += leaf.slots
            parent = self._remove(leaf)
            if parent is not self._root and _can_go(parent):
                heapq.heappush(heap, _age(parent))
        return freed

    def nodes(self) -> list[RadixNode]:
        """The tree for a picture, depth first: a node, then all below it, children in the order of their tokens."""
        return [
            RadixNode(parent, tuple(node.tokens), tuple(node.slots), node.locks, node.touched, node.number)
            for node, parent in self._nodes()
        ]

    def check(self) -> None:
        """Count everything again.

        Raises:
            AssertionError: a size is not the sum over the nodes, a lock count is not the number of locks at and below
                a node, an edge is empty or does not fill its pages, or a child hangs in the wrong place.
        """
        locks: dict[_Node, int] = {}
        for held in self._handles.values():
            for step in _path(held):
                locks[step] = locks.get(step, 0) + 1
        sizes = [0, 0]
        for node, _ in self._nodes():
            page = tuple(node.tokens[: self._page_size])
            if node.parent is None or node.parent.children.get(page) is not node:
                raise AssertionError(f"node {list(node.tokens)} is not where its parent looks for it")
            if not node.tokens or len(node.tokens) % self._page_size or len(node.slots) != len(node.tokens):
                raise AssertionError(f"node {list(node.tokens)} with slots {list(node.slots)} does not fill its pages")
            if node.locks != locks.get(node, 0):
                raise AssertionError(f"node {list(node.tokens)} counts {node.locks} locks of {locks.get(node, 0)}")
            sizes[node.locks > 0] += len(node.tokens)
        if sizes != [self._evictable, self._protected]:
            raise AssertionError(f"sizes are {[self._evictable, self._protected]}, and the nodes hold {sizes}")

    def _whole_pages(self, tokens: Sequence[int]) -> int:
        return len(tokens) // self._page_size * self._page_size

    def _walk(self, tokens: Sequence[int]) -> tuple[_Node, int]:
        """The node where the longest cached prefix ends and its length; the path is touched, the last node split."""
        self._clock += 1
        node, start, stop = self._root, 0, self._whole_pages(tokens)
        while start < stop:
            child = node.children.get(tuple(tokens[start : start + self._page_size]))
            if child is None:
                break
            child.touched = self._clock
            shared = self._shared(child.tokens, tokens[start:stop])
            node = child if shared == len(child.tokens) else self._split(child, shared)
            start += shared
        return node, start

    def _shared(self, left: Sequence[int], right: Sequence[int]) -> int:
        """The length of the common prefix, in whole pages."""
        for place, (a, b) in enumerate(zip(left, right, strict=False)):
            if a != b:
                return place // self._page_size * self._page_size
        return min(len(left), len(right))

    def _split(self, node: _Node, length: int) -> _Node:
        """Put a new node in front of ``node`` for the first ``length`` tokens. Handles go on pointing to the rest."""
        assert node.parent is not None
        upper = self._new_node(node.tokens[:length], node.slots[:length], node.parent)
        upper.touched, upper.locks = node.touched, node.locks
        node.tokens, node.slots, node.parent = node.tokens[length:], node.slots[length:], upper
        upper.children[tuple(node.tokens[: self._page_size])] = node
        return upper

    def _new_node(self, tokens: Sequence[int], slots: Sequence[int], parent: _Node) -> _Node:
        self._created += 1
        node = _Node(tuple(tokens), tuple(slots), parent, self._created)
        parent.children[tuple(tokens[: self._page_size])] = node
        return node

    def _remove(self, leaf: _Node) -> _Node:
        """Take a leaf that nobody uses out of the tree; its parent."""
        parent = leaf.parent
        assert parent is not None
        del parent.children[tuple(leaf.tokens[: self._page_size])]
        self._evictable -= len(leaf.tokens)
        return parent

    def _move_to_protected(self, tokens: int) -> None:
        self._evictable -= tokens
        self._protected += tokens

    def _nodes(self) -> Iterator[tuple[_Node, int]]:
        """Every node but the root with its parent's place in this order, or -1."""
        waiting, place = [(self._root, -1)], -1
        while waiting:
            node, parent = waiting.pop()
            if node is not self._root:
                place += 1
                yield node, parent
            children = sorted(node.children.items(), reverse=True)
            waiting += [(child, place) for _, child in children]


def _path(node: _Node) -> Iterator[_Node]:
    """From ``node`` up to the child of the root."""
    while node.parent is not None:
        yield node
        node = node.parent


def _can_go(node: _Node) -> bool:
    return not node.children and node.locks == 0


def _age(node: _Node) -> tuple[int, int, _Node]:
    """The sort key of eviction: the node with the smallest goes first. No two nodes have the same number."""
    return node.touched, node.number, node
