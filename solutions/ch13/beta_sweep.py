"""The stored sweep of beta: what a price on distance did to score, judge and distance. Standard library only.

>>> len({run.beta for run in RUNS}), len({run.seed for run in RUNS})
(6, 2)

The numbers were measured once by :func:`experiments.ch13.rlhf_runs.sweep` and are stored in
:mod:`rankzero.stored_sweep`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.stored_sweep import GRPO_ROWS, ROWS

Row = tuple[float, int, int, float, float, float, str]


@dataclass(frozen=True)
class Moment:
    """One kept iteration of a run, as in :class:`experiments.ch13.rlhf_runs.Point`; ``kl`` is in nats per response."""

    iteration: int
    score: float
    judge: float
    kl: float
    sample: str


@dataclass(frozen=True)
class SweptRun:
    """One run of the sweep; its moments are in order of the iterations."""

    beta: float
    seed: int
    moments: tuple[Moment, ...]

    @property
    def end(self) -> Moment:
        """What the run came to."""
        return self.moments[-1]


def grouped(rows: Sequence[Row]) -> tuple[SweptRun, ...]:
    """The runs that these rows make up, by seed and beta."""
    found: dict[tuple[float, int], list[Moment]] = {}
    for beta, seed, iteration, score, judge, kl, sample in rows:
        found.setdefault((beta, seed), []).append(Moment(iteration, score, judge, kl, sample))
    return tuple(SweptRun(beta, seed, tuple(moments)) for (beta, seed), moments in found.items())


#: PPO with beta in the reward; GRPO with beta times k3 in the loss.
RUNS, GRPO_RUNS = grouped(ROWS), grouped(GRPO_ROWS)


def run_of(beta: float, seed: int, runs: tuple[SweptRun, ...] = RUNS) -> SweptRun:
    """The stored run with this price and seed.

    Raises:
        ValueError: there is none.
    """
    found = [run for run in runs if (run.beta, run.seed) == (beta, seed)]
    if not found:
        raise ValueError(f"beta and seed must be those of a stored run, got {beta} and {seed}")
    return found[0]


def worst_judge(beta: float) -> float:
    """The judge's mean at the end of the worse seed."""
    return min(run.end.judge for run in RUNS if run.beta == beta)


def best_beta(betas: tuple[float, ...]) -> float:
    """The price, of these, whose worse seed ends best by the judge."""
    return max(betas, key=worst_judge)
