"""The demos of chapter 10: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import table


def test_the_published_list_and_the_powers(tmp_path):
    traffic = tmp_path / "traffic.txt"
    traffic.write_text("\n".join(str(batch) for batch in range(1, 257)), encoding="utf-8")
    rows = table(tmp_path, "graph_sizes", "--traffic", str(traffic))
    assert [row["graphs"] for row in rows] == ["9", "35", "256"]
    assert [float(row["padded rows (%)"]) for row in rows] == pytest.approx([24.7076, 2.59098, 0], abs=1e-3)


def test_what_has_no_graph_is_counted_apart(tmp_path):
    traffic = tmp_path / "traffic.txt"
    traffic.write_text("65\n3\n64\n100\n", encoding="utf-8")
    (row,) = table(tmp_path, "graph_sizes", "--traffic", str(traffic), "--sizes", "pow2", "--most", "64")
    assert (row["graphs"], row["batches without a graph"]) == ("7", "2")
    assert float(row["padded rows (%)"]) == pytest.approx(100 / 68)


@pytest.mark.proof(part="runs")
def test_an_early_end_wastes_a_token(tmp_path):
    turn, side = table(tmp_path, "overlap", "--steps", "12", "--streams", "3", "--eos", "t")
    assert (turn["mode"], side["mode"]) == ("in turn", "overlapped")
    assert turn["tokens wasted"] == "0"
    assert side["tokens wasted"] == side["ended early"] != "0"


@pytest.mark.proof(part="runs")
def test_one_mode_alone(tmp_path):
    (row,) = table(tmp_path, "overlap", "--steps", "4", "--streams", "2", "--mode", "overlap")
    assert row["steps"] == "4"


def test_a_waste_of_useful_rows_is_status_1(found_out):
    found_out("graph_sizes", "padding_waste", lambda right: lambda *asked: 1 - right(*asked), "--quick")


def test_slots_that_are_mixed_up_are_status_1(found_out):
    def mixed(right):
        class Mixed(right):
            def resolve(self, tokens):
                return [token if token >= 0 else 32 for token in tokens]

        return Mixed

    found_out("overlap", "FutureMap", mixed, "--steps", "12", "--streams", "4")
