"""The runtime's part of pipelines: operations as text, legal orders, events and charts."""

from __future__ import annotations

import pytest

from rankzero import figures
from rankzero.sim.schedules import parse_op, to_events, validate

TIMES = {"0F0": (0.0, 1.0), "1F0": (1.0, 2.0), "1B0": (2.0, 4.0), "0B0": (4.0, 6.0)}
GOOD = [["0F0", "0F1", "0B0", "0B1"], ["1F0", "1B0", "1F1", "1B1"]]


def test_an_operation_is_stage_kind_and_microbatch():
    assert parse_op("2F5") == (2, "F", 5)
    assert parse_op("10W123") == (10, "W", 123)


@pytest.mark.parametrize("op", ["", "F5", "2F", "2X5", "2f5", "-1F5", "2F5 ", "02F5", None, 3])
def test_what_is_no_operation(op):
    with pytest.raises(ValueError, match=r"as 2F5, got"):
        parse_op(op)


@pytest.mark.parametrize(
    "orders",
    [
        GOOD,
        [["0F0", "0I0", "0W0"]],
        [["0F0", "0F1"], ["1F0", "1F1"]],
        [["0F0", "1F0", "1B0", "0B0"]],
        [["0F0", "0B0"], ["1F0", "1I0", "1W0"]],
        [[], []],
        [],
    ],
)
def test_legal_orders(orders):
    validate(orders)


@pytest.mark.parametrize(
    ("orders", "words"),
    [
        ([[*GOOD[0], "0F0"], GOOD[1]], "0F0 twice"),
        ([GOOD[0][:-1], GOOD[1]], "0B1 is missing"),
        ([GOOD[0], []], None),
        ([["0F0", "0B0"], ["1F0"]], "1B0 is missing"),
        ([["0F0", "0I0"]], "0W0 is missing"),
        ([["0F0", "0B0", "0I0", "0W0"]], "either whole or split"),
        ([["0B0", "0F0"]], "0B0 must come after 0F0"),
        ([["0F0", "0W0", "0I0"]], "0W0 must come after 0I0"),
        ([["0F0"], ["0B0"]], "must be on one rank"),
        ([["1F0", "1B0"]], "0F0 is missing"),
    ],
)
def test_broken_orders(orders, words):
    if words is None:  # one stage fewer is a schedule of its own
        validate(orders)
        return
    with pytest.raises(ValueError, match=words):
        validate(orders)


def test_events_of_a_schedule():
    events = to_events(TIMES)
    assert [(event.rank, event.operation, event.start, event.end) for event in events] == [
        (0, "forward", 0.0, 1.0),
        (0, "backward", 4.0, 6.0),
        (1, "forward", 1.0, 2.0),
        (1, "backward", 2.0, 4.0),
    ]
    assert {event.rank for event in to_events(TIMES, ranks=1)} == {0}
    assert to_events({}) == []


def test_a_chart_says_what_it_shows():
    picture = figures.schedules.draw(TIMES)
    assert picture.alt == "4 operations on 2 ranks, finished after 6 units of time."
    assert len(picture.axes) == 1
    several = figures.schedules.draw({"one": TIMES, "two": TIMES}, ranks=2)
    assert several.alt.startswith("one: 4 operations on 2 ranks")
    assert [axes.get_title() for axes in several.axes] == ["one", "two"]
    bars = [patch for patch in picture.axes[0].patches if patch.get_width() in (1.0, 2.0)]
    assert sorted(patch.get_x() for patch in bars) == [0.0, 1.0, 2.0, 4.0]
