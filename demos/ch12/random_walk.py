"""The random walk of five states: values solved, swept and sampled; bias and spread of advantages with a wrong critic.

python -m demos random_walk --episodes 1000 --seed 0
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch12 import random_walk as walks


def picture(solved: Sequence[float], columns: dict[str, Sequence[float]]):
    """Values by state: solved, swept, sampled."""
    from rankzero import plots

    return plots.curves(
        {"solved": list(enumerate(solved))},
        {name: list(enumerate(values)) for name, values in columns.items()},
        x="state",
        y="value",
        alt=f"Values of the five states rise from {solved[0]:.3f} to {solved[-1]:.3f}; the estimates lie around them.",
    )


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--episodes", type=whole(50, 100_000), default=1000)
    options.add_argument("--sweeps", type=whole(1, 10_000), default=100)
    options.add_argument("--seed", type=whole(0, 10**6), default=0)
    asked = options.parse_args(argv)
    count = min(asked.episodes, 500) if asked.quick else asked.episodes
    solved = part(asked.code, "ch12.rl", "policy_value")(*walks.walk(), 1.0)
    swept = walks.sweeps(*walks.walk(), rounds=asked.sweeps)
    sampled = walks.monte_carlo(count, asked.seed)
    rows = [
        (state, solved[state], swept[state], sampled.values[state], sampled.errors[state], sampled.visits[state])
        for state in range(walks.STATES)
    ]
    header = ("state", "solved", f"{asked.sweeps} sweeps", f"{count} episodes", "standard error", "visits")
    show(asked, Table(header, rows), lambda: picture(solved, {"sweeps": swept, "episodes": sampled.values}))
    gae, lambdas = part(asked.code, "ch12.rl", "gae"), (0.0, 0.5, 0.8, 0.95, 1.0)
    quality = walks.advantage_quality(lambdas, count=count, seed=asked.seed, estimator=gae)
    found = [(one.gae_lambda, one.bias, one.deviation) for one in quality]
    print(f"first advantage, V = 0.5 everywhere:\n{Table(('lambda', 'bias', 'standard deviation'), found)}")
    exact = [(state + 1) / 6 for state in range(walks.STATES)]
    right = all(abs(a - b) < 1e-9 for a, b in zip(solved, exact, strict=True))
    right &= all(abs(row[3] - v) < 5 * math.sqrt(v * (1 - v) / row[5]) for row, v in zip(rows, exact, strict=True))
    return verdict(right, "solved values are 1/6 to 5/6, and sampled ones within five standard errors")


if __name__ == "__main__":
    sys.exit(main())
