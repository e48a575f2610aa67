"""Values in the grader, with tensors as :class:`~autograder.items.Tensor`, to and from the children's wire format."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from autograder.child import decoding, encoding
from autograder.child.wire import Malformed, Record, Refused
from autograder.items import Array, Iterator, Stage, Tensor

__all__ = ["MAX_LINE", "Malformed", "Record", "Refused", "decode", "encode", "fresh", "parse", "parts"]

#: The longest line that a child may write, bytes, and the most parts it may have.
MAX_LINE = 6 << 20
MAX_PARTS = 500_000


def _special(value: Any) -> Any:
    if type(value) in (Tensor, Array):
        return encoding.tensor(value.dtype, value.shape, value.data, "T" if type(value) is Tensor else "N")
    if type(value) is Iterator:
        return ["i", *encode(list(value.values))[1:]]
    if type(value) is Stage:
        return ["S", *encode([value.frozen, *value.layers])[1:]]
    return None


def encode(value: Any) -> Any:
    """The wire form of a plain value, or of one of the classes that represent tensors, arrays, records and the like.

    Raises:
        Refused: it contains something else, or is too large.
    """
    return encoding.encode(value, _special)


def decode(written: Any) -> Any:
    """The value that a child wrote in wire form.

    Raises:
        Malformed: the child's own code would never write this.
    """
    return decoding.decode(written, Tensor, {"i": lambda parts: Iterator(tuple(parts)), "S": _stage, "N": Array})


def _stage(parts: list[Any]) -> Stage:
    if not parts or type(parts[0]) is not bool or not all(_is_layer(part) for part in parts[1:]):
        raise Malformed("no stage")
    return Stage(tuple(parts[1:]), parts[0])


def _is_layer(part: Any) -> bool:
    """Whether this is a tuple of a name, then tensors or None."""
    parameters = part[1:] if type(part) is tuple and part and type(part[0]) is str else [...]
    return all(parameter is None or type(parameter) is Tensor for parameter in parameters)


def fresh(
    value: Any,
    tensor: Callable[[str, tuple[int, ...], bytes], Any] = Tensor,
    stage: Callable[[list[Any]], Any] = _stage,
) -> Any:
    """A fresh copy of ``value`` for a program: containers are copied, an :class:`Iterator` becomes a live iterator.

    ``tensor(dtype, shape, data)`` creates the tensors, ``stage([frozen, layer, ...])`` the parts of a model.
    """
    return decoding.decode(encode(value), tensor, {"i": iter, "S": stage})


def parts(line: bytes) -> int:
    """The number of commas and opening brackets in a line of JSON, an upper bound on the number of values in it."""
    return line.count(b",") + line.count(b"[") + line.count(b"{")


def parse(line: bytes) -> dict[str, Any]:
    """Parse one line of a child as a JSON object.

    Raises:
        Malformed: it is not one, or it is too large.
    """
    if len(line) > MAX_LINE or parts(line) > MAX_PARTS:
        raise Malformed("too large")
    try:
        message = _DECODER.decode(line.decode())
    except (ValueError, RecursionError):
        raise Malformed("not JSON") from None
    if type(message) is not dict:
        raise Malformed("not an object")
    return message


def _no_number(text: str) -> Any:
    raise ValueError(f"{text[:20]} is not on the wire")


_DECODER = json.JSONDecoder(parse_float=_no_number, parse_constant=_no_number)
