"""Who sees which sample: the library's sampler on real ranks, and how often each sample is seen in each epoch.

python -m demos shard_map --samples 10 --ranks 4 --epochs 3
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import torch

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch01.sampler_visits import sampler_orders, visits


def _picture(counts: list[list[int]]):
    from rankzero import figures

    twice = [sum(count > 1 for count in row) for row in counts]
    never = [sum(count == 0 for count in row) for row in counts]
    return figures.matrix(
        {f"epoch {epoch}": row for epoch, row in enumerate(counts)},
        x="sample",
        y="",
        alt=f"Visits to each of {len(counts[0])} samples by epoch; seen more than once: {', '.join(map(str, twice))}; "
        f"never seen: {', '.join(map(str, never))}.",
    )


def permutation(samples: int, epoch: int) -> list[int]:
    """The order that the sampler draws with seed 0."""
    return torch.randperm(samples, generator=torch.Generator().manual_seed(epoch)).tolist()


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--samples", type=whole(1, 40), default=10)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--epochs", type=whole(1, 12), default=3)
    options.add_argument("--drop-last", action="store_true", help="leave samples out rather than repeat some")
    options.add_argument("--no-set-epoch", action="store_true", help="never tell the sampler the epoch")
    arguments = options.parse_args(argv)
    samples, ranks, epochs, drop = arguments.samples, arguments.ranks, arguments.epochs, arguments.drop_last
    shard_indices = part(arguments.code, "ch01.sharding", "shard_indices")
    told = not arguments.no_set_epoch
    orders = sampler_orders(samples, ranks, epochs, set_epoch=told, drop_last=drop)
    for epoch, shards in enumerate(orders):
        print(f"epoch {epoch}: " + "; ".join(f"rank {rank}: {shard}" for rank, shard in enumerate(shards)))
    print("visits to each sample")
    counts = visits(orders, samples)
    rows = [(epoch, *row) for epoch, row in enumerate(counts)]
    show(arguments, Table(("epoch", *map(str, range(samples))), rows), lambda: _picture(counts))
    right = all(
        shard == shard_indices(samples, ranks, rank, permutation(samples, epoch if told else 0), drop)
        for epoch, shards in enumerate(orders)
        for rank, shard in enumerate(shards)
    )
    return verdict(right, "shard_indices gives every rank what the library's sampler does")


if __name__ == "__main__":
    sys.exit(main())
