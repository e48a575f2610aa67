"""Gradients of ranks with unequal rows, before and after the reduction, beside those of one process with all rows.

python -m demos gradient_sync --rows 4,3,1 --verbose
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch05.data_parallel_runs import Gradients, one_gradient, plain_mean

#: How far double precision may be off.
NEAR = 1e-12


def wholes(low: int, high: int) -> Callable[[str], list[int]]:
    """An argparse type: whole numbers from ``low`` to ``high``, with commas between them."""

    def convert(text: str) -> list[int]:
        values = [int(piece) for piece in text.split(",") if piece.isdecimal()]
        if len(values) != text.count(",") + 1 or not all(low <= value <= high for value in values):
            raise argparse.ArgumentTypeError(f"must be whole numbers from {low} to {high}, with commas, got {text}")
        return values

    return convert


def _named(seen: Gradients, plain: Gradients) -> dict[str, list[float]]:
    """Gradients by a name, in thousandths."""
    rows = {f"rank {rank} before": row for rank, row in enumerate(seen.before)}
    rows |= {f"rank {rank} after": row for rank, row in enumerate(seen.after)}
    rows |= {"joined batch": seen.joined, "plain mean": plain.after[0]}
    return {name: [round(1000 * value, 1) for value in row.tolist()] for name, row in rows.items()}


def _picture(seen: Gradients, plain: Gradients):
    from rankzero import figures

    alt = f"Gradients in thousandths: ranks differ before, and after by {seen.difference:.0e} from the joined batch."
    return figures.matrix(_named(seen, plain), x="weight", y="gradient (thousandths)", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), help="number of ranks, where all have as many rows")
    options.add_argument("--rows", type=wholes(1, 64), default=[4, 3, 1], help="of each rank, with commas")
    options.add_argument("--verbose", action="store_true", help="print the gradients")
    asked = options.parse_args(argv)
    counts = asked.rows * asked.ranks if asked.ranks and len(asked.rows) == 1 else asked.rows
    if len(counts) != (asked.ranks or len(counts)) or len(counts) > 8:
        options.error(f"--rows must hold one number, or one for each of --ranks, at most 8, got {len(counts)}")
    synchronize = part(asked.code, "ch05.data_parallel", "synchronize_gradients")
    shown = 4 if asked.quick else 10
    seen = one_gradient(counts, shown, synchronize=synchronize)
    plain = one_gradient(counts, shown, synchronize=plain_mean)
    if asked.verbose:
        for name, row in _named(seen, plain).items():
            print(f"{name:14}", *(f"{value:7.1f}" for value in row))
    found = zip(
        counts,
        *([float((row - seen.joined).abs().max()) for row in ones] for ones in (seen.before, seen.after, plain.after)),
        strict=True,
    )
    header = ("rank", "rows", "off before", "off after", "off after a plain mean")
    show(asked, Table(header, [(rank, *row) for rank, row in enumerate(found)]), lambda: _picture(seen, plain))
    sentence = f"gradients agree with the joined batch's: they differ by at most {seen.difference:.1e}"
    return verdict(seen.difference <= NEAR, sentence)


if __name__ == "__main__":
    sys.exit(main())
