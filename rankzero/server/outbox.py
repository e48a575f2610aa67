"""How the output of the engine's thread reaches the event loop of the HTTP front."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from rankzero.server.request import Request

Item = TypeVar("Item")


class Outbox:
    """Collects calls on the engine's thread, and makes them on the event loop after each step.

    Attributes:
        loop: the event loop; None until it runs.
    """

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._calls: list[Callable[[], None]] = []

    def post(self, receiver: Callable[[Item], None], item: Item) -> None:
        """Have ``receiver(item)`` called on the event loop with the next flush; for the engine's thread."""
        self._calls.append(partial(receiver, item))

    def flush(self) -> None:
        """Hand the collected calls to the event loop; for the engine's thread, after each step."""
        calls, self._calls = self._calls, []
        if calls and self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(_make, calls)


def _make(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


class Piece(NamedTuple):
    """A piece of text, when it was ready, and how many tokens the answer had then."""

    text: str
    ready: float
    tokens: int


class Pending:
    """A request in the engine, and the queue through which its text arrives."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Piece | Request] = asyncio.Queue()
        self.request: Request | None = None

    async def batches(self) -> AsyncIterator[list[Piece | Request]]:
        """Everything that has arrived since the last batch, until the request itself arrives as the last item."""
        while True:
            batch = [await self.queue.get()]
            while not self.queue.empty():
                batch.append(self.queue.get_nowait())
            yield batch
            if isinstance(batch[-1], Request):
                return
