"""The explorers of the capstone: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import json
import math
import statistics
from itertools import pairwise

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch15.explorers import (
    KINDS,
    KINDS_OF_TIME,
    SHAPES,
    _joined,
    days_and_bill,
    exponential_gaps,
    memory_of_stages,
    strip,
    strips_of_time,
    waste_curve,
)
from rankzero.explore import VEGA_LITE
from rankzero.facts.units import GB, day, hour, minute, year
from solutions.ch01.scale import training_time
from solutions.ch15.checkpointing import checkpoint_waste, optimal_checkpoint_interval
from solutions.ch15.failing_runs import simulate_run

bills = st.fixed_dictionaries(
    {
        "billion_parameters": st.floats(1, 2000),
        "trillion_tokens": st.floats(0.1, 50),
        "gpus": st.integers(64, 100_000),
        "gpu": st.sampled_from(tuple(KINDS)),
        "mfu": st.floats(20, 60),
        "goodput": st.floats(70, 100),
        "price": st.floats(0.5, 10),
        "watts": st.floats(300, 1400),
        "pue": st.floats(1, 1.6),
        "price_per_kwh": st.floats(0.02, 0.3),
    }
)
stages = st.fixed_dictionaries(
    {
        "model": st.sampled_from(tuple(SHAPES)),
        "tp": st.sampled_from((1, 2, 4, 8, 16)),
        "cp": st.sampled_from((1, 2, 16)),
        "pp": st.sampled_from((1, 2, 4, 8, 16)),
        "dp": st.sampled_from((1, 8, 128)),
        "microbatches": st.integers(1, 64),
        "shard": st.sampled_from(("optimizer", "optimizer+gradients", "all")),
        "recompute": st.sampled_from(("none", "cheap", "full")),
    }
)
wastes = st.fixed_dictionaries(
    {
        "gpus": st.integers(512, 100_000),
        "years_per_gpu": st.floats(1, 20),
        "stall": st.floats(0.5, 600),
        "restart_minutes": st.floats(0, 60),
    }
)
runs = st.fixed_dictionaries(
    {
        "hours": st.floats(2, 24),
        "mtbf_hours": st.floats(0.5, 24),
        "stall": st.floats(1, 600),
        "restart_minutes": st.floats(0, 60),
        "seed": st.integers(0, 20),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("explorer", "states"),
    [(days_and_bill, bills), (memory_of_stages, stages), (waste_curve, wastes), (strips_of_time, runs)],
)
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=4, deadline=None)
    @given(states)
    def check(state):
        assert drawn(explorer(**state)).startswith("<svg")

    check()


# Days and bill.


@settings(max_examples=20, deadline=None)
@given(bills)
def test_days_are_those_of_chapter_one(state):
    """And the parts of the bill are the rent of all GPUs for that time."""
    curve, bars = days_and_bill(**state)["vconcat"]
    chosen = next(layer["data"]["values"][0] for layer in curve["layer"] if "data" in layer)
    flops = 6 * state["billion_parameters"] * 1e9 * state["trillion_tokens"] * 1e12
    seconds = training_time(flops, state["gpus"], KINDS[state["gpu"]].peak_bf16, state["mfu"] / 100)
    seconds /= state["goodput"] / 100
    assert chosen["days"] * day == pytest.approx(seconds)
    useful, wasted, electricity = (row["dollars"] * 1e6 for row in bars["data"]["values"])
    kilowatts = state["gpus"] * state["watts"] / 1000 * state["pue"]
    assert electricity == pytest.approx(kilowatts * seconds / hour * state["price_per_kwh"])
    assert useful + wasted == pytest.approx(state["gpus"] * seconds / hour * state["price"])
    assert useful == pytest.approx((useful + wasted) * state["goodput"] / 100)


def test_the_405b_takes_the_days_of_the_page():
    title = days_and_bill(405.853, 15.6, 16_384, "H100", 40, 100)["vconcat"][0]["title"]
    assert "67.8 days" in title


# Memory.


def test_the_published_layout_is_fullest_at_stage_one():
    """Kills: m micro-batches in flight on every stage, which makes all inner stages equally full."""
    spec = memory_of_stages()
    assert spec["title"] == "16,384 GPUs; stage 1 is the fullest, 83.8 GB: does not fit"
    assert "49.6 GB: fits" in memory_of_stages(recompute="cheap")["title"]


@settings(max_examples=20, deadline=None)
@given(stages)
def test_bars_sum_to_the_title(state):
    spec = memory_of_stages(**state)
    totals: dict[str, float] = {}
    for row in spec["layer"][0]["data"]["values"]:
        totals[row["stage"]] = totals.get(row["stage"], 0) + row["gigabytes"]
    assert len(totals) == state["pp"]
    assert f"{max(totals.values()):.1f} GB" in spec["title"]
    assert spec["layer"][1]["data"]["values"] == [{"gigabytes": 80 * GB / GB}]


# Waste.


@settings(max_examples=20, deadline=None)
@given(wastes)
def test_the_curve_is_lowest_at_the_exact_optimum(state):
    curve, _ = waste_curve(**state)["vconcat"]
    rows = curve["data"]["values"]
    marks = next(layer["data"]["values"] for layer in curve["layer"] if "data" in layer)
    percent = {row["of"]: row["percent"] for row in marks}
    assert percent["exact"] <= min(row["percent"] for row in rows) + 1e-9
    assert percent["exact"] <= min(percent["young"], percent["daly"]) + 1e-9
    mtbf = state["years_per_gpu"] * year / state["gpus"]
    best = optimal_checkpoint_interval(state["stall"], mtbf, "exact")
    waste = checkpoint_waste(best, state["stall"], mtbf, state["restart_minutes"] * minute)
    assert percent["exact"] == pytest.approx(100 * waste)


def test_the_inset_has_the_errors_of_the_chapter():
    """Young +7.0 % at 0.01 and +24.8 % at 0.1; Daly within 0.13 % up to there."""
    errors = waste_curve()["vconcat"][1]["data"]["values"]
    at = {(row["of"], round(math.log10(row["ratio"]), 6)): row["percent"] for row in errors}
    assert at["young", -2.0] == pytest.approx(7.0, abs=0.05)
    assert at["young", -1.0] == pytest.approx(24.8, abs=0.05)
    assert abs(at["daly", -1.0]) < 0.13


# Strips of time.


def eighths(low, high):
    """Seconds that both programs add without rounding, so that a failure at the end of a checkpoint is one in both."""
    return st.integers(8 * low, 8 * high).map(lambda count: count / 8)


@settings(deadline=None)
@given(
    eighths(10, 500),
    eighths(5, 200),
    eighths(0, 20),
    eighths(0, 60),
    st.lists(eighths(1, 300), max_size=30),
)
def test_a_strip_is_the_simulation_event_by_event(work, interval, stall, restart, gaps):
    """Two programs, written apart: the parts of the strip sum to those of ``simulate_run``."""
    parts = strip(work, interval, stall, restart, gaps)
    found = simulate_run(work, interval, stall, restart, gaps)
    for kind in KINDS_OF_TIME:
        seconds = math.fsum(end - start for name, start, end in parts if name == kind)
        assert seconds == pytest.approx(found[kind], abs=1e-6)
    assert all(one[2] == other[1] for one, other in pairwise(parts))
    assert parts[-1][2] == pytest.approx(found["wall"])


@pytest.mark.parametrize(
    ("arguments", "wall"),
    [
        ((100, 30, 5, 10, []), 120),
        ((100, 30, 5, 10, [50]), 145),
        ((100, 30, 5, 10, [35, 3, 100]), 133),
        ((100, 30, 5, 10, [20, 4, 4, 60]), 183),
        ((60, 30, 5, 0, [33, 33]), 136),
        ((100, 50, 5, 10, [110]), 120),
    ],
)
def test_strips_end_when_they_should(arguments, wall):
    """Worked out by hand, a failure at the very end of a checkpoint among them."""
    assert strip(*arguments)[-1][2] == wall


def test_strips_of_many_runs_agree_with_the_closed_form():
    """Within 4 standard errors, for a short stall and for one that is long against the time between failures."""
    for interval, stall, mtbf, restart in ((1200, 60, 11_000, 300), (2000, 900, 3600, 120)):
        expected = 40 * interval / (1 - checkpoint_waste(interval, stall, mtbf, restart))
        walls = [
            strip(40 * interval, interval, stall, restart, exponential_gaps(mtbf, seed))[-1][2] for seed in range(200)
        ]
        error = statistics.stdev(walls) / math.sqrt(len(walls))
        assert abs(statistics.mean(walls) - expected) < 4 * error


def test_joined_strips_keep_the_time():
    run = strip(1000, 5, 1, 2, [50, 100])
    for most in (10, 10_000):
        joined = _joined(run, most)
        assert joined[0][1] == 0
        assert joined[-1][2] == run[-1][2]
        assert all(one[2] == other[1] and one[0] != other[0] for one, other in pairwise(joined))
    assert len(_joined(run, 10)) < len(_joined(run, 10_000)) / 5
    for kind in ("useful", "checkpoint", "lost", "restart"):
        all_of_it = sum(b - a for one, a, b in run if one == kind)
        for most in (10, 10_000):
            assert sum(b - a for one, a, b in _joined(run, most) if one == kind) == pytest.approx(all_of_it)


def test_all_strips_meet_the_same_failures():
    """The first failure comes at the same second in all four lanes."""
    rows = strips_of_time(mtbf_hours=1.0)["data"]["values"]
    ends: dict[str, float] = {}
    for row in rows:
        if row["kind"] == "lost":
            ends.setdefault(row["lane"], row["end"])
    assert len(ends) == 4
    assert max(ends.values()) == pytest.approx(min(ends.values()))
