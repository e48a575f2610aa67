"""A tensor passed down a chain of ranks in chunks: the measured time beside the formula, on this machine's link.

python -m demos pipelined_relay --ranks 4 --bytes 16777216 --chunks 1,4,16 --blocking
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch02 import ping_pong, relay_runs
from rankzero import world
from rankzero.facts.units import MiB, ms


def counts(text: str) -> tuple[int, ...]:
    """``1,4,16`` as numbers."""
    return tuple(whole(1, 4096)(number) for number in text.split(","))


def arrives(way: relay_runs.Way, chunks: Sequence[int]) -> bool:
    """On each rank: whether rank 0's numbers arrive for every number of chunks, also at odd lengths and length 0."""
    mine = [torch.arange(n) * (dist.get_rank() == 0) for n in (1009, 3, 0)]
    relayed = [way(x, k) for k in chunks for x in mine]  # all of them, or the other ranks would wait
    return all(torch.equal(x, torch.arange(len(x))) for x in relayed)


def _picture(way: relay_runs.Way, arguments: argparse.Namespace):
    from rankzero import figures

    chunks = min(arguments.chunks, key=lambda number: abs(number - 4))  # few enough to see
    return figures.spacetime(relay_runs.relay_timeline(way, arguments.bytes, chunks, arguments.ranks))


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(2, 8), default=4)
    options.add_argument("--bytes", type=whole(4, 2**28), default=16 * MiB, help="size of the tensor")
    options.add_argument("--chunks", type=counts, default=(1, 4, 16), help="numbers of chunks: 1,4,16")
    options.add_argument("--blocking", action="store_true", help="draw the relay of blocking calls")
    arguments = options.parse_args(argv)
    size = arguments.bytes = 4 * (min(arguments.bytes, MiB if arguments.quick else 2**28) // 4)
    chunked, formula = (
        part(arguments.code, *name)
        for name in (("ch02.point_to_point", "chunked_relay"), ("ch02.alpha_beta", "relay_time"))
    )
    ways = {
        "blocking": (relay_runs.blocking_relay, relay_runs.blocking_relay_time),
        "double-buffered": (chunked, formula),
    }
    right = all(
        all(world.run(arrives, way, arguments.chunks, ranks=arguments.ranks).values) for way, _ in ways.values()
    )
    times = ping_pong.ping_pong((4, 4 * MiB), repeats=5)
    latency, bandwidth = ping_pong.link_of(times) if times[4] < times[4 * MiB] else (times[4], 1e30)
    measured = relay_runs.relay_seconds(
        {name: way for name, (way, _) in ways.items()},
        size,
        arguments.chunks,
        arguments.ranks,
        1 if arguments.quick else 3,
    )
    rows = [
        (name, k, measured[name][k] / ms, predict(size, arguments.ranks - 1, k, bandwidth, latency) / ms)
        for name, (_, predict) in ways.items()
        for k in arguments.chunks
    ]
    drawn = ways["blocking" if arguments.blocking else "double-buffered"][0]
    show(arguments, Table(("way", "chunks", "measured (ms)", "formula (ms)"), rows), lambda: _picture(drawn, arguments))
    return verdict(right, "rank 0's tensor arrives on every rank")


if __name__ == "__main__":
    sys.exit(main())
