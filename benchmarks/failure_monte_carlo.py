"""Runs with failures, all at once against one by one: ``python -m benchmarks.failure_monte_carlo``.

The same model twice: ``simulate_run`` in a plain loop over the trials, and ``simulate_many`` on arrays. Prints both
times, their ratio, and how far the two means lie apart.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from benchmarks._rows import Row, arguments, finish
from experiments.ch15.failure_monte_carlo import simulate_many
from solutions.ch15.failing_runs import simulate_run

#: How many times as fast the arrays have to be.
LEAST_RATIO = 30.0

#: Work, interval, checkpoint, restart and MTBF, seconds: twenty segments, and about six failures.
JOB = (20_000.0, 1000.0, 60.0, 300.0, 4000.0)


def gaps(rng: random.Random, mtbf: float) -> Iterator[float]:
    """Exponential gaps without end."""
    while True:
        yield rng.expovariate(1 / mtbf)


def one_by_one(trials: int, seed: int = 0) -> list[float]:
    """Wall-clock of each run, seconds."""
    rng, (work, interval, checkpoint, restart, mtbf) = random.Random(seed), JOB
    return [simulate_run(work, interval, checkpoint, restart, gaps(rng, mtbf))["wall"] for _ in range(trials)]


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of this process, and the result: other programs on the machine do not count."""
    start = time.process_time()
    result = action()
    return time.process_time() - start, result


def rows(trials: int, fast: float, slow: float, apart: float) -> list[Row]:
    """Arrays beside the loop, and whether both simulate the same."""
    return [
        Row(
            f"{trials:,} runs with failures, on arrays",
            *(fast, "s", "the same model in a plain loop", slow),
            fair="The same job and the same number of runs, processor time of one process.",
            most=1 / LEAST_RATIO,
            goal="ratio",
        ),
        Row(
            "distance of the two means",
            abs(apart),
            "standard errors",
            fair="Both must simulate the same distribution.",
            most=5.0,
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    parser = arguments(__doc__)
    parser.add_argument("--trials", type=int, default=100_000, help="runs (default 100,000)")
    options = parser.parse_args(argv)
    trials = options.trials
    simulate_many(*JOB, trials=100)
    slow, walls = timed(lambda: one_by_one(trials))
    fast, runs = timed(lambda: simulate_many(*JOB, trials=trials))
    apart = runs["wall"].mean() - statistics.fmean(walls)
    error = (2 / trials) ** 0.5 * runs["wall"].std()
    print(f"one by one   {slow:8.3f} s of processor for {trials:,} runs")
    print(f"all at once  {fast:8.3f} s")
    print(f"ratio        {slow / fast:8.1f}    (at least {LEAST_RATIO:g})")
    print(f"means apart  {apart / error:8.1f}    standard errors")
    return finish(rows(trials, fast, slow, apart / error), options)


if __name__ == "__main__":
    sys.exit(main())
