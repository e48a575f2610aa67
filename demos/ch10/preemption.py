"""Equal requests in pools of different sizes, on the real engine: preemptions, work done twice, and throughput.

python -m demos preemption --blocks 40..400
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole


def pools_of(text: str) -> tuple[int, int]:
    """The smallest and the largest pool."""
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    if not found or not 1 <= int(found[1]) <= int(found[2]) <= 10_000:
        raise argparse.ArgumentTypeError(f"must be two whole numbers, the smaller first, as in 40..400, got {text}")
    return int(found[1]), int(found[2])


def _picture(runs):
    from rankzero import plots

    speed = [(run.blocks, run.per_step) for run in runs]
    alt = f"Generated tokens of a step against the blocks of the pool: {speed[0][1]:.1f} at {speed[0][0]} blocks, "
    alt += f"{speed[-1][1]:.1f} at {speed[-1][0]}."
    return plots.curves({"throughput": speed}, {"throughput": speed}, x="blocks", y="tokens of a step", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--blocks", type=pools_of, default=(40, 400), metavar="LOW..HIGH", help="of 4 tokens each")
    options.add_argument("--requests", type=whole(1, 64), default=12)
    options.add_argument("--pools", type=whole(2, 20), default=7, help="how many sizes to try")
    asked = options.parse_args(argv)
    prompt, new, size = (8, 12, 4) if asked.quick else (32, 48, 4)
    low, high = (6, 30) if asked.quick else asked.blocks
    if low * size < prompt + new - 1:
        options.error(f"--blocks must hold one request of {prompt + new - 1} tokens, got {low} blocks of {size}")
    from experiments.ch10 import scheduling_runs

    scheduler = part(asked.code, "ch10.token_budget", "TokenBudgetScheduler")
    count, requests = (3, 4) if asked.quick else (asked.pools, asked.requests)
    pools = sorted({round(low * (high / low) ** (place / (count - 1))) for place in range(count)})
    runs = [scheduling_runs.pool_run(one, requests, prompt, new, size, scheduler) for one in pools]
    least = requests * (prompt + new - 1)
    rows = [(run.blocks, run.preemptions, len(run.steps), run.per_step, run.computed - least) for run in runs]
    header = ("blocks", "preemptions", "steps", "tokens of a step", "tokens computed twice")
    show(asked, Table(header, rows), lambda: _picture(runs))
    same = len({run.texts for run in runs}) == 1
    paid = all((run.computed > least) == (run.preemptions > 0) for run in runs)
    inside = all(step.blocks <= run.blocks for run in runs for step in run.steps)
    return verdict(same and paid and inside, "the texts are the same, and only preemptions make work twice")


if __name__ == "__main__":
    sys.exit(main())
