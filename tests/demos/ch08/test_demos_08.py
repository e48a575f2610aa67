"""The demos of chapter 8: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos import common
from demos.ch08 import continuous_batching, serving_cost


def wrong(name: str, change):
    """Parts of which one is changed."""

    def part(code, module, asked):
        found = common.part("solutions", module, asked)
        return change(found) if asked == name else found

    return part


def test_a_decode_step_shares_its_weights(tmp_path):
    rows = table(tmp_path, "prefill_decode", "--quick")
    assert [(row["pass"], row["tokens"]) for row in rows] == [
        ("prefill", "16"),
        ("prefill", "1024"),
        ("decode", "1"),
        ("decode", "64"),
    ]
    assert all(
        float(row["per token (ms)"]) == pytest.approx(float(row["time (ms)"]) / int(row["tokens"])) for row in rows
    )


def test_a_picture_of_both_passes(tmp_path):
    assert run("prefill_decode", "--quick", "--prompts", "8,32", "--save", str(tmp_path / "passes.png")) == 0
    assert (tmp_path / "passes.png").stat().st_size > 1000


def test_the_two_policies_on_the_workload(tmp_path):
    fixed, refilled = table(tmp_path, "continuous_batching")
    assert (fixed["steps"], refilled["steps"]) == ("977", "542")
    assert float(refilled["occupancy"]) == pytest.approx(3266 / 542 / 8)
    assert float(fixed["mean finish"]) == pytest.approx(539, abs=0.5)
    assert float(refilled["mean finish"]) == pytest.approx(219, abs=0.5)


def test_the_engine_is_the_simulator(tmp_path):
    """Kills: an engine that starts a request late, or a policy that is not the chapter's."""
    small = ["--requests", "9", "--slots", "3", "--quick"]
    assert table(tmp_path, "continuous_batching", *small, "--engine", "tiny") == table(
        tmp_path, "continuous_batching", *small
    )


def test_arrivals_and_slots(tmp_path):
    rows = table(tmp_path, "continuous_batching", "--rate", "0.05", "--requests", "30", "--slots", "4")
    assert [row["policy"] for row in rows] == ["static", "continuous"]
    assert run("continuous_batching", "--quick", "--save", str(tmp_path / "slots.png")) == 0


def test_a_rate_on_the_engine_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        run("continuous_batching", "--rate", "1", "--engine", "tiny")
    assert stopped.value.code == 2
    assert "--rate must be 0" in capsys.readouterr().err


def test_other_spans_are_status_1(monkeypatch, capsys):
    late = wrong("continuous_batching", lambda right: lambda *args: [(a, b + 1) for a, b in right(*args)])
    monkeypatch.setattr(continuous_batching, "part", late)
    assert run("continuous_batching", "--quick") == 1
    assert "NO" in capsys.readouterr().out


def test_too_few_replicas_are_status_1(monkeypatch):
    monkeypatch.setattr(serving_cost, "part", wrong("replicas_needed", lambda right: lambda *args: right(*args) - 1))
    assert run("serving_cost") == 1


def test_the_cost_of_llama_3_70b(tmp_path):
    """At eight H100: 141.1 GB over 26.8 TB/s is the floor of both passes."""
    rows = {row["what"]: float(row["value"]) for row in table(tmp_path, "serving_cost")}
    assert rows["prefill (ms)"] == pytest.approx(141.107412992 / 26.8, rel=1e-6)
    assert rows["decode step of 64 (ms)"] == pytest.approx((141.107412992 + 64 * 125 * 327_680 / 1e9) / 26.8, rel=1e-6)
    assert rows["in flight"] == pytest.approx(500 * rows["end to end (ms)"] / 1000)
    assert rows["GPUs"] == 8 * rows["replicas"] == 24


@pytest.mark.parametrize("arguments", [["--tp", "1"], ["--tp", "2", "--slots", "4096", "--prompt", "8192"]])
def test_what_does_not_fit_is_refused(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        run("serving_cost", *arguments)
    assert stopped.value.code == 2
    assert "LLAMA3_70B does not fit: 141.1 GB of weights" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["prefill_decode", "continuous_batching", "serving_cost"])
def test_an_unwritten_part_is_a_sentence(name, capsys):
    assert run(name, "--quick", "--code", "labs") == 1
    assert "not written yet" in capsys.readouterr().err
