"""What several exercises of chapter 5 share."""

from __future__ import annotations

from random import Random

from autograder.items import Case

BACKOFFS = (0.1, 0.25, 0.3, 0.5, 0.9)
GROWTHS = (1.1, 1.5, 2.0, 3.0)
INTERVALS = (1, 2, 3, 5, 7, 50)


def draw_rules(rng: Random) -> tuple[int, float, float]:
    return rng.choice(INTERVALS), rng.choice(GROWTHS), rng.choice(BACKOFFS)


def parameters(rng: Random) -> float:
    return float(f"{10 ** rng.uniform(3, 12.3):.4g}")


def several_ranks(rng: Random) -> int:
    return rng.choice((2, 3, 4, 7, 8, 12, 64, 100, 1000, 1024, 16_384))


def states(rng: Random, stage: int | None = None) -> Case:
    return Case((parameters(rng), rng.randrange(4) if stage is None else stage, several_ranks(rng)))
