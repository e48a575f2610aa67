"""One matrix cut in two ways: which rank sends which box to which, and real ranks that do it.

python -m demos reshard --shape 8x6 --from rows4 --to columns2x2 --save plan.svg
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict
from experiments.ch14.sync_runs import resharded
from solutions.ch14.weight_sync import moved_bytes, shard_boxes

#: Bytes of an element: float32.
ITEM = 4


def size(text: str) -> tuple[int, int]:
    """An argparse type: rows x columns."""
    match = re.fullmatch(r"([1-9]\d{0,3})x([1-9]\d{0,3})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"must be ROWSxCOLUMNS, each from 1 to 9999, got {text}")
    return int(match[1]), int(match[2])


def layout(text: str) -> str:
    """An argparse type: a word for a layout; ``cols`` is short for ``columns``."""
    word = re.sub(r"^cols", "columns", text)
    try:
        shard_boxes((1, 1), word)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return word


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--shape", type=size, default=(8, 6), metavar="ROWSxCOLUMNS")
    options.add_argument("--from", dest="source", type=layout, default="rows4", help="rows4, columns2x2, rows2:2 ...")
    options.add_argument("--to", type=layout, default="columns2x2")
    asked = options.parse_args(argv)
    source, target = (shard_boxes(asked.shape, word) for word in (asked.source, asked.to))
    if len(source) != len(target) or len(source) > 8:
        options.error(f"both layouts must be for the same ranks, at most 8, got {len(source)} and {len(target)}")
    planner = part(asked.code, "ch14.weight_sync", "reshard_plan")
    execute = part(asked.code, "ch14.weight_push", "execute_reshard")
    run = resharded(asked.shape, source, target, execute, planner)
    rows = []
    for move in run.plan:
        row0, row1, col0, col1 = move.box
        kept = "kept" if move.source == move.destination else f"from {move.source}"
        box = (f"{row0}-{row1 - 1}", f"{col0}-{col1 - 1}")
        rows.append((move.destination, kept, *box, ITEM * (row1 - row0) * (col1 - col0)))

    def picture():
        from rankzero import figures

        return figures.weight_sync.reshard(asked.shape, source, run.plan, ITEM)

    show(asked, Table(("rank", "piece", "rows", "columns", "bytes"), rows), picture)
    whole = ITEM * asked.shape[0] * asked.shape[1]
    print(f"planned: {moved_bytes(run.plan, ITEM):,} bytes between ranks; the matrix has {whole:,}")
    print(f"received, by rank: {', '.join(f'{size:,}' for size in run.received)}")
    right = run.right and run.received == run.planned
    return verdict(right, "every rank holds its box and received what the plan says")


if __name__ == "__main__":
    sys.exit(main())
