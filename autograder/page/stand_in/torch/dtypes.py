"""Types of elements: how each is kept in memory, which numbers fit into it, and what two of them have in common."""

import math
import struct
from array import array

BOOLEAN, INTEGER, FLOATING = range(3)


class DType:
    """A type of elements; ``torch.float32`` is one.

    ``code`` is its letter in :mod:`struct`, ``unfilled`` what memory looks like that nobody has written yet.
    """

    is_complex = False

    def __init__(self, name, code, category, unfilled, kind):
        self.name, self.code, self.category, self.unfilled, self.kind = name, code, category, unfilled, kind
        self.itemsize = struct.calcsize(code)
        self.is_floating_point = category == FLOATING
        self.is_signed = code not in "?B"

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return named, (self.name,)

    @property
    def smallest(self):
        return -(1 << (8 * self.itemsize - 1)) if self.is_signed else 0

    @property
    def largest(self):
        return (1 << (8 * self.itemsize - self.is_signed)) - 1


DType.__name__ = DType.__qualname__ = "dtype"
DType.__module__ = "torch"

BOOL = DType("bool", "?", BOOLEAN, True, "Bool")
UINT8 = DType("uint8", "B", INTEGER, 177, "Byte")
INT32 = DType("int32", "i", INTEGER, -777_777_777, "Int")
INT64 = DType("int64", "q", INTEGER, -777_777_777_777_777_777, "Long")
FLOAT32 = DType("float32", "f", FLOATING, math.nan, "Float")
FLOAT64 = DType("float64", "d", FLOATING, math.nan, "Double")

DTYPES = {kind.name: kind for kind in (BOOL, UINT8, INT32, INT64, FLOAT32, FLOAT64)}
OTHER_NAMES = {"int": INT32, "long": INT64, "float": FLOAT32, "double": FLOAT64}

#: The types' names in C++, which some errors use.
IN_C = {
    "float32": "float",
    "float64": "double",
    "int64": "long int",
    "int32": "int",
    "uint8": "unsigned char",
    "bool": "bool",
}

_FLOAT = struct.Struct("f")


def named(name):
    """The type with this name."""
    return DTYPES[name]


def of_number(value):
    """The type that torch gives a Python number."""
    return BOOL if isinstance(value, bool) else INT64 if isinstance(value, int) else FLOAT32


# Numbers that fit


def wrapped(value, kind):
    """An integer, reduced to the bits that ``kind`` has."""
    bits = 8 * kind.itemsize
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind.is_signed and value >> (bits - 1) else value


def truncated(value, kind):
    """A number as an integer of ``kind``. Floats that do not fit give what an x86 processor gives."""
    if isinstance(value, float):
        wide = INT64 if kind is INT64 else INT32
        fits = math.isfinite(value) and wide.smallest <= value < wide.largest + 1
        value = int(value) if fits else wide.smallest
    return wrapped(int(value), kind)


def rounded(value):
    """A number as float32 keeps it."""
    try:
        return _FLOAT.unpack(_FLOAT.pack(value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def packed(values, kind):
    """The memory that holds these numbers as ``kind``."""
    if kind is BOOL:
        return bytearray([1 if value else 0 for value in values])
    try:
        return bytearray(array(kind.code, values))
    except (TypeError, OverflowError):
        return bytearray(array(kind.code, [truncated(value, kind) for value in values]))


def computed(results, kind):
    """The memory that holds, as ``kind``, what ``results()`` gives one after the other."""
    if kind is BOOL:
        return packed(results(), kind)
    try:
        return array(kind.code, results())
    except (TypeError, OverflowError):
        return packed(list(results()), kind)


def converted(values, before, after):
    """A list of numbers of the type ``before``, as numbers of the type ``after``."""
    if before is after:
        return values
    if after is BOOL:
        return [value != 0 for value in values]
    if after is FLOAT32:
        return array("f", values).tolist()
    if after is FLOAT64:
        return list(map(float, values))
    if before.is_floating_point:
        return [truncated(value, after) for value in values]
    if before.itemsize < after.itemsize and before.is_signed <= after.is_signed:
        return list(map(int, values))
    return [wrapped(int(value), after) for value in values]


def fitting(value, kind):
    """A Python number as an element of ``kind``; refused if it does not fit, as torch refuses it."""
    if kind is BOOL:
        return bool(value)
    if kind.is_floating_point:
        return rounded(value) if kind is FLOAT32 else float(value)
    lowest = kind.smallest if kind.is_signed else -kind.largest
    if not (math.isfinite(value) and lowest <= int(value) <= kind.largest):
        name = kind.name + "_t" if kind is not INT64 or isinstance(value, float) else kind.name
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return wrapped(int(value), kind)


# What two types have in common


def promoted(a, b):
    """The type of the result of an operation on two tensors of these types."""
    if a is b:
        return a
    if a.category != b.category:
        return max(a, b, key=lambda kind: kind.category)
    return max(a, b, key=lambda kind: kind.itemsize)


def common(tensors, numbers):
    """The type in which an operation works: tensors with dimensions, then those without, then Python numbers.

    Something further down the line counts only if it is of a higher kind: a float lifts integers, but 2.5 does not make
    a float32 a float64.
    """
    ranked = [[], [], [of_number(value) for value in numbers]]
    for tensor in tensors:
        ranked[not tensor.shape].append(tensor.dtype)
    found = None
    for kinds in ranked:
        for one in _folded(kinds):
            found = one if found is None else promoted(found, one) if one.category > found.category else found
    return found


def _folded(kinds):
    if not kinds:
        return []
    result = kinds[0]
    for kind in kinds[1:]:
        result = promoted(result, kind)
    return [result]


def can_cast(source, target):
    """Whether a result of type ``source`` may be written into a tensor of type ``target``."""
    return source.category <= target.category


class _Info:
    """What ``torch.finfo`` and ``torch.iinfo`` tell."""

    def __init__(self, kind):
        self.dtype, self.bits = kind.name, 8 * kind.itemsize


class finfo(_Info):  # noqa: N801
    """Limits of a floating-point type."""

    def __init__(self, kind=FLOAT32):
        if not kind.is_floating_point:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{kind}'")
        super().__init__(kind)
        bits = 24 if kind is FLOAT32 else 53
        exponent = 128 if kind is FLOAT32 else 1024
        self.eps, self.tiny = 2.0 ** (1 - bits), 2.0 ** (2 - exponent)
        self.smallest_normal = self.tiny
        self.max = math.ldexp(1 - 2.0**-bits, exponent)
        self.min = -self.max
        self.resolution = 1e-06 if kind is FLOAT32 else 1e-15

    def __repr__(self):
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{name}={getattr(self, name):g}' for name in names)}, dtype={self.dtype})"


class iinfo(_Info):  # noqa: N801
    """Limits of an integer type."""

    def __init__(self, kind):
        if kind.category != INTEGER:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{kind}'")
        super().__init__(kind)
        self.min, self.max = kind.smallest, kind.largest

    def __repr__(self):
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
