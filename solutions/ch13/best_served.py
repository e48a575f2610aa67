"""What a policy is worth that was trained for some iterations and serves the best of n answers, stored. Standard
library only.

>>> len({key[0] for key in POLICIES}), len({key[1] for key in POLICIES})
(5, 2)

The numbers were measured once, by :func:`experiments.ch13.budget_runs.swept`; the file that holds them names the
command.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rankzero import stored

STORED = Path(__file__).parent / "data" / "best_served.json"

#: Prices of a nat, iterations of training, and answers out of which one is served.
BETAS, ITERATIONS, COUNTS = (0.0, 0.05, 0.1, 0.2, 0.5), (0, 2, 5, 10, 20, 40), (1, 4, 16)

#: Beta, seed and iteration of a policy; then what :class:`Served` holds.
Row = tuple[float, int, int, int, float, float, float]


@dataclass(frozen=True)
class Served:
    """What a policy serves, on average.

    Attributes:
        n: answers that are written for each that is served, the one with the highest score.
        score: in deviations of the reference's.
        gold: the judge's.
        ratio: log-probability under the policy less that under the reference, nats.
    """

    n: int
    score: float
    gold: float
    ratio: float

    @property
    def nats(self) -> float:
        """At most so far from the reference: the policy's part, and what choosing the best of n adds to it.

        Source of the bound: Beirami et al. (2024), arXiv:2401.01879.
        """
        return self.ratio + math.log(self.n) - (self.n - 1) / self.n


def grouped(rows: Iterable[Row]) -> Mapping[tuple[float, int, int, int], Served]:
    """What is served, by beta, seed, iteration and n."""
    return {(beta, seed, iteration, n): Served(n, *means) for beta, seed, iteration, n, *means in rows}


POLICIES = grouped(stored.read(STORED))
SEEDS = tuple(sorted({key[1] for key in POLICIES}))


def worst(beta: float, iterations: int, n: int) -> Served:
    """What the worse seed serves, by the judge."""
    return min((POLICIES[beta, seed, iterations, n] for seed in SEEDS), key=lambda one: one.gold)
