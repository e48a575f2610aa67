"""The demos of chapter 14's placements: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from experiments.ch14 import memory_runs


def test_the_job_of_the_page(tmp_path):
    rows = table(tmp_path, "memory_timeline")
    resident = [float(row["resident (GB)"]) for row in rows]
    assert resident == pytest.approx([66.4576, 8.81921, 47.2769], rel=1e-5)
    assert float(rows[2]["copied in (GB)"]) == pytest.approx(26.4576, rel=1e-5)


def test_nothing_leaves(capsys):
    assert run("memory_timeline", "--offload", "nothing", "--algorithm", "grpo") == 0
    assert "0.00 s of copies" in capsys.readouterr().out


def test_real_tensors(tmp_path, capsys, monkeypatch):
    """Small ones."""
    monkeypatch.setattr(
        memory_runs, "CONFIG", memory_runs.GPTConfig(vocab=32, layers=2, heads=2, head_dim=8, context=16)
    )
    picture = tmp_path / "memory.svg"
    assert run("memory_timeline", "--real", "--save", str(picture)) == 0
    assert "in every phase: yes" in capsys.readouterr().out
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(("mode", "seconds"), [("turns", 135), ("barrier", 100), ("continuous", 95.24)])
def test_the_gain_of_the_page(mode, seconds, tmp_path, capsys):
    picture = tmp_path / "gantt.svg"
    assert run("rlhf_timeline", "--mode", mode, "--save", str(picture)) == 0
    out = capsys.readouterr().out
    assert "in turn: 135 s" in out
    assert "barrier: best split 60 and 40, 100 s" in out
    assert "continuous: best split 63 and 37, 95.24 s" in out
    assert f"shown: {mode}, {seconds} s an iteration" in out
    assert picture.stat().st_size > 1000


def test_pools_take_over_with_the_tail(tmp_path):
    assert table(tmp_path, "placement", "--gpus", "128", "--tail", "0")[0]["placement"] == "colocated"
    first = table(tmp_path, "placement", "--gpus", "128", "--tail", "90", "--barrier")[0]
    assert (first["placement"], first["rollout GPUs"], first["training GPUs"]) == ("two pools", "48", "80")
    best = table(tmp_path, "placement", "--gpus", "128", "--tail", "90")[0]
    assert (best["rollout GPUs"], best["iteration (s)"]) == ("64", "60.0")
    floor = table(tmp_path, "placement", "--gpus", "128", "--tail", "0", "--floor", "60")[0]
    assert floor["placement"] == "two pools"


def test_where_nothing_fits(tmp_path, capsys):
    picture = tmp_path / "none.svg"
    assert run("placement", "--gpus", "32", "--save", str(picture)) == 0
    assert "nothing fits or divides by TP 8: 79.4 GB of states" in capsys.readouterr().out


def test_a_wrong_timeline_is_status_1(found_out):
    """A first phase that loads everything."""

    def wrong(right):
        def timeline(phases, sizes, discardable):
            first, *others = right(phases, sizes, discardable)
            return [type(first)(first.name, first.resident, first.resident, 0.0), *others]

        return timeline

    found_out("memory_timeline", "memory_timeline", wrong)


@pytest.mark.parametrize("demo", ["placement", "rlhf_timeline"])
def test_a_search_that_never_splits_is_status_1(demo, found_out):
    found_out(demo, "best_placement", lambda right: lambda gpus, *work, **more: right(gpus, *work[:2], 0.0))
