"""The stored runs that learn from old answers, as a page and a card read them. Standard library only.

>>> len(ends(4, "decoupled"))
3

They were made by :func:`experiments.ch14.lag_runs.lag_rows`; the file names the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankzero import checks, stored

STORED = Path(__file__).parent / "data" / "lags.json"

#: Ways to use old answers.
CORRECTIONS = ("none", "behaviour", "decoupled")


@dataclass(frozen=True)
class End:
    """How a run ended, over its last ten updates: the judge, and the share of effective samples."""

    judge: float
    share: float


def ends(lag: int, correction: str) -> list[End]:
    """The ends of the runs with this lag, by seed; without a lag there is nothing to correct.

    Args:
        lag: versions that answers are behind, one of those that were run.
        correction: one of :data:`CORRECTIONS`.
    """
    checks.one_of(CORRECTIONS, correction=correction)
    how = correction if lag else "none"
    return [End(*found) for stored_lag, name, _, *found in stored.read(STORED) if (stored_lag, name) == (lag, how)]
