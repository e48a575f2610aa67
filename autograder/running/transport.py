"""How a runner and its broker reach the children of a submission, whatever a child is.

The grader's children are processes of the operating system in the sandbox (:mod:`autograder.running.process`), those of
a page are workers of the browser (:mod:`autograder.page.workers`). Whoever creates a runner hands in the transport.
"""

from __future__ import annotations

import collections
import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from autograder.marking.values import Malformed
from autograder.running.deadlines import Deadline
from autograder.running.messages import Message, message_of
from autograder.starting import Package


class Child:
    """One child: lines to it, each a JSON object with an id, and what its own lines mean.

    Each request has a new random id, which its reply must carry. More calls may be queued behind the one in flight, so
    that the child need not wait for the grader.

    Attributes:
        ids: those of the requests in flight, oldest first.
        pids: the processes of this host that run it, if it has any.
        settings: what its first request tells it to do to itself, plain data for JSON.
        alive: it has not ended and may be sent requests.
        ready: it has answered its first request.
        ended: why it has ended, in words; empty if it lives or was killed.
    """

    pids: tuple[int, ...] = ()

    def __init__(self) -> None:
        self.ids: collections.deque[str] = collections.deque()
        self.settings: dict[str, Any] = {}
        self.alive, self.ready = True, False
        self.ended = ""

    # Talking.

    def send(self, **message: Any) -> None:
        """Queue a request under a new id; earlier requests no longer count as in flight."""
        self.ids.clear()
        self.queue(json.dumps(message))

    def queue(self, *requests: str) -> None:
        """Queue requests, JSON objects, behind those in flight."""
        named = [(secrets.token_hex(8), request) for request in requests]
        self.ids.extend(identifier for identifier, _ in named)
        self.put([_line(*one) for one in named])

    def tell(self, **message: Any) -> None:
        """Queue a message that belongs to the request in flight."""
        self.put([_line(self.ids[0], json.dumps(message))])

    def put(self, lines: Sequence[str]) -> None:
        """Send lines; nothing if the child has ended."""
        raise NotImplementedError

    def heard(self, line: bytes) -> Message | None:
        """The message in a line of the child; None if it breaks the rules, which ends the child."""
        try:
            message = message_of(line, self.ids[0]) if self.ids else None
        except Malformed:
            self.end("it wrote on the grader's channel")
            return None
        if message is None:
            self.end("it answered what was not asked")
        return message

    # Starting and ending.

    def confine(self) -> None:
        """Set the outer limits of the child, which has started but not yet run any code of the submission.

        Raises:
            NotStarted: the limits cannot be set.
        """

    def end(self, reason: str) -> None:
        """Kill the child, and say why."""
        self.kill()
        self.ended = reason

    def kill(self) -> None:
        """End the child; nothing if it has ended."""
        raise NotImplementedError


class Transport(Protocol):
    """Starts children and listens to them."""

    def start(self, package: Package) -> Child:
        """Start a child that may import ``package``.

        Raises:
            NotStarted: it cannot be started.
        """

    def exchange(self, children: Iterable[Child], deadline: float) -> list[tuple[Child, Message | None]]:
        """Listen until at least one of these children has replied or ended, or until ``deadline``.

        ``deadline`` is by the clock of ``time.monotonic``. None stands for the reply of a child that has ended. An
        empty list means that the deadline has passed.
        """


def deadline_of(children: Iterable[Child], seconds: float) -> Deadline:
    """The time limit of some children, extended for a busy host."""
    return Deadline([pid for child in children for pid in child.pids], seconds)


def _line(identifier: str, request: str) -> str:
    """A JSON object with its id in front."""
    return f'{{"id": "{identifier}", {request[1:]}'
