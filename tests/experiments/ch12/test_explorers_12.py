"""Explorers of chapter 12: every state is a chart that the grammar accepts, and its numbers are right."""

from __future__ import annotations

import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch12.explorers import CUT, LAMBDAS, TERMINAL, advantages, baselines, clipping, returns
from rankzero.explore import VEGA_LITE
from solutions.ch12.rl import discounted_returns, gae


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


def column(rows, name: str, field: str) -> list[float]:
    return [row[field] for row in rows if row.get("what") == name]


numbers = st.lists(st.floats(-5, 5), min_size=1, max_size=12)
ends = st.sampled_from([TERMINAL, CUT])


@given(numbers, st.floats(0.5, 1), ends, st.floats(-10, 50))
@settings(max_examples=20, deadline=None)
def test_the_returns_are_those_of_the_rewards(rewards, discount, end, bootstrap):
    spec = returns(rewards, discount, end, bootstrap)
    json.dumps(spec, allow_nan=False)
    wanted = discounted_returns(rewards, discount, bootstrap if end == CUT else 0)
    assert column(values(spec), "return", "reward") == pytest.approx(wanted)


def test_a_cut_off_episode_looks_worthless_near_its_end():
    spec = returns()
    drawn(spec)
    assert "of the last 10.000, of the last without its bootstrap 1.000" in spec["description"]
    assert column(values(returns(end=TERMINAL)), "without bootstrap", "reward") == []


@given(st.integers(2, 5), st.integers(0, 10**6), st.floats(-10, 10))
@settings(max_examples=20, deadline=None)
def test_the_mean_stays_and_the_best_is_the_lowest(arms, seed, baseline):
    weights = [1 + (seed >> place) % 7 for place in range(arms)]
    rewards = [((seed >> place) % 11) - 5 for place in range(arms)]
    spec = baselines(weights, rewards, baseline)
    json.dumps(spec, allow_nan=False)
    told = [one["description"].partition("mean (")[2].partition(")")[0] for one in (spec, baselines(weights, rewards))]
    means = [[float(number) for number in text.split(", ")] for text in told]
    assert means[0] == pytest.approx(means[1], abs=0.0011)  # the last of three digits may round to either side
    rows = values(spec["hconcat"][1])
    (best,) = column(rows, "the best", "variance")
    assert best <= min(row["variance"] for row in rows) + 1e-9


def test_the_arms_of_the_page():
    spec = baselines()
    drawn(spec)
    assert "variance 4.156" in spec["description"]
    assert "1.958 with 1.779" in spec["description"]
    drawn(baselines([1], [2], 3.0))
    drawn(baselines([0, 0], [2, 1], 3.0))


@given(numbers, st.floats(0.9, 1), st.floats(0, 1), ends)
@settings(max_examples=20, deadline=None)
def test_the_advantages_of_every_lambda(rewards, discount, trace, end):
    said = [0.5] * len(rewards)
    spec = advantages(rewards, said, discount, trace, end, 0.5)
    json.dumps(spec, allow_nan=False)
    rows = values(spec["vconcat"][1])
    last = [*[False] * (len(rewards) - 1), True]
    none = [False] * len(rewards)
    flags = (last, none) if end == TERMINAL else (none, last)
    for name, one in {f"chosen: {trace:.3g}": trace, **{f"lambda {t:g}": t for t in LAMBDAS}}.items():
        wanted = gae(rewards, said, said, *flags, discount, one)
        assert column(rows, name, "advantage") == pytest.approx(wanted)


def test_a_boundary_changes_nothing_on_its_far_side():
    plain, cut = (values(advantages(boundary=b)["vconcat"][1]) for b in (0, 5))
    chosen = "chosen: 0.95"
    assert column(plain, chosen, "advantage")[5:] == column(cut, chosen, "advantage")[5:]
    assert column(plain, chosen, "advantage")[:5] != column(cut, chosen, "advantage")[:5]


def test_the_ten_steps_of_the_page():
    spec = advantages()
    drawn(spec)
    assert "1.176" in spec["description"]
    assert "11.3 steps" in spec["description"]
    assert "never fades" in advantages(discount=1.0, gae_lambda=1.0)["description"]
    drawn(advantages([1], [1, 2, 3], 1.0, 0.0, CUT, 3.0, 9))


@pytest.mark.parametrize(
    ("ratio", "advantage", "said"),
    [
        (1.5, 1.0, "objective 1.2, no gradient"),
        (0.5, 1.0, "objective 0.5, gradient 1"),
        (1.5, -1.0, "objective -1.5, gradient -1"),
        (0.5, -1.0, "objective -0.8, no gradient"),
        (1.0, 0.0, "no gradient"),
    ],
)
def test_where_a_sample_has_a_gradient(ratio, advantage, said):
    spec = clipping(ratio, advantage)
    drawn(spec)
    assert said in spec["description"]


def test_a_ratio_of_nothing():
    drawn(clipping(0.0, -1.0, 0.5))
    assert "ratio 0: objective 0," in clipping(0.0, 1.0)["description"]
