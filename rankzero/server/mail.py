"""How what the engine says on its thread reaches the event loop of the HTTP front."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NamedTuple

from rankzero.server.request import Request


class Mail:
    """Carries what the engine says to the event loop.

    Attributes:
        loop: where it goes; None until it runs.
    """

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self._letters: list[tuple[Callable[[Any], None], Any]] = []

    def post(self, to: Callable[[Any], None], what: Any) -> None:
        """Put something aside, to be handed to ``to`` on the event loop; on the engine's thread."""
        self._letters.append((to, what))

    def flush(self) -> None:
        """Carry over what was put aside; on the engine's thread, after each step."""
        letters, self._letters = self._letters, []
        if letters and self.loop is not None and not self.loop.is_closed():
            self.loop.call_soon_threadsafe(_hand_out, letters)


def _hand_out(letters: Sequence[tuple[Callable[[Any], None], Any]]) -> None:
    for to, what in letters:
        to(what)


class Piece(NamedTuple):
    """A piece of text: when it was ready, and how many tokens the answer had then."""

    text: str
    ready: float
    tokens: int


class Pending:
    """A request in the engine and the queue in which its text arrives."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Piece | Request] = asyncio.Queue()
        self.request: Request | None = None

    async def pieces(self) -> AsyncIterator[list[Piece | Request]]:
        """What has come, all of it at once; the last is the request itself."""
        while True:
            come = [await self.queue.get()]
            while not self.queue.empty():
                come.append(self.queue.get_nowait())
            yield come
            if isinstance(come[-1], Request):
                return
