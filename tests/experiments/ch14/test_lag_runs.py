"""Learning from older weights: laws of the corrections, and a lag that is set."""

from __future__ import annotations

import pytest
import torch

from experiments.ch12.toy_models import copied, judged, reference
from experiments.ch13.rlhf_steps import optimizer_of
from experiments.ch14 import lag_runs
from experiments.ch14.lag_runs import CORRECTIONS, Recipe, flat, lagged, learn, load, written
from rankzero import stored as tables


@pytest.fixture(scope="module")
def model():
    """It has learnt a little: enough for what is not about learning."""
    return reference(0, 30)


def updated(model, writer, recipe: Recipe) -> tuple[torch.Tensor, float]:
    """All parameters after one update with what ``writer`` wrote, and the share of effective samples."""
    actor, generator = copied(model), torch.Generator().manual_seed(5)
    rollout = written(writer, recipe.settings, 0, 0, generator)
    share = learn(actor, optimizer_of(actor, recipe.settings), rollout, judged(rollout.tokens), recipe)
    return flat(actor), share


def test_on_its_own_words_nothing_is_corrected(model):
    """All three corrections make the same update; every sample counts."""
    plain, *others = (updated(model, model, Recipe(correction)) for correction in CORRECTIONS)
    assert plain[1] == pytest.approx(1, abs=1e-4)
    for parameters, share in others:
        assert share == pytest.approx(plain[1])
        assert torch.allclose(parameters, plain[0], atol=2e-4)


def test_on_the_words_of_others_they_differ(model):
    found = [updated(model, reference(1, 30), Recipe(correction)) for correction in CORRECTIONS]
    assert len({round(parameters.double().sum().item(), 6) for parameters, _ in found}) == 3
    assert all(0 < share < 0.9 for _, share in found)


def test_decoupled_weighs_with_the_function_it_is_given(model):
    def none(target, behaviour, cap=None, mode="truncate", level="token"):
        return [1.0] * len(target)

    writer = reference(1, 30)
    same = updated(model, writer, Recipe("decoupled", weights=none)), updated(model, writer, Recipe("none"))
    assert torch.equal(same[0][0], same[1][0])


def test_parameters_travel_flat(model):
    other = reference(1, 30)
    fresh = copied(model)
    load(fresh, flat(other))
    assert torch.equal(flat(fresh), flat(other))
    assert not torch.equal(flat(fresh), flat(model))


def test_a_lag_is_of_versions(model, monkeypatch):
    """The writer of step s has the weights of step s - lag, or the first ones."""
    seen, before = [], []
    right, teach = lag_runs.written, lag_runs.learn
    monkeypatch.setattr(lag_runs, "written", lambda writer, *rest: seen.append(flat(writer)) or right(writer, *rest))
    monkeypatch.setattr(lag_runs, "learn", lambda actor, *rest: before.append(flat(actor)) or teach(actor, *rest))
    lagged(model, 2, Recipe("behaviour"), steps=5)
    places = [next(place for place, one in enumerate(before) if torch.equal(one, wrote)) for wrote in seen]
    assert places == [0, 0, 0, 1, 2]


@pytest.mark.proof(part="runs")
def test_the_same_twice(model):
    assert lagged(model, 1, Recipe(), steps=4) == lagged(model, 1, Recipe(), steps=4)


# What is stored.


def stored(lag: int, correction: str) -> list[tuple[float, float]]:
    return [row[3:] for row in tables.read(lag_runs.STORED) if row[:2] == (lag, correction)]


def test_the_store_is_complete():
    wanted = {(lag, how) for lag in lag_runs.LAGS for how in (CORRECTIONS if lag else ("none",))}
    assert {row[:2] for row in tables.read(lag_runs.STORED)} == wanted
    assert all(len(stored(*one)) == len(lag_runs.SEEDS) for one in wanted)


@pytest.mark.proof(part="runs")
@pytest.mark.xdist_group("rlhf runs")
def test_a_stored_run_is_found_again():
    """Digits differ between machines; what a lag does to learning does not."""
    ((_, _, _, judge, share),) = lag_runs.lag_rows(reference(), (4,), (0,), ("behaviour",))
    wanted = stored(4, "behaviour")[0]
    assert judge == pytest.approx(wanted[0], abs=0.25)
    assert share == pytest.approx(wanted[1], abs=0.2)
    assert judge > lagged(reference(), 4, Recipe("behaviour"), steps=1).judge[0] + 1


def test_what_the_page_says_of_the_lag():
    """One version is free, four cost unless corrected, sixteen are too many. A margin each."""
    table = lag_runs.lag_table()
    judge = {key: row[0] for key, row in table.items()}
    share = {key: row[1] for key, row in table.items()}
    assert all(abs(judge[1, how] - judge[0, "none"]) < 0.15 for how in CORRECTIONS)
    assert judge[4, "none"] < judge[0, "none"] - 0.2
    assert min(judge[4, "behaviour"], judge[4, "decoupled"]) > judge[4, "none"] + 0.1
    assert all(judge[16, how] < judge[0, "none"] - 0.4 for how in CORRECTIONS)
    assert min(share[1, how] for how in CORRECTIONS) > 0.8 > 0.4 > max(share[16, how] for how in CORRECTIONS)


def test_the_file_is_what_the_program_writes(tmp_path):
    """Kills a file that was edited by hand, and a program that writes another form than the pages read."""
    lag_runs.store(tables.read(lag_runs.STORED), tmp_path / "lags.json")
    assert (tmp_path / "lags.json").read_bytes() == lag_runs.STORED.read_bytes()
