"""The demos of chapter 8: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import quick, table


@pytest.mark.proof(part="runs")
def test_a_decode_step_shares_its_weights():
    rows = quick("prefill_decode").rows
    assert [(row["pass"], row["tokens"]) for row in rows] == [
        ("prefill", "16"),
        ("prefill", "1024"),
        ("decode", "1"),
        ("decode", "64"),
    ]
    assert all(
        float(row["per token (ms)"]) == pytest.approx(float(row["time (ms)"]) / int(row["tokens"])) for row in rows
    )


def test_the_two_policies_on_the_workload(tmp_path):
    fixed, refilled = table(tmp_path, "continuous_batching")
    assert (fixed["steps"], refilled["steps"]) == ("977", "542")
    assert float(refilled["occupancy"]) == pytest.approx(3266 / 542 / 8)
    assert float(fixed["mean finish"]) == pytest.approx(539, abs=0.5)
    assert float(refilled["mean finish"]) == pytest.approx(219, abs=0.5)


@pytest.mark.proof(part="runs")
def test_the_engine_is_the_simulator(tmp_path):
    """Kills: an engine that starts a request late, or a policy that is not the chapter's."""
    small = ["--requests", "9", "--slots", "3", "--quick"]
    assert table(tmp_path, "continuous_batching", *small, "--engine", "tiny") == table(
        tmp_path, "continuous_batching", *small
    )


def test_arrivals_and_slots(tmp_path):
    rows = table(tmp_path, "continuous_batching", "--rate", "0.05", "--requests", "30", "--slots", "4")
    assert [row["policy"] for row in rows] == ["static", "continuous"]


def test_the_cost_of_llama_3_70b(tmp_path):
    """At eight H100: 141.1 GB over 26.8 TB/s is the floor of both passes."""
    rows = {row["what"]: float(row["value"]) for row in table(tmp_path, "serving_cost")}
    assert rows["prefill (ms)"] == pytest.approx(141.107412992 / 26.8, rel=1e-6)
    assert rows["decode step of 64 (ms)"] == pytest.approx((141.107412992 + 64 * 125 * 327_680 / 1e9) / 26.8, rel=1e-6)
    assert rows["in flight"] == pytest.approx(500 * rows["end to end (ms)"] / 1000)
    assert rows["GPUs"] == 8 * rows["replicas"] == 24


def test_other_spans_are_status_1(found_out):
    def late(right):
        return lambda *args: [(a, b + 1) for a, b in right(*args)]

    found_out("continuous_batching", "continuous_batching", late, "--quick")


def test_too_few_replicas_are_status_1(found_out):
    found_out("serving_cost", "replicas_needed", lambda right: lambda *args: right(*args) - 1)
