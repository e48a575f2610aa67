"""Micro-batches of one step under DDP: a reduction in every backward pass, or in the last one alone (``no_sync``).

Rows that the micro-steps do not divide are not lost: the first micro-batches take one more, and each loss is weighted.

python -m demos accumulation --micro-steps 3 --ranks 2
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from experiments.ch05.accumulation_runs import Accumulated, accumulate
from rankzero.units import ms

#: How far float32 may be off.
NEAR = 1e-5


def _picture(found: dict[str, Accumulated], ranks: int):
    from rankzero import figures
    from rankzero.events import Ledger

    books = {name: [event for event in run.events if event.operation == "all_reduce"] for name, run in found.items()}
    return figures.ledger_bars({name: Ledger(events, ranks) for name, events in books.items()})


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--micro-steps", type=whole(1, 64), default=3)
    options.add_argument("--ranks", type=whole(1, 8), default=2)
    options.add_argument("--rows", type=whole(1, 64), default=8, help="of each rank")
    options.add_argument("--micro-time", type=number(0, 1e9), default=120.0, help="of the price: ms of one pass")
    options.add_argument("--sync-time", type=number(0, 1e9), default=50.0, help="of the price: ms of one reduction")
    asked = options.parse_args(argv)
    steps, count = asked.micro_steps, asked.rows
    if steps > count:
        options.error(f"--micro-steps must be at most the rows of a rank, {count}, got {steps}")
    price = part(asked.code, "ch05.batching", "accumulated_step_time")
    seconds = {every: price(steps, asked.micro_time * ms, asked.sync_time * ms, sync_every=every) for every in (0, 1)}
    names = {"reduce every time": True, "no_sync but for the last": False}
    found = {name: accumulate(steps, every, asked.ranks, count) for name, every in names.items()}
    sizes = [count // steps + (number < count % steps) for number in range(steps)]
    print(f"rows of the micro-batches of a rank: {', '.join(map(str, sizes))}")
    rows = [
        (name, run.reductions, run.sent, run.gradient_bytes, run.difference, seconds[names[name]])
        for name, run in found.items()
    ]
    header = ("way", "reductions", "bytes handed in", "gradients kept (B)", "off the joined batch", "as priced (s)")
    show(asked, Table(header, rows), lambda: _picture(found, asked.ranks))
    every, once = found.values()
    right = every.reductions == steps * once.reductions and every.sent == steps * once.sent
    near = max(every.difference, once.difference) <= NEAR
    return verdict(right and near, f"one gradient, with {every.reductions} reductions or {once.reductions}")


if __name__ == "__main__":
    sys.exit(main())
