"""The wire form of values: the child encodes answers, the grader encodes the arguments of cases."""

import sys

from autograder.child.wire import (
    BITS,
    CHARACTERS,
    DATA,
    DEEP,
    DICTIONARIES,
    KEYS,
    MAX_BITS,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_KEYS,
    MAX_NODES,
    MAX_TEXT,
    NO_TEXT,
    PARTS,
    SHAPE,
    SIZES,
    Record,
    Refused,
    is_flat,
    is_shape,
    not_plain,
    steps,
)

#: What the tags that carry a type, a shape and data stand for, in words.
ARRAYS = {"T": "a tensor", "N": "a NumPy array"}


def encode(value, special=None):
    """The wire form of ``value``. ``special(value)`` gives it for types that are not plain, or None.

    Raises:
        Refused: a type, size or depth that cannot travel.
    """
    return _encode(value, special, 0, [MAX_NODES, MAX_KEYS])


def _encode(value, special, depth, budget):
    kind = type(value)
    _spend(budget, 1)
    if depth > MAX_DEPTH:
        raise Refused(DEEP)
    if kind is range:
        _spend(budget, steps(value))
    if kind in _SIMPLE:
        return _SIMPLE[kind](value)
    if kind is list or kind is tuple:
        tag = "l" if kind is list else "t"
        if is_flat(value):
            _spend(budget, len(value))
            return [tag, *value]
        return [tag, *(_encode(v, special, depth + 1, budget) for v in value)]
    if kind is dict:
        pairs = list(value.items())
        _count(budget, len(pairs))
        return ["d", *([_encode(p, special, depth + 1, budget) for p in pair] for pair in pairs)]
    wire = special(value) if special else None
    plain = _plain(value, kind) if wire is None else None
    if plain is not None:
        return _encode(plain, special, depth, budget)
    if wire is None:
        record = _record(value)
        if record is not None:
            pairs = record.fields.items()
            return ["R", record.name, *([_text(n), _encode(v, special, depth + 1, budget)] for n, v in pairs)]
        name = kind.__name__
        raise Refused(not_plain(name), name)
    return wire


def _plain(value, kind):
    """The contents of an instance of a library type that counts as plain; else None."""
    if issubclass(kind, dict):
        return dict(dict.items(value)) if (kind.__module__, kind.__name__) in DICTIONARIES else None
    if issubclass(kind, tuple):
        named = type(getattr(kind, "_fields", None)) is tuple or kind.__module__ in ("torch", "torch.return_types")
        return tuple(tuple.__iter__(value)) if named else None
    enum = sys.modules.get("enum")  # imported if there is any member
    if enum is not None and issubclass(kind, enum.Enum):
        return int.__int__(value) if issubclass(kind, int) else str.__str__(value) if issubclass(kind, str) else None
    return None


def _record(value):
    """``value`` as a :class:`Record`; None if it is not an instance of a dataclass."""
    if type(value) is Record:
        return value
    dataclasses = sys.modules.get("dataclasses")  # imported if there is any instance
    if dataclasses is None or not dataclasses.is_dataclass(type(value)):
        return None
    return Record(type(value).__name__, {field.name: getattr(value, field.name) for field in dataclasses.fields(value)})


def _spend(budget, parts):
    budget[0] -= parts
    if budget[0] < 0:
        raise Refused(PARTS)


def _count(budget, keys):
    budget[1] -= keys
    if budget[1] < 0:
        raise Refused(KEYS)


def _integer(value):
    if value.bit_length() > MAX_BITS:
        raise Refused(BITS)
    return value


def _text(value):
    if len(value) > MAX_TEXT:
        raise Refused(CHARACTERS)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refused(NO_TEXT) from None
    return value


def _range(value):
    return ["r", *map(_integer, (value.start, value.stop, value.step))]


_SIMPLE = {
    type(None): lambda value: value,
    bool: lambda value: value,
    int: _integer,
    float: lambda value: ["f", value.hex()],
    str: _text,
    range: _range,
}


def tensor(dtype, shape, data, tag="T"):
    """The wire form of a tensor (tag "T") or array ("N") with the elements ``data``, row-major and little-endian.

    Raises:
        Refused: a type or size that cannot travel.
    """
    from binascii import b2a_base64

    if dtype not in SIZES:
        raise Refused(f"{ARRAYS[tag]} of {dtype}; return one of {', '.join(SIZES)}")
    if len(data) > MAX_BYTES:
        raise Refused(DATA)
    if not is_shape(list(shape)):
        raise Refused(SHAPE)
    return [tag, dtype, list(shape), b2a_base64(data, newline=False).decode()]
