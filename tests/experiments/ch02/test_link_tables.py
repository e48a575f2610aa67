"""The table of a link: its predictions are those of the function that is given."""

from __future__ import annotations

from experiments.ch02.link_tables import compare
from rankzero.facts.units import GB, us


def test_the_readers_own_function_predicts(capsys):
    """Kills a table that shows the reference's times whatever the reader wrote."""
    compare({1: 1 * us, 1000: 2 * us}, [1000], 1 * us, 1 * GB, lambda size, bandwidth, alpha: 3 * us)
    row, last = capsys.readouterr().out.splitlines()
    assert row.endswith("yours     3.00 µs, error  50%,  50% of B")
    assert last == "largest error of all 2 sizes: 200%"
