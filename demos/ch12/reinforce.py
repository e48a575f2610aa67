"""REINFORCE on CartPole with four weights: how far gradients scatter, and how fast each learns.

python -m demos reinforce --weights episode,to-go,mean,value --seeds 2 --steps 40000
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from demos.common import Table, demo, parser, part, show, verdict, whole
from experiments.ch12 import reinforce_runs as runs


def kinds(text: str) -> list[str]:
    """Names of weights, separated by commas."""
    names = text.split(",")
    if not set(names) <= set(runs.KINDS) or len(set(names)) < len(names):
        raise argparse.ArgumentTypeError(f"must be some of {','.join(runs.KINDS)}, got {text}")
    return names


def picture(curves: dict):
    """Learning curves."""
    from rankzero import plots

    best = max(mean for points in curves.values() for _, mean in points)
    alt = f"Mean return of a batch against the steps played, a curve for each weight; the best batch has {best:.0f}."
    return plots.curves(curves, x="steps played", y="mean return of a batch (steps)", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--weights", type=kinds, default=list(runs.KINDS), help="some of " + ", ".join(runs.KINDS))
    options.add_argument("--seeds", type=whole(1, 20), default=2)
    options.add_argument("--steps", type=whole(1, 10**6), default=40_000, help="of each learning curve, at most")
    asked = options.parse_args(argv)
    loss, returns = part(asked.code, "ch12.policy", "reinforce_loss"), part(asked.code, "ch12.rl", "discounted_returns")
    steps, seeds = (min(asked.steps, 1000), 1) if asked.quick else (asked.steps, asked.seeds)
    half = runs.half_trained(enough=30.0, count=48) if asked.quick else runs.half_trained()
    scatters = runs.scatters(half, loss, returns)
    rows, curves = [], {}
    for kind in asked.weights:
        for seed in range(seeds):
            run = runs.learn(kind, seed, steps, loss=loss, returns=returns)
            curves.setdefault(kind, run.points)
            best = max(mean for _, mean in run.points)
            rows.append((kind, seed, scatters[kind].variance, best, run.points[-1][1], run.seconds))
    mean = half.episodes.lengths.double().mean().item()
    print(f"gradients of {len(half.episodes.mask)} episodes of {mean:.0f} steps on average")
    header = ("weight", "seed", "variance", "best batch", "last batch", "seconds")
    show(asked, Table(header, rows), lambda: picture(curves))
    variances = {kind: found.variance for kind, found in scatters.items()}
    right = variances["episode"] > variances["to-go"] > variances["mean"] and variances["value"] < variances["to-go"]
    return verdict(right, "a return from the step on scatters less, a baseline makes it less again")


if __name__ == "__main__":
    sys.exit(main())
