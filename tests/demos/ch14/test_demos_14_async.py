"""The demos of shared weights and of two processes: what each shows must hold, and a wrong part must be status 1."""

from __future__ import annotations

import pytest
from demo_runs import run, table

from demos import common
from demos.ch14 import torn_reads
from solutions.ch14.weight_slots import WeightSlots


class Overwrites(WeightSlots):
    """Every publish goes to slot 0."""

    def begin_publish(self):
        self._open = 0
        return 0


def test_torn_reads(tmp_path):
    rows = {row["mode"]: row for row in table(tmp_path, "torn_reads", "--quick")}
    assert int(rows["single"]["torn"]) > 0
    assert [rows[mode]["torn"] for mode in ("versioned", "pinned")] == ["0", "0"]


def test_a_wrong_class_is_status_1(monkeypatch, capsys):
    """Kills a check that cannot fail."""
    monkeypatch.setattr(torn_reads, "part", lambda *_: Overwrites)
    assert run("torn_reads", "--mode", "pinned", "--seconds", "1") == 1
    assert "NO" in capsys.readouterr().out


def test_a_bound_of_zero_is_on_policy(tmp_path, capsys):
    rows = table(tmp_path, "async_rlhf", "--quick", "--max-staleness", "0", "--correction", "none")
    assert len(rows) == 6
    assert {row["staleness"] for row in rows} == {"0"}
    assert all(abs(float(row["effective share"]) - 1) < 1e-3 for row in rows)
    assert "mean staleness 0.00" in capsys.readouterr().out


def test_a_lag_that_is_set(tmp_path):
    rows = table(tmp_path, "async_rlhf", "--quick", "--lag", "2", "--correction", "behaviour")
    shares = [float(row["effective share"]) for row in rows]
    assert shares[0] == pytest.approx(1, abs=1e-3)
    assert max(shares[1:]) < 1


def test_a_bound_that_is_none(capsys):
    with pytest.raises(SystemExit) as stopped:
        run("async_rlhf", "--max-staleness", "-1")
    assert stopped.value.code == 2
    assert common.whole(0, 64)("3") == 3
    assert "must be a whole number from 0 to 64, got -1" in capsys.readouterr().err
