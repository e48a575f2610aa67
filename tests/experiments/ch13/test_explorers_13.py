"""Explorers of chapter 13: every state is a chart that the grammar accepts, and its numbers are right."""

from __future__ import annotations

import json
import math

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch13.explorers import ALGORITHMS, LEARNING, MODELS, SIZES, estimators, hacking, memory, paid
from rankzero.explore import VEGA_LITE
from rankzero.facts.models import LLAMA3_70B
from solutions.ch13.beta_sweep import RUNS
from solutions.ch13.rlhf_memory import rlhf_bytes


def drawn(spec) -> None:
    """The grammar takes it, and no number is missing."""
    json.dumps(spec, allow_nan=False)
    assert vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).startswith("<svg")


def values(view) -> list[dict]:
    """The rows of a view and of its parts."""
    found = list(view.get("data", {}).get("values", []))
    for part in (*view.get("layer", []), *view.get("vconcat", []), *view.get("hconcat", [])):
        found += values(part)
    return found


@pytest.mark.parametrize("show", [paid, estimators, memory, hacking])
def test_the_state_of_the_page_is_drawn(show):
    drawn(show())


logs = st.lists(st.floats(-5, 0), min_size=1, max_size=8)


@given(st.floats(0.001, 1), st.floats(-3, 3), logs, logs)
@settings(max_examples=25, deadline=None)
def test_rewards_add_up_to_the_score_minus_the_price(beta, score, actor, reference):
    spec = paid(beta, score, actor, reference)
    json.dumps(spec, allow_nan=False)
    known = (reference + [reference[-1]] * 8)[: len(actor)]
    wanted = score - beta * sum(a - b for a, b in zip(actor, known, strict=True))
    bars = [row for row in values(spec["vconcat"][0]) if "reward" in row]
    assert sum(row["reward"] for row in bars) == pytest.approx(wanted, abs=1e-9)
    assert [row["token"] for row in bars if row["of"] == "score"] == [str(len(actor) - 1)]


def test_the_sentence_has_the_sums_of_the_page():
    text = paid()["description"]
    assert "sum of rewards 0.504" in text
    assert "k1 adds up to -0.2 nats, k3 to 0.1955" in text


weights = st.lists(st.floats(1, 20), min_size=3, max_size=3)


@given(st.lists(st.integers(0, 20), min_size=3, max_size=3), weights)
@settings(max_examples=25, deadline=None)
def test_estimators_weigh_exactly(p, q):
    spec = estimators(p, q)
    json.dumps(spec, allow_nan=False)
    law = [one / sum(p) for one in p] if sum(p) else [1 / 3] * 3
    kl = sum(a * math.log(a * sum(q) / b) for a, b in zip(law, q, strict=True) if a > 0)
    found = {row["estimator"]: row["value"] for row in values(spec) if row.get("of") == "mean (nats)"}
    assert found["k1"] == pytest.approx(kl, abs=1e-9)


def test_the_exception_of_the_page_is_the_default():
    assert "smallest variance: k2" in estimators()["description"]
    assert "smallest variance: k1 and k2 and k3." in estimators((18, 0, 0))["description"]
    assert "p and q are equal" in estimators((1, 1), (1, 1))["description"]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("learning", LEARNING)
@pytest.mark.parametrize("small", SIZES)
def test_memory_is_that_of_the_roles(algorithm, learning, small):
    spec = memory(LLAMA3_70B.name, algorithm, small, "no", learning, 16)
    json.dumps(spec, allow_nan=False)
    shown = sum(row["GB"] for row in values(spec) if "kind" in row) * 16e9
    policy, (name, with_model) = MODELS[LLAMA3_70B.name], ALGORITHMS[algorithm]
    other = SIZES[small] or policy
    if LEARNING[learning] == 1:
        sizes = {"critic": other} if name == "ppo" else {}
        sizes |= {"reward": other} if name == "ppo" or with_model else {}
        assert shown == pytest.approx(rlhf_bytes(name, policy, masters=False, **sizes)["total"])
    else:
        assert 2 * policy < shown < 7 * policy


def test_what_fits_is_said():
    assert "fits into 80 GB" in memory(gpus=32)["description"]
    assert "does not fit" in memory(gpus=31)["description"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.beta:g}-{run.seed}")
def test_every_stored_run_can_be_looked_at(run):
    spec = hacking(run.beta, run.seed, 60)
    assert run.end.sample in spec["description"]
    early = hacking(run.beta, run.seed, 13)
    assert "iteration 10:" in early["description"]
    assert {row.get("of") for row in values(early)} >= {"judge", "reward model's score"}
