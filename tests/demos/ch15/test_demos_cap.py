"""The demos of the capstone: what each shows must hold, and a false result is status 1."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from demo_runs import run, table
from hypothesis import given
from hypothesis import strategies as st

from demos.ch15 import failures, survive
from solutions.ch15 import checkpointing, failing_runs, run_sheet
from solutions.ch15.failing_runs import simulate_run

# The sheet.


def test_published_stands_beside_computed_where_it_is_published(tmp_path):
    rows = {row["quantity"]: row for row in table(tmp_path, "training_plan")}
    assert (rows["parameters"]["published"], rows["GPU time"]["published"]) == ("405", "30.84")
    assert float(rows["parameters"]["computed"]) == 405.8533888
    other = table(tmp_path, "training_plan", "--gpus", "8192", "--layout", "8,1,16,64")
    assert {row["published"] for row in other} == {""}
    assert {row["published"] for row in table(tmp_path, "training_plan", "--tokens", "1e12")} == {""}


def test_what_is_assumed_is_said(capsys):
    assert run("training_plan") == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("assumed: "))
    assert all(word in line for word in ("price per gpu hour 2", "stall 60", "restart time 300", "chunks a rank 8"))


def test_no_rank_has_more_chunks_than_layers(tmp_path, capsys):
    """Kills a bubble of 8 chunks on ranks that have 4 layers each."""
    rows = table(tmp_path, "training_plan", "--model", "LLAMA3_8B", "--gpus", "1024", "--layout", "1,1,8,128")
    share = next(float(row["computed"]) for row in rows if row["quantity"] == "bubble")
    assert share == pytest.approx(100 * (7 / 4) / (16 + 7 / 4))
    assert "chunks a rank 4" in capsys.readouterr().out


def test_a_sheet_that_contradicts_itself_is_status_1(monkeypatch):
    true = run_sheet.run_report
    monkeypatch.setattr(run_sheet, "run_report", lambda *plan: replace(true(*plan), days=54.0))
    assert run("training_plan") == 1


# Intervals and failures.


def test_the_three_answers_are_daly_s_published_ones(tmp_path):
    rows = table(tmp_path, "checkpoint_interval", "--checkpoint", "300", "--mtbf-hours", "24", "--restart", "600")
    minutes = {row["method"]: float(row["minutes"]) for row in rows}
    assert round(minutes["daly"]) == 117
    assert minutes["young"] == pytest.approx(120)


def test_the_sweep_is_another_picture(tmp_path):
    assert run("checkpoint_interval", "--save", str(tmp_path / "curve.svg")) == 0
    assert run("checkpoint_interval", "--sweep", "--save", str(tmp_path / "sweep.svg")) == 0
    assert (tmp_path / "curve.svg").read_bytes() != (tmp_path / "sweep.svg").read_bytes()


def test_a_wrong_optimum_is_status_1(monkeypatch):
    monkeypatch.setattr(
        checkpointing, "optimal_checkpoint_interval", lambda stall, mtbf, method: math.sqrt(stall * mtbf)
    )
    assert run("checkpoint_interval") == 1


def test_a_simulation_that_forgets_restarts_is_status_1(monkeypatch):
    monkeypatch.setattr(
        failing_runs, "simulate_run", lambda work, tau, stall, restart, gaps: simulate_run(work, tau, stall, 0, gaps)
    )
    assert run("failures", "--quick") == 1


def test_clustered_failures_are_not_held_to_the_closed_form(capsys):
    assert run("failures", "--quick", "--weibull", "0.7") == 0
    assert "not held to these" in capsys.readouterr().out


def test_gaps_have_their_mean():
    for form in (0.7, 1.0, 2.0):
        drawn = failures.gaps(100.0, form, seed=3)
        assert sum(next(drawn) for _ in range(20_000)) / 20_000 == pytest.approx(100, rel=0.05)


# Surviving.


@given(st.integers(1, 300), st.integers(2, 8), st.integers(1, 20), st.integers(1, 4), st.integers(0, 50))
def test_planned_deaths_happen_before_the_end(steps, ranks, every, times, seed):
    """Each in turn, followed through the checkpoints, strikes before the last step."""
    done = 0
    for place, kill in enumerate(survive.planned(steps, ranks, every * times, every, seed)):
        assert 0 <= kill.rank < ranks
        assert kill.writing == (place % 3 == 2)
        assert done + kill.after < steps
        if kill.writing:
            done += (max(kill.after, 1) - 1) // every * every
        else:
            done += kill.after // every * every


@pytest.mark.proof(part="runs")
def test_a_run_that_ends_otherwise_is_status_1(monkeypatch, capsys):
    """Kills: a proof that compares nothing. The second run saves its weights alone."""
    true = survive.survive

    def forgetful(steps, every, kills=(), ranks=4, **more):
        return true(steps, every, kills, ranks, whole=False, **more)

    monkeypatch.setattr(survive, "survive", forgetful)
    assert run("survive", "--quick") == 1
    assert "deaths: 1;" in capsys.readouterr().out


# Writing.


@pytest.mark.proof(part="runs")
def test_every_number_of_writers_has_its_row(tmp_path):
    rows = table(tmp_path, "write_checkpoint", "--writers", "1,2,3", "--size", "60KB", "--folder", str(tmp_path))
    assert [(row["writers"], row["bytes on the disk"]) for row in rows] == [
        ("1", "60000"),
        ("2", "60000"),
        ("3", "60000"),
    ]
