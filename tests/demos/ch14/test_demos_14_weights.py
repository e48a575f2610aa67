"""The demos of chapter 14's weights: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
import torch
from demo_runs import run, table

from demos import common
from demos.ch14 import reshard
from solutions.ch14.weight_push import execute_reshard


def test_every_road_has_a_row(tmp_path, capsys):
    rows = table(tmp_path, "weight_sync", "--quick")
    assert [row["road"] for row in rows] == ["disk", "pipe", "gloo", "shared"]
    assert all(float(row["1 MB (ms)"]) > 0 for row in rows)
    assert "does not grow with them: yes" in capsys.readouterr().out


def test_one_road_and_no_gpu(capsys):
    assert run("weight_sync", "--quick", "--roads", "gloo", "--cuda-ipc") == 0
    out = capsys.readouterr().out
    assert torch.cuda.is_available() or "cuda ipc skipped: no GPU" in out
    assert "disk" not in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--sizes", "16"], "two sizes or more"),
        (["--sizes", "0,16"], "from 1 to 1024 MB"),
        (["--roads", "pigeon"], "must be some of disk,pipe,gloo,shared"),
    ],
)
def test_roads_that_are_not_there(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stopped:
        run("weight_sync", *arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_the_plan_of_the_page(tmp_path, capsys):
    rows = table(tmp_path, "reshard", "--shape", "8x6", "--from", "rows4", "--to", "cols2x2")
    assert len(rows) == 16
    assert sum(int(row["bytes"]) for row in rows if row["piece"] != "kept") == 4 * 72
    assert "received, by rank: 72, 72, 72, 72" in capsys.readouterr().out


def test_neighbours_and_a_picture(tmp_path):
    assert run("reshard", "--to", "rows2:2", "--save", str(tmp_path / "plan.svg")) == 0
    assert (tmp_path / "plan.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--shape", "8"], "must be ROWSxCOLUMNS"),
        (["--to", "slices4"], "layout must be a word"),
        (["--to", "rows2"], "for the same ranks"),
        (["--from", "rows9", "--to", "rows9"], "at most 8"),
    ],
)
def test_a_plan_that_cannot_be(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stopped:
        run("reshard", *arguments)
    assert stopped.value.code == 2
    assert sentence in capsys.readouterr().err


def test_a_wrong_part_is_status_1(monkeypatch, capsys):
    """Kills a check that cannot fail."""

    def negative(local, source, target, plan):
        return -execute_reshard(local, source, target, plan)

    right = common.part
    monkeypatch.setattr(
        reshard, "part", lambda code, module, name: negative if name == "execute_reshard" else right(code, module, name)
    )
    assert run("reshard") == 1
    assert "NO" in capsys.readouterr().out
