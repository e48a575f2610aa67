"""The wire between the grader and a child: what may travel, and in which form.

Values are written by exact type as nested lists that JSON can hold (``encoding``, ``decoding``). The grader and the
child both use this file; the child loads it by its path, so it imports nothing of ours. Decoding checks everything
and assumes nothing about the encoder: the grader does not trust the child.

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

A few library types count as plain and travel as their contents: the dictionaries of ``collections``, named tuples and
torch's tuples, members of ``IntEnum`` and ``StrEnum``. They are read with the methods of ``dict``, ``tuple``, ``int``
and ``str`` themselves, so that no method of a submission's class is ever called. Any other subclass is refused by name.
"""

#: Limits of one value. The child keeps them to report a clear error, the grader to protect itself.
MAX_BITS = 4096
MAX_DEPTH = 32
MAX_NODES = 100_000
MAX_KEYS = 1_000
MAX_TEXT = 1 << 20
MAX_BYTES = 2 << 20
MAX_DIMENSIONS = 8
MAX_LENGTH = 4 << 20

#: Classes that travel as dictionaries.
DICTIONARIES = frozenset(("collections", name) for name in ("Counter", "OrderedDict", "defaultdict"))

#: Bytes per element of the tensor types that may travel.
SIZES = {"float32": 4, "float64": 8, "int64": 8, "int32": 4, "bool": 1}

#: What a learner should return instead of a type that is not plain.
INSTEAD = {"Fraction": "a float", "Decimal": "a float", "complex": "a float"}
INSTEAD.update(dict.fromkeys(("generator", "map", "filter", "zip", "set", "frozenset", "array"), "a list"))
INSTEAD.update(dict.fromkeys(("list_iterator", "dict_keys", "dict_values", "dict_items", "deque"), "a list"))
INSTEAD.update({"function": "its result", "coroutine": "its result", "method": "its result", "bytes": "a str"})


#: Integers below this in size travel as they are in long rows.
SMALL = 1 << 64


class Refused(Exception):
    """A value that cannot travel. The message completes the sentence "returned ...".

    ``kind`` is the name of the type when that is the reason.
    """

    def __init__(self, sentence, kind=""):
        super().__init__(sentence)
        self.kind = kind


#: Every other reason to refuse a value. The sentences are fixed: a number in one could tell what a program was asked.
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
    """The wire contains something that no honest encoder writes."""


class Record:
    """An instance of a dataclass as it travels: the name of its class, and its fields.

    Fields are also attributes, as in the dataclass, except those that are called ``name`` or ``fields``. Attributes
    cannot be set.
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


def is_flat(values):
    """Whether all are booleans or small integers, which travel as they are, so that long rows of them stay cheap."""
    return set(map(type, values)) <= {int, bool} and (not values or -SMALL < min(values) <= max(values) < SMALL)


def steps(numbers):
    """How many numbers a range holds, which may be more than ``len`` can say. Whoever walks it needs so long."""
    return max(0, -((numbers.start - numbers.stop) // numbers.step))


def is_shape(shape):
    return len(shape) <= MAX_DIMENSIONS and all(type(n) is int and 0 <= n <= MAX_LENGTH for n in shape)
