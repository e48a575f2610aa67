"""The explorers of chapter 1: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import json
import math
import re

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch01.explorers import (
    COUNTS,
    DEVICES,
    MOST_RANKS,
    ORDERS,
    groups_as_coordinates,
    how_long,
    leaving_groups,
    what_you_can_hope_for,
)
from rankzero.explore import VEGA_LITE

plans = st.fixed_dictionaries(
    {
        "billion_parameters": st.floats(0.1, 2000),
        "billion_tokens": st.floats(10, 40_000),
        "device": st.sampled_from(sorted(DEVICES)),
        "count": st.sampled_from(COUNTS),
        "utilization": st.floats(5, 60),
        "price": st.floats(0.5, 10),
        "efficiency": st.floats(50, 100),
    }
)
layouts = st.fixed_dictionaries(
    {
        "dp": st.integers(1, 16),
        "pp": st.integers(1, 16),
        "tp": st.integers(1, 16),
        "order": st.sampled_from(ORDERS),
        "ranks_per_node": st.sampled_from((1, 4, 8)),
        "axis": st.sampled_from(("dp", "pp", "tp")),
    }
).filter(lambda state: state["dp"] * state["pp"] * state["tp"] <= MOST_RANKS)
hopes = st.fixed_dictionaries(
    {
        "compute": st.floats(0.1, 1000),
        "communication": st.floats(0, 100),
        "serial": st.floats(0, 20),
        "ranks": st.integers(1, 4096),
        "measured": st.lists(st.floats(0.01, 100), min_size=1, max_size=8),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


def rows(spec: dict, view: int) -> list[dict]:
    """The data of the first or the second view."""
    return spec["vconcat"][view]["data"]["values"]


def counts(spec: dict) -> dict[tuple[str, str], int]:
    """The table under the picture of groups."""
    return {(cell["axis"], cell["what"]): cell["number"] for cell in rows(spec, 1)}


@pytest.mark.proof(part="runs")
@settings(max_examples=4, deadline=None)
@given(plans)
def test_every_state_of_the_first_explorer_is_a_chart(state):
    assert drawn(how_long(**state)).startswith("<svg")


@settings(max_examples=4, deadline=None)
@given(layouts)
def test_every_state_of_the_second_explorer_is_a_chart(state):
    assert drawn(groups_as_coordinates(**state)).startswith("<svg")


@settings(max_examples=4, deadline=None)
@given(hopes)
def test_every_state_of_the_third_explorer_is_a_chart(state):
    assert drawn(what_you_can_hope_for(**state)).startswith("<svg")


def costs(**state) -> dict[str, float]:
    """Days, device-hours and cost of the chosen device, read from the table."""
    spec = how_long(**state)
    device = state.get("device", "H100")
    return {cell["what"]: float(cell["value"].replace(",", "")) for cell in rows(spec, 1) if cell["device"] == device}


def test_days_are_those_that_papers_report():
    """Llama 3.1 405B: 16,384 H100 at about 40 %; Llama 2 70B: 1,720,320 A100-hours, of which 43.47 % were used."""
    assert costs()["days"] == pytest.approx(67.67, rel=1e-3)
    llama2 = costs(billion_parameters=70, billion_tokens=2000, device="A100", count=2048, utilization=43.4723)
    assert llama2["device-hours"] == pytest.approx(1_720_320, rel=1e-3)


@settings(deadline=None)
@given(plans)
def test_lines_fall_with_slope_minus_one(state):
    """Twice the devices, half the days: on logarithmic axes a straight line."""
    for name in DEVICES:
        line = {row["count"]: row["days"] for row in rows(how_long(**state), 0) if row["device"] == name}
        assert all(line[2 * n] == pytest.approx(line[n] / 2) for n in COUNTS[:-1])


def test_cost_moves_with_efficiency_and_not_with_count():
    """Kills a bill that shrinks with more devices, and one that efficiency lowers."""
    base = costs(count=256)
    assert costs(count=8192)["cost (USD)"] == base["cost (USD)"]
    worse = costs(count=256, efficiency=80.0)
    assert worse["cost (USD)"] == pytest.approx(base["cost (USD)"] / 0.8, rel=1e-3)
    assert costs(count=256, price=6.0)["cost (USD)"] == pytest.approx(2 * base["cost (USD)"], rel=1e-3)
    half = costs(count=256, utilization=20.0)
    assert half["days"] == pytest.approx(2 * base["days"], rel=1e-3)
    assert half["cost (USD)"] == pytest.approx(2 * base["cost (USD)"], rel=1e-3)


def test_the_chosen_point_is_on_its_line():
    spec = how_long(device="B200", count=512)
    (point,) = spec["vconcat"][0]["layer"][2]["data"]["values"]
    assert {"count": 512, "days": point["days"], "device": "B200"} in rows(spec, 0)


@settings(deadline=None)
@given(layouts)
def test_the_picture_holds_every_rank_in_its_place(state):
    cells = rows(groups_as_coordinates(**state), 0)
    assert [cell["rank"] for cell in cells] == list(range(state["dp"] * state["pp"] * state["tp"]))
    assert all(cell["rank"] == cell["node"] * state["ranks_per_node"] + cell["device"] for cell in cells)
    by_group: dict[int, set[int]] = {}
    for cell in cells:
        by_group.setdefault(cell["group"], set()).add(cell["rank"])
        assert str(cell["rank"]) in cell[f"{state['axis']} group"].split(", ")
    assert {len(group) for group in by_group.values()} == {state[state["axis"]]}


@pytest.mark.proof(part="runs")
@settings(deadline=None)
@given(layouts)
def test_groups_that_leave_a_node_are_counted_as_by_hand(state):
    """Every rank's node and coordinates, one by one."""
    spec = groups_as_coordinates(**state)
    for axis in ("dp", "pp", "tp"):
        nodes: dict[str, set[int]] = {}
        for cell in rows(spec, 0):
            others = ", ".join(part for part in cell["coordinates"].split(", ") if not part.startswith(axis))
            nodes.setdefault(others, set()).add(cell["rank"] // state["ranks_per_node"])
        assert counts(spec)[axis, "groups"] == len(nodes)
        assert counts(spec)[axis, "leave a node"] == sum(len(found) > 1 for found in nodes.values())


def said(order: str) -> int:
    """Tensor groups that leave a node, as the description says."""
    spec = groups_as_coordinates(dp=4, pp=2, tp=8, order=order)
    found = re.search(r"(\d+) of 8 tp groups", spec["description"])
    assert found is not None
    assert int(found[1]) == counts(spec)["tp", "leave a node"]
    return int(found[1])


def test_the_description_counts_groups_that_leave_a_node_and_follows_the_order():
    """With tp last no tensor group leaves a node of 8; with tp first all of them do."""
    assert said("dp, pp, tp") == said("pp, dp, tp") == 0
    assert said("tp, dp, pp") == said("tp, pp, dp") == 8
    assert said("dp, tp, pp") == 8


def test_too_many_ranks_are_refused_in_words():
    with pytest.raises(ValueError, match="at most 512 ranks, got 4096"):
        groups_as_coordinates(16, 16, 16)


@pytest.mark.parametrize(("groups", "expected"), [([[0, 1], [2, 3]], 0), ([[0, 4], [1, 5]], 2), ([[3, 4], [5]], 1)])
def test_a_group_leaves_its_node_when_its_members_are_on_two(groups, expected):
    assert leaving_groups(groups, 4) == expected


def speedups(spec: dict) -> dict[tuple[str, int], float]:
    return {(row["law"], row["ranks"]): row["speed-up"] for row in rows(spec, 0)}


def test_speedups_of_known_cases():
    """720 s of work and 10 s of communication; 5 % serial on 16 ranks, a textbook's example."""
    found = speedups(what_you_can_hope_for(compute=720.0, communication=10.0, serial=5.0, ranks=16))
    assert found["C/n + X", 16] == pytest.approx(720 / 55)
    assert found["Amdahl", 16] == pytest.approx(9.142857)
    assert all(found[law, 1] == 1 for law in ("ideal", "C/n + X", "Amdahl"))


@settings(deadline=None)
@given(hopes)
def test_nobody_beats_the_ideal(state):
    found = speedups(what_you_can_hope_for(**state))
    assert all(value <= n * (1 + 1e-12) for (_, n), value in found.items())
    assert ("ideal", 4096) in found


def test_measured_points_are_speed_ups_on_powers_of_two():
    spec = what_you_can_hope_for(measured=[8.0, 5.0, 4.0])
    points = next(layer for layer in spec["vconcat"][0]["layer"] if layer["mark"].get("stroke"))["data"]["values"]
    assert [(point["ranks"], point["speed-up"]) for point in points] == [(1, 1.0), (2, 1.6), (4, 2.0)]
    assert math.isclose(points[2]["speed-up"], 2.0)
