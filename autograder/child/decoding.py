"""From the wire form back to values. Anything that no honest encoder writes is refused."""

import math

from autograder.child.wire import (
    MAX_BITS,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_KEYS,
    MAX_NODES,
    MAX_TEXT,
    SIZES,
    Malformed,
    Record,
    is_flat,
    is_shape,
    steps,
)


def decode(wire, make_tensor, makers):
    """The value whose wire form is ``wire``.

    ``make_tensor(dtype, shape, data)`` makes a tensor, ``makers["N"]`` likewise a NumPy array, and
    ``makers[tag](list)`` the value of any further tag.

    Raises:
        Malformed: no honest encoder writes this.
    """
    return _Decoder(make_tensor, makers).value(wire, 0)


class _Decoder:
    def __init__(self, make_tensor, makers):
        self.make_tensor, self.makers = make_tensor, makers
        self.nodes, self.keys = MAX_NODES, MAX_KEYS

    def value(self, wire, depth):
        self.nodes -= 1
        if self.nodes < 0 or depth > MAX_DEPTH:
            raise Malformed("too large or too deep")
        kind = type(wire)
        if wire is None or kind is bool:
            return wire
        if kind is int and wire.bit_length() <= MAX_BITS:
            return wire
        if kind is str:
            return _checked_text(wire)
        if kind is list and wire and type(wire[0]) is str:
            return self.tagged(wire[0], wire[1:], depth + 1)
        raise Malformed("not a value")

    def tagged(self, tag, rest, depth):
        if tag == "f":
            return _checked_float(rest)
        if tag == "l":
            return self.values(rest, depth)
        if tag == "t":
            return tuple(self.values(rest, depth))
        if tag == "d":
            return self.dictionary(rest, depth)
        if tag == "r":
            return self.range(rest)
        if tag == "T":
            return self.make_tensor(*checked_tensor(rest))
        if tag == "R":
            return self.record(rest, depth)
        if tag == "N" and tag in self.makers:
            return self.makers[tag](*checked_tensor(rest))
        if tag in self.makers:
            return self.makers[tag](self.values(rest, depth))
        raise Malformed("an unknown tag")

    def values(self, rest, depth):
        if is_flat(rest) and depth <= MAX_DEPTH:
            self.nodes -= len(rest)
            if self.nodes < 0:
                raise Malformed("too large")
            return rest
        return [self.value(part, depth) for part in rest]

    def range(self, rest):
        """A range, whose numbers count as parts: whoever judges the answer may walk it."""
        whole = all(type(number) is int and number.bit_length() <= MAX_BITS for number in rest)
        if len(rest) != 3 or not whole or rest[2] == 0:
            raise Malformed("not a range")
        found = range(*rest)
        self.nodes -= steps(found)
        if self.nodes < 0:
            raise Malformed("too large")
        return found

    def record(self, rest, depth):
        if not all(type(pair) is list and len(pair) == 2 for pair in rest[1:]):
            raise Malformed("not a record")
        names = [*rest[:1], *(name for name, _ in rest[1:])]
        if not names or not all(type(name) is str and name.isidentifier() for name in names):
            raise Malformed("not a record")
        return Record(_checked_text(rest[0]), {_checked_text(name): self.value(v, depth) for name, v in rest[1:]})

    def dictionary(self, pairs, depth):
        self.keys -= len(pairs)  # hostile keys may collide: their number limits the time lost
        if self.keys < 0 or not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise Malformed("not a dictionary")
        try:
            return {self.value(key, depth): self.value(value, depth) for key, value in pairs}
        except TypeError:
            raise Malformed("a key that is not hashable") from None


def _checked_text(text):
    if len(text) > MAX_TEXT:
        raise Malformed("a text that is too long")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Malformed("not Unicode text") from None
    return text


def _checked_float(rest):
    try:
        if len(rest) == 1 and type(rest[0]) is str and len(rest[0]) <= 32:
            return float.fromhex(rest[0])
    except (ValueError, OverflowError):
        pass
    raise Malformed("not a float")


def checked_tensor(rest):
    """``(dtype, shape, data)`` when type, shape and length agree.

    Raises:
        Malformed: they do not.
    """
    from binascii import Error, a2b_base64

    if len(rest) != 3 or type(rest[0]) is not str or rest[0] not in SIZES or type(rest[1]) is not list:
        raise Malformed("not a tensor")
    dtype, shape, data = rest
    if not is_shape(shape) or type(data) is not str:
        raise Malformed("not a shape")
    try:
        content = a2b_base64(data.encode("ascii"))
    except (Error, ValueError):
        raise Malformed("not base64 data") from None
    if len(content) > MAX_BYTES or len(content) != math.prod(shape) * SIZES[dtype]:
        raise Malformed("data of another size than the shape says")
    if dtype == "bool" and content.strip(b"\0\1"):
        raise Malformed("data other than booleans")
    return dtype, tuple(shape), content
