"""An all-reduce in levels on real ranks: bytes that stay inside a node, and bytes that cross between nodes.

Nodes are consecutive ranks; on one machine they are only names. The last column: what the plan would take on DGX H100.

python -m demos hierarchy --nodes 2 --per-node 2 --bytes 1048576
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch04.hierarchical_all_reduce import hierarchical_all_reduce, uncut_all_reduce, wire_bytes
from rankzero import world
from rankzero.hardware import DGX_H100
from rankzero.units import ms
from solutions.ch03.collectives import ring_all_reduce


def flat_ring(x: torch.Tensor, _per_node: int) -> torch.Tensor:
    """One ring over all ranks; nodes do not matter to it."""
    return ring_all_reduce(x)


def on_every_rank(plan: Callable[[torch.Tensor, int], torch.Tensor], elements: int, per_node: int) -> bool:
    """Whether this rank ends with the sum over all ranks."""
    ranks = dist.get_world_size()
    total = plan(torch.full((elements,), dist.get_rank() + 1.0), per_node)
    return bool((total == ranks * (ranks + 1) / 2).all())


def _picture(rows: Sequence[tuple]):
    from rankzero import plots

    groups = {row[0]: {"inside nodes": row[1], "across nodes": row[2]} for row in rows}
    alt = f"Bytes of three plans; across nodes: {', '.join(f'{row[0]} {row[2]:,}' for row in rows)}."
    return plots.bars(groups, y="bytes sent by all ranks", stacked=True, alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--nodes", type=whole(1, 8), default=2)
    options.add_argument("--per-node", type=whole(1, 8), default=2)
    options.add_argument("--bytes", type=whole(4, 2**28), default=2**20, help="size of the tensor")
    arguments = options.parse_args(argv)
    nodes, inside = arguments.nodes, arguments.per_node
    ranks, elements = nodes * inside, min(arguments.bytes, 2**18 if arguments.quick else 2**28) // 4
    if ranks > 8:
        options.error(f"argument --nodes: nodes times ranks in a node must be at most 8, got {ranks}")
    price = part(arguments.code, "ch04.all_reduce_algorithms", "hierarchical_all_reduce_time")
    nvlink, port = DGX_H100.gpu.nvlink.bandwidth, DGX_H100.port.bandwidth
    seconds = {
        "in levels": price(4 * elements, nodes, inside, nvlink, port),
        "in levels, uncut": price(4 * elements, 1, inside, nvlink, port) + price(4 * elements, nodes, 1, nvlink, port),
        "one flat ring": price(4 * elements, ranks, 1, nvlink, port)
        if nodes > 1
        else price(4 * elements, 1, ranks, nvlink, port),
    }
    plans = {"in levels": hierarchical_all_reduce, "in levels, uncut": uncut_all_reduce, "one flat ring": flat_ring}
    rows, right = [], True
    for name, plan in plans.items():
        run = world.run(on_every_rank, plan, elements, inside, ranks=ranks)
        right &= all(run.values)
        sent = wire_bytes(run.events, ranks, inside)
        rows.append((name, *(round(sum(way)) for way in zip(*sent, strict=True)), seconds[name] / ms))
    show(arguments, Table(("plan", "bytes inside", "bytes across", "on DGX H100 (ms)"), rows), lambda: _picture(rows))
    spared = abs(inside * rows[0][2] - rows[1][2]) <= 0.01 * rows[1][2] + 64 * ranks  # a padded tail may remain
    return verdict(right and spared, f"all sums are right, and cutting sends 1/{inside} of the bytes across")


if __name__ == "__main__":
    sys.exit(main())
