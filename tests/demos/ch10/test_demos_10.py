"""The demos of chapter 10: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos import common
from demos.ch10 import graph_sizes, overlap


def wrong(module, monkeypatch, name, program):
    """The demo gets ``program`` for the part of this name."""
    right = common.part
    monkeypatch.setattr(module, "part", lambda code, place, own: program if own == name else right(code, place, own))


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


def test_a_waste_of_useful_rows_is_status_1(monkeypatch, capsys):
    right = common.part("solutions", "ch10.scheduling", "padding_waste")
    wrong(graph_sizes, monkeypatch, "padding_waste", lambda batches, sizes: 1 - right(batches, sizes))
    assert run("graph_sizes", "--quick") == 1
    assert "NO" in capsys.readouterr().out


def test_an_early_end_wastes_a_token(tmp_path):
    turn, side = table(tmp_path, "overlap", "--steps", "12", "--eos", "t")
    assert (turn["mode"], side["mode"]) == ("in turn", "overlapped")
    assert turn["tokens wasted"] == "0"
    assert side["tokens wasted"] == side["ended early"] != "0"


def test_one_mode_alone(tmp_path):
    (row,) = table(tmp_path, "overlap", "--steps", "4", "--streams", "2", "--mode", "overlap")
    assert row["steps"] == "4"


def test_slots_that_are_mixed_up_are_status_1(monkeypatch, capsys):
    class Mixed(common.part("solutions", "ch10.future_map", "FutureMap")):
        def resolve(self, tokens):
            return [token if token >= 0 else 32 for token in tokens]

    wrong(overlap, monkeypatch, "FutureMap", Mixed)
    assert run("overlap", "--steps", "12", "--streams", "4") == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("dispatch_overhead", ["--sizes", "100"]),
        ("dispatch_overhead", ["--sizes", "1,x"]),
        ("cuda_graph", ["--batch", "0"]),
        ("cuda_graph", ["--save", "picture.png"]),
        ("graph_sizes", ["--sizes", "fibonacci"]),
        ("graph_sizes", ["--traffic", "nowhere/at/all.txt"]),
        ("graph_sizes", ["--most", "100"]),
        ("overlap", ["--mode", "threads"]),
        ("overlap", ["--eos", "end"]),
    ],
)
def test_a_wrong_command_is_one_sentence_and_status_2(name, arguments, capsys):
    with pytest.raises(SystemExit) as end:
        run(name, *arguments)
    assert end.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
