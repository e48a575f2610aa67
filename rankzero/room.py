"""How much room a chart or a figure has: a page on a desk, or a phone. Standard library only: this runs in browsers.

What is too wide for a phone is drawn a second time there, ``with phone():``, by the same functions. They ask
:func:`room` for their sizes, so that panels stand below each other and the text keeps its size.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

#: The column of a page that is 390 pixels wide, pixels.
COLUMN = 346

T = TypeVar("T")

_phone: ContextVar[bool] = ContextVar("phone", default=False)


@contextmanager
def phone() -> Iterator[None]:
    """Everything that is drawn inside has the room of a phone."""
    token = _phone.set(True)
    try:
        yield
    finally:
        _phone.reset(token)


def on_phone() -> bool:
    """Whether there is only the room of a phone."""
    return _phone.get()


def room(desk: T, phone: T) -> T:
    """The size that fits: ``phone`` if there is only the room of a phone, else ``desk``."""
    return phone if on_phone() else desk
