"""Explorers of chapter 11, first half: every state is a chart that the grammar accepts, and its numbers are right."""

from __future__ import annotations

import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch11.explorers import batches, overlap, shares, speedups
from rankzero.explore import VEGA_LITE
from solutions.ch11.speculation_costs import break_even_batch
from solutions.ch11.speculative import optimal_draft_length, speculative_speedup


def drawn(spec) -> None:
    """The grammar takes it, and no number is missing."""
    json.dumps(spec, allow_nan=False)
    assert vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).startswith("<svg")


def values(view) -> list[dict]:
    """The rows of a view, layers too."""
    found = list(view.get("data", {}).get("values", []))
    for layer in view.get("layer", []):
        found += values(layer)
    return found


weights = st.lists(st.integers(0, 9), min_size=1, max_size=6)


@given(weights, weights)
@settings(max_examples=25, deadline=None)
def test_accepted_and_replaced_add_up_to_the_target(p, q):
    spec = overlap(p, q)
    json.dumps(spec, allow_nan=False)
    laws, emitted = (values(view) for view in spec["hconcat"])
    size = max(len(p), len(q))
    for token in range(size):
        made = sum(row["probability"] for row in emitted if row["token"] == str(token))
        (p_row,) = [row for row in laws if row["token"] == str(token) and row["of"] == "target p"]
        assert made == pytest.approx(p_row["probability"], abs=1e-12)


def test_the_bars_of_the_page():
    spec = overlap()
    assert "acceptance 0.700, residual (0.833, 0.167, 0.000, 0.000)" in spec["description"]
    drawn(spec)
    assert shares([0, 0]) == [0.5, 0.5]


@given(st.floats(0, 1), st.floats(0, 1), st.floats(1, 6), st.integers(1, 32))
@settings(max_examples=25, deadline=None)
def test_the_best_length_is_marked(alpha, c, v, longest):
    spec = speedups(alpha, c, v, longest)
    json.dumps(spec, allow_nan=False)
    curve = [row for row in values(spec["vconcat"][0]) if row.get("what") == "speed-up"]
    best = max(curve, key=lambda row: row["times"])
    assert best["times"] == max(1.0, *(speculative_speedup(alpha, k, c, v) for k in range(1, longest + 1)))


def test_the_default_curve():
    spec = speedups()
    drawn(spec)
    assert f"best k {optimal_draft_length(0.8, 0.05)}" in spec["description"]
    assert "do not speculate" in speedups(0.2, 0.3)["description"]
    assert "do not speculate" in speedups(0.8, 0.05, 6.0)["description"]


def test_where_a_batch_loses():
    spec = batches()
    drawn(spec)
    even = break_even_batch(0.8, 4, 0.05, 295.3)
    assert spec["description"].endswith(f"k = 4 breaks even at a batch of {even:.0f}.")
    assert "never loses" in batches(1.0, 0.0)["description"]
    assert "gains at no batch" in batches(0.1, 0.2)["description"]


def test_drafts_that_are_worth_what_they_cost_are_drawn_too():
    """Kills two tests of one border that rounding makes disagree: the chart would not be drawn."""
    for step in range(101):
        drawn(batches(step / 100, step / 100, 1))


def test_a_gain_that_rounding_makes_is_none():
    """Where the draft costs as much as it brings, and where a longer one gains less than the margin."""
    assert "do not speculate" in speedups(0.15, 0.15)["description"]
    assert f"best k {optimal_draft_length(0.1, 0.0)}," in speedups(0.1, 0.0)["description"]


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 8), st.floats(50, 1000))
@settings(max_examples=15, deadline=None)
def test_the_best_length_is_never_below_plain_decoding(alpha, c, k, ridge):
    rows = values(batches(alpha, c, k, ridge))
    best = [row["times"] for row in rows if row.get("way") == "best k"]
    assert min(best) >= 1 - 1e-12
