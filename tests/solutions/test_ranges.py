"""Every reference refuses what the words of its docstring exclude, and nothing that they allow."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from autograder import bank
from autograder.items import Build, Case
from rankzero import checks
from tests import ranges
from tests.ranges import Range, stated

ITEMS = [pytest.param(item, id=item.id) for item in bank.builds()]
RING = bank.find("03-ring-all-reduce-time")


@pytest.mark.parametrize("item", ITEMS)
def test_what_the_words_exclude_is_refused_and_nothing_else(item):
    assert ranges.faults(item) == []


@pytest.mark.parametrize(
    ("annotation", "text", "right", "wrong"),
    [
        ("int", "ranks; at least 1.", [1, 8], [0, 2.5, 8.0, True]),
        ("float", "seconds; not negative.", [0, 0.0, 2.5, 3], [-1e-9, math.nan, math.inf]),
        ("float", "of a link; positive.", [1e-9], [0, -1.0, math.inf]),
        ("float", "not negative; infinite where it never ends.", [math.inf, 1.0], [-1.0]),
        ("float", "a share, from 0 to 1.", [0, 1, 0.5], [1.001, -0.1]),
        ("float", "above 0 and at most 1.", [1, 0.1], [0, 1.1]),
        ("int", "the integer 0, 1, 2 or 3.", [0, 3], [4, True, 1.0]),
        ("Sequence[float]", "each not negative.", [[], [0.0, 1]], [[1.0, -1.0], [math.nan]]),
        ("Mapping[str, int]", "each at least 1.", [{"a": 1}], [{"a": 0}, {"a": 1.5}]),
        ("int | None", "at least 1; None is all.", [None, 2], [0]),
        ("str", '``"young"`` or ``"daly"``.', ["daly"], ["exact", ""]),
    ],
)
def test_the_range_of_an_argument_is_read(annotation, text, right, wrong):
    read = stated(annotation, text)
    assert [value for value in right if read.breaks(value)] == []
    assert [value for value in wrong if not read.breaks(value)] == []
    assert all(read.breaks([one] if read.each else one) for one in read.outside())
    assert not any(read.breaks([one] if read.each else one) for one in read.edges())


@pytest.mark.parametrize(
    ("annotation", "text"), [("float", "what is added."), ("torch.Tensor", "positive."), ("Case", "at least 1.")]
)
def test_where_nothing_is_said_there_is_no_range(annotation, text):
    assert stated(annotation, text) is None


def test_lines_of_arguments_are_read_whole():
    doc = (
        "Do it.\n\nArgs:\n    one, two: first line\n        and second; positive.\n    three: last.\n\nReturns:\n    x"
    )
    assert ranges.arguments(doc) == {
        "one": "first line and second; positive.",
        "two": "first line and second; positive.",
        "three": "last.",
    }


def test_a_range_names_values_outside():
    assert Range("count", low=1).outside() == [2.5, 2.0, True, "1", 0]
    assert Range("count", one_of=(0, 1, 2, 3)).outside()[-2:] == [-1, 4]
    assert Range("amount", low=0, low_open=True, high=1).outside()[1:] == [math.inf, -math.inf, 0, 1.001]
    assert Range("name", ("young", "daly")).outside() == ["", "youngs", "YOUNG"]


def of(item: Build, program: object) -> list[str]:
    """The faults of an item whose reference is another function, with the docstring of its own."""
    program.__doc__ = program.__doc__ or inspect.getdoc(item.solution())
    other = replace(item)
    object.__setattr__(other, "solution", lambda: program)
    return ranges.faults(other)


def test_what_is_accepted_against_the_words_is_found():
    def ring_all_reduce_time(message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
        return 1.0

    found = of(RING, ring_all_reduce_time)
    assert {one.partition("=")[0] for one in found} == {"message_bytes", "ranks", "bandwidth", "latency"}
    assert all(one.endswith("is not refused") for one in found)


def test_a_refusal_that_names_neither_the_argument_nor_the_value_is_found():
    """Kills: a check of another argument that refuses by chance, and a message of which nobody learns what to mend."""

    def ring_all_reduce_time(message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
        raise ValueError("message_bytes must be a finite number >= 0, got nan")

    found = of(RING, ring_all_reduce_time)
    assert not any(one.startswith("message_bytes=nan") for one in found)
    assert {one.partition("=")[0] for one in found if "is not named" in one} >= {"ranks", "bandwidth", "latency"}


def test_a_check_that_is_stricter_than_the_words_is_found():
    def ring_all_reduce_time(message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
        checks.count(2, ranks=ranks)
        checks.amount(message_bytes=message_bytes)
        checks.positive(bandwidth=bandwidth, latency=latency)
        return 1.0

    found = of(RING, ring_all_reduce_time)
    refused = "is within its words, and refused"
    assert [one.partition("=")[0] for one in found if refused in one] == ["ranks", "latency"]


def test_a_check_of_which_the_words_say_nothing_is_found():
    def ring_all_reduce_time(message_bytes: float, ranks: int, bandwidth: float, latency: float = 0.0) -> float:
        """Time.

        Args:
            ranks: processes in the ring.
        """
        checks.count(ranks=ranks)
        return 1.0

    assert of(RING, ring_all_reduce_time) == [
        "ranks is checked, and its words state no range: 'processes in the ring.'"
    ]


def test_the_last_part_of_a_sequence_or_a_mapping_is_replaced():
    """Kills: a value that is put first, where also a check of the first part alone finds it."""

    def ring_all_reduce_time(
        parts: Sequence[float], weights: Mapping[str, float], extra: Sequence[float] | None = None
    ) -> float:
        """Add.

        Args:
            parts: each not negative.
            weights: each not negative.
            extra: each not negative.
        """
        checks.amount(parts=parts[0], weights=next(iter(weights.values())))
        return 0.0

    item = replace(RING, cases=(Case(([1.0, 2.0], {"a": 1.0, "b": 2.0})),))
    found = of(item, ring_all_reduce_time)
    assert {one.partition("=")[0] for one in found if "is not refused" in one} == {"parts", "weights"}
