"""T(S) of every all-reduce algorithm: which is fastest at which size, and where the ring overtakes the trees.

python -m demos cost_curves --ranks 64 --latency 5e-6 --bandwidth 5e10
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero.facts.units import GB, KB, MB, format_bytes, us
from solutions.ch04.all_reduce_algorithms import ALGORITHMS

#: From 1 KB to 100 GB, four sizes for each power of ten.
SIZES = [KB * 10 ** (index / 4) for index in range(33)]


def positive(text: str) -> float:
    """An argparse type: a finite number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text}")
    return value


def _picture(times: Mapping[str, Sequence[float]], crossings: Mapping[str, float]):
    from rankzero.figures import plots

    curves = {name.replace("_", " "): list(zip(SIZES, row, strict=True)) for name, row in times.items()}
    rules = {
        f"ring overtakes {name.replace('_', ' ')}": size for name, size in crossings.items() if KB <= size <= 100 * GB
    }
    alt = f"Time of {len(curves)} all-reduce algorithms against the size, with {len(rules)} crossings marked."
    return plots.curves(curves, x="size (bytes)", y="time (s)", log="xy", rules=rules, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 2**20), default=64)
    options.add_argument("--latency", type=positive, default=5 * us, help="start-up time of a message, seconds")
    options.add_argument("--bandwidth", type=positive, default=50 * GB, help="of a port, one direction, bytes/s")
    arguments = options.parse_args(argv)
    link = (arguments.ranks, arguments.bandwidth, arguments.latency)
    time = part(arguments.code, "ch04.all_reduce_algorithms", "all_reduce_time")
    crossover = part(arguments.code, "ch04.all_reduce_algorithms", "crossover_bytes")
    names = ALGORITHMS if arguments.ranks & (arguments.ranks - 1) == 0 else ALGORITHMS[:3]
    times = {name: [time(name, size, *link) for size in SIZES] for name in names}
    rows = []
    for index, size in enumerate(SIZES[::4]):
        row = [times[name][4 * index] / us for name in names]
        rows.append((format_bytes(size), *row, min(ALGORITHMS[:3], key=lambda name: times[name][4 * index])))
    crossings = {name: crossover(*link, algorithm=name) for name in ("tree", "double_tree")}
    for name, size in crossings.items():
        where = f"faster above {format_bytes(size)}" if size else "never slower"
        print(f"ring against {name.replace('_', ' ')}: the ring is {where}")
    header = ("size", *(f"{name} (us)" for name in names), "fastest of ring and trees")
    show(arguments, Table(header, rows), lambda: _picture(times, crossings))
    right = all(
        math.isclose(time("ring", size, *link), time(name, size, *link), rel_tol=1e-9)
        and time("ring", 2 * size + MB, *link) <= time(name, 2 * size + MB, *link)
        for name, size in crossings.items()
        if size
    )
    return verdict(right, "ring and tree take equal time at the crossing, and the ring takes less above it")


if __name__ == "__main__":
    sys.exit(main())
