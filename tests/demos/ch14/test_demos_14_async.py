"""The demo of two processes: what it shows must hold, and a bound that makes no sense is refused."""

from __future__ import annotations

import pytest
from demo_runs import table


@pytest.mark.proof(part="runs")
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
