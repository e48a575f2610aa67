"""What policies serve as the best of n: laws on a model that has learnt a little, and a loop that may be watched."""

from __future__ import annotations

import pytest

from experiments.ch12.toy_models import reference, scorer
from experiments.ch13 import budget_runs
from experiments.ch13.rlhf_runs import ppo
from experiments.ch13.rlhf_steps import Settings, assemble

SMALL = Settings(responses=8, epochs=1)


@pytest.fixture(scope="module")
def model():
    return reference(0, 30)


@pytest.fixture(scope="module")
def reward(model):
    return scorer(model, 0, 4)


@pytest.mark.proof(part="runs")
def test_choosing_raises_the_score_and_the_reference_is_no_way_from_itself(model, reward):
    """Of the same answers: kills a choice across prompts, and one by the judge."""
    one, four, sixteen = budget_runs.served(model, model, reward, prompts=16)
    assert (one.n, four.n, sixteen.n) == (1, 4, 16)
    assert one.score < four.score < sixteen.score
    assert max(abs(found.ratio) for found in (one, four, sixteen)) < 1e-3
    assert sixteen.nats == pytest.approx(1.835, abs=0.002)


@pytest.mark.proof(part="runs")
def test_a_loop_that_is_watched_goes_the_same_way(model, reward):
    """Before each update and after the last one, with the actor of that moment."""
    seen = []

    def look(iteration, actor):
        budget_runs.served(actor, model, reward, (1, 2), prompts=2)
        seen.append((iteration, actor.head.weight.sum().item()))

    watched, alone = (ppo(assemble(model, reward), SMALL, 2, 5, seen=one) for one in (look, None))
    assert watched == alone
    assert [iteration for iteration, _ in seen] == [0, 1, 2]
    assert len({weights for _, weights in seen}) == 3


@pytest.mark.proof(part="runs")
def test_only_what_is_wanted_is_kept(model, reward, monkeypatch):
    monkeypatch.setattr(budget_runs, "reference", lambda: model)
    monkeypatch.setattr(budget_runs, "scorer", lambda _: reward)
    found = list(budget_runs.swept((0.1, 0.5), (2,), (0, 1)))
    wanted = [(beta, 2, iteration, n) for beta in (0.1, 0.5) for iteration in (0, 1) for n in (1, 4, 16)]
    assert [row[:4] for row in found] == wanted
    assert found[:3] == [(0.1, *row[1:]) for row in found[6:9]]  # before an update the price has done nothing
