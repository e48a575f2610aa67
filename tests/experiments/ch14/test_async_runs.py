"""A rollout worker and a trainer, two processes behind a gate."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.ch12.toy_models import reference
from experiments.ch14.async_runs import together
from experiments.ch14.lag_runs import DECOUPLED, lagged
from rankzero.world import shared_weights


@pytest.fixture(scope="module")
def model():
    """It has learnt a little: enough for what is not about learning."""
    return reference(0, 30)


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("max_staleness", [0, 2])
def test_the_gate_holds_between_processes(model, max_staleness):
    """Bound 0 is on-policy, for every batch; else no batch is older than the bound, for they arrive in order."""
    run = together(model, max_staleness, steps=8)
    assert [step.version for step in run.steps] == list(range(8))
    assert all(0 <= step.staleness <= max_staleness for step in run.steps)
    assert run.steps[0].behaviour == 0
    assert [name for name, _, _ in run.worker] == ["load", "generate"] * 8
    assert [name for name, _, _ in run.trainer] == ["train", "publish"] * 8
    assert 0 <= run.idle("trainer") < run.seconds


@pytest.mark.proof(part="runs")
def test_bound_zero_takes_turns(model):
    """No batch is begun before the update that it follows is published."""
    run = together(model, 0, steps=5)
    starts = [start for name, start, _ in run.worker if name == "load"]
    published = [start for name, start, _ in run.trainer if name == "publish"]
    assert all(start > before - 1e-3 for start, before in zip(starts[1:], published, strict=False))
    on_policy = lagged(model, 0, DECOUPLED, steps=5)
    assert [step.judge for step in run.steps] == pytest.approx(on_policy.judge, abs=0.2)


def test_bad_bounds_are_refused_before_anything_starts(model):
    with pytest.raises(ValueError, match="max_staleness must be an integer >= 0, got -1"):
        together(model, -1)


def test_no_memory_is_left_behind(model, monkeypatch):
    made = []
    right = shared_weights.Address
    monkeypatch.setattr(shared_weights, "Address", lambda *given: made.append(right(*given)) or made[-1])
    together(model, 1, steps=2)
    assert [Path(address.folder).exists() for address in made] == [False]
