"""The demos of chapter 14's weights: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
import torch
from demo_runs import quick, run, table


@pytest.mark.proof(part="runs")
def test_every_road_has_a_row():
    found = quick("weight_sync")
    assert [row["road"] for row in found.rows] == ["disk", "pipe", "gloo", "shared"]
    assert all(float(row["1 MB (ms)"]) > 0 for row in found.rows)
    assert "does not grow with them: yes" in found.said


def test_one_road_and_no_gpu(capsys):
    assert run("weight_sync", "--quick", "--roads", "gloo", "--cuda-ipc") == 0
    out = capsys.readouterr().out
    assert torch.cuda.is_available() or "cuda ipc skipped: no GPU" in out
    assert "disk" not in out


def test_the_plan_of_the_page(tmp_path, capsys):
    rows = table(tmp_path, "reshard", "--shape", "8x6", "--from", "rows4", "--to", "cols2x2")
    assert len(rows) == 16
    assert sum(int(row["bytes"]) for row in rows if row["piece"] != "kept") == 4 * 72
    assert "received, by rank: 72, 72, 72, 72" in capsys.readouterr().out


def test_a_wrong_part_is_status_1(found_out):
    found_out("reshard", "execute_reshard", lambda right: lambda *asked: -right(*asked))


def test_neighbours():
    assert run("reshard", "--to", "rows2:2") == 0
