"""What the simulator of batches costs: ``python -m benchmarks.batching_simulator``.

It must cost by the request and not by the token: answers ten times as long take the same time. And it must be near the
work that no simulator can avoid, one sort of as many numbers. All figures are ratios of processor times measured in one
run, taking turns, so that a busy machine meets all of them.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from benchmarks._rows import Row, arguments, finish
from benchmarks._timing import medians
from rankzero.sim.batching import POLICIES, Run, poisson_arrivals

#: What is aimed at: growth with answers ten times as long, and time over one sort of as many floats.
MOST_GROWTH, MOST_RATIO = 1.3, 50.0
REQUESTS, SLOTS, LOAD = 100_000, 64, 0.9


def workload(requests: int, longer: int) -> tuple[list[int], list[float]]:
    """Lengths around 60 tokens, ``longer`` times as long, and arrivals that keep the slots as busy."""
    rng = Random(0)
    lengths = [longer * min(512, max(1, round(rng.lognormvariate(math.log(60), 0.9)))) for _ in range(requests)]
    return lengths, poisson_arrivals(LOAD * SLOTS / statistics.fmean(lengths), requests, rng)


def simulation(policy: Callable[..., Run], requests: int, longer: int) -> Callable[[], object]:
    """Simulates a workload that is made beforehand."""
    lengths, arrivals = workload(requests, longer)
    return lambda: policy(lengths, SLOTS, arrivals)


def rows(row: dict[str, Any]) -> list[Row]:
    """What a policy costs."""
    what = f"{row['requests']:,} requests, {row['policy']}"
    short = row["simulation, ms"]
    return [
        Row(
            what,
            *(short, "ms", "one sort of as many floats", row["one sort of as many floats, ms"]),
            fair="The work that no simulator can avoid, in the same process, in turns.",
            most=MOST_RATIO,
            goal="ratio",
        ),
        Row(
            f"{what}, answers ten times as long",
            *(row["answers ten times as long, ms"], "ms", "the same requests, short", short),
            fair="As many requests: it must cost by the request, not by the token.",
            most=MOST_GROWTH,
            goal="ratio",
        ),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = arguments(__doc__)
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(argv)
    rng = Random(1)
    floats = [rng.random() for _ in range(options.requests)]
    found: list[Row] = []
    for name, policy in POLICIES.items():
        short, long, ordered = medians(
            options.repeats,
            simulation(policy, options.requests, 1),
            simulation(policy, options.requests, 10),
            lambda: sorted(floats),
        )
        row = {
            "policy": name,
            "requests": options.requests,
            "simulation, ms": round(1e3 * short, 1),
            "answers ten times as long, ms": round(1e3 * long, 1),
            "one sort of as many floats, ms": round(1e3 * ordered, 1),
            "ratio": round(short / ordered, 1),
            "ratio aimed at": MOST_RATIO,
            "tokens": sum(workload(options.requests, 1)[0]),
            "growth with answers ten times as long": round(long / short, 2),
            "growth aimed at": MOST_GROWTH,
        }
        print(json.dumps(row, indent=1))
        found += rows(row)
    return finish(found, options)


if __name__ == "__main__":
    sys.exit(main())
