"""A ring all-reduce on real ranks: how many contributions each chunk holds after each step, and what every rank sent.

python -m demos ring --ranks 4 --elements 12 --slow-motion
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero import world


def numbers(rank: int, elements: int) -> torch.Tensor:
    """What a rank contributes: 100 r, 100 r + 1, ..."""
    return torch.arange(elements) + 100 * rank


def on_every_rank(all_reduce: Callable[[torch.Tensor], torch.Tensor], elements: int) -> torch.Tensor:
    """The sum that this rank ends with."""
    return all_reduce(numbers(dist.get_rank(), elements))


def _picture(steps):
    from rankzero import figures

    return figures.heat_map(steps)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--elements", type=whole(0, 10**7), default=12)
    options.add_argument("--slow-motion", action="store_true", help="show the steps one after the other")
    arguments = options.parse_args(argv)
    from experiments.ch03.ring_trace import traced_contributions

    all_reduce = part(arguments.code, "ch03.collectives", "ring_all_reduce")
    run = world.run(on_every_rank, all_reduce, arguments.elements, ranks=arguments.ranks)
    steps = traced_contributions(all_reduce, arguments.ranks)
    for step, held in enumerate(steps):
        print(f"contributions in each chunk {'at the start' if step == 0 else f'after step {step}'}")
        print("\n".join(f"  rank {rank}: {' '.join(map(str, chunks))}" for rank, chunks in enumerate(held)))
        if arguments.slow_motion and not arguments.quick:
            time.sleep(0.8)
    ledger = run.ledger()
    rows = [(rank, ledger.calls(rank), ledger.sent(rank), ledger.received(rank)) for rank in range(arguments.ranks)]
    show(arguments, Table(("rank", "calls", "bytes sent", "bytes received"), rows), lambda: _picture(steps))
    expected = torch.stack([numbers(rank, arguments.elements) for rank in range(arguments.ranks)]).sum(0)
    right = all(torch.equal(value, expected) for value in run.values)
    return verdict(right, "every rank holds the sum that one process computes")


if __name__ == "__main__":
    sys.exit(main())
