"""Idle time and memory of all pipeline schedules by number of micro-batches, with the global batch fixed.

python -m demos bubble_sweep --stages 4 --max-microbatches 64
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from solutions.ch07.pipeline_charts import pipeline_chart

#: Schedules and their chunks.
WAYS = {
    "gpipe": ("gpipe", 1),
    "1f1b": ("1f1b", 1),
    "interleaved, 2 chunks": ("interleaved", 2),
    "interleaved, 4 chunks": ("interleaved", 4),
    "zb-h1": ("zb-h1", 1),
}


def _picture(curves: dict[str, list[tuple[float, float]]]):
    from rankzero.figures import plots

    ends = ", ".join(f"{name} {points[-1][1]:.3f}" for name, points in curves.items())
    alt = f"Bubble fraction of pipeline schedules against micro-batches; with the most of them {ends}."
    return plots.curves(curves, x="micro-batches", y="bubble fraction", log="x", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--stages", type=whole(2, 16), default=4, help="ranks of the pipeline")
    options.add_argument("--max-microbatches", type=whole(2, 256), default=64)
    asked = options.parse_args(argv)
    if asked.max_microbatches < asked.stages:
        options.error(f"--max-microbatches must be at least --stages, {asked.stages}, got {asked.max_microbatches}")
    fraction = part(asked.code, "ch07.pipeline", "bubble_fraction")
    overhead = part(asked.code, "ch07.pipeline", "bubble_overhead")
    most = min(asked.max_microbatches, 4 * asked.stages) if asked.quick else asked.max_microbatches
    counts = [asked.stages * 2**power for power in range(9) if asked.stages * 2**power <= most]
    rows, right = [], True
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    for count in counts:
        for name, (schedule, cut) in WAYS.items():
            found = pipeline_chart(schedule, asked.stages, count, cut)
            if schedule != "zb-h1":
                right &= abs(found.fraction - fraction(asked.stages, count, cut)) < 1e-9
                right &= abs(found.overhead - overhead(asked.stages, count, cut)) < 1e-9
            rows.append((count, name, found.fraction, found.overhead, found.peaks[0] / count))
            curves[name].append((count, found.fraction))
    header = ("micro-batches", "schedule", "bubble fraction", "bubble overhead", "share of the batch on rank 0")
    show(asked, Table(header, rows), lambda: _picture(curves))
    return verdict(right, "simulated idle time is that of the closed forms")


if __name__ == "__main__":
    sys.exit(main())
