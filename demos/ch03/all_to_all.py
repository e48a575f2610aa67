"""Blocks of unequal size exchanged between all ranks: who sends how much to whom, and which rank is the busiest.

python -m demos all_to_all --ranks 4 --skew 2.0
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import torch
import torch.distributed as dist

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero import world

Blocks = list[torch.Tensor]


def _skew(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1.0 <= value <= 100.0:
        raise argparse.ArgumentTypeError(f"must be a number from 1 to 100, got {text}")
    return value


def routing_table(ranks: int, tokens: int, skew: float) -> list[list[int]]:
    """Tokens from rank r to rank c: each rank has ``tokens``, and rank c gets ``skew`` times as many as rank c + 1."""
    weights = [skew**-c for c in range(ranks)]
    row = [int(tokens * weight / sum(weights)) for weight in weights]
    return [[tokens - sum(row[1:]), *row[1:]] for _ in range(ranks)]


def on_every_rank(exchange: Callable[[Blocks], Blocks], sizes: list[list[int]]) -> Blocks:
    """Send a block of ``100 r + c`` to every rank c, and return what arrived."""
    rank = dist.get_rank()
    return exchange([torch.full((size,), 100 * rank + c) for c, size in enumerate(sizes[rank])])


def _picture(sizes: list[list[int]]):
    from rankzero import figures

    return figures.routing(sizes, "tokens")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--tokens", type=whole(0, 10**6), default=600, help="tokens of each rank")
    options.add_argument(
        "--skew", type=_skew, default=2.0, help="each rank receives this many times as much as the next one"
    )
    arguments = options.parse_args(argv)
    ranks, sizes = arguments.ranks, routing_table(arguments.ranks, arguments.tokens, arguments.skew)
    run = world.run(on_every_rank, part(arguments.code, "ch03.collectives", "all_to_all"), sizes, ranks=ranks)
    ledger = run.ledger()
    rows = [(r, *sizes[r], ledger.sent(r), ledger.received(r)) for r in range(ranks)]
    header = ("from rank", *(f"to {c}" for c in range(ranks)), "bytes sent", "bytes received")
    show(arguments, Table(header, rows), lambda: _picture(sizes))
    busy = max(max(ledger.sent(r), ledger.received(r)) for r in range(ranks))
    even = sum(ledger.sent(r) for r in range(ranks)) / ranks
    print(f"the busiest rank moves {busy:,} bytes one way; evenly spread it would be {even:,.0f}")
    right = all(
        [block.tolist() for block in got] == [[100 * r + c] * sizes[r][c] for r in range(ranks)]
        for c, got in enumerate(run.values)
    )
    return verdict(right, "every block arrived where it belongs")


if __name__ == "__main__":
    sys.exit(main())
