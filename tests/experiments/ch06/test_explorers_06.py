"""The explorers of chapter 6: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import itertools
import json
import math
import re

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch06.explorers import (
    GPUS,
    SHAPES,
    communication_share,
    how_far,
    layer_parts,
    what_fits,
    who_holds_heads,
)
from rankzero.explore import VEGA_LITE
from rankzero.facts.models import GPT3_175B
from rankzero.facts.units import GB, MB
from solutions.ch06.heads import head_partition
from solutions.ch06.layer_memory import stored_by_layer

splits = st.fixed_dictionaries(
    {
        "heads": st.sampled_from((8, 12, 16, 32, 64)),
        "kv_heads": st.sampled_from((1, 2, 4, 8, 16, 32, 64)),
        "ranks": st.sampled_from((1, 2, 4, 8, 16)),
    }
)
links = st.fixed_dictionaries(
    {
        "hidden": st.integers(1024, 20_480),
        "ranks": st.sampled_from((1, 2, 4, 8, 16, 32, 64)),
        "gpu": st.sampled_from(tuple(GPUS)),
        "mfu_percent": st.floats(10, 80),
        "inside": st.floats(10 * GB, 900 * GB),
        "beyond": st.floats(5 * GB, 200 * GB),
    }
)
layers = st.fixed_dictionaries(
    {
        "model": st.sampled_from(tuple(SHAPES)),
        "sequence": st.integers(512, 131_072),
        "batch": st.integers(1, 64),
        "ranks": st.sampled_from((1, 2, 4, 8, 16)),
        "sequence_parallel": st.sampled_from(("no", "yes")),
        "attention": st.sampled_from(("flash", "materialised")),
        "recompute": st.sampled_from(("none", "selective", "full")),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("explorer", "states"), [(who_holds_heads, splits), (how_far, links), (what_fits, layers)])
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=4, deadline=None)
    @given(states)
    def check(state):
        assert drawn(explorer(**state)).startswith("<svg")

    check()


def moved(explorer, *steps: tuple[str, object]) -> list[str]:
    """The charts of the default state and of each later one: the controls are moved one after the other."""
    state: dict = {}
    charts = [json.dumps(explorer())]
    for name, value in steps:
        state[name] = value
        charts.append(json.dumps(explorer(**state)))
    return charts


@pytest.mark.parametrize(
    ("explorer", "steps"),
    [
        (who_holds_heads, [("heads", 32), ("kv_heads", 8), ("ranks", 16)]),
        (
            how_far,
            [
                ("hidden", 9000),
                ("ranks", 16),
                ("gpu", "B200"),
                ("mfu_percent", 60.0),
                ("inside", 5e11),
                ("beyond", 6e10),
            ],
        ),
        (
            what_fits,
            [
                ("model", "Llama 2 13B"),
                ("sequence", 10_000),
                ("batch", 2),
                ("ranks", 4),
                ("sequence_parallel", "no"),
                ("attention", "materialised"),
                ("recompute", "selective"),
            ],
        ),
    ],
)
def test_every_control_moves_the_chart(explorer, steps):
    """In the order of the page, each from where the one before left it: as the browser's test moves them."""
    charts = moved(explorer, *steps)
    assert all(before != after for before, after in itertools.pairwise(charts))


# Heads.


def test_heads_stand_where_the_partition_puts_them():
    cells = who_holds_heads(64, 8, 16)["data"]["values"]
    query = {cell["rank"]: cell["text"] for cell in cells if cell["holds"] == "query heads"}
    shared = {cell["rank"]: cell["text"] for cell in cells if cell["holds"] == "KV heads"}
    assert (query[3], shared[3]) == ("12 to 15", "1 on 2 ranks")
    assert len(query) == len(shared) == 16


@given(splits)
def test_a_split_that_cannot_be_says_why(state):
    """No state is an error in the page: the chart carries the sentence of the partition."""
    spec = who_holds_heads(**state)
    fits = state["heads"] % state["ranks"] == 0 == state["heads"] % state["kv_heads"]
    if fits and (state["kv_heads"] % state["ranks"] == 0 or state["ranks"] % state["kv_heads"] == 0):
        assert f"{state['ranks']} ranks" in spec["title"]
    else:
        with pytest.raises(ValueError, match=re.escape(spec["description"].split(": ", 1)[1].removesuffix("."))):
            head_partition(**state, rank=0)


# How far.


@given(links, st.integers(2, 64))
def test_the_share_is_the_closed_form(state, ranks):
    rate = GPUS[state["gpu"]].peak_bf16
    share = communication_share(state["hidden"], ranks, rate, state["inside"])
    assert share == pytest.approx(2 * (ranks - 1) * rate / (9 * state["hidden"] * state["inside"]))


def test_the_shares_of_the_page():
    assert communication_share(8192, 8, 494.7e12, 450 * GB) == pytest.approx(0.208749, rel=1e-5)
    assert communication_share(16_384, 8, 494.7e12, 450 * GB) == pytest.approx(0.104375, rel=1e-5)
    assert communication_share(8192, 8, 494.7e12, 50 * GB) == pytest.approx(9 * 0.208749, rel=1e-5)
    assert communication_share(8192, 1, 494.7e12, 50 * GB) == 0


@given(links)
def test_lines_break_where_the_node_ends(state):
    rows = how_far(**state)["data"]["values"]
    inside = {row["ranks"]: row["percent"] for row in rows if row["where"] == "inside a node"}
    beyond = {row["ranks"]: row["percent"] for row in rows if row["where"] == "over several nodes"}
    assert (min(inside), max(inside), min(beyond), max(beyond)) == (2, 8, 16, 64)
    assert inside[8] / inside[2] == pytest.approx(7)
    # Twice the ranks have half the work each: twice the share inside, and an eighth of the tensor by each port.
    crossing = 2 * inside[8] + 100 * 2 * 16 * GPUS[state["gpu"]].peak_bf16 * state["mfu_percent"] / 100 * (1 / 8) / (
        18 * state["hidden"] * state["beyond"]
    )
    ring = 15 / 7 * inside[8]  # no faster than a ring inside the node
    assert beyond[16] == pytest.approx(max(crossing, ring))
    assert {row["percent"] for row in rows if row["where"].endswith("%")} == {10, 30}


@pytest.mark.parametrize(("ranks", "where"), [(1, None), (8, "inside a node"), (16, "over several nodes")])
def test_the_chosen_number_is_marked(ranks, where):
    found = [
        row["where"]
        for layer in how_far(ranks=ranks)["layer"]
        if layer.get("mark", {}).get("stroke") == "currentColor"
        for row in layer["data"]["values"]
    ]
    assert found == ([where] if where else [])


# What a layer stores.


@given(layers)
def test_parts_are_the_whole(state):
    """Independent of the parts: the closed form with the same options."""
    model, split = SHAPES[state["model"]], state["sequence_parallel"] == "yes"
    plan = (state["ranks"], split, state["attention"], state["recompute"])
    parts = layer_parts(model, state["sequence"], state["batch"], *plan)
    whole = stored_by_layer(
        *(state["sequence"], state["batch"], model.hidden, model.heads, model.ffn, model.kv_heads),
        ranks=state["ranks"],
        sequence_parallel=split,
        attention=state["attention"],
        recompute=state["recompute"],
        gated=model.gated,
        dropout=not model.gated,
    )
    assert math.fsum(parts.values()) == pytest.approx(whole)
    assert min(parts.values()) >= 0


def test_parts_of_gpt3_are_those_of_the_page():
    """Korthikanti et al. (2022): 10 of the 34 s b h stay whole, 24 are split, and 5 a s^2 b."""
    unit = 2048 * 12_288
    parts = layer_parts(SHAPES["GPT-3 175B"], 2048, 1, 8, False, "materialised", "none")
    sizes = [10 * unit, 24 * unit / 8, 5 * 96 * 2048**2 / 8]
    assert list(parts.values()) == pytest.approx(sizes)
    assert math.fsum(sizes) / MB == pytest.approx(578.814, rel=1e-5)


def test_bars_hold_all_layers_beside_the_state():
    one, whole = what_fits("Llama 3 8B", 8192, 1, 1, "no")["vconcat"]
    values = [row for layer in whole["layer"] for row in layer["data"]["values"]]
    activations = next(row["gigabytes"] for row in values if row.get("part") == "activations")
    state = next(row["gigabytes"] for row in values if row.get("part") == "model state")
    assert activations == pytest.approx(44.0234, rel=1e-4)  # 41 s b h for each of 32 layers
    assert state == pytest.approx(16 * 8_030_261_248 / GB)
    assert {"gigabytes": 80} in values
    assert "one layer" in one["title"]


def test_one_layer_is_there_in_full_while_it_is_computed_again():
    """6.19: the inputs of all layers, and one layer; without its attention matrices, these of one layer."""
    for recompute, attention in (("full", "flash"), ("selective", "materialised")):
        spec = what_fits("GPT-3 175B", 2048, 1, 8, "yes", attention, recompute)
        values = [row for layer in spec["vconcat"][1]["layer"] for row in layer["data"]["values"]]
        drawn = next(row["gigabytes"] for row in values if row.get("part") == "activations")
        kept, whole = (
            sum(layer_parts(GPT3_175B, 2048, 1, 8, True, attention, way).values()) / GB for way in (recompute, "none")
        )
        assert drawn == pytest.approx(96 * kept + (whole if recompute == "full" else whole - kept))


def test_heads_that_cannot_be_divided_are_refused():
    assert "40 heads cannot be divided among 16 ranks" in what_fits("Llama 2 13B", ranks=16)["description"]


@given(layers)
def test_a_split_sequence_never_stores_more(state):
    model = SHAPES[state["model"]]
    options = (state["attention"], state["recompute"])
    without, split = (
        sum(layer_parts(model, state["sequence"], state["batch"], state["ranks"], way, *options).values())
        for way in (False, True)
    )
    assert split <= without * (1 + 1e-12)
