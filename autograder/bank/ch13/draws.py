"""Chapter 13: responses of random lengths for cases, with numbers in their padding that must not count."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Tensor

Rows = list[list[float]]


def rows(rng: Random, batch: int, length: int, low: float = -2.0, high: float = 2.0) -> Rows:
    """Numbers of three decimals."""
    return [[round(rng.uniform(low, high), 3) for _ in range(length)] for _ in range(batch)]


def tensor(given: Rows, dtype: str = "float64") -> Tensor:
    return Tensor.of([value for row in given for value in row], dtype, (len(given), len(given[0])))


def lengths(rng: Random, batch: int, length: int) -> list[int]:
    """How many tokens of each response are real: from 1 to all, and not the same in all."""
    drawn = [rng.randint(1, length) for _ in range(batch)]
    drawn[rng.randrange(batch)] = rng.randint(1, length - 1)
    return drawn


def ending(real: list[int], length: int) -> Rows:
    """A mask of responses with padding at their ends."""
    return [[float(index < count) for index in range(length)] for count in real]


def holes(rng: Random, batch: int, length: int) -> Rows:
    """A mask whose every row has a gap between real tokens, and sometimes padding."""
    made = []
    for _ in range(batch):
        last = rng.randint(3, length)
        gap = rng.randint(1, last - 2)
        width = rng.randint(1, last - 1 - gap)
        made.append([float(index < last and not gap <= index < gap + width) for index in range(length)])
    return made


def spoiled(given: Rows, mask: Rows, *rests: float) -> Rows:
    """The numbers, with ``rests`` in turn where the mask is 0."""
    return [
        [
            value if real else rests[index % len(rests)]
            for index, (value, real) in enumerate(zip(row, kept, strict=True))
        ]
        for row, kept in zip(given, mask, strict=True)
    ]


#: What the padding may hold.
REST = (math.nan, -math.inf, math.inf, 50.0)
