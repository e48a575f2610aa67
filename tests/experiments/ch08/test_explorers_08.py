"""The explorers of chapter 8 and what they price: every state is a chart, and its numbers are the chapter's."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch08.deployments import Deployment
from experiments.ch08.explorers import GPUS, MODELS, batching, decode_roofline
from rankzero.explore import VEGA_LITE
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA2_7B, LLAMA3_8B, LLAMA3_70B
from rankzero.facts.units import GB
from rankzero.sim.batching import continuous, static
from solutions.ch08.serving import workload

rooflines = st.fixed_dictionaries(
    {
        "model": st.sampled_from(sorted(MODELS)),
        "gpu": st.sampled_from(sorted(GPUS)),
        "tensor_parallel": st.integers(1, 8),
        "batch": st.integers(1, 1024),
        "context": st.integers(0, 131_072),
        "weight_bytes": st.sampled_from((2, 1, 0.5)),
        "kv_bytes": st.sampled_from((2, 1, 0.5)),
    }
)
batches = st.fixed_dictionaries(
    {"slots": st.integers(1, 32), "sigma": st.floats(0, 1.5), "seed": st.integers(0, 20), "rate": st.floats(0, 20)}
)


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("explorer", "states"), [(decode_roofline, rooflines), (batching, batches)])
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=4, deadline=None)
    @given(states)
    def check(state):
        assert drawn(explorer(**state)).startswith("<svg")

    check()


MOVES: dict[Callable[..., Any], dict[str, Any]] = {
    decode_roofline: {
        "model": "Llama 3 70B",
        "gpu": "A100",
        "tensor_parallel": 2,
        "batch": 100,
        "context": 128,
        "weight_bytes": 1,
        "kv_bytes": 0.5,
    },
    batching: {"slots": 5, "sigma": 0.2, "seed": 3, "rate": 7.0},
}


@pytest.mark.parametrize(
    ("explorer", "name"), [(explorer, name) for explorer, moved in MOVES.items() for name in moved]
)
def test_every_control_moves_the_chart(explorer, name):
    assert explorer(**{name: MOVES[explorer][name]}) != explorer()


def test_the_roofline_has_the_numbers_of_the_tables():
    spec = decode_roofline(batch=256)
    rows = spec["vconcat"][0]["data"]["values"]
    step = next(row["time"] for row in rows if row["batch"] == 256 and row["what"] == "step")
    assert step == pytest.approx(0.0253075, rel=1e-3)
    assert "matrices compute-bound from batch 295" in spec["description"]
    assert "matrices compute-bound from batch 295" in decode_roofline(context=0)["description"]
    assert "the weights do not fit" in decode_roofline("Llama 3 405B")["description"]


def test_a_step_is_the_cache_and_the_slower_of_the_other_two():
    """Kills one maximum over everything."""
    rows = decode_roofline("Llama 3 70B", "A100", 4, 8, 100)["vconcat"][0]["data"]["values"]
    for batch in {row["batch"] for row in rows}:
        own = {row["what"]: row["time"] for row in rows if row["batch"] == batch}
        assert own["step"] == pytest.approx(max(own["multiplying"], own["reading weights"]) + own["reading the cache"])


def test_the_batches_have_the_numbers_of_the_page():
    text = batching()["description"]
    assert "static: 977 steps" in text
    assert "continuous: 542 steps" in text
    assert "mean latency 539" in text
    assert "mean latency 219" in text


def test_bars_are_all_slot_steps_that_are_taken():
    """Kills a static slot that looks free while its batch goes on."""
    lengths = workload()
    for view, run in zip(batching()["vconcat"], (static(lengths, 8), continuous(lengths, 8)), strict=True):
        rows = view["data"]["values"]
        spans = {
            kind: sum(r["end"] - r["start"] for r in rows if r["kind"] == kind) for kind in ("tokens", "kept, done")
        }
        assert spans["tokens"] == sum(lengths)
        assert sum(spans.values()) == sum(finish - start for start, finish in run.spans)


def test_deployments():
    """Published sizes: 131,072 and 327,680 bytes of a token with grouped heads, 524,288 without."""
    assert Deployment(LLAMA3_8B, H100_SXM).kv_bytes_per_token == 131_072
    assert Deployment(LLAMA3_70B, H100_SXM).kv_bytes_per_token == 327_680
    assert Deployment(LLAMA2_7B, H100_SXM).kv_bytes_per_token == 524_288
    assert Deployment(LLAMA3_70B, H100_SXM, 16).kv_bytes_per_token == 16 * 2 * 80 * 128 * 2, "heads are copied"
    two = Deployment(LLAMA3_70B, H100_SXM, gpus=4)
    assert 2 * two.requests_that_fit(4096, usable=0.9) == 218
    assert two.decode_step([4096] * 100) == pytest.approx(0.0205, rel=0.01)
    assert Deployment(LLAMA3_70B, H100_SXM).room() == pytest.approx(80 * GB - 2 * LLAMA3_70B.parameters)
    assert Deployment(LLAMA3_70B, H100_SXM).requests_that_fit(1) == 0
    assert Deployment(LLAMA3_70B, H100_SXM, 8).prefill(4096) == pytest.approx(0.0757992, rel=1e-5)
