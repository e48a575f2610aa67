"""The wire between the grader and a child: plain values, by exact type, as nested lists that JSON can carry.

Grader and child both use this file; the child loads it by its path, so it imports nothing of ours. What comes off the
wire is checked as if nobody had encoded it: the grader trusts no child.

=====================  ==========================================
value                  on the wire
=====================  ==========================================
None, bool, int, str   themselves
float                  ``["f", float.hex()]``
list, tuple            ``["l", ...]``, ``["t", ...]``
dict                   ``["d", [key, value], ...]``
range                  ``["r", start, stop, step]``
tensor                 ``["T", dtype, [shape], base64 of the data]``
NumPy array or number  ``["N", dtype, [shape], base64 of the data]``
dataclass instance     ``["R", class name, [field, value], ...]``
one-shot iterator      ``["i", ...]`` (from the grader only)
part of a model        ``["S", frozen, layer, ...]`` (from the grader only)
=====================  ==========================================

A few types of the libraries are plain to their authors, and travel as what they are made of: the dictionaries of
``collections``, named tuples and the tuples of torch, members of ``IntEnum`` and ``StrEnum``. They are read by the
methods of ``dict``, ``tuple``, ``int`` and ``str`` themselves: what a class of a submission overrides is never called.
Every other subclass is refused by its name.
"""

import math
import sys

#: Bounds of one value, held by the child for a clear sentence and by the grader for its life.
MAX_BITS = 4096
MAX_DEPTH = 32
MAX_NODES = 100_000
MAX_KEYS = 1_000
MAX_TEXT = 1 << 20
MAX_BYTES = 2 << 20
MAX_DIMENSIONS = 8
MAX_LENGTH = 4 << 20

#: Classes that are dictionaries to their authors.
DICTIONARIES = frozenset(("collections", name) for name in ("Counter", "OrderedDict", "defaultdict"))

#: Item sizes of the tensor types that may travel.
SIZES = {"float32": 4, "float64": 8, "int64": 8, "int32": 4, "bool": 1}

#: What to return in place of a type that is not plain.
INSTEAD = {"Fraction": "a float", "Decimal": "a float", "complex": "a float"}
INSTEAD.update(dict.fromkeys(("generator", "map", "filter", "zip", "set", "frozenset", "array"), "a list"))
INSTEAD.update(dict.fromkeys(("list_iterator", "dict_keys", "dict_values", "dict_items", "deque"), "a list"))
INSTEAD.update({"function": "its result", "coroutine": "its result", "method": "its result", "bytes": "a str"})


class Refused(Exception):
    """A value that cannot travel. The message completes the sentence "returned ...".

    ``kind`` is the name of the type when that is the reason.
    """

    def __init__(self, sentence, kind=""):
        super().__init__(sentence)
        self.kind = kind


#: Every other reason why a value is refused, whole: a count in it could tell what a program was asked.
DEEP = f"a value nested deeper than {MAX_DEPTH} levels"
PARTS = f"a value of more than {MAX_NODES:,} parts"
KEYS = f"a value of more than {MAX_KEYS:,} keys"
BITS = f"an integer of more than {MAX_BITS:,} bits"
CHARACTERS = f"a string of more than {MAX_TEXT:,} characters"
NO_TEXT = "a string that is not Unicode text"
DATA = f"a tensor of more than {MAX_BYTES:,} bytes"
SHAPE = f"a tensor of more than {MAX_DIMENSIONS} dimensions, or longer than {MAX_LENGTH:,} in one"
REFUSALS = frozenset((DEEP, PARTS, KEYS, BITS, CHARACTERS, NO_TEXT, DATA, SHAPE))


class Malformed(Exception):
    """Something on the wire that no honest encoder writes."""


class Record:
    """An instance of a dataclass as it travels: the name of its class, and its fields.

    A field is also an attribute, as the dataclass would give it; those named ``name`` and ``fields`` stand in
    ``fields`` only. Attributes cannot be set.
    """

    name: str
    fields: dict[str, object]

    def __init__(self, name, fields):
        public = {field: value for field, value in fields.items() if not field.startswith("_")}
        self.__dict__.update(public | {"name": name, "fields": fields})

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set")

    def __eq__(self, other):
        return type(other) is Record and (self.name, self.fields) == (other.name, other.fields)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self):
        return f"{self.name}({', '.join(f'{field}={value!r}' for field, value in self.fields.items())})"


def not_plain(kind):
    """The words for a value of type ``kind``: ``"a Fraction; return a float"``."""
    article = "an" if kind[:1].lower() in "aeiou" else "a"
    if kind.endswith(("Error", "Exception")):
        return f"{article} {kind}; raise it instead"
    return f"{article} {kind}; return {INSTEAD.get(kind, 'plain numbers, strings, lists, tuples or dicts')}"


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
    if kind in _SIMPLE:
        return _SIMPLE[kind](value)
    if kind is list or kind is tuple:
        tag = "l" if kind is list else "t"
        if _flat(value):
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
    """What an instance of a library's class is made of, where its author means something plain; else None."""
    if issubclass(kind, dict):
        return dict(dict.items(value)) if (kind.__module__, kind.__name__) in DICTIONARIES else None
    if issubclass(kind, tuple):
        named = type(getattr(kind, "_fields", None)) is tuple or kind.__module__ in ("torch", "torch.return_types")
        return tuple(tuple.__iter__(value)) if named else None
    enum = sys.modules.get("enum")  # who has such a member has imported it
    if enum is not None and issubclass(kind, enum.Enum):
        return int.__int__(value) if issubclass(kind, int) else str.__str__(value) if issubclass(kind, str) else None
    return None


def _record(value):
    """``value`` as a :class:`Record`, None when it is no instance of a dataclass."""
    if type(value) is Record:
        return value
    dataclasses = sys.modules.get("dataclasses")  # who has such an instance has imported it
    if dataclasses is None or not dataclasses.is_dataclass(type(value)):
        return None
    return Record(type(value).__name__, {field.name: getattr(value, field.name) for field in dataclasses.fields(value)})


def _spend(budget, parts):
    budget[0] -= parts
    if budget[0] < 0:
        raise Refused(PARTS)


def _flat(values):
    """Whether all are booleans or small integers, which travel as they are: long rows of flags stay cheap."""
    return set(map(type, values)) <= {int, bool} and (not values or -_SMALL < min(values) <= max(values) < _SMALL)


def _count(budget, keys):
    budget[1] -= keys
    if budget[1] < 0:
        raise Refused(KEYS)


#: What stands behind a tag that has a type, a shape and data.
ARRAYS = {"T": "a tensor", "N": "a NumPy array"}

_SMALL = 1 << 64


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
    """The wire form of a tensor whose elements stand in ``data``, row-major and little-endian; of an array with "N".

    Raises:
        Refused: a type or size that cannot travel.
    """
    from binascii import b2a_base64

    if dtype not in SIZES:
        raise Refused(f"{ARRAYS[tag]} of {dtype}; return one of {', '.join(SIZES)}")
    if len(data) > MAX_BYTES:
        raise Refused(DATA)
    if not _is_shape(list(shape)):
        raise Refused(SHAPE)
    return [tag, dtype, list(shape), b2a_base64(data, newline=False).decode()]


def _is_shape(shape):
    return len(shape) <= MAX_DIMENSIONS and all(type(n) is int and 0 <= n <= MAX_LENGTH for n in shape)


def decode(wire, make_tensor, makers):
    """The value that ``wire`` stands for.

    ``make_tensor(dtype, shape, data)`` makes a tensor, ``makers["N"]`` likewise an array of NumPy, and
    ``makers[tag](list)`` what any further tag stands for.

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
        raise Malformed("no value")

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
            return _checked_range(rest)
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
        if _flat(rest) and depth <= MAX_DEPTH:
            self.nodes -= len(rest)
            if self.nodes < 0:
                raise Malformed("too large")
            return rest
        return [self.value(part, depth) for part in rest]

    def record(self, rest, depth):
        if not all(type(pair) is list and len(pair) == 2 for pair in rest[1:]):
            raise Malformed("no record")
        names = [*rest[:1], *(name for name, _ in rest[1:])]
        if not names or not all(type(name) is str and name.isidentifier() for name in names):
            raise Malformed("no record")
        return Record(_checked_text(rest[0]), {_checked_text(name): self.value(v, depth) for name, v in rest[1:]})

    def dictionary(self, pairs, depth):
        self.keys -= len(pairs)  # hostile keys may collide: their number bounds the time that takes
        if self.keys < 0 or not all(type(pair) is list and len(pair) == 2 for pair in pairs):
            raise Malformed("no dictionary")
        try:
            return {self.value(key, depth): self.value(value, depth) for key, value in pairs}
        except TypeError:
            raise Malformed("a key that cannot be one") from None


def _checked_text(text):
    if len(text) > MAX_TEXT:
        raise Malformed("too long a text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Malformed("no text") from None
    return text


def _checked_range(rest):
    """A range; it is never walked, so its length does not matter."""
    whole = all(type(number) is int and number.bit_length() <= MAX_BITS for number in rest)
    if len(rest) != 3 or not whole or rest[2] == 0:
        raise Malformed("no range")
    return range(*rest)


def _checked_float(rest):
    try:
        if len(rest) == 1 and type(rest[0]) is str and len(rest[0]) <= 32:
            return float.fromhex(rest[0])
    except (ValueError, OverflowError):
        pass
    raise Malformed("no float")


def checked_tensor(rest):
    """``(dtype, shape, data)`` when type, shape and length agree.

    Raises:
        Malformed: they do not.
    """
    from binascii import Error, a2b_base64

    if len(rest) != 3 or type(rest[0]) is not str or rest[0] not in SIZES or type(rest[1]) is not list:
        raise Malformed("no tensor")
    dtype, shape, data = rest
    if not _is_shape(shape) or type(data) is not str:
        raise Malformed("no shape")
    try:
        content = a2b_base64(data.encode("ascii"))
    except (Error, ValueError):
        raise Malformed("no data") from None
    if len(content) > MAX_BYTES or len(content) != math.prod(shape) * SIZES[dtype]:
        raise Malformed("a shape that is not the data's")
    if dtype == "bool" and content.strip(b"\0\1"):
        raise Malformed("no booleans")
    return dtype, tuple(shape), content
