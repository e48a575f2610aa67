"""The explorers of chapter 3: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch03.explorers import MESSAGE, all_reduce_time, eight_operations, starting_blocks
from rankzero.explore import VEGA_LITE
from rankzero.facts.units import GB, KB, MB, us
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch03.collective_semantics import OPERATIONS, REDUCTIONS, collective_outputs
from solutions.ch03.naive_all_reduce_costs import star_all_reduce_time

operations = st.sampled_from(OPERATIONS)
states = st.fixed_dictionaries(
    {
        "operation": operations,
        "ranks": st.integers(2, 8),
        "root": st.integers(0, 7),
        "reduction": st.sampled_from(sorted(REDUCTIONS)),
    }
)
layouts = st.fixed_dictionaries(
    {
        "ranks": st.integers(2, 1024),
        "message_bytes": st.floats(KB, 100 * GB),
        "bandwidth": st.floats(GB, 900 * GB),
        "latency": st.floats(0.1 * us, 100 * us),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


def grids(spec: dict) -> list[list[dict]]:
    """The cells before and after."""
    return [view["data"]["values"] for view in spec["vconcat"][0]["hconcat"]]


@pytest.mark.proof(part="runs")
@settings(max_examples=4, deadline=None)
@given(states)
def test_every_state_of_the_first_explorer_is_a_chart(state):
    assert drawn(eight_operations(**state)).startswith("<svg")


@settings(max_examples=4, deadline=None)
@given(layouts)
def test_every_state_of_the_second_explorer_is_a_chart(state):
    assert drawn(all_reduce_time(**state)).startswith("<svg")


@settings(deadline=None)
@given(states)
def test_pictures_hold_what_the_collective_gives(state):
    spec = eight_operations(**state)
    root = min(state["root"], state["ranks"] - 1)
    inputs = starting_blocks(state["operation"], state["ranks"], root)
    outputs = collective_outputs(state["operation"], inputs, root, state["reduction"])
    for cells, rows in zip(grids(spec), (inputs, outputs), strict=True):
        seen = [(cell["rank"], cell["value"]) for cell in cells]
        assert seen == [(rank, value) for rank, row in enumerate(rows) for value in row or ()]


@settings(deadline=None)
@given(states)
def test_bars_are_the_traffic(state):
    rows = eight_operations(**state)["vconcat"][1]["data"]["values"]
    root = min(state["root"], state["ranks"] - 1)
    for row in rows:
        both = traffic(state["operation"], MESSAGE, state["ranks"], row["rank"], root)
        assert row["megabytes"] * MB == pytest.approx(both[row["direction"] == "received"])
    assert len(rows) == 2 * state["ranks"]


@given(operations, st.integers(1, 8), st.data())
def test_a_number_says_where_its_block_comes_from(operation, ranks, data):
    """No two blocks of a start are equal, so that the picture can find origins."""
    root = data.draw(st.integers(0, ranks - 1))
    values = [value for row in starting_blocks(operation, ranks, root) for value in row or ()]
    assert len(values) == len(set(values))
    assert len(values) in (ranks, ranks**2)


def test_an_all_to_all_is_a_transpose_of_colours():
    before, after = grids(eight_operations("all_to_all", ranks=5))
    assert all(cell["origin"] == cell["rank"] for cell in before)
    assert all(cell["origin"] == cell["place"] for cell in after)


def test_lines_are_the_closed_forms():
    lines, _ = all_reduce_time(ranks=16, bandwidth=25 * GB, latency=2 * us)["vconcat"]
    forms = {"ring": ring_all_reduce_time, "star": star_all_reduce_time}
    for row in lines["data"]["values"]:
        if row["way"] in forms:
            assert row["seconds"] == forms[row["way"]](row["size"], 16, 25 * GB, 2 * us)


def test_the_marked_size_is_marked():
    lines, _ = all_reduce_time(message_bytes=3 * MB)["vconcat"]
    assert lines["layer"][1]["data"]["values"] == [{"size": 3 * MB}]


@pytest.mark.parametrize(
    ("state", "percent"),
    [({"ranks": 8, "message_bytes": 2 * GB}, 0.1), ({"ranks": 1024, "message_bytes": MB}, 99.6)],
)
def test_latency_shares_are_those_of_the_chapter(state, percent):
    """Few ranks and a large tensor are all bytes; many ranks and a small one are all start-ups."""
    _, shares = all_reduce_time(bandwidth=50 * GB, latency=5 * us, **state)["vconcat"]
    found = {(row["way"], row["part"]): row["percent"] for row in shares["data"]["values"]}
    assert round(found["ring", "start-ups"], 1) == percent
    for way in ("star", "whole-tensor ring", "ring"):
        assert found[way, "start-ups"] + found[way, "bytes"] == pytest.approx(100)
