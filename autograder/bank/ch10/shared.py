"""What several exercises of chapter 10 share."""

from __future__ import annotations

from random import Random

from rankzero.facts.units import us

POWERS = [2**power for power in range(9)]

#: What vLLM captures by default, up to 256 and up to 512.
PUBLISHED = [1, 2, 4, *range(8, 256, 8), 256]


def draw_sizes(rng: Random, most: int = 300) -> list[int]:
    return sorted(rng.sample(range(2, most), rng.randint(4, 12)))


def kernels(rng: Random, low: float, high: float, most: int = 60) -> list[float]:
    return [rng.uniform(low, high) * us for _ in range(rng.randint(2, rng.choice((6, 20, most))))]
