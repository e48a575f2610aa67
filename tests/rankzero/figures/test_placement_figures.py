"""Pictures of an RLHF job: they draw, and say in words what they show."""

from __future__ import annotations

import re

import pytest

from rankzero import figures
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB, MB
from solutions.ch14.rlhf_profile import DISCARDABLE, WHEN, WHERE, cycle, response_spans, sketch, tenants
from solutions.ch14.rlhf_schedule import PhaseUse, memory_timeline, simulate_async


def drawn(picture) -> str:
    """The picture's words; it comes out as one drawing with those words."""
    html = picture.html()
    assert html.count("<svg") == 1
    assert not re.search(r"\bNaN\b", html)
    return picture.alt


def test_memory_by_phase():
    sizes = tenants(LLAMA3_70B.parameters, 64)
    held = cycle(sizes)
    uses = memory_timeline(held, sizes, DISCARDABLE)
    text = drawn(figures.placement.memory_phases(uses, held, sizes, 80 * GB))
    assert "of 80 GB by phase: generate 66.46 GB, in 4.41 GB, out 26.46 GB; score 8.819 GB, no copy; train" in text


def test_small_memory_without_capacity():
    uses = [PhaseUse("only", 3 * MB, 0.0, 0.0)]
    picture = figures.placement.memory_phases(uses, [("only", {"a"})], {"a": 3 * MB, "b": 1 * MB})
    assert drawn(picture) == "Memory by phase: only 3 MB, no copy."
    assert picture.axes[0].get_ylabel() == "memory (MB)"


@pytest.mark.parametrize("bound", [0, 1])
def test_slots(bound):
    lengths = [9, *[1] * 11]
    run = simulate_async(lengths, 2, 2, 1, 1, 0, bound)
    spans = response_spans(lengths, 2, 2, 1, bound, run.steps)
    text = drawn(figures.placement.rollout_slots({f"bound {bound}": (spans, run.steps)}))
    assert text.startswith(f"bound {bound}: 12 responses, 6 steps, finished after {run.total:.4g} s")
    assert f"{4 * bound} at most" in text


def test_slots_without_a_step():
    assert "none trained" in drawn(figures.placement.rollout_slots({"empty": ([], [])}))


@pytest.mark.proof(part="runs")
def test_where_and_when():
    cells = {(where, when): sketch(where, when) for when in WHEN for where in WHERE}
    text = drawn(figures.placement.placements(cells))
    assert text.count("one half has to wait") == 2
    assert "colocated, synchronous: finished after 15;" in text
    assert "disaggregated, asynchronous: finished after 22.5" in text
