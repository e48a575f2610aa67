"""The explorers of chapter 4: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import itertools
import json
import math

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch04.explorers import (
    LARGEST,
    NODE,
    RATE,
    SMALLEST,
    children,
    depths,
    levels,
    node_bound,
    plans,
    received_shares,
    two_trees,
    which_wins,
    will_it_scale,
)
from rankzero.explore import VEGA_LITE
from rankzero.facts.units import GB, KB, TB, ms, us
from solutions.ch04.all_reduce_algorithms import all_reduce_time, double_binary_tree, hierarchical_all_reduce_time
from solutions.ch04.bandwidth import communication_ratio

trees = st.fixed_dictionaries({"ranks": st.integers(2, 64), "rank": st.integers(0, 63)})
links = st.fixed_dictionaries(
    {
        "ranks": st.integers(2, 4096),
        "latency": st.floats(0.1 * us, 100 * us),
        "bandwidth": st.floats(GB, 900 * GB),
        "among": st.sampled_from(("ring and trees", "all")),
    }
)
clusters = st.fixed_dictionaries(
    {
        "nodes": st.integers(1, 256),
        "ranks_per_node": st.integers(1, 16),
        "intra_bandwidth": st.floats(10 * GB, 900 * GB),
        "inter_bandwidth": st.floats(GB, 100 * GB),
        "rails": st.integers(1, 8),
        "message_bytes": st.floats(KB, 100 * GB),
    }
)
jobs = st.fixed_dictionaries(
    {
        "billion_parameters": st.floats(0.1, 1000),
        "tokens": st.floats(100, 1e5),
        "nodes": st.integers(1, 512),
        "rails": st.integers(1, 8),
        "intra_bandwidth": st.floats(10 * GB, 900 * GB),
        "inter_bandwidth": st.floats(GB, 100 * GB),
        "hidden_percent": st.floats(0, 100),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("explorer", "states"), [(two_trees, trees), (which_wins, links), (levels, clusters)])
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=4, deadline=None)
    @given(states)
    def check(state):
        assert drawn(explorer(**state)).startswith("<svg")

    check()


@settings(max_examples=4, deadline=None)
@given(jobs)
def test_every_state_of_the_last_explorer_is_a_chart(state):
    assert drawn(will_it_scale(**state)).startswith("<svg")


# Two trees.


@given(st.integers(2, 64))
def test_no_rank_receives_more_than_two_tensors(ranks):
    """The point of two trees; one binary tree alone gives its inner ranks three."""
    shares = received_shares(double_binary_tree(ranks))
    assert max(shares) <= 2
    assert sum(shares) == 2 * (ranks - 1)  # in all, as any all-reduce of whole tensors along a tree


def test_one_tree_alone_gives_three():
    assert max(received_shares(double_binary_tree(8)[:1])) == 3


@given(st.integers(2, 64))
def test_depths_and_children_are_those_of_a_tree(ranks):
    for tree in double_binary_tree(ranks):
        assert sum(children(tree)) == ranks - 1
        assert sorted(depths(tree))[0] == 0
        assert all(depths(tree)[r] == depths(tree)[p] + 1 for r, p in enumerate(tree) if p is not None)


@settings(max_examples=20, deadline=None)
@given(trees)
def test_trees_are_drawn_as_they_are(state):
    """Arrows lead from each rank to its parent, no two ranks share a place, and the table counts the arrows."""
    *pictures, counts = two_trees(**state)["vconcat"]
    for tree, picture in zip(double_binary_tree(state["ranks"]), pictures, strict=True):
        nodes = next(layer["data"]["values"] for layer in picture["layer"] if "name" in layer["data"]["values"][0])
        places = {(node["x"], node["y"]): int(node["label"]) for node in nodes}
        assert len(places) == state["ranks"]
        arrows = picture["layer"][0]["data"]["values"]
        found = {places[e["x"], e["y"]]: places[e["x2"], e["y2"]] for e in arrows}
        assert found == {rank: parent for rank, parent in enumerate(tree) if parent is not None}
    first = [c["number"] for c in counts["data"]["values"] if c["of"] == "children, tree 1"]
    assert first == children(double_binary_tree(state["ranks"])[0])


# Which one wins.


def of(spec: dict, way: str) -> dict[float, float]:
    """The line of one way: seconds by size."""
    return {row["size"]: row["seconds"] for row in spec["data"]["values"] if row["way"] == way}


def ground(spec: dict) -> list[dict]:
    """The bands of the winners."""
    return [row for layer in spec["layer"] for row in layer.get("data", {}).get("values", ()) if "start" in row]


@settings(deadline=None)
@given(links)
def test_the_ground_has_the_colour_of_the_fastest(state):
    spec = which_wins(**state)
    rivals = {"ring", "tree", "double tree"} | ({"halving-doubling"} if state["among"] == "all" else set())
    lines = {way: of(spec, way) for way in rivals if of(spec, way)}
    bands = ground(spec)
    assert (bands[0]["start"], bands[-1]["end"]) == (SMALLEST, LARGEST)
    for band in bands:
        for size in lines["ring"]:
            if band["start"] < size < band["end"]:
                fastest = min(line[size] for line in lines.values())
                assert lines[band["way"]][size] == pytest.approx(fastest, rel=1e-9)


def test_lines_are_the_closed_form():
    ring = of(which_wins(64, 2 * us, 25 * GB), "ring")
    assert ring == {size: all_reduce_time("ring", size, 64, 25 * GB, 2 * us) for size in ring}


@pytest.mark.parametrize(
    ("ranks", "said"),
    [(2, "never slower than the double tree"), (3, "never slower than the double tree"), (8, "8 MB"), (64, "912 MB")],
)
def test_titles_say_the_crossovers_of_the_chapter(ranks, said):
    assert which_wins(ranks)["title"].endswith(said)


# Levels.

PAGE = {"nodes": 8, "ranks_per_node": 8, "intra_bandwidth": 450 * GB, "inter_bandwidth": 50 * GB, "rails": 8}


def test_plans_are_those_of_the_chapter():
    """20 GB over 8 x 8 GPUs: the milliseconds that the page works out by hand."""
    found = plans(20 * GB, **PAGE)
    assert [round(sum(parts.values()) / ms, 1) for parts in found.values()] == [787.5, 98.4, 165.3]
    assert [round(seconds / ms, 1) for seconds in found["two levels"].values()] == [77.8, 87.5]
    assert node_bound(20 * GB, 8, 50 * GB, 8) / ms == pytest.approx(87.5)


@given(clusters)
def test_no_plan_beats_the_ports(state):
    size = {key: state[key] for key in ("message_bytes", "nodes", "inter_bandwidth", "rails")}
    bound = node_bound(**size)
    for parts in plans(**state).values():
        assert sum(parts.values()) >= bound * (1 - 1e-12)


@given(clusters)
def test_more_ports_are_never_slower(state):
    one, eight = (plans(**state | {"rails": rails}) for rails in (1, 8))
    for plan in one:
        assert sum(eight[plan].values()) <= sum(one[plan].values()) * (1 + 1e-12)


def test_one_node_needs_no_port():
    found = plans(1 * GB, 1, 8, 450 * GB, 50 * GB, 8)
    ring = all_reduce_time("ring", 1 * GB, 8, 450 * GB)
    assert [sum(parts.values()) for parts in found.values()] == pytest.approx([ring] * 3)
    assert sum(plans(1 * GB, 1, 1, 450 * GB, 50 * GB, 8)["two levels"].values()) == 0


def test_two_levels_are_the_closed_form():
    whole = sum(plans(20 * GB, **PAGE)["two levels"].values())
    assert whole == pytest.approx(hierarchical_all_reduce_time(20 * GB, 8, 8, 450 * GB, 50 * GB))


def test_bars_are_the_plans():
    rows = [row for layer in levels(**PAGE)["layer"] for row in layer["data"]["values"] if "plan" in row]
    total = math.fsum(row["milliseconds"] for row in rows if row["plan"] == "two levels")
    assert round(total, 1) == 165.3


# Will it scale?


def percent(spec: dict, plan: str, gpus: int) -> float:
    return next(r["percent"] for r in spec["data"]["values"] if r["plan"] == plan and r["gpus"] == gpus)


def test_efficiencies_follow_from_the_communication_ratio():
    """Independent of the plans: 1 / (1 + ratio), with the chapter's own ratio of a ring over all ports."""
    spec = will_it_scale()
    ratio = communication_ratio(20 * GB, 64, 400 * GB, 6 * 10e9 * 2000, RATE)
    assert percent(spec, "flat rings, all ports", 64) == pytest.approx(100 / (1 + ratio))
    assert round(percent(spec, "flat rings, all ports", 64), 1) == 71.1


@given(jobs)
def test_efficiency_falls_with_gpus_and_rises_with_what_is_hidden(state):
    """What is hidden is at most what computation there is: two equal times make one."""
    shown, hidden = (will_it_scale(**state | {"hidden_percent": share}) for share in (0.0, 100.0))
    for plan in ("flat ring, one port", "flat rings, all ports"):
        line = [percent(shown, plan, gpus) for gpus in (1, 8, 64, 4096)]
        assert line[0] == pytest.approx(100)
        assert all(later <= earlier * (1 + 1e-12) for earlier, later in itertools.pairwise(line))
        plain = line[-1] / 100
        assert percent(hidden, plan, 4096) == pytest.approx(100 * min(1, plain / (1 - plain)))


def test_the_marked_number_is_marked():
    marks = [layer["data"]["values"] for layer in will_it_scale(nodes=16)["layer"] if "data" in layer]
    assert [{"gpus": 16 * NODE}] in marks


def test_a_terabyte_is_no_special_size():
    assert sum(plans(1 * TB, **PAGE)["two levels"].values()) == pytest.approx(50 * 0.165278, rel=1e-5)
