"""RLHF on four tiny models: PPO or GRPO, with a learned reward or with the judge itself.

python -m demos rlhf --algorithm ppo --beta 0.05 --iterations 60 --reward model --seed 2
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from demos.common import Table, demo, number, parser, part, show, verdict, whole
from experiments.ch12.toy_models import kept
from experiments.ch13 import rlhf_runs as runs
from rankzero.tiny import GPT

HEADER = ("iteration", "score", "judge", "KL (nats)", "length", "clipped")


def folder(text: str) -> Path:
    """An argparse type: a folder that exists."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {text}")
    return Path(text)


def parts(code: str) -> runs.Parts:
    """The functions of the chapter, from ``solutions`` or from ``labs``."""
    return runs.Parts(**{field.name: part(code, "ch13.rlhf", field.name) for field in fields(runs.Parts)})


def models(asked: argparse.Namespace) -> tuple[GPT, runs.Scorer]:
    """Reference and reward model: trained now, taken from ``--cache``, or half-trained for ``--quick``."""
    if asked.quick:
        model = runs.reference(0, 25)
        return model, runs.scorer(model, 0, 4)
    if asked.cache:
        return kept(asked.cache)
    return runs.reference(), runs.scorer(runs.reference())


def picture(points: Sequence[runs.Point]):
    """Score and judge by iteration."""
    from rankzero.figures import plots

    curves = {name: [(p.iteration, getattr(p, name)) for p in points] for name in ("score", "judge")}
    alt = f"Score from {points[0].score:.2f} to {points[-1].score:.2f}, judge to {points[-1].judge:.2f}."
    return plots.curves(curves, x="iteration", y="points", alt=alt)


@demo
def main(argv: Sequence[str] | None = None) -> int:
    options = parser(__doc__)
    options.add_argument("--algorithm", choices=("ppo", "grpo"), default="ppo")
    options.add_argument("--beta", type=number(0, 10), default=0.05, help="price of a nat")
    options.add_argument("--iterations", type=whole(1, 1000), default=60)
    options.add_argument("--reward", choices=("model", "judge"), default="model")
    options.add_argument("--seed", type=whole(0, 10**6), default=2)
    options.add_argument("--cache", type=folder, metavar="FOLDER", help="keep reference and reward model there")
    asked = options.parse_args(argv)
    mine = parts(asked.code)
    model, scorer = models(asked)
    team = runs.assemble(model, runs.judged if asked.reward == "judge" else scorer)
    loop = runs.ppo if asked.algorithm == "ppo" else runs.grpo
    settings = runs.Settings(beta=asked.beta, responses=16 if asked.quick else 64)
    points = loop(team, settings, min(asked.iterations, 4 if asked.quick else 1000), asked.seed, mine)
    rows = [(p.iteration, p.score, p.judge, p.kl, p.length, p.clipped) for p in points]
    show(asked, Table(HEADER, rows), lambda: picture(points))
    print(f"the best of the first batch: {points[0].sample}\nand of the last: {points[-1].sample}")
    return verdict(points[-1].score > points[0].score, "the score has risen")


if __name__ == "__main__":
    sys.exit(main())
