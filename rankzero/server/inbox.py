"""How other threads hand requests to the engine's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rankzero.server.request import QueueFull, Request


class Inbox:
    """Holds new requests and cancellations until the engine takes them.

    Args:
        limit: the most requests that may wait, here and in the scheduler's queue together; None sets no limit.

    Attributes:
        waiting: how many requests wait now, here and in the scheduler's queue; the engine updates it with
            :meth:`count`.
        received: how many requests were accepted since the start.
        refused: how many requests found the queue full.
        error: the exception after which nothing is accepted; None while the engine works.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._changed = threading.Condition()
        self._arrived: list[Request] = []
        self._cancelled: list[Request] = []
        self.waiting = self.received = self.refused = 0
        self.error: BaseException | None = None

    def put(self, request: Request) -> None:
        """Add a request.

        Raises:
            QueueFull: the most requests that may wait are waiting already.
            RuntimeError: the engine has failed.
        """
        with self._changed:
            if self.error is not None:
                raise RuntimeError(f"the engine has failed: {self.error}") from self.error
            if self._limit is not None and self.waiting >= self._limit:
                self.refused += 1
                raise QueueFull(f"{self._limit} requests wait already")
            self.received += 1
            self.waiting += 1
            self._arrived.append(request)
            self._changed.notify_all()

    def cancel(self, request: Request) -> None:
        """Ask the engine to end a request."""
        with self._changed:
            self._cancelled.append(request)
            self._changed.notify_all()

    def take(self) -> tuple[list[Request], list[Request]]:
        """Remove and return the new requests and the requests to end, both in order of arrival."""
        with self._changed:
            taken = self._arrived, self._cancelled
            self._arrived, self._cancelled = [], []
        return taken

    def arrived(self) -> list[Request]:
        """The new requests, which stay in the inbox."""
        with self._changed:
            return list(self._arrived)

    def count(self, more: int) -> None:
        """Record that ``more`` requests (or fewer, if negative) wait in the scheduler's queue."""
        with self._changed:
            self.waiting += more

    def fail(self, error: BaseException) -> None:
        """Accept no more requests."""
        with self._changed:
            self.error, self.waiting = error, 0

    @property
    def empty(self) -> bool:
        """Whether there are neither new requests nor cancellations."""
        with self._changed:
            return not (self._arrived or self._cancelled)

    def wait(self, until: Callable[[], bool]) -> None:
        """Sleep until the inbox is not empty or ``until()`` is true; :meth:`wake` makes it check again."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._arrived or self._cancelled) or until())

    def wake(self) -> None:
        """Make :meth:`wait` check its conditions again."""
        with self._changed:
            self._changed.notify_all()
