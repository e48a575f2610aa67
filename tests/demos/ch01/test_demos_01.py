"""The demos of chapter 1: what each shows must hold, a false result is status 1, a wrong command status 2."""

from __future__ import annotations

import pytest
from demo_runs import refused, run, table

from demos.ch01 import check_setup, launch_environment
from experiments.ch01.launching import VARIABLES


def test_a_wrong_sum_is_a_failure(monkeypatch, capsys):
    """Kills a setup check that prints the sum and succeeds whatever it is."""
    monkeypatch.setattr(check_setup, "total", lambda: 4.0)
    assert run("check_setup") == 1
    assert "NO" in capsys.readouterr().out


def test_a_launcher_that_sets_nothing_is_a_failure(monkeypatch):
    monkeypatch.setattr(launch_environment, "launched", lambda _launcher, ranks: [dict.fromkeys(VARIABLES)] * ranks)
    assert run("launch_environment", "--launcher", "spawn") == 0
    assert run("launch_environment", "--launcher", "torchrun") == 1


def test_a_launcher_that_sets_all_is_right(monkeypatch, tmp_path):
    values = ("1", "2", "1", "localhost", "29500")
    monkeypatch.setattr(launch_environment, "launched", lambda *_: [dict(zip(VARIABLES, values, strict=True))])
    (row,) = table(tmp_path, "launch_environment", "--launcher", "torchrun")
    assert tuple(row[name] for name in VARIABLES) == values
    assert row["rendezvous"] == "accepted"


def test_the_order_of_the_axes_decides_which_groups_leave_a_node(tmp_path):
    """With tp last no tensor group leaves a node of eight; with tp first all of them do."""
    sizes = ("--dp", "4", "--pp", "2", "--tp", "8")
    leaving = {}
    for order in ("dp,pp,tp", "tp,pp,dp"):
        rows = table(tmp_path, "rank_map", *sizes, "--order", order)
        leaving[order] = {row["axis"]: (row["leave a node"], row["groups"]) for row in rows}
    assert leaving["dp,pp,tp"]["tp"] == ("0", "8")
    assert leaving["tp,pp,dp"]["tp"] == ("8", "8")
    assert leaving["tp,pp,dp"]["dp"] == ("0", "16")


def test_the_map_shows_the_rank_that_is_asked_for(capsys):
    assert run("rank_map", "--order", "pp,dp,tp", "--per-node", "4", "--rank", "11") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "rank 11 of 16: node 2, device 3; pp 1, dp 1, tp 1"
    assert lines[1] == "pp groups: [0, 8] [1, 9] [2, 10] [3, 11] [4, 12] [5, 13] [6, 14] [7, 15]"


def test_the_plan_of_gpt_3(tmp_path):
    """175 billion parameters, 300 billion tokens, A100s at half their peak, 3 USD an hour."""
    arguments = ("--parameters", "175e9", "--tokens", "300e9", "--gpu", "A100_SXM", "--mfu", "0.5", "--count", "1024")
    rows = table(tmp_path, "plan", *arguments)
    found = {(row["quantity"], row["unit"]): float(row["value"]) for row in rows}
    assert found["work", "FLOP"] == pytest.approx(3.15e23)
    assert found["work", "PF-days"] == pytest.approx(3.15e23 / 8.64e19)
    assert found["time", "days"] == pytest.approx(3.15e23 / (1024 * 156e12) / 86_400)
    assert found["device-hours", "h"] == pytest.approx(560_897, abs=1)
    assert found["cost", "USD"] == pytest.approx(1.68269e6, rel=1e-5)
    assert found["tokens per parameter", ""] == pytest.approx(300 / 175)
    assert found["fewest devices for the states", ""] == 35


def test_a_small_model_fits_on_one_device():
    assert run("plan", "--parameters", "1e8", "--tokens", "2e9") == 0


def test_a_device_too_many_is_a_failure(found_out):
    found_out("plan", "minimum_ranks", lambda right: lambda *_: 99)


def test_nccl_without_devices_is_a_wrong_command(monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert "nccl" in refused("hello", "--backend", "nccl").lower()
