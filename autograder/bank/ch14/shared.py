"""What several exercises of chapter 14 share."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Tensor

NEW, OLD = (-1.0, -2.0, -0.5), (-1.5, -1.0, -0.5)


def numbers(rng: Random, dtype: str, *shape: int) -> Tensor:
    kinds = {"bool": lambda: rng.randint(0, 1), "int64": lambda: rng.randint(1, 10**12)}
    draw = kinds.get(dtype, lambda: rng.uniform(-2, 2))
    return Tensor.of([draw() for _ in range(math.prod(shape))], dtype, shape)


Box = tuple[int, int, int, int]


def cut(size: int, parts: int) -> list[tuple[int, int]]:
    width = -(-size // parts)
    return [(min(size, part * width), min(size, part * width + width)) for part in range(parts)]


def by_rows(shape: tuple[int, int], parts: int) -> list[Box]:
    return [(low, high, 0, shape[1]) for low, high in cut(shape[0], parts)]


def by_columns(shape: tuple[int, int], parts: int) -> list[Box]:
    return [(0, shape[0], low, high) for low, high in cut(shape[1], parts)]


def dealt(rng: Random, boxes: list[Box], ranks: int) -> list[Box]:
    """Each box to one rank at least, in any order."""
    dealt = boxes + [rng.choice(boxes) for _ in range(ranks - len(boxes))]
    rng.shuffle(dealt)
    return dealt
