"""Tokens that choose experts at random, evenly or not, and the assignments that a capacity drops. Standard library.

>>> loads = expert_loads(random_choices(4096, 64, 2), 64)
>>> sum(loads)
8192
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random


def popularity(experts: int, skew: float = 0.0) -> list[float]:
    """How likely each expert is, the most popular first: proportional to ``1 / place ** skew`` (Zipf)."""
    weights = [(index + 1.0) ** -skew for index in range(experts)]
    total = sum(weights)
    return [weight / total for weight in weights]


def random_choices(tokens: int, experts: int, top_k: int, skew: float = 0.0, seed: int = 0) -> list[list[int]]:
    """The experts of each token, best first: ``top_k`` different ones, drawn one after another by popularity.

    This is equivalent to a router whose logits are the logarithms of the popularities plus independent Gumbel noise.

    Args:
        tokens: how many.
        experts: how many; at least ``top_k``.
        top_k: experts of one token.
        skew: exponent of the Zipf distribution; 0 is a fair router.
        seed: of the draw.
    """
    rng = Random(seed)
    weights = popularity(experts, skew)
    if (
        4 * top_k > experts
    ):  # many out of few: order all experts by exponential arrival times, shorter for likelier ones
        return [
            sorted(range(experts), key=[rng.expovariate(w) for w in weights].__getitem__)[:top_k] for _ in range(tokens)
        ]
    ladder = list(itertools.accumulate(weights))
    chosen = []
    for _ in range(tokens):
        own: list[int] = []
        while len(own) < top_k:
            expert = rng.choices(range(experts), cum_weights=ladder)[0]
            if expert not in own:
                own.append(expert)
        chosen.append(own)
    return chosen


def expert_loads(choices: Iterable[Sequence[int]], experts: int) -> list[int]:
    """How many assignments each expert got."""
    counts = Counter(itertools.chain.from_iterable(choices))
    return [counts[expert] for expert in range(experts)]


def dropped_share(loads: Sequence[int], capacity: int) -> float:
    """The share of all assignments that find their expert full."""
    total = sum(loads)
    return sum(max(0, load - capacity) for load in loads) / total if total else math.nan
