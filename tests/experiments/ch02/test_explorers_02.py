"""The explorers of chapter 2: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import itertools
import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch02.explorers import (
    LINKS,
    ORDERS,
    SLIDERS,
    TRANSPORTS,
    cut_model,
    message_cost,
    rings_of_calls,
    staircase,
)
from experiments.ch02.ring_policies import play_rounds, ring_programs
from rankzero.explore import VEGA_LITE
from rankzero.facts.units import GB, MB, Gbit, ms, us
from solutions.ch02.alpha_beta import message_time
from solutions.ch02.deadlock import simulate
from solutions.ch02.model_parallel import naive_step

orders = st.sampled_from(sorted(ORDERS))
rings = st.fixed_dictionaries(
    {"ranks": st.integers(2, 12), "order": orders, "transport": st.sampled_from(TRANSPORTS)},
)
messages = st.fixed_dictionaries(
    {
        "link": st.sampled_from([SLIDERS, *LINKS]),
        "latency": st.floats(0.1 * us, 1 * ms),
        "bandwidth": st.floats(0.1 * GB, 900 * GB),
        "message_bytes": st.floats(1, 10 * GB),
        "messages": st.integers(1, 1000),
    }
)
models = st.fixed_dictionaries(
    {
        "layers": st.integers(4, 128),
        "stages": st.integers(1, 16),
        "layer_time": st.floats(10 * us, 100 * ms),
        "transfer_time": st.floats(0, 100 * ms),
        "backward_ratio": st.floats(1, 3),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@settings(max_examples=4, deadline=None)
@given(rings)
def test_every_ring_is_a_chart(state):
    assert drawn(rings_of_calls(**state)).startswith("<svg")


@pytest.mark.proof(part="runs")
@settings(max_examples=4, deadline=None)
@given(messages)
def test_every_message_is_a_chart(state):
    assert drawn(message_cost(**state)).startswith("<svg")


@settings(max_examples=4, deadline=None)
@given(models)
def test_every_cut_model_is_a_chart(state):
    assert drawn(cut_model(**state)).startswith("<svg")


def cells(spec: dict) -> list[dict]:
    return spec["hconcat"][1]["data"]["values"]


@settings(deadline=None)
@given(rings.filter(lambda state: ORDERS[state["order"]] != "non_blocking"))
def test_the_table_of_a_ring_is_what_the_simulator_says(state):
    """Kills a picture with rules of its own: rounds and stuck ranks are those of ``simulate``."""
    rows = cells(rings_of_calls(**state))
    eager = state["transport"] == TRANSPORTS[1]
    rounds, blocked = simulate(ring_programs(ORDERS[state["order"]], state["ranks"]), eager)
    assert len(rows) == state["ranks"] * (rounds + 1)
    assert {row["rank"] for row in rows if row["does"] == "stuck"} == set(blocked)
    calls = [row["text"] for row in rows if row["does"] in ("send", "recv")]
    assert len(calls) == (0 if blocked else 2 * state["ranks"])


def test_the_ring_of_all_senders_is_a_cycle_of_waits():
    graph = rings_of_calls(5)["hconcat"][0]
    edges = graph["layer"][0]["data"]["values"]
    assert [edge["kind"] for edge in edges] == ["waits in send"] * 5
    assert graph["title"] == "5 of 5 ranks are stuck"


def test_waves_and_neighbours_of_one_parity():
    rows = {(row["rank"], row["round"]): row["text"] for row in cells(rings_of_calls(5, "odd ranks receive first"))}
    assert [rows[0, str(n)] for n in (1, 2, 3)] == ["→1", "←4", "✓"]
    assert [rows[4, str(n)] for n in (1, 2, 3)] == ["", "→0", "←3"]
    assert rows[3, "end"] == "✓"


def test_non_blocking_takes_one_round():
    assert {row["round"] for row in cells(rings_of_calls(12, "non-blocking"))} == {"1", "end"}


@st.composite
def programs(draw) -> list[list[tuple[str, int]]]:
    """Messages whose two calls are put anywhere in the programs of 2 to 5 ranks; some calls have no other end."""
    ranks = draw(st.integers(2, 5))
    found: list[list[tuple[str, int]]] = [[] for _ in range(ranks)]
    for _ in range(draw(st.integers(1, 8))):
        sender, receiver = draw(st.permutations(range(ranks)))[:2]
        for rank, call in ((sender, ("send", receiver)), (receiver, ("recv", sender))):
            if draw(st.integers(0, 9)):
                found[rank].insert(draw(st.integers(0, len(found[rank]))), call)
    return found


@pytest.mark.proof(part="runs")
@settings(max_examples=300, deadline=None)
@given(programs(), st.booleans())
def test_rounds_are_those_of_the_simulator(given_programs, eager):
    rounds, blocked = play_rounds(given_programs, eager)
    assert (len(rounds), blocked) == simulate(given_programs, eager)


def test_links_are_those_of_the_chapter():
    found = {name: (latency / us, bandwidth / GB) for name, (latency, bandwidth) in LINKS.items()}
    assert found == {"NVLink 4": (1, 450), "InfiniBand NDR": (5, 50), "100 Gb Ethernet": (10, pytest.approx(12.5))}
    assert LINKS["100 Gb Ethernet"][1] == 100 * Gbit


@settings(deadline=None)
@given(messages)
def test_curves_are_the_closed_form(state):
    times, rates, bars = message_cost(**state)["vconcat"]
    latency, bandwidth = LINKS.get(state["link"], (state["latency"], state["bandwidth"]))
    whole = {row["size"]: row["seconds"] for row in times["data"]["values"] if row["part"] == "start-up + bytes"}
    assert whole == {size: message_time(size, bandwidth, latency) for size in whole}
    alone = [row["seconds"] for row in times["data"]["values"] if row["part"] == "start-up alone"]
    assert set(alone) == {latency}
    assert all(row["rate"] <= bandwidth / GB for row in rates["data"]["values"])
    parts = {(row["way"], row["part"]): row["time"] for row in bars["data"]["values"]}
    many = max(parts, key=lambda key: (key[1] == "start-up", parts[key]))[0]
    ratio = parts[many, "start-up"] / parts["1 message", "start-up"]
    assert ratio == pytest.approx(state["messages"])
    assert parts[many, "bytes"] == parts["1 message", "bytes"]


def test_one_megabyte_in_a_hundred_messages():
    """10 microseconds and 12.5 GB/s: 0.09 ms in one message, 1.08 ms in a hundred."""
    _, _, bars = message_cost("100 Gb Ethernet", message_bytes=1 * MB, messages=100)["vconcat"]
    sums = {"1 message": 0.0, "100 messages": 0.0}
    for row in bars["data"]["values"]:
        sums[row["way"]] += row["time"]
    assert sums == pytest.approx({"1 message": 0.09, "100 messages": 1.08})


@given(models)
def test_the_staircase_ends_with_the_step(state):
    """An independent way to the closed form: events one after the other, added up."""
    events = staircase(**state)
    step, utilization = naive_step(**state)
    assert events[-1].end == pytest.approx(step)
    busy = sum(event.end - event.start for event in events if event.operation != "send")
    assert busy / (state["stages"] * step) == pytest.approx(utilization)
    assert all(a.end == b.start for a, b in itertools.pairwise(events))  # one works at a time


def test_the_picture_of_a_cut_model_is_its_staircase():
    steps, curves = cut_model(12, 3, 10 * ms, 5 * ms, 2)["vconcat"]
    bars = steps["data"]["values"]
    assert max(bar["end"] for bar in bars) == pytest.approx(380)
    assert [bar["lane"] for bar in bars] == [0, 0, 1, 1, 2, 2, 2, 1, 1, 0]
    shares = {(row["stages"], row["what"]): row["percent"] for row in curves["data"]["values"]}
    assert shares[3, "with transfers"] == pytest.approx(31.5789, abs=1e-4)
    assert shares[8, "1 / P"] == 12.5
