"""The stored sweep of beta: how a KL penalty changed score, judge and distance from the reference. Standard library
only.

>>> len({run.beta for run in RUNS}), len({run.seed for run in RUNS})
(6, 2)

The numbers were measured once, by :func:`experiments.ch13.rlhf_runs.sweep`; the file that holds them names the command.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankzero import stored

#: Algorithm, beta, seed; then what :class:`Moment` holds.
Row = tuple[Any, ...]

STORED = Path(__file__).parent / "data" / "beta_sweep.json"


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
        """The last moment of the run."""
        return self.moments[-1]


def grouped(rows: Sequence[Row], algorithm: str) -> tuple[SweptRun, ...]:
    """The runs of one algorithm, by seed and beta."""
    found: dict[tuple[float, int], list[Moment]] = {}
    for name, beta, seed, *values in rows:
        if name == algorithm:
            found.setdefault((beta, seed), []).append(Moment(*values))
    return tuple(SweptRun(beta, seed, tuple(moments)) for (beta, seed), moments in found.items())


#: PPO with beta in the reward; GRPO with beta times k3 in the loss.
RUNS, GRPO_RUNS = (grouped(stored.read(STORED), algorithm) for algorithm in ("ppo", "grpo"))


def run_of(beta: float, seed: int, runs: tuple[SweptRun, ...] = RUNS) -> SweptRun:
    """The stored run with this beta and seed.

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
    """Of these values of beta, the one whose worse seed ends best by the judge."""
    return max(betas, key=worst_judge)
