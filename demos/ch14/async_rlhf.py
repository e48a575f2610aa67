"""A rollout worker and a trainer in two processes with a gate between them and weights in shared memory: GRPO.

python -m demos async_rlhf --max-staleness 1 --steps 60 --correction decoupled
python -m demos async_rlhf --lag 4 --correction behaviour
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch12.toy_models import reference
from experiments.ch14 import async_runs, lag_runs
from rankzero.tiny import GPT

#: The least gain of the judge's verdict over a full run with a small lag.
GAIN, MOST = 0.5, 4
STEP, LAGGED = ("step", "judge", "effective share"), ("staleness", "seconds")


def picture(rows: Sequence[tuple], index: int, unit: str):
    """The judge's verdict against the step or the second."""
    from rankzero.figures import plots

    points, alt = [(row[index], row[1]) for row in rows], f"The judge's verdict, from {rows[0][1]:.2f} on."
    return plots.curves({"judge": points}, x=unit, y="judge", alt=alt)


def lagged(asked: Namespace, model: GPT, recipe: lag_runs.Recipe) -> bool:
    """Run one process with a fixed lag, and check that it learns as it should."""
    run = lag_runs.lagged(model, asked.lag, recipe, asked.steps, asked.seed)
    rows = list(zip(range(asked.steps), run.judge, run.share, strict=True))
    show(asked, Table(STEP, rows[:: max(1, asked.steps // 10)]), lambda: picture(rows, 0, "step"))
    return asked.steps < lag_runs.STEPS or asked.lag > MOST or run.last()[0] > run.judge[0] + GAIN


def together(asked: Namespace, model: GPT, recipe: lag_runs.Recipe) -> bool:
    """Run two processes, and check that the gate holds and that training learns as it should."""
    parts = [part(asked.code, "ch14.weight_slots", name) for name in ("WeightSlots", "StalenessGate")]
    run = async_runs.together(model, asked.max_staleness, asked.steps, recipe, asked.seed, *parts)
    rows = [(step.version, step.judge, step.share, step.staleness, step.end) for step in run.steps]
    show(asked, Table((*STEP, *LAGGED), rows[:: max(1, asked.steps // 10)]), lambda: picture(rows, 4, "time (s)"))
    waits = ", ".join(f"the {who} waited {run.idle(who):.2f} s" for who in ("trainer", "worker"))
    print(f"{run.seconds:.2f} s, {waits}; mean staleness {run.staleness:.2f}, judge at the end {run.judge():.2f}")
    gained = asked.steps < lag_runs.STEPS or asked.max_staleness > MOST or run.judge() > run.steps[0].judge + GAIN
    return gained and all(0 <= step.staleness <= asked.max_staleness for step in run.steps)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument(
        "--max-staleness", type=whole(0, 64), default=1, help="how many batches the worker may be ahead"
    )
    options.add_argument("--steps", type=whole(1, 1000), default=lag_runs.STEPS)
    options.add_argument("--correction", choices=lag_runs.CORRECTIONS, default="decoupled")
    options.add_argument("--seed", type=whole(0, 10**6), default=0)
    options.add_argument("--lag", type=whole(0, 64), help="run in one process, with weights this many versions old")
    options.add_argument(
        "--store", action="store_true", help="run all lags and seeds and store the table that the page shows: minutes"
    )
    asked = options.parse_args(argv)
    found = [part(asked.code, "ch14.off_policy", name) for name in ("importance_weights", "effective_sample_size")]
    recipe = lag_runs.Recipe(asked.correction, weights=found[0], sample_size=found[1])
    if asked.store:
        lag_runs.store(lag_runs.lag_rows(reference()))
        return verdict(True, "stored")
    asked.steps = min(asked.steps, 6) if asked.quick else asked.steps
    right = (together if asked.lag is None else lagged)(asked, reference(0, 25 if asked.quick else 200), recipe)
    return verdict(right, "no batch is older than the bound, and the judge's verdict rises as it should")


if __name__ == "__main__":
    sys.exit(main())
