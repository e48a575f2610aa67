"""The wire: what goes in comes out by exact type, and nothing that breaks the rules comes out at all."""

from __future__ import annotations

import collections
import enum
import json
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.child import channel, encoding, wire
from autograder.child import main as child
from autograder.items import Array, Iterator, Tensor
from autograder.marking import values

KEYS = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.text(max_size=5))
PLAIN = st.recursive(
    st.one_of(
        KEYS,
        st.floats(),
        st.builds(Tensor.of, st.lists(st.floats(width=32), max_size=4)),
        st.builds(Array.of, st.lists(st.integers(0, 9), max_size=4), st.just("int64")),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(KEYS, inner, max_size=4),
        st.builds(values.Record, st.sampled_from(["Point", "Été"]), st.dictionaries(st.just("x"), inner)),
    ),
    max_leaves=20,
)


def same(one: object, other: object) -> bool:
    """Equal in value and in every type, with NaN equal to itself and 0.0 different from -0.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return one.hex() == other.hex()
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same(list(one), list(other)) and same(list(one.values()), list(other.values()))
    if isinstance(one, values.Record):
        return one.name == other.name and same(one.fields, other.fields)
    return one == other


@given(PLAIN)
@settings(max_examples=200, deadline=None)
def test_a_value_survives_the_wire_by_exact_type(value):
    """Kills an encoding that turns tuples into lists, True into 1, or loses the last bit of a float."""
    line = channel.dumps({"value": values.encode(value)}).encode()
    assert same(values.decode(values.parse(line)["value"]), value)


@given(PLAIN)
@settings(max_examples=100, deadline=None)
def test_the_child_writes_and_reads_the_json_of_the_library(value):
    wire = values.encode(value)
    assert json.loads(channel.dumps(wire)) == wire
    assert channel.loads(json.dumps(wire)) == wire


WIRES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=6),
        st.sampled_from(["f", "l", "t", "d", "T", "N", "R", "i", "x"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=15,
)


@pytest.mark.proof(part="bank")
@given(WIRES)
@settings(max_examples=500, deadline=None)
def test_whatever_comes_off_the_wire_is_a_value_or_malformed(wire):
    """Kills a decoder that trusts: any other exception here would be a dead grader."""
    try:
        value = values.decode(wire)
    except values.Malformed:
        return
    assert same(values.decode(values.encode(value)), value)


@given(st.binary(max_size=60))
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_an_object_or_malformed(line):
    try:
        message = values.parse(line)
    except values.Malformed:
        return
    assert type(message) is dict


class Half(float):
    pass


@dataclass(frozen=True)
class Place:
    """A dataclass of a submission, with something in it that is no field."""

    row: int
    marks: dict[str, tuple[float, ...]] = field(default_factory=dict)
    limit = 5


def test_an_instance_of_a_dataclass_travels_by_name_and_fields():
    """Kills: fields in depth that are not encoded, a class attribute taken for a field."""
    place = Place(3, {"a": (0.5,)})
    line = channel.dumps({"value": encoding.encode([place, Place(4)])}).encode()
    first, second = values.decode(values.parse(line)["value"])
    assert same(first, values.Record("Place", {"row": 3, "marks": {"a": (0.5,)}}))
    assert (second.name, second.fields) == ("Place", {"row": 4, "marks": {}})
    assert repr(first) == "Place(row=3, marks={'a': (0.5,)})"
    assert values.fresh(first) == first != second


class Point(NamedTuple):
    x: int
    y: float


class Rank(enum.IntEnum):
    FIRST = 0
    LAST = 7


class Kind(enum.StrEnum):
    SEND = "send"


class OldKind(str, enum.Enum):  # noqa: UP042 - as it was written before there was StrEnum
    SEND = "send"


def bins():
    found = collections.defaultdict(list)
    found["a"].append(1)
    return found


def turned():
    ordered = collections.OrderedDict(a=1, b=2)
    ordered.move_to_end("a")
    return ordered


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (bins(), {"a": [1]}),
        (turned(), {"a": 1, "b": 2}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (Point(1, 2.5), (1, 2.5)),
        (collections.namedtuple("Old", "a b")(1, [2]), (1, [2])),
        ([Point(1, 2.0), {"p": Point(3, 4.0)}], [(1, 2.0), {"p": (3, 4.0)}]),
        (Rank.LAST, 7),
        ({Rank.FIRST: Kind.SEND}, {0: "send"}),
        (OldKind.SEND, "send"),
        (torch.zeros(2, 3).shape, (2, 3)),
    ],
    ids=repr,
)
def test_what_is_plain_to_its_author_travels(value, plain):
    """Kills: "returned a defaultdict; return a dict"."""
    line = channel.dumps({"value": encoding.encode(value)}).encode()
    assert same(values.decode(values.parse(line)["value"]), plain)


class Sly(collections.OrderedDict):
    """Not one of the library's."""


class Forged(dict):
    """One that says it is the library's, and lies about what it holds."""

    __module__ = "collections"

    def items(self):
        raise AssertionError("called")

    __iter__ = __len__ = keys = values = __getitem__ = items


Forged.__name__ = "Counter"


class Liar(Point):
    """A named tuple that lies about what it holds."""

    def __iter__(self):
        raise AssertionError("called")

    __len__ = __getitem__ = __iter__


class Weight(enum.Enum):
    HEAVY = 7.5


class Third(float, enum.Enum):
    ONE = 0.25


class Number(int):
    pass


def test_a_subclass_can_do_nothing_but_choose_its_value():
    """Kills: an encoder that calls what a submission has overridden."""
    assert encoding.encode(Forged(a=1)) == ["d", ["a", 1]]
    assert encoding.encode(Liar(1, 2.0)) == ["t", 1, ["f", (2.0).hex()]]


@pytest.mark.parametrize("value", [Sly(a=1), Weight.HEAVY, Third.ONE, Number(3), {1, 2}], ids=repr)
def test_every_other_class_is_refused_by_its_name(value):
    with pytest.raises(values.Refused, match=f"an? {type(value).__name__}; return "):
        encoding.encode(value)


@pytest.mark.parametrize("dtype", [">f8", "<f8", "f4", "?", "i8", ">i4"])
def test_an_array_travels_with_its_numbers(dtype):
    """Kills: bytes of the other order, and an array that is taken for a tensor."""
    given = np.array([[1, 0, 2], [3, 4, 0]]).astype(dtype)
    line = channel.dumps({"value": encoding.tensor(*child.array_parts(given), "N")}).encode()
    found = values.decode(values.parse(line)["value"])
    assert (type(found), found.shape, found.tolist()) == (Array, (2, 3), given.ravel().tolist())
    assert found != Tensor(found.dtype, found.shape, found.data)
    with pytest.raises(values.Refused, match="a NumPy array of float16; return one of float32, "):
        encoding.tensor(*child.array_parts(np.zeros(2, "f2")), "N")


def test_a_dataclass_that_holds_itself_is_refused():
    place = Place(3)
    place.marks["a"] = place
    with pytest.raises(values.Refused, match="nested deeper"):
        encoding.encode(place)


def test_the_class_itself_is_no_value():
    with pytest.raises(values.Refused, match="a type; return"):
        encoding.encode(Place)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (Fraction(1, 2), "a Fraction; return a float"),
        (Half(0.5), "a Half; return plain numbers, strings, lists, tuples or dicts"),
        ((x for x in ()), "a generator; return a list"),
        ({1}, "a set; return a list"),
        (1 << 5000, "an integer of more than 4,096 bits"),
        ([0] * 200_000, "a value of more than 100,000 parts"),
        ("\ud800", "a string that is not Unicode text"),
        (Tensor("float32", (600_000,), bytes(2_400_000)), "a tensor of more than 2,097,152 bytes"),
        (Tensor("bfloat16", (1,), b"ab"), "a tensor of bfloat16; return one of float32, float64, int64, int32, bool"),
    ],
)
def test_what_cannot_travel_is_named_in_a_sentence(value, sentence):
    with pytest.raises(values.Refused) as refused:
        values.encode(value)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "wire",
    [
        0.5,
        [],
        ["f", 1],
        ["f", "0x1p99999"],
        ["f", "zero"],
        ["x", 1],
        ["d", [["l"], 1]],
        ["d", [1]],
        ["T", "float32", [2], "AAAA"],
        ["T", "float32", [-1], ""],
        ["T", "object", [1], "AAAA"],
        ["T", "bool", [3], "AgIC"],
        ["R"],
        ["R", 1],
        ["R", "a b"],
        ["R", "A", ["x"]],
        ["R", "A", [1, 2]],
        ["R", "A", ["x y", 2]],
        ["d", [["R", "A"], 1]],
        ["T", "float32", [2**60, 2**60, 0, 2**60], "AAAA"],
        "\ud800",
        1 << 5000,
        {"value": 1},
    ],
)
def test_a_malformed_wire_is_refused(wire):
    with pytest.raises(values.Malformed):
        values.decode(wire)


def test_a_deep_wire_is_refused():
    wire: list = ["l"]
    for _ in range(100):
        wire = ["l", wire]
    with pytest.raises(values.Malformed):
        values.decode(wire)


def test_an_iterator_arrives_fresh_for_each_call():
    """Kills a runner that hands the same, used-up iterator to the second call."""
    case = (Iterator((1, 2, 3)), [4])
    first, second = values.fresh(case), values.fresh(case)
    assert (list(first[0]), list(second[0])) == ([1, 2, 3], [1, 2, 3])
    first[1].append(5)
    assert (second[1], case[1]) == ([4], [4])


def test_the_sizes_of_the_wire_are_those_of_the_bank():
    import array

    from autograder.items import DTYPES

    assert {name: array.array(code).itemsize for name, code in DTYPES.items()} == wire.SIZES


def test_not_a_number_stays_one():
    assert math.isnan(values.fresh(float("nan")))


def test_a_returned_exception_is_told_to_be_raised():
    with pytest.raises(values.Refused, match="a ValueError; raise it instead"):
        values.encode(ValueError("ranks"))
