"""Padding for a list of captured batch sizes: what share of the work is waste, under some traffic.

python -m demos graph_sizes --sizes vllm --traffic FILE      # a batch size in each line
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from demos.common import Table, demo, parser, part, show, verdict

LISTS = ("pow2", "vllm", "every")


def traffic_of(name: str) -> list[int]:
    """The batch sizes in a file, one in each line."""
    try:
        lines = [line.strip() for line in Path(name).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"cannot read {name}: {type(error).__name__}") from None
    if not lines or not all(line.isdecimal() and int(line) for line in lines):
        raise argparse.ArgumentTypeError(f"{name} must have a whole number >= 1 in each line")
    return [int(line) for line in lines]


def bursts(count: int = 3000) -> list[int]:
    """Traffic that rises and falls: a random walk between 1 and 300."""
    rng, batch, result = Random(10), 40, []
    for _ in range(count):
        batch = min(300, max(1, batch + rng.randint(-4, 4)))
        result.append(batch)
    return result


def _picture(batches: list[int], lists: dict[str, list[int]], waste):
    from rankzero.figures import plots

    curves = {name: [(b, 100 * waste([b], sizes)) for b in range(1, max(sizes) + 1)] for name, sizes in lists.items()}
    alt = f"Padded rows against the batch for {', '.join(lists)}; {len(batches)} batches were counted."
    return plots.curves(curves, x="batch", y="padded rows (%)", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--sizes", choices=LISTS, help="one list; by default all three are compared")
    options.add_argument(
        "--traffic", type=traffic_of, metavar="FILE", help="a file of batch sizes; by default a random walk"
    )
    options.add_argument("--most", type=int, choices=(64, 128, 256, 512), default=256, help="the largest size")
    asked = options.parse_args(argv)
    from solutions.ch10.scheduling import published_sizes

    size, waste = (part(asked.code, "ch10.scheduling", name) for name in ("capture_size", "padding_waste"))
    powers = [2**power for power in range(10) if 2**power <= asked.most]
    every = list(range(1, asked.most + 1))
    lists = dict(zip(LISTS, (powers, published_sizes(asked.most), every), strict=True))
    lists = {name: sizes for name, sizes in lists.items() if asked.sizes in (None, name)}
    batches = asked.traffic or bursts(300 if asked.quick else 3000)
    rows, right = [], True
    for name, sizes in lists.items():
        padded = [size(batch, sizes) for batch in batches]
        run = [(own, batch) for own, batch in zip(padded, batches, strict=True) if own is not None]
        share = sum(own - batch for own, batch in run) / max(1, sum(own for own, _ in run))
        rows.append((name, len(sizes), 100 * waste(batches, sizes), padded.count(None)))
        right &= abs(waste(iter(batches), sizes) - share) < 1e-12
    header = ("sizes", "graphs", "padded rows (%)", "batches without a graph")
    show(asked, Table(header, rows), lambda: _picture(batches, lists, waste))
    return verdict(right, "the waste is that of the padded sizes")


if __name__ == "__main__":
    sys.exit(main())
