"""Sums of 1e8, 1, -1e8, 1 in float32: a ring adds each chunk in a different order, and the order decides the result.

python -m demos float_order --ranks 4
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import cycle, islice

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero import world
from solutions.ch03.ring_walk import float32_sum, ring_order

NUMBERS = (1e8, 1.0, -1e8, 1.0)


def on_every_rank(all_reduce: Callable[[torch.Tensor], torch.Tensor], numbers: list[float]) -> tuple[list, list]:
    """A vector of this rank's number, one element per chunk: its sum by the ring and by the library."""
    x = torch.full((len(numbers),), numbers[dist.get_rank()])
    mine = all_reduce(x).tolist()
    dist.all_reduce(x)
    return mine, x.tolist()


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    arguments = options.parse_args(argv)
    numbers = list(islice(cycle(NUMBERS), arguments.ranks))
    all_reduce = part(arguments.code, "ch03.collectives", "ring_all_reduce")
    values = world.run(on_every_rank, all_reduce, numbers, ranks=arguments.ranks).values
    orders = [ring_order(arguments.ranks, chunk) for chunk in range(arguments.ranks)]
    predicted = [float32_sum(numbers[rank] for rank in order) for order in orders]
    ring, library = values[0]
    rows = [
        (chunk, " + ".join(f"{numbers[rank]:g}" for rank in order), predicted[chunk], ring[chunk], library[chunk])
        for chunk, order in enumerate(orders)
    ]
    show(arguments, Table(("chunk", "order of the ring", "on paper", "ring", "library"), rows))
    print(f"in double precision: {sum(numbers):g} in every chunk")
    right = ring == predicted and all(value == values[0] for value in values)
    return verdict(right, "the ring gives the sums that its order predicts, and all ranks hold the same bits")


if __name__ == "__main__":
    sys.exit(main())
