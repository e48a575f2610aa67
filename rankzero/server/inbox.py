"""Where other threads leave requests for the engine's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rankzero.server.request import QueueFull, Request


class Inbox:
    """Requests that arrived and requests that are to end, until the engine takes them.

    Args:
        most: requests that may wait, here and in the scheduler's queue; None sets no limit.

    Attributes:
        waiting: requests that wait now; the engine keeps it with :meth:`count`.
        received: requests that came in since the start.
        refused: requests that found the queue full.
        error: why nothing is accepted any more; None while all is well.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._changed = threading.Condition()
        self._arrived: list[Request] = []
        self._cancelled: list[Request] = []
        self.waiting = self.received = self.refused = 0
        self.error: BaseException | None = None

    def put(self, request: Request) -> None:
        """Leave a request.

        Raises:
            QueueFull: as many wait as may wait.
            RuntimeError: the engine has failed.
        """
        with self._changed:
            if self.error is not None:
                raise RuntimeError(f"the engine has failed: {self.error}") from self.error
            if self._most is not None and self.waiting >= self._most:
                self.refused += 1
                raise QueueFull(f"{self._most} requests wait already")
            self.received += 1
            self.waiting += 1
            self._arrived.append(request)
            self._changed.notify_all()

    def cancel(self, request: Request) -> None:
        """Ask for the end of a request."""
        with self._changed:
            self._cancelled.append(request)
            self._changed.notify_all()

    def take(self) -> tuple[list[Request], list[Request]]:
        """What arrived and what is to end, in order; the inbox is empty then."""
        with self._changed:
            taken = self._arrived, self._cancelled
            self._arrived, self._cancelled = [], []
        return taken

    def arrived(self) -> list[Request]:
        """What arrived; it stays here."""
        with self._changed:
            return list(self._arrived)

    def count(self, more: int) -> None:
        """So many requests more (or fewer) wait in the scheduler's queue."""
        with self._changed:
            self.waiting += more

    def fail(self, error: BaseException) -> None:
        """Accept nothing any more."""
        with self._changed:
            self.error, self.waiting = error, 0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to take."""
        with self._changed:
            return not (self._arrived or self._cancelled)

    def wait(self, until: Callable[[], bool]) -> None:
        """Sleep until something is here, or until ``until()``; :meth:`wake` makes it look again."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._arrived or self._cancelled) or until())

    def wake(self) -> None:
        """Let :meth:`wait` look again."""
        with self._changed:
            self._changed.notify_all()
