"""The demos of RLHF runs: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import functools

import pytest
from demo_runs import run, table

from demos.ch13 import reward_hacking, rlhf
from experiments.ch13.rlhf_runs import Point
from rankzero import stored
from solutions.ch13.rlhf import token_rewards


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize(("algorithm", "reward"), [("ppo", "judge"), ("grpo", "model")])
def test_the_score_rises(algorithm, reward, tmp_path):
    rows = table(tmp_path, "rlhf", "--quick", "--algorithm", algorithm, "--reward", reward)
    assert [int(row["iteration"]) for row in rows] == list(range(5))
    assert float(rows[-1]["score"]) > float(rows[0]["score"])
    assert float(rows[0]["KL (nats)"]) == pytest.approx(0, abs=1e-4)
    if reward == "judge":
        assert all(row["score"] == row["judge"] for row in rows)


@pytest.mark.proof(part="runs")
def test_models_are_kept(tmp_path, monkeypatch, capsys):
    """The folder's models are taken, not trained."""
    made = rlhf.runs.reference(0, 25)
    monkeypatch.setattr(rlhf, "kept", lambda folder: (made, rlhf.runs.scorer(made, 0, 4)))
    monkeypatch.setattr(rlhf.runs, "reference", None)
    assert run("rlhf", "--cache", str(tmp_path), "--iterations", "2") == 0


@pytest.mark.proof(part="runs")
def test_prices_are_compared(tmp_path, capsys):
    rows = table(tmp_path, "reward_hacking", "--quick", "--betas", ".5,0,.1")
    assert [float(row["beta"]) for row in rows] == [0, 0.5]
    assert float(rows[0]["KL (nats)"]) > float(rows[1]["KL (nats)"])


def test_the_sweep_is_stored(tmp_path, monkeypatch, capsys):
    """The sweep itself takes minutes, so what it returns is replaced; PPO and GRPO must not change places."""
    point = Point(0, 0.5, 1.0, 0.0, 9.0, 0.0, "the film was good . <eos>")
    target = tmp_path / "sweep.json"
    monkeypatch.setattr(reward_hacking.runs, "sweep", lambda *_, loop=None: {(0.1, 3 if loop else 2): [point]})
    monkeypatch.setattr(reward_hacking.runs, "store", functools.partial(reward_hacking.runs.store, file=target))
    budget = functools.partial(reward_hacking.budget_runs.store, file=tmp_path / "best.json")
    monkeypatch.setattr(reward_hacking.budget_runs, "store", budget)
    monkeypatch.setattr(reward_hacking.budget_runs, "swept", lambda: [(0.1, 2, 5, 4, 1.0, 1.5, 2.0)])
    assert run("reward_hacking", "--store") == 0
    assert stored.read(tmp_path / "best.json") == ((0.1, 2, 5, 4, 1.0, 1.5, 2.0),)
    kept = (0, 0.5, 1.0, 0.0, "the film was good . <eos>")
    assert stored.read(target) == (("ppo", 0.1, 2, *kept), ("grpo", 0.1, 3, *kept))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["best.json", "sweep.json"]


@pytest.mark.proof(part="runs")
def test_an_actor_that_climbs_down_is_status_1(found_out):
    def down(right):
        def loss(*args, **kwargs):
            found, stats = right(*args, **kwargs)
            return -found, stats

        return loss

    assert "the score has risen: NO" in found_out("rlhf", "policy_loss", down, "--quick")


@pytest.mark.proof(part="runs")
def test_a_price_without_effect_is_status_1(monkeypatch, capsys):
    """The demo takes the loop of ``rlhf``, with its parts."""
    part = rlhf.part

    def free(*batch):
        return token_rewards(*batch[:-1], 0.0)

    monkeypatch.setattr(rlhf, "part", lambda *asked: free if asked[-1] == "token_rewards" else part(*asked))
    assert run("reward_hacking", "--quick") == 1
    assert "NO" in capsys.readouterr().out


def test_a_part_that_is_not_written(replaced, capsys):
    def missing(*args, **kwargs):
        raise NotImplementedError("13-masked-gae: not written yet")

    replaced("rlhf", "masked_gae", lambda right: missing)
    assert run("rlhf", "--quick") == 1
    assert capsys.readouterr().err == "13-masked-gae: not written yet\n"
