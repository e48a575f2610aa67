"""Explorers of chapter 14: every state is a chart that the grammar accepts, and its numbers are right."""

from __future__ import annotations

import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch14.explorers import MODELS, memory, phases, two_pools
from experiments.ch14.pool_spans import spans
from rankzero.explore import VEGA_LITE
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB
from solutions.ch14.rlhf_profile import OFFLOADS, Iteration, phase_seconds


def drawn(spec) -> None:
    """The grammar takes it, and no number is missing."""
    json.dumps(spec, allow_nan=False)
    assert vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).startswith("<svg")


@pytest.mark.parametrize("spec", [phases(), memory(), two_pools()])
def test_the_charts_of_the_page(spec):
    drawn(spec)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(MODELS)),
    st.integers(1, 128),
    st.integers(1, 2000),
    st.integers(1, 16_384),
    st.integers(1, 2048),
    st.integers(1, 8),
    st.sampled_from(["yes", "no"]),
)
def test_phases_add_up(model, nodes, prompt, response, batch, epochs, critic):
    spec = phases(model, 8 * nodes, prompt, response, batch, epochs, critic)
    json.dumps(spec, allow_nan=False)
    rows = {row["phase"]: row["seconds"] for row in spec["data"]["values"]}
    assert rows == phase_seconds(MODELS[model], 8 * nodes, Iteration(batch, prompt, response, epochs, critic == "yes"))


def test_which_phase_is_longest_depends():
    assert "most goes to train" in phases(response=50, epochs=4)["description"]
    assert "most goes to generate" in phases(response=8192, critic="no")["description"]


@pytest.mark.parametrize("offload", OFFLOADS)
@pytest.mark.parametrize("algorithm", ["ppo", "grpo"])
def test_memory_by_phase(offload, algorithm):
    spec = memory(algorithm=algorithm, offload=offload)
    json.dumps(spec, allow_nan=False)
    assert spec["layer"][0]["encoding"]["x"]["type"] == "nominal"  # as numbers, the phases' names are no places
    rows = spec["layer"][0]["data"]["values"]
    assert len({row["owner"] for row in rows}) <= 8
    peak = max(sum(row["GB"] for row in rows if row["phase"] == name) for name in ("generate", "score", "train"))
    assert f"peak {peak:.1f} GB" in spec["description"]
    assert ("does not fit" in spec["description"]) == (peak > 80)


def test_the_job_of_the_page():
    text = memory()["description"]
    moved = 2 * (24 * LLAMA3_70B.parameters / 64 + 4 * LLAMA3_70B.parameters / 64) / GB
    assert "peak 66.5 GB, fits" in text
    assert f"{moved:.1f} GB copied, {moved / 50:.2f} s" in text
    assert f"{24 * LLAMA3_70B.parameters / 1e12:.4g} TB" in text
    assert "hosts: nothing" in memory(offload="nothing")["description"]
    assert "peak 109.3 GB, does not fit" in memory(offload="nothing")["description"]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 256),
    st.floats(10, 1e5),
    st.floats(10, 1e5),
    st.sampled_from((0.0, 20.0, 300.0)),
    st.integers(1, 255),
    st.sampled_from((0.0, 50.0)),
)
def test_two_pools_at_every_state(gpus, generate, train, tail, split, floor):
    spec = two_pools(gpus, generate, train, tail, split, floor)
    json.dumps(spec, allow_nan=False)
    barrier, continuous = (float(text.split()[0]) for text in spec["description"].split(" s, ")[2::2])
    assert barrier <= continuous
    if tail == floor == 0:
        assert continuous <= 1


def test_the_gain_of_the_page():
    assert len(spans("continuous", 2, 1, (10.0, 10.0, 0.0))) == 2  # also where both pools are of one size
    told = two_pools()["description"]
    assert "with a barrier 100 s, at best 60 and 40: 100 s, 1.350 times as fast" in told
    assert "without 100 s, at best 63 and 37: 95.24 s, 1.417 times as fast" in told
