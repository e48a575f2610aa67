"""A parameter server with and without a barrier: staleness, and loss against updates and seconds.

python -m demos parameter_server --work 1,2,8 --updates 60
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from demos.ch05.gradient_sync import wholes
from demos.common import Table, demo, number, parser, part, show, verdict, whole
from experiments.ch05.parameter_server import Served, serve
from rankzero.facts.units import ms

CURVATURE = 2.0  # of the mean squared error in any direction: inputs are independent, of variance 1


def staleness_of(workers: Sequence[int]) -> list[int]:
    """The staleness of each update, from the order of senders: the others' updates since the sender's last one."""
    last: dict[int, int] = {}
    result = []
    for index, worker in enumerate(workers):
        result.append(index - last.get(worker, 0))
        last[worker] = index + 1
    return result


def _picture(found: dict[str, Served]):
    from rankzero.figures import plots

    lines = {
        f"{name} a barrier": [(0.0, run.losses[0]), *zip(run.seconds, run.losses[1:], strict=True)]
        for name, run in found.items()
    }
    ends = ", ".join(f"{name} a barrier after {run.seconds[-1]:.2g} s" for name, run in found.items())
    return plots.curves(lines, x="time (s)", y="loss", log="y", alt=f"Loss against time; the last update: {ends}.")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument(
        "--work", type=wholes(0, 1000), default=[1, 2, 8], help="extra products by worker, with commas"
    )
    options.add_argument("--updates", type=whole(1, 2000), default=60)
    options.add_argument("--rate", type=number(0, 100), default=0.05, help="learning rate")
    asked = options.parse_args(argv)
    workers = len(asked.work)
    if workers > 7 or not asked.rate:
        options.error(f"--work must name at most 7 workers, and --rate be positive, got {workers}, {asked.rate}")
    path = part(asked.code, "ch05.batching", "delayed_sgd")
    updates = min(asked.updates, 12) if asked.quick else asked.updates
    paths = {delay: path(CURVATURE, asked.rate, delay, updates) for delay in {0, workers - 1}}
    found = {name: serve(updates, asked.work, asked.rate, synchronous=name == "with") for name in ("with", "without")}
    free = found["without"]
    rows = []
    for name, run in found.items():
        mean = run.mean_staleness
        left = paths[round(mean)][-1]
        gradients = updates * (workers if name == "with" else 1)
        speed = run.seconds[-1] / updates / ms
        rows.append(
            (name, updates, gradients, mean, max(run.staleness), run.losses[-1], run.losses[0] * left * left, speed)
        )
    for staleness, count in sorted(Counter(free.staleness).items()):
        print(f"{staleness:3} updates late: {count:4} {'#' * round(50 * count / updates)}")
    for worker in range(1, workers + 1):
        print(f"worker {worker}, {asked.work[worker - 1]} products: {free.workers.count(worker)} updates")
    names = ("barrier", "updates", "gradients", "mean staleness", "most", "last loss", "without noise", "ms an update")
    show(asked, Table(names, rows), lambda: _picture(found))
    honest = list(free.staleness) == staleness_of(free.workers) and not any(found["with"].staleness)
    right = honest and sum(free.staleness) + sum(free.unused) == updates * (workers - 1)
    return verdict(right, f"the order of updates explains the staleness, whose mean is {workers - 1}")


if __name__ == "__main__":
    sys.exit(main())
