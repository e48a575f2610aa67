"""Messages from the lines of a child. Many submissions give equal answers, so short lines are parsed only once."""

from __future__ import annotations

import functools
from typing import Any

from autograder.marking.outcome import Outcome
from autograder.marking.values import Malformed, decode, parse, parts

#: The longest line whose message is cached, bytes, and the number of cached messages.
SHORT, REMEMBERED = 512, 4096
#: Approximate memory for each part of a line besides its text, bytes. An empty list is two parts.
PART = 32


class Message(dict[str, Any]):
    """What a child said. It must not be changed: equal short lines share one object.

    Attributes:
        size: approximate memory that it takes, bytes.
    """

    size: int = 0

    @functools.cached_property
    def outcome(self) -> Outcome:
        """The outcome of a call that returned.

        Raises:
            Malformed, KeyError: the child's own code would never write this.
        """
        after = decode(self.get("arguments"))
        if after is not None and type(after) is not tuple:
            raise Malformed("no arguments")
        return Outcome("value", decode(self["value"]), arguments=after)


def message_of(line: bytes, identifier: str) -> Message | None:
    """The message in a line that answers the request ``identifier``; None if it answers another request.

    Raises:
        Malformed: the line is not a message.
    """
    said = line.removesuffix(f',"id":"{identifier}"}}'.encode())
    if len(said) < len(line) <= SHORT:
        return _remembered(said)
    message = _message(line)
    return message if message.get("id") == identifier else None


@functools.lru_cache(maxsize=REMEMBERED)
def _remembered(said: bytes) -> Message:
    return _message(said + b',"id":""}')


def _message(line: bytes) -> Message:
    message = Message(parse(line))
    message.size = len(line) + PART * parts(line)
    return message
