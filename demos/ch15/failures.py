"""A long run with failures, simulated many times: the mean against the closed form, and where the time goes.

python -m demos failures --days 54 --gpus 16384 --stall 60 --seeds 200 --weibull 0.7
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from random import Random

from demos.ch01.plan import number
from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero.facts.units import day, minute
from solutions.ch15 import llama_405b
from solutions.ch15.checkpointing import checkpoint_waste, optimal_checkpoint_interval

PARTS = ("useful", "checkpoint", "lost", "restart")


def gaps(mtbf: float, form: float, seed: int) -> Iterator[float]:
    """An endless sequence of Weibull gaps of mean ``mtbf``; ``form`` 1 is exponential."""
    random, scale = Random(seed), mtbf / math.gamma(1 + 1 / form)
    while True:
        yield random.weibullvariate(scale, form)


def _picture(means: dict[str, dict[str, float]]):
    from rankzero.figures import plots

    groups = {name: {what: parts[what] / day for what in PARTS} for name, parts in means.items()}
    said = ", ".join(f"{name} {sum(parts.values()):.4g} days" for name, parts in groups.items())
    alt = f"Mean wall-clock in useful time, checkpoints, lost work and restarts, for four intervals: {said}."
    return plots.bars(groups, y="wall-clock (days)", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--days", type=number(1e4), default=54.0, help="of useful work")
    options.add_argument("--gpus", type=whole(1, 10**6), default=16_384)
    options.add_argument("--stall", type=number(1e5), default=60.0, help="seconds for a checkpoint")
    options.add_argument("--restart", type=number(1e5), default=300.0, help="seconds")
    options.add_argument("--seeds", type=whole(2, 2000), default=100)
    options.add_argument("--weibull", type=number(10.0), default=1.0, help="shape; 1 is exponential")
    given = options.parse_args(argv)
    simulate = part(given.code, "ch15.failing_runs", "simulate_run")
    mtbf = llama_405b.WINDOW / llama_405b.UNEXPECTED * 16_384 / given.gpus
    work, seeds = (4.0, 30) if given.quick else (given.days, given.seeds)
    best = optimal_checkpoint_interval(given.stall, mtbf, "exact")
    if mtbf < max(4 * best + given.stall, given.restart) / 4:
        options.error(f"--gpus must leave time between failures, got one every {mtbf / minute:.3g} min")
    rows, means, right = [], {}, True
    for times in (0.25, 1.0, 2.0, 4.0):
        every = min(times * best, work * day)
        whole_work = math.ceil(work * day / every) * every  # the closed form assumes whole segments
        found = [
            simulate(whole_work, every, given.stall, given.restart, gaps(mtbf, given.weibull, n)) for n in range(seeds)
        ]
        walls = [run["wall"] for run in found]
        name, mean = f"{every / minute:.3g} min", statistics.mean(walls)
        expected = whole_work / (1 - checkpoint_waste(every, given.stall, mtbf, given.restart))
        error = statistics.stdev(walls) / math.sqrt(seeds)
        away = (mean - expected) / error if error else 0.0  # no run had a failure
        right &= given.weibull != 1 or abs(away) < 4
        means[name] = {what: statistics.mean(run[what] for run in found) for what in PARTS}
        rows.append((name, mean / day, expected / day, away, 100 * (1 - whole_work / mean)))
    print(f"a failure every {mtbf / minute:.4g} min, {seeds} runs of {work:g} days of work each, in whole intervals")
    header = ("interval", "mean (days)", "closed form (days)", "standard errors away", "waste (%)")
    show(given, Table(header, rows), lambda: _picture(means))
    if given.weibull != 1:
        return verdict(right, "every run ended; the closed form is for exponential failures and is not held to these")
    return verdict(right, "means of exponential failures are within 4 standard errors of the closed form")


if __name__ == "__main__":
    sys.exit(main())
