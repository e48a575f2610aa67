"""The same PPO run with several KL prices: what the reward model says, and what the judge says.

python -m demos reward_hacking --betas 0,.02,.1,.5
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from demos.ch13.rlhf import folder, models, parts
from demos.common import Table, demo, number, parser, show, verdict, whole
from experiments.ch13 import budget_runs
from experiments.ch13 import rlhf_runs as runs

HEADER = ("beta", "score", "judge", "KL (nats)", "best judge", "at iteration", "the best by score")


def prices(text: str) -> tuple[float, ...]:
    """An argparse type: prices with commas between them."""
    found = tuple(sorted({number(0, 10)(price) for price in text.split(",")}))
    if len(found) < 2:
        raise argparse.ArgumentTypeError(f"must be two prices or more, with commas, got {text}")
    return found


def row(beta: float, points: Sequence[runs.Point]) -> tuple:
    """A row of the table: the end of the run, and the iteration that the judge rated best."""
    end, best = points[-1], max(points, key=lambda point: point.judge)
    return (beta, end.score, end.judge, end.kl, best.judge, best.iteration, end.sample)


def picture(found: dict[float, list[runs.Point]]):
    """Score and judge against the distance."""
    from rankzero import figures

    return figures.rlhf.over_distance(
        {f"beta {beta:g}": [(p.kl, p.score, p.judge) for p in points] for beta, points in found.items()}
    )


def store() -> int:
    """Run the whole sweep of the page and the table of its design, which takes some minutes, and store both."""
    runs.store(runs.sweep(), runs.sweep(runs.GRPO_BETAS, loop=runs.grpo))
    budget_runs.store(budget_runs.swept())
    return verdict(True, "stored")


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--betas", type=prices, default=(0.0, 0.02, 0.1, 0.5), help="prices of a nat, with commas")
    options.add_argument("--iterations", type=whole(1, 1000), default=60)
    options.add_argument("--seed", type=whole(0, 10**6), default=2)
    options.add_argument("--cache", type=folder, metavar="FOLDER", help="keep reference and reward model there")
    options.add_argument(
        "--store", action="store_true", help="run the sweep that the page shows again and store it: minutes"
    )
    asked = options.parse_args(argv)
    if asked.store:
        return store()
    mine, (model, scorer) = parts(asked.code), models(asked)
    betas, iterations = ((asked.betas[0], asked.betas[-1]), 2) if asked.quick else (asked.betas, asked.iterations)
    base = replace(runs.DEFAULTS, responses=16 if asked.quick else 64)
    found = {
        beta: runs.ppo(runs.assemble(model, scorer), replace(base, beta=beta), iterations, asked.seed, mine)
        for beta in betas
    }
    show(asked, Table(HEADER, [row(*run) for run in found.items()]), lambda: picture(found))
    near, far = found[betas[-1]][-1].kl, found[betas[0]][-1].kl
    return verdict(far > near, "the lowest price ends further from the reference than the highest")


if __name__ == "__main__":
    sys.exit(main())
