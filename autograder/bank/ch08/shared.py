"""What several exercises of chapter 8 share."""

from __future__ import annotations

from random import Random

from autograder.items import Case


def draw_lengths(rng: Random, least: int = 6, most: int = 40) -> list[int]:
    return [rng.choice((rng.randint(1, 9), rng.randint(1, 60))) for _ in range(rng.randint(least, most))]


def queue(rng: Random) -> Case:
    return Case((draw_lengths(rng), rng.randint(2, 5)))
