"""Little's law in the simulator: requests that arrive at random, the number inside against rate times time inside.

python -m demos littles_law --rates 1,2,4,6,8,9 --slots 8
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.ch05.gradient_sync import wholes
from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch08.load_runs import Load, load_at
from solutions.ch08.serving import workload

#: Steps in which a rate counts its arrivals.
STEPS = 100


def _picture(loads: Sequence[Load]):
    from rankzero import plots

    curve = {"time inside": [(100 * load.offered, load.time) for load in loads]}
    low, high = loads[0], loads[-1]
    alt = (
        f"Mean time inside is {low.time:.3g} steps at {low.offered:.0%} of the capacity "
        f"and {high.time:.3g} at {high.offered:.0%}."
    )
    return plots.curves(curve, curve, x="offered load (%)", y="mean time inside (steps)", log="y", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--rates", type=wholes(1, 10_000), default=[1, 2, 4, 6, 8, 9], help="arrivals in 100 steps")
    options.add_argument("--slots", type=whole(1, 1024), default=8)
    options.add_argument("--requests", type=whole(100, 100_000), default=10_000)
    asked = options.parse_args(argv)
    count = min(asked.requests, 2000) if asked.quick else asked.requests
    mean = sum(workload(count)) / count
    replicas = part(asked.code, "ch08.serving", "replicas_needed")
    loads = [load_at(rate / STEPS * mean / asked.slots, asked.slots, count) for rate in sorted(asked.rates)]
    rows, right = [], True
    for load in loads:
        product = load.rate * load.time
        needed = replicas(load.rate, load.time, 0.0, 1, asked.slots)
        rows.append((load.offered, load.rate, load.inside, load.time, product, needed, load.throughput))
        right &= load.offered > 0.9 or abs(product / load.inside - 1) < (0.05 if asked.quick else 0.02)
        right &= needed * asked.slots >= product * (1 - 1e-6)
    header = ("offered", "rate (1/step)", "L", "W (steps)", "rate x W", "batches of slots to hold L", "tokens/step")
    show(asked, Table(header, rows), lambda: _picture(loads))
    return verdict(right, "L is rate x W within 2 %, wherever the load is below 90 %")


if __name__ == "__main__":
    sys.exit(main())
