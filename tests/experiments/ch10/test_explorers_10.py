"""The explorers of chapter 10: every state is a chart that the grammar accepts, and its numbers are the chapter's."""

from __future__ import annotations

import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch10.explorers import BUDGETS, LISTS, budgets, captured, launches, overlapped, simulated, step_seconds
from rankzero.explore import VEGA_LITE
from rankzero.facts.units import ms, us
from solutions.ch10.scheduling import eager_time, graph_time, overlap_time, padding_waste

STATES = {
    launches: st.fixed_dictionaries(
        {
            "kernels": st.integers(1, 2000),
            "kernel_time": st.floats(0.5 * us, 200 * us),
            "launch": st.floats(1 * us, 20 * us),
            "replay": st.floats(1 * us, 50 * us),
        }
    ),
    captured: st.fixed_dictionaries(
        {
            "sizes": st.sampled_from(sorted(LISTS)),
            "traffic": st.sampled_from(("uniform", "log-normal")),
            "mean": st.floats(2, 200),
        }
    ),
    overlapped: st.fixed_dictionaries(
        {
            "schedule": st.floats(0, 10 * ms),
            "compute": st.floats(1 * ms, 50 * ms),
            "post": st.floats(0, 10 * ms),
            "steps": st.integers(1, 100),
        }
    ),
    budgets: st.fixed_dictionaries(
        {
            "budget": st.sampled_from(BUDGETS),
            "long_share": st.sampled_from((0.0, 0.5)),
            "rate": st.sampled_from((1, 40)),
        }
    ),
}


def drawn(spec: dict) -> str:
    return vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("explorer", "states"), STATES.items(), ids=lambda one: getattr(one, "__name__", ""))
def test_every_state_is_a_chart(explorer, states):
    @settings(max_examples=2, deadline=None)
    @given(states)
    def check(state):
        spec = explorer(**state)
        assert drawn(spec).startswith("<svg")
        assert spec["description"]

    check()


def test_the_title_has_the_times():
    spec = launches(500, 2 * us, 5 * us, 10 * us)
    eager, graph = eager_time([2 * us] * 500, 5 * us), graph_time([2 * us] * 500, 10 * us)
    assert f"{eager / ms:.4g} ms" in spec["description"]
    assert f"{graph / ms:.4g} ms" in spec["description"]
    assert "2.48 times" in spec["description"]


def test_the_last_bar_ends_when_all_are_done():
    bars = overlapped(2 * ms, 10 * ms, 1 * ms, 8)["data"]["values"]
    for name, side in (("in turn", False), ("overlapped", True)):
        end = max(row["end"] for row in bars if row["lane"].startswith(name))
        assert end == pytest.approx(overlap_time(8, 2, 10, 1, side))


def test_the_waste_of_the_page():
    description = captured("powers of two", "uniform")["description"]
    assert "9 graphs" in description
    assert (
        abs(
            float(description.split(": ")[-1].split(" %")[0])
            - 100 * padding_waste(range(1, 257), LISTS["powers of two"])
        )
        < 2
    )


@pytest.mark.proof(part="runs")
def test_gaps_grow_with_the_budget_and_newcomers_wait_less():
    found = [simulated(budget, 0.2, 10.0) for budget in BUDGETS]
    gaps, firsts = [one[0] for one in found], [one[2] for one in found]
    assert gaps == sorted(gaps)
    assert firsts[0] > firsts[2] > firsts[4]
    assert gaps[0] == pytest.approx(step_seconds(1))  # the weights are read once in each step
    assert gaps[-1] <= step_seconds(8192)
