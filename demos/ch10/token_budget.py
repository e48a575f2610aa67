"""Streams that decode while a long prompt arrives, on the real engine: who waits how long, by the budget of a step.

python -m demos token_budget --budget 64,256,0 --long 512 --streams 7
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from rankzero.units import ms


def budgets_of(text: str) -> list[int]:
    """Budgets, 0 for none."""
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) <= 100_000 for part in parts):
        raise argparse.ArgumentTypeError(f"must be whole numbers with commas, 0 for no limit, got {text}")
    return [int(part) for part in parts]


def _picture(runs):
    from rankzero import serving_figures

    return serving_figures.step_bars({f"budget {budget or 'unlimited'}": run.steps for budget, run in runs.items()})


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--budget", type=budgets_of, default=[64, 256, 0], help="tokens of a step; 0 sets no limit")
    options.add_argument("--long", type=whole(8, 2000), default=512, help="tokens of the prompt that arrives")
    options.add_argument("--streams", type=whole(1, 32), default=7)
    asked = options.parse_args(argv)
    wrong = [budget for budget in asked.budget if 0 < budget <= asked.streams]
    if wrong:
        options.error(f"--budget must be more than --streams, {asked.streams}, or 0, got {wrong[0]}")
    from experiments.ch10 import scheduling_runs

    scheduler = part(asked.code, "ch10.token_budget", "TokenBudgetScheduler")
    long, streams = (64, 3) if asked.quick else (asked.long, asked.streams)
    room = min([budget for budget in asked.budget if budget] or [long + streams])
    tokens = -(-long // max(1, room - streams)) + 24
    runs = {one: scheduling_runs.budget_run(one, long, streams, tokens, scheduler) for one in asked.budget}
    rows = [
        (one or "unlimited", run.prefill_steps, run.longest_step, run.slowest_gap / ms, run.ttft / ms)
        for one, run in runs.items()
    ]
    header = ("budget", "steps of the prompt", "tokens of the largest step", "p99 gap (ms)", "TTFT of the prompt (ms)")
    show(asked, Table(header, rows), lambda: _picture(runs))
    same = all(run.texts == next(iter(runs.values())).texts for run in runs.values())
    kept = all(run.longest_step <= (one or long + streams) for one, run in runs.items())
    counted = all(run.prefill_steps == -(-long // ((one or long + streams) - streams)) for one, run in runs.items())
    return verdict(same and kept and counted, "the texts are the same, no step exceeds its budget")


if __name__ == "__main__":
    sys.exit(main())
