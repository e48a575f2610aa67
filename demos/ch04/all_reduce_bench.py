"""Measured all-reduces: medians by size, both bandwidths, a fit to each algorithm, and where the ring takes the lead.

With NCCL, variables such as NCCL_ALGO=Ring, set before the command, fix the library's algorithm.

python -m demos all_reduce_bench --ranks 4 --sizes 4KiB,64KiB,1MiB,16MiB
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch04.all_reduce_runs import adds_up, library_all_reduce, medians
from experiments.ch04.hierarchical_all_reduce import hierarchical_all_reduce
from experiments.ch04.link_fits import describe, describe_measured, fit_rows
from rankzero import world
from rankzero.facts.units import GB, KiB, MiB, ms

NAMES = ("library", "ring", "tree", "hierarchical")


def sizes(text: str) -> list[int]:
    """An argparse type: ``4KiB,1MiB``, multiples of 4 bytes up to 256 MiB."""
    found = [re.fullmatch(r"(\d{1,9})(KiB|MiB|)", word) for word in text.split(",")]
    numbers = [int(match[1]) * {"KiB": KiB, "MiB": MiB}.get(match[2], 1) if match else 0 for match in found]
    if any(size % 4 or not 4 <= size <= 256 * MiB for size in numbers):
        raise argparse.ArgumentTypeError(f"must be multiples of 4 bytes up to 256MiB, as 4KiB,1MiB, got {text}")
    return sorted(set(numbers))


def _picture(found: dict):
    from rankzero.figures import plots

    points = {name: [(size, seconds / ms) for size, seconds in rows] for name, rows in found.items()}
    alt = f"Median time of {', '.join(points)} against the size of the tensor."
    return plots.curves({}, points, x="size (bytes)", y="time (ms)", log="xy", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(2, 8), default=4)
    options.add_argument("--sizes", type=sizes, default=[4**power * KiB for power in range(1, 8)], help="4KiB,1MiB")
    options.add_argument("--algorithm", default=",".join(NAMES), help="some of %(default)s")
    options.add_argument("--backend", choices=("gloo", "nccl"), default="gloo")
    options.add_argument("--repeats", type=whole(1, 100), default=20)
    arguments = options.parse_args(argv)
    code, ranks, names = arguments.code, arguments.ranks, dict.fromkeys(arguments.algorithm.split(","))
    if set(names) - set(NAMES):
        options.error(f"argument --algorithm: must be names out of {','.join(NAMES)}, got {arguments.algorithm}")
    levels = partial(hierarchical_all_reduce, ranks_per_node=2 - ranks % 2)
    ring = part(code, "ch03.collectives", "ring_all_reduce")
    tree = part(code, "ch04.tree_collectives", "tree_all_reduce")
    every = dict(zip(NAMES, (library_all_reduce, ring, tree, levels), strict=True))
    chosen, bus = {name: every[name] for name in names}, part(code, "ch04.bandwidth", "bus_bandwidth")
    checks = [world.run(adds_up, run, ranks=ranks, backend="gloo") for run in chosen.values()]
    chosen_sizes, repeats = (arguments.sizes[:3:2], 2) if arguments.quick else (arguments.sizes, arguments.repeats)
    found = medians(chosen, chosen_sizes, ranks, repeats, arguments.backend)
    times = [(name, size, t) for name, measured in found.items() for size, t in measured]
    rows = [(name, size, t / ms, size / t / GB, bus("all_reduce", size, t, ranks) / GB) for name, size, t in times]
    header = ("algorithm", "bytes", "median (ms)", "algbw (GB/s)", "busbw (GB/s)")
    show(arguments, Table(header, rows), lambda: _picture(found))
    for name, measured in found.items():
        with suppress(ValueError):  # no line if there are too few sizes, or large tensors took no longer than small
            print(describe(name, fit_rows(measured)))
    if {"ring", "tree"} <= set(found):
        print(describe_measured(("tree", "ring"), found["tree"], found["ring"]))
    right = all(all(check.values) for check in checks)
    return verdict(right, "every algorithm gives the sum on every rank")


if __name__ == "__main__":
    sys.exit(main())
