"""Chapter 07: tensors and stages that cases are made of."""

from __future__ import annotations

from random import Random

from autograder.items import Stage, Tensor


def numbers(rng: Random, *shape: int, dtype: str = "float64") -> Tensor:
    """A tensor of this shape, its elements from -1 to 1."""
    count = 1
    for size in shape:
        count *= size
    return Tensor.of([rng.uniform(-1, 1) for _ in range(count)], dtype, shape)


def linear(rng: Random, width: int, trained: bool = True, dtype: str = "float64") -> Stage:
    """A stage of one matrix and, mostly, a bend after it."""
    layer = ("Linear", numbers(rng, width, width, dtype=dtype), numbers(rng, width, dtype=dtype))
    return Stage((layer, ("Tanh",)) if rng.random() < 0.8 else (layer,), frozen=not trained)
