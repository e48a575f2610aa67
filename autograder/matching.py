"""Which operation of a world is carried out next: an index of those that are open, however many there are.

The rule is that of reading every open operation, the lowest rank first and each rank's in the order in which it posted
them, and taking the first that can be carried out. Of the messages from one rank to another in one group under one tag
only the oldest can go, to the oldest receive that takes it; of a rank's collectives in one group only the oldest can
meet those of the others. So it is enough to look at the oldest of each kind when something is added or carried out.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable

from autograder.posts import ANYONE, COLLECTIVES, Post


class OpenPosts:
    """The operations of a world that are not carried out yet."""

    def __init__(self) -> None:
        self._queues: defaultdict[Hashable, deque[Post]] = defaultdict(deque)
        self._candidates: list[tuple[int, int, Post]] = []  # a heap; some can no longer be carried out

    def add(self, post: Post) -> None:
        """An operation that a rank has just posted."""
        self._queues[_key(post)].append(post)
        if post.operation == "recv":
            senders = post.members if post.peer == ANYONE else (post.peer,)
            self._consider(self._oldest(("send", post.group, post.tag, sender, post.rank)) for sender in senders)
        else:
            self._consider([post])

    def next(self) -> tuple[Post, ...]:
        """The operations that are carried out together next: a send and its receive, or the calls of a collective by
        the order of its group. They are open no longer. Empty when nothing can be carried out.
        """
        while self._candidates:
            *_, post = heapq.heappop(self._candidates)
            together = self._partners(post)
            if together:
                self._take(together)
                return together
        return ()

    def _oldest(self, key: Hashable) -> Post | None:
        queue = self._queues.get(key)
        return queue[0] if queue else None

    def _consider(self, posts: Iterable[Post | None]) -> None:
        """Those that are the oldest of their kind and find their partners now are candidates."""
        for post in posts:
            together = self._partners(post) if post else ()
            if post and together:
                first = min(together, key=lambda one: one.rank) if post.operation in COLLECTIVES else post
                heapq.heappush(self._candidates, (first.rank, first.handle, first))

    def _partners(self, post: Post) -> tuple[Post, ...]:
        """``post`` and those it would be carried out with; empty when it cannot be."""
        if self._oldest(_key(post)) is not post:
            return ()
        if post.operation == "send":
            sources = (post.rank, ANYONE)
            receives = [self._oldest(("recv", post.group, post.tag, source, post.peer)) for source in sources]
            found = [receive for receive in receives if receive]
            return (post, min(found, key=lambda receive: receive.handle)) if found else ()
        calls = [self._oldest((post.group, rank)) for rank in post.members]
        return tuple(call for call in calls if call) if all(calls) else ()

    def _take(self, together: tuple[Post, ...]) -> None:
        """These are open no longer; the next of their kind may be candidates."""
        for post in together:
            self._queues[_key(post)].popleft()
        self._consider([self._oldest(_key(together[0]))])


def _key(post: Post) -> Hashable:
    """What an operation has in common with those that must go before it."""
    if post.operation == "send":
        return ("send", post.group, post.tag, post.rank, post.peer)
    if post.operation == "recv":
        return ("recv", post.group, post.tag, post.peer, post.rank)
    return (post.group, post.rank)
