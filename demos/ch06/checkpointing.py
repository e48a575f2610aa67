"""Checkpoints in the tiny model: stored bytes, measured peak and time for every distance, beside the formula.

python -m demos checkpointing --layers 12 --segment 3
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch06.checkpoint_runs import CONFIG, checkpoint_run, measured_sizes, predicted
from rankzero.units import MB, ms


def _picture(rows: Sequence[tuple]):
    from rankzero import plots

    lines = {"formula": [(row[0], row[3] / MB) for row in rows]}
    points = {"measured": [(row[0], row[2] / MB) for row in rows]}
    least = min(rows, key=lambda row: row[2])
    alt = f"Measured peaks lie just under the formula; the least, {least[2]:,} bytes, at {least[0]} layers."
    return plots.curves(lines, points, x="layers between two checkpoints", y="peak (MB)", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--layers", type=whole(2, 48), default=12)
    options.add_argument("--segment", type=whole(1, 48), help="only this many layers between two checkpoints")
    arguments = options.parse_args(argv)
    layers = min(arguments.layers, 6) if arguments.quick else arguments.layers
    if arguments.segment and arguments.segment > layers:
        options.error(f"--segment must be at most the layers, {layers}, got {arguments.segment}")
    best_segment = part(arguments.code, "ch06.activations", "best_segment")
    config = replace(CONFIG, layers=layers)
    layer, point = measured_sizes(config)
    best, least = best_segment(layers, layer, point)
    plain = checkpoint_run(0, config, repeats=2)
    segments = [arguments.segment] if arguments.segment else range(1, layers + 1)
    rows, right = [], True
    for segment in segments:
        run = checkpoint_run(segment, config, repeats=2)
        formula = predicted(segment, config)
        rows.append((segment, run.stored, run.peak, formula, run.seconds / ms, run.seconds / plain.seconds))
        right &= 0 < formula - run.peak <= 2 * point and run.stored == -(-layers // segment) * point
    header = ("layers", "stored (B)", "peak (B)", "formula (B)", "step (ms)", "times without")
    show(arguments, Table(header, rows), lambda: _picture(rows))
    print(f"without checkpoints {plain.peak:,} B; a layer keeps {layer / point:.1f} times a checkpoint")
    print(f"best by the formula: {best}, {least:,.0f} B")
    found = arguments.segment or min(rows, key=lambda row: row[2])[0]
    best_is_best = bool(arguments.segment) or found == best
    return verdict(right and best_is_best, "peaks are the formula's but for one or two checkpoints")


if __name__ == "__main__":
    sys.exit(main())
