"""The small model trained as a pipeline of real processes and in one process; with --blocking, how it deadlocks.

python -m demos pipeline_train --ranks 4 --microbatches 8 --schedule 1f1b --steps 20
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch07 import pipeline_runs
from rankzero import figures, world
from rankzero.facts.units import ms


def blocked(ranks: int, microbatches: int, schedule: str, seconds: float) -> int:
    """Run with sends that wait, and compare where the ranks get stuck with where they should."""
    orders = pipeline_runs.pipeline_schedule(schedule, ranks, microbatches)
    foretold = pipeline_runs.blocked_at(orders)
    stuck: set[int] = set()
    try:
        pipeline_runs.pipeline_run(ranks, microbatches, schedule, pipeline_runs.blocking_step, timeout=seconds)
    except world.WorldError as error:
        print(f"{error}\n")
        stuck = {report.rank for report in error.reports if report.state == "waiting"}
    for rank, where in foretold.items():
        print(f"rank {rank} should wait in its {where}")
    return verdict(stuck == set(foretold), "exactly the predicted ranks are stuck")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--ranks", type=whole(1, 8), default=4)
    options.add_argument("--microbatches", type=whole(1, 32), default=8)
    options.add_argument("--schedule", choices=("1f1b", "gpipe"), default="1f1b")
    options.add_argument("--steps", type=whole(1, 200), default=20)
    options.add_argument("--blocking", action="store_true", help="let every send wait until its message is received")
    asked = options.parse_args(argv)
    if asked.blocking:
        return blocked(asked.ranks, asked.microbatches, asked.schedule, 1.0 if asked.quick else 3.0)
    step = part(asked.code, "ch07.pipeline_run", "pipeline_step")
    ranks, count, steps = (2, 2, 2) if asked.quick else (asked.ranks, asked.microbatches, asked.steps)
    cut = pipeline_runs.training_losses(ranks, count, steps, asked.schedule, step=step)
    alone = pipeline_runs.training_losses(1, count, steps, asked.schedule)
    run = pipeline_runs.pipeline_run(ranks, count, asked.schedule, step)
    times = {op: (start / ms, end / ms) for op, (start, end) in run.times.items()}
    rows = [(number, *losses) for number, losses in enumerate(zip(cut, alone, strict=True))]
    table = Table(("step", f"loss on {ranks} ranks", "loss in one process"), rows)
    show(asked, table, lambda: figures.schedules.draw(times, ranks, unit="ms"))
    print(f"{run.messages} messages in a step; graphs held by the ranks: {', '.join(map(str, run.peaks))}")
    near = all(abs(one - other) <= 1e-9 * abs(other) for one, other in zip(cut, alone, strict=True))
    right = near and run.messages == 2 * (ranks - 1) * count
    return verdict(right, "the losses equal those of one process, and there are 2(p-1)m messages")


if __name__ == "__main__":
    sys.exit(main())
