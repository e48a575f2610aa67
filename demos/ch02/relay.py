"""A number passed down a chain of ranks: each rank that receives it adds something and passes it on.

python -m demos relay --ranks 4 --value 42 --increment 10
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import pairwise

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero import world
from rankzero.facts.units import ms


def arrivals(run: world.World) -> list[float]:
    """When each rank had the number, in seconds; for rank 0, when it began to send."""
    ends = {event.rank: event.end for event in run.events if event.operation == "recv"}
    starts = [event.start for event in run.events if (event.rank, event.operation) == (0, "send")]
    return [min(starts, default=0.0), *(ends[rank] for rank in range(1, run.ranks))]


def _picture(run: world.World):
    from rankzero import figures

    return figures.spacetime(run)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--value", type=float, default=42.0, help="what rank 0 starts with")
    options.add_argument("--increment", type=float, default=10.0, help="what every other rank adds")
    arguments = options.parse_args(argv)
    relay = part(arguments.code, "ch02.point_to_point", "relay")
    run = world.run(relay, arguments.value, arguments.increment, ranks=arguments.ranks)
    times = arrivals(run)
    hops = [0.0, *(later - earlier for earlier, later in pairwise(times))]
    rows = [(rank, value, hop / ms) for rank, (value, hop) in enumerate(zip(run.values, hops, strict=True))]
    show(arguments, Table(("rank", "holds", "time of its hop (ms)"), rows), lambda: _picture(run))
    print(f"from the first send to the last receive: {(times[-1] - times[0]) / ms:.3g} ms, the sum of the hops")
    due = [arguments.value + rank * arguments.increment for rank in range(arguments.ranks)]
    right = all(math.isclose(value, wanted, abs_tol=1e-9) for value, wanted in zip(run.values, due, strict=True))
    return verdict(right, "rank r holds the value plus r increments")


if __name__ == "__main__":
    sys.exit(main())
