"""The small model with experts, trained with and without a balancing loss: losses, load of the experts, drops.

python -m demos moe_train --experts 8 --top-k 2 --aux 0.01 --capacity 1.25 --steps 200
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from experiments.ch07.moe_runs import MoeRun, moe_runs


def _picture(runs: dict[str, MoeRun], experts: int):
    from rankzero import figures

    rows = {name: [round(100 * share) for share in run.shares()] for name, run in runs.items()}
    most = " and ".join(f"{row[0]} % ({name})" for name, row in rows.items())
    alt = f"Percent of the last ten steps' assignments by expert, sorted; the hottest of {experts} has {most}."
    return figures.matrix(rows, x="expert, by load", y="", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--experts", type=whole(2, 64), default=8)
    options.add_argument("--top-k", type=whole(1, 8), default=2)
    options.add_argument("--aux", type=number(0, 1e3), default=0.01, help="weight of the balancing loss")
    options.add_argument("--capacity", type=number(0.01, 100), default=1.25, help="capacity factor")
    options.add_argument("--steps", type=whole(1, 1000), default=40)
    asked = options.parse_args(argv)
    if asked.top_k > asked.experts:
        options.error(f"--top-k must be at most --experts, {asked.experts}, got {asked.top_k}")
    part(asked.code, "ch07.experts", "expert_capacity")(8, asked.experts, asked.top_k, 1.0)
    steps = min(asked.steps, 6) if asked.quick else asked.steps
    found = moe_runs((asked.aux, 0.0), steps, asked.experts, asked.top_k, asked.capacity)
    runs = dict(zip((f"balancing loss x {asked.aux:g}", "no balancing loss"), found, strict=True))
    rows = [
        (name, step, run.losses[step], run.hottest[step], 100 * run.dropped[step])
        for step in sorted({*range(0, steps, max(1, steps // 6)), steps - 1})
        for name, run in runs.items()
    ]
    header = ("training", "step", "loss", "hottest/mean load", "dropped (%)")
    show(asked, Table(header, rows), lambda: _picture(runs, asked.experts))
    counts = {sum(load) for run in found for load in run.loads}
    calm, free = (max(run.hottest[-10:]) for run in found)
    print(f"hottest/mean load, at most, in the last steps: {calm:.2f} with, {free:.2f} without the balancing loss")
    return verdict(len(counts) == 1, "every token is assigned to its experts in every step")


if __name__ == "__main__":
    sys.exit(main())
