"""Stages: against NumPy's split, and against a simulator that knows only who waits for what."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts.units import ms
from solutions.ch02.model_parallel import naive_step, stage_layers


@given(st.integers(0, 300), st.integers(1, 40))
def test_the_split_is_that_of_numpy(layers, stages):
    """Kills: a rest that is dropped, that stands on one stage, or on the last ones; a layer on two stages."""
    parts = [[int(layer) for layer in part] for part in np.array_split(range(layers), stages)]
    assert [list(stage_layers(layers, stages, stage)) for stage in range(stages)] == parts


def test_the_stages_of_llama_3_405b():
    sizes = [len(stage_layers(126, 16, stage)) for stage in range(16)]
    assert sizes == [8] * 14 + [7] * 2
    assert stage_layers(10, 4, 2) == range(6, 8)


def simulated_step(layers: int, stages: int, layer_time: Fraction, transfer: Fraction, ratio: Fraction) -> tuple:
    """Tasks that wait for the one before: every layer forward, then every layer back; who is busy, and until when.

    Layers stand on the stages of NumPy's split; a message lies between two layers on different stages.
    """
    home = [stage for stage, part in enumerate(np.array_split(range(layers), stages)) for _ in part]
    now, busy = Fraction(0), [Fraction(0)] * stages
    walk = [(layer, layer_time) for layer in range(layers)]
    walk += [(layer, layer_time * ratio) for layer in reversed(range(layers))]
    place = home[0]
    for layer, time in walk:
        now += transfer * abs(home[layer] - place)
        place = home[layer]
        now += time
        busy[place] += time
    return now, sum(busy) / (stages * now)


EXACT = st.fractions(Fraction(1, 1000), 100, max_denominator=1000)


@given(st.data(), st.integers(1, 12), EXACT, EXACT, EXACT)
def test_a_step_takes_as_long_as_its_chain_of_tasks(data, stages, layer_time, transfer, ratio):
    """Kills: one stage's layers for all of them, a backward as fast as the forward, a boundary too many or one way."""
    layers = data.draw(st.integers(stages, 40))
    simulated = simulated_step(layers, stages, layer_time, transfer, ratio)
    found = naive_step(layers, stages, *map(float, (layer_time, transfer, ratio)))
    assert found == pytest.approx([*map(float, simulated)], rel=1e-12)


@given(st.integers(1, 40), st.integers(1, 12), st.floats(1e-3, 100), st.floats(1e-3, 100))
def test_no_stage_works_more_than_its_share(layers, stages, layer_time, transfer):
    assert naive_step(layers, stages, layer_time, 0.0)[1] == pytest.approx(1 / stages)
    assert naive_step(layers, stages, layer_time, transfer)[1] <= (1 + 1e-12) / stages


def test_examples():
    assert naive_step(12, 3, 10 * ms, 5 * ms) == pytest.approx((0.38, 0.315789), rel=1e-5)
    assert naive_step(12, 3, 10 * ms, 5 * ms, 1) == pytest.approx((0.26, 0.307692), rel=1e-5)
    assert naive_step(80, 8, 2 * ms, 0.1 * ms) == pytest.approx((0.4814, 0.124636), rel=1e-5)
    assert naive_step(12, 1, 10 * ms, 5 * ms) == pytest.approx((0.36, 1.0))
    assert naive_step(32, 4, 1 * ms, 0) == pytest.approx((0.096, 0.25))
