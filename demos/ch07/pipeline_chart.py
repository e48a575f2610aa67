"""A pipeline schedule simulated and drawn: idle time in both units, memory by rank, and the closed form beside it.

python -m demos pipeline_chart --schedule interleaved --ranks 4 --microbatches 8 --virtual 2 --save chart.png
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, amount, demo, parser, part, show, verdict, whole
from rankzero import figures
from rankzero.sim.schedules import validate
from solutions.ch07.pipeline_charts import SCHEDULES, chart_text


def slow(text: str) -> tuple[int, float]:
    """An argparse type: a stage and how many times longer it takes, ``3:1.23``."""
    stage, _, factor = text.partition(":")
    if not stage.isdecimal() or not factor:
        raise argparse.ArgumentTypeError(f"must be STAGE:FACTOR, as 3:1.23, got {text}")
    return int(stage), amount(factor)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--schedule", choices=sorted(SCHEDULES), default="1f1b")
    options.add_argument("--ranks", type=whole(1, 64), default=4)
    options.add_argument("--microbatches", type=whole(1, 256), default=8)
    options.add_argument("--virtual", type=whole(1, 8), help="chunks per rank, only for interleaved; 2 by default")
    options.add_argument("--forward", type=amount, default=1.0)
    options.add_argument(
        "--backward", type=amount, default=2.0, help="time of a backward pass; zb-h1 splits it into two halves"
    )
    options.add_argument("--hop", type=amount, default=0.0, help="time of a message")
    options.add_argument("--slow", type=slow, metavar="STAGE:FACTOR", help="a slower stage, as in 3:1.23")
    asked = options.parse_args(argv)
    cut = asked.virtual or (2 if asked.schedule == "interleaved" else 1)
    if (cut > 1) != (asked.schedule == "interleaved") or (cut > 1 and asked.microbatches % asked.ranks):
        options.error("chunks, at least 2, and a multiple of --ranks for --microbatches belong to interleaved alone")
    if not asked.forward or not asked.backward or (asked.slow and asked.slow[0] >= asked.ranks * cut):
        options.error("--forward and --backward must be positive, and the slow stage one of the pipeline's")
    names = ("pipeline_schedule", "simulate_schedule", "peak_in_flight", "bubble_fraction")
    schedule, simulate, peak, fraction = (part(asked.code, "ch07.pipeline", name) for name in names)
    orders = schedule(asked.schedule, asked.ranks, asked.microbatches, cut)
    validate(orders)
    kinds = {"F": asked.forward, "B": asked.backward, "I": asked.backward / 2, "W": asked.backward / 2}
    used = {kind: kinds[kind] / cut for kind in ("FIW" if asked.schedule == "zb-h1" else "FB")}
    late = {f"{asked.slow[0]}{kind}": asked.slow[1] * used[kind] for kind in used} if asked.slow else {}
    times = simulate(orders, used | late, asked.hop)
    end = max(stop for _, stop in times.values())
    idle = [end - sum(times[op][1] - times[op][0] for op in order) for order in orders]
    rows = [(rank, idle[rank], peak(order) / cut) for rank, order in enumerate(orders)]
    print(f"{chart_text(times, asked.ranks)}\n")
    show(
        asked,
        Table(("rank", "idle time", "holds, in stages"), rows),
        lambda: figures.schedules.draw(times, asked.ranks),
    )
    share, useful = sum(idle) / (asked.ranks * end), asked.ranks * end - sum(idle)
    print(f"makespan {end:g}; bubble fraction {share:.4f}, bubble overhead {sum(idle) / useful:.4f}")
    if asked.slow or asked.hop or asked.schedule == "zb-h1":
        return verdict(min(idle) >= -1e-9 * end, "the order is legal, and no rank works longer than the step")
    formula = fraction(asked.ranks, asked.microbatches, cut)
    return verdict(abs(share - formula) < 1e-9, "the simulated fraction is that of the closed form")


if __name__ == "__main__":
    sys.exit(main())
