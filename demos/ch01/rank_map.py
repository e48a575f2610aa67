"""Ranks as coordinates: where a rank is, its group along each axis, and how many groups span several nodes.

python -m demos rank_map --dp 4 --pp 2 --tp 2 --order dp,pp,tp --per-node 8 --rank 11
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch01.explorers import leaving_groups

AXES = ("dp", "pp", "tp")


def _order(text: str) -> list[str]:
    names = text.split(",")
    if sorted(names) != sorted(AXES):
        raise argparse.ArgumentTypeError(f"must be dp, pp and tp in some order, with commas, got {text}")
    return names


def _picture(sizes: dict[str, int], per_node: int, axis: str):
    from rankzero.figures import diagrams

    return diagrams.rank_grid(sizes, per_node, axis)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    for axis, size in zip(AXES, (4, 2, 2), strict=True):
        options.add_argument(f"--{axis}", type=whole(1, 64), default=size, help=f"ranks along {axis}")
    options.add_argument("--order", type=_order, default=list(AXES), help="slowest axis first, with commas")
    options.add_argument("--per-node", type=whole(1, 72), default=8, help="ranks per node")
    options.add_argument("--rank", type=whole(0, 10**6), default=None, help="the rank to locate")
    options.add_argument("--axis", choices=AXES, default="tp", help="the axis whose groups the picture shows")
    arguments = options.parse_args(argv)
    sizes = {axis: getattr(arguments, axis) for axis in arguments.order}
    ranks = math.prod(sizes.values())
    if ranks > 4096:
        options.error(f"dp times pp times tp must be at most 4,096 ranks, got {ranks:,}")
    rank = min(11, ranks - 1) if arguments.rank is None else arguments.rank
    if rank >= ranks:
        options.error(f"argument --rank: must be below {ranks}, the number of ranks, got {rank}")
    names = ("locate", "coordinates", "process_groups")
    locate, coordinates, process_groups = (part(arguments.code, "ch01.ranks", name) for name in names)
    groups = {axis: process_groups(sizes, axis) for axis in sizes}
    node, device = locate(rank, arguments.per_node)
    place = coordinates(rank, sizes)
    print(f"rank {rank} of {ranks}: node {node}, device {device}; " + ", ".join(f"{a} {p}" for a, p in place.items()))
    rows = []
    for axis, found in groups.items():
        print(f"{axis} groups: " + " ".join(map(str, found[:8])) + (" ..." if len(found) > 8 else ""))
        mine = next(group for group in found if rank in group)
        listed = " ".join(map(str, mine[:8])) + (" ..." if len(mine) > 8 else "")
        rows.append((axis, len(found), len(mine), leaving_groups(found, arguments.per_node), listed))
    header = ("axis", "groups", "ranks in each", "leave a node", f"group of rank {rank}")
    show(arguments, Table(header, rows), lambda: _picture(sizes, arguments.per_node, arguments.axis))
    right = all(sorted(r for group in found for r in group) == list(range(ranks)) for found in groups.values())
    for axis, found in groups.items():
        right &= all(coordinates(r, sizes)[axis] == index for group in found for index, r in enumerate(group))
    return verdict(right, "along each axis every rank is in exactly one group, at the place that its coordinate names")


if __name__ == "__main__":
    sys.exit(main())
