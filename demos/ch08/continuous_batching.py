"""Static and continuous batching of the same requests: which run when, in the simulator or on the small model.

python -m demos continuous_batching --requests 50 --slots 8 --sigma 0.9 --rate 0 --seed 8 --engine sim
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import Random

from demos.common import Table, amount, demo, parser, part, show, verdict, whole
from rankzero.sim.batching import POLICIES, Run, poisson_arrivals
from solutions.ch08.serving import workload


def _picture(runs: dict[str, Run]):
    from rankzero.figures.serving import slot_chart

    return slot_chart(runs)


def simulated(lengths: Sequence[int], slots: int, rate: float, seed: int) -> dict[str, Run]:
    """Both policies in the simulator; ``rate`` is in arrivals per step, and 0 submits all requests at the start."""
    came = [int(time) for time in poisson_arrivals(rate, len(lengths), Random(seed))] if rate else None
    return {name: policy(lengths, slots, came) for name, policy in POLICIES.items()}


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--requests", type=whole(1, 2000), default=50)
    options.add_argument("--slots", type=whole(1, 64), default=8)
    options.add_argument("--sigma", type=amount, default=0.9, help="standard deviation of the logarithm of the lengths")
    options.add_argument(
        "--rate", type=amount, default=0.0, help="arrivals per step; with 0 all requests wait from the start"
    )
    options.add_argument("--seed", type=whole(0, 10**9), default=8)
    options.add_argument(
        "--engine", choices=("sim", "tiny"), default="sim", help="sim, or tiny for the real engine and model"
    )
    asked = options.parse_args(argv)
    if asked.rate and asked.engine == "tiny":
        options.error(f"--rate must be 0 with --engine tiny, got {asked.rate:g}")
    longest = 60 if asked.quick else 512
    lengths = workload(min(asked.requests, 20) if asked.quick else asked.requests, sigma=asked.sigma, seed=asked.seed)
    lengths = [min(longest, length) for length in lengths]
    names = ("static_batching", "continuous_batching")
    static_spans, continuous_spans = (part(asked.code, "ch08.serving", name) for name in names)
    runs = simulated(lengths, asked.slots, asked.rate, asked.seed)
    if asked.engine == "tiny":
        from experiments.ch08.serving_runs import engine_run

        runs = {name: engine_run(lengths, asked.slots, name) for name in runs}
    rows = [(name, *run.row().values()) for name, run in runs.items()]
    show(asked, Table(("policy", *next(iter(runs.values())).row()), rows), lambda: _picture(runs))
    came = runs["continuous"].arrivals
    right = tuple(continuous_spans(lengths, asked.slots, list(came))) == runs["continuous"].spans
    if not asked.rate:
        right &= tuple(static_spans(lengths, asked.slots)) == runs["static"].spans
    return verdict(right, "every request starts and finishes when the chapter's functions say")


if __name__ == "__main__":
    sys.exit(main())
