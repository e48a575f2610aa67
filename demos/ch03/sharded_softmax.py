"""Softmax over a vocabulary split across ranks: each rank sends two numbers instead of its row of logits.

python -m demos sharded_softmax --vocabulary 1000 --ranks 4
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero import world
from solutions.ch03.collective_cost import traffic


def logits(vocabulary: int) -> torch.Tensor:
    """A row of logits, the same on every call."""
    return 10 * torch.randn(vocabulary, generator=torch.Generator().manual_seed(0))


def on_every_rank(softmax: Callable[[torch.Tensor], torch.Tensor], vocabulary: int) -> torch.Tensor:
    """This rank's part of the probabilities."""
    return softmax(logits(vocabulary).tensor_split(dist.get_world_size())[dist.get_rank()])


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__, picture=False)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--vocabulary", type=whole(1, 10**7), default=1000)
    arguments = options.parse_args(argv)
    softmax = part(arguments.code, "ch03.distributed_stats", "distributed_softmax")
    run = world.run(on_every_rank, softmax, arguments.vocabulary, ranks=arguments.ranks)
    expected = logits(arguments.vocabulary).softmax(0)
    error = (torch.cat(run.values) - expected).abs().max().item()
    gathered = traffic("all_gather", 4 * arguments.vocabulary, arguments.ranks, 0)[1]
    scalars = 2 * traffic("all_reduce", 4, arguments.ranks, 0)[1]
    rows = [
        (rank, len(values), values.sum().item(), run.ledger().calls(rank), scalars, gathered)
        for rank, values in enumerate(run.values)
    ]
    header = ("rank", "logits", "sum of its part", "collectives", "bytes of two scalars", "bytes of gathering the row")
    show(arguments, Table(header, rows))
    print(f"largest error against one process: {error:.3g}")
    return verdict(error < 1e-5, "the parts together are the softmax of the whole row")


if __name__ == "__main__":
    sys.exit(main())
