"""Lines of a child as messages. Most of a class answer alike, so what a short line means is worked out once."""

from __future__ import annotations

import functools
from typing import Any

from autograder.outcome import Outcome
from autograder.values import Malformed, decode, parse, parts

#: The longest line that is remembered, bytes, and how many are.
SHORT, REMEMBERED = 512, 4096
#: Bytes in memory for each part of a line besides its text, about. An empty list is two parts.
PART = 32


class Message(dict[str, Any]):
    """What a child says, not to be changed: short lines that say the same are one object.

    Attributes:
        size: bytes that it takes in memory, about.
    """

    size: int = 0

    @functools.cached_property
    def outcome(self) -> Outcome:
        """The outcome of a call that returned.

        Raises:
            Malformed, KeyError: no honest child writes this.
        """
        after = decode(self.get("arguments"))
        if after is not None and type(after) is not tuple:
            raise Malformed("no arguments")
        return Outcome("value", decode(self["value"]), arguments=after)


def heard(line: bytes, identifier: str) -> Message | None:
    """The message of a line that answers the request ``identifier``; None when it answers another.

    Raises:
        Malformed: it is no message.
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
