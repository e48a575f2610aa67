"""The demos of chapter 6: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from rankzero.facts.hardware import H100_SXM


def test_without_f_only_the_gradient_of_the_input_is_wrong(tmp_path):
    rows = table(tmp_path, "tp_linear", "--drop-f", "--ranks", "2")
    assert [row["of"] for row in rows if row["right"] != "yes"] == ["gradient of the input"]


def test_one_rank_needs_no_f():
    assert run("tp_linear", "--drop-f", "--ranks", "1") == 0


def test_the_gathering_mlp_sends_more(tmp_path):
    """Forward and backward: 4 units of (t-1)/t M against 15."""
    split, gathering = table(tmp_path, "tp_mlp", "--quick", "--ranks", "2")
    assert int(gathering["bytes sent by a rank"]) * 4 == int(split["bytes sent by a rank"]) * 15
    assert split["collectives, forward and backward"] == "2 all_reduce"


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("arguments", [["--sp", "--ranks", "2"], ["--kv-heads", "1", "--ranks", "4"], ["--ranks", "1"]])
def test_a_block_learns_like_its_twin(arguments, tmp_path):
    rows = table(tmp_path, "tp_block", "--steps", "5", *arguments)
    assert len(rows) == 5
    assert float(rows[-1]["loss, split"]) < float(rows[0]["loss, split"])


def test_costs_are_those_of_the_chapter(tmp_path):
    """Llama 3 70B at t = 8: 37.58 GB a step, 20.9 % of the matrices' time at half of the peak."""
    rows = table(tmp_path, "tp_cost")
    eight = next(row for row in rows if row["t"] == "8")
    assert float(eight["sent, tensor (GB)"]) == pytest.approx(37.5809638)
    share = 14 * H100_SXM.peak_bf16 / 2 / (9 * 8192 * 450e9)
    assert float(eight["of 72 s b h^2 / t (%)"]) == pytest.approx(100 * share)
    assert eight["query and KV heads"] == "8 and 1"
    assert rows[-1]["query and KV heads"] == "4 and 1, on 2 ranks"
    # Sixteen ranks are two nodes: half of the work each, and an eighth of every tensor through each port.
    crossing = 2 * H100_SXM.peak_bf16 / 2 / (9 * 8192 * 50e9)
    assert float(rows[-1]["of 72 s b h^2 / t (%)"]) == pytest.approx(100 * (2 * share + crossing))


def test_slices_that_are_gathered_again_cost_a_quarter_more(tmp_path):
    plain = float(table(tmp_path, "tp_cost")[3]["sent, tensor (GB)"])
    assert float(table(tmp_path, "tp_cost", "--sp")[3]["sent, tensor (GB)"]) == pytest.approx(1.25 * plain)


def test_f_that_does_nothing_is_status_1(found_out):
    found_out("tp_linear", "copy_to_ranks", lambda right: lambda x: x * 1)


def test_a_traffic_of_elements_is_status_1(found_out):
    found_out("tp_cost", "tensor_parallel_traffic", lambda right: lambda *a, **k: right(*a, **k) / 2)
