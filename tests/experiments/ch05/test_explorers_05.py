"""The explorers of chapter 5: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import itertools
import json
import math

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch05.explorers import (
    FATES,
    FORMATS,
    GRADIENTS,
    PARTS,
    RECIPES,
    bucket_times,
    fate,
    fates,
    few_bits,
    hiding,
    learning_rates,
    marks,
    parts_of,
    sliced,
    slices,
)
from experiments.ch05.loss_scale_runs import deep_tanh_gradients, gradient_exponents, in_fp16, tiny_gradients
from rankzero.explore import VEGA_LITE
from rankzero.facts.units import GB, MB, MiB, ms, us
from solutions.ch05.buckets import exposed_communication
from solutions.ch05.zero import state_bytes, zero_memory

GPUS = ("A100 SXM 80GB", "H100 SXM", "H200 SXM", "B200 SXM")

jobs = st.fixed_dictionaries(
    {
        "layers": st.integers(1, 200),
        "compute": st.floats(0.5 * ms, 50 * ms),
        "gradient_bytes": st.floats(MB, GB),
        "ranks": st.integers(2, 1024),
        "bandwidth": st.floats(GB, 900 * GB),
        "latency": st.floats(us, 50 * us),
        "cap": st.integers(MiB, 2**38),
    }
)
rates = st.fixed_dictionaries(
    {
        "base": st.floats(1e-5, 1e-1),
        "base_batch": st.integers(1, 16384),
        "batch": st.integers(1, 16384),
        "rule": st.sampled_from(("linear", "sqrt", "noise")),
        "noise_scale": st.floats(1, 1e5),
        "warmup_percent": st.floats(0, 20),
        "total": st.integers(100, 10**6),
    }
)
models = st.fixed_dictionaries(
    {
        "billion_parameters": st.floats(0.1, 1000),
        "ranks": st.integers(1, 1024),
        "recipe": st.sampled_from(tuple(RECIPES)),
        "gpu": st.sampled_from(GPUS),
    }
)
numbers = st.fixed_dictionaries(
    {
        "gradients": st.sampled_from(tuple(GRADIENTS)),
        "number_format": st.sampled_from(tuple(FORMATS)),
        "scale_power": st.integers(0, 24),
    }
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("explorer", "states"), [(hiding, jobs), (learning_rates, rates), (slices, models), (few_bits, numbers)]
)
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=4, deadline=None)
    @given(states)
    def check(state):
        assert drawn(explorer(**state)).startswith("<svg")

    check()


# Hiding.


@pytest.mark.proof(part="runs")
@settings(deadline=None, max_examples=50)
@given(jobs)
def test_streams_are_drawn_as_they_run(state):
    """The last all-reduce ends when the backward pass has ended and the exposed time is over."""
    rows = hiding(**state)["vconcat"][0]["data"]["values"]
    computing, sending, counts = bucket_times(**state)
    ends = {kind: max(row["end"] for row in rows if row["kind"] == kind) for kind in ("backward", "all-reduce")}
    exposed = exposed_communication(computing, sending)
    assert ends["all-reduce"] / ends["backward"] == pytest.approx(1 + exposed / sum(computing))
    assert sum(counts) == state["layers"]
    lanes = [row for row in rows if row["kind"] == "all-reduce"]
    assert all(later["start"] >= earlier["end"] for earlier, later in itertools.pairwise(lanes))


def test_the_default_is_the_question_of_the_page():
    """40 layers of 5 ms: nearly 97.5 % are hidden, and one bucket for everything hides nothing."""
    assert "97.5% of the communication is hidden" in hiding()["vconcat"][0]["title"]
    assert "0.0% of the communication is hidden" in hiding(cap=2**38)["vconcat"][0]["title"]


# Learning rates.


def by_run(spec: dict, field: str) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for row in spec["vconcat"][0]["data"]["values"]:
        found.setdefault(row["run"], []).append((row[field], row["rate"]))
    return found


def test_both_runs_see_as_many_sequences():
    small, large = by_run(learning_rates(), "sequences").values()
    assert small[-1][0] == large[-1][0] == 256 * 10_000
    assert max(rate for _, rate in large) == pytest.approx(3e-4 * math.sqrt(8))


def test_a_batch_that_does_not_change_changes_nothing():
    for rule in ("linear", "sqrt", "noise"):
        (runs,) = {tuple(run) for run in by_run(learning_rates(batch=256, rule=rule), "step").values()}
        assert runs[-1][1] == pytest.approx(3e-6)


# Slices.


@given(models)
def test_parts_add_up_to_the_chapters_memory(state):
    params, sizes = state["billion_parameters"] * 1e9, state_bytes(**RECIPES[state["recipe"]])
    assert sum(parts_of(state["recipe"]).values()) == sum(sizes)
    for stage in range(4):
        held = sliced(params, stage, state["ranks"], parts_of(state["recipe"]))
        assert set(held) == set(PARTS)
        assert sum(held.values()) == pytest.approx(zero_memory(params, stage, state["ranks"], *sizes))


@pytest.mark.parametrize(
    ("state", "said"),
    [({}, "no stage fits"), ({"ranks": 16}, "stages that fit: 3"), ({"gpu": "B200 SXM"}, "stages that fit: 3")],
)
def test_titles_say_what_fits(state, said):
    assert slices(**state)["vconcat"][0]["title"].endswith(said)


# Few bits.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(
    ("name", "gradients"), [("tiny language model", tiny_gradients), ("12-layer tanh network", deep_tanh_gradients)]
)
def test_histograms_are_those_of_real_gradients(name, gradients):
    """The browser has no torch, so the counts stand in the explorer; here they are counted again.

    Another machine rounds sums in another order: few gradients change their bin.
    """
    lowest, counts = GRADIENTS[name]
    found = gradient_exponents(gradients())
    stored = {lowest + place: count for place, count in enumerate(counts) if count}
    moved = sum(abs(found.get(power, 0) - stored.get(power, 0)) for power in {*found, *stored})
    assert moved <= 0.02 * sum(counts)


@pytest.mark.parametrize("power", [0, 8, 16, 24])
def test_shares_are_those_of_a_real_cast(power):
    lowest, counts = GRADIENTS["12-layer tanh network"]
    kinds = [fate(2.0 ** (lowest + place + power + 0.5), *FORMATS["fp16"]) for place in range(len(counts))]
    share = {kind: sum(c for k, c in zip(kinds, counts, strict=True) if k == kind) / sum(counts) for kind in FATES}
    real = in_fp16(deep_tanh_gradients(), 2.0**power)
    assert share["becomes 0"] == pytest.approx(real.zero, abs=2e-3)
    assert share["subnormal"] == pytest.approx(real.subnormal, abs=2e-3)
    assert share["too large"] == pytest.approx(real.infinite, abs=2e-3)


@pytest.mark.parametrize(
    ("value", "name", "kind"),
    [
        (2.0**-26, "fp16", "becomes 0"),
        (2.0**-20, "fp16", "subnormal"),
        (2.0**-14, "fp16", "normal"),
        (1e5, "fp16", "too large"),
        (1e5, "bf16", "normal"),
        (1e4, "E4M3", "too large"),
        (300.0, "E4M3", "normal"),
        (2.0**-16, "E5M2", "subnormal"),
    ],
)
def test_fates(value, name, kind):
    assert fate(value, *FORMATS[name]) == kind


def test_fates_change_inside_a_power_of_two():
    """E4M3's largest number is 448; what rounds to it ends at 464."""
    (low, border, kind), (other, high, rest) = fates(8, "E4M3")
    assert (low, high, border) == (8, 9, other)
    assert (kind, rest) == ("normal", "too large")
    assert border == pytest.approx(math.log2(464), abs=1 / 32)
    assert fates(3, "fp16") == [(3.0, 4.0, "normal")]


def test_the_ruler_has_every_number_of_a_small_format():
    """E4M3 has 126 positive finite numbers, and E5M2 has 123; fp16 reaches from 2**-24 to just below 2**16."""
    assert len(marks("E4M3")) == 126
    assert len(marks("E5M2")) == 123
    ends = marks("fp16")
    assert ends[0] == -24
    assert 15 < ends[-1] < 16
