"""Chapter 07: groups, bad arguments, tensors and stages that cases are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random

from autograder.bank.groups import listed
from autograder.items import Case, Group, Stage, Tensor


def one_of_each(name: str, cases: Callable[[Random], Sequence[Case]], hint: str) -> Group:
    """A group of which every key tries all ``cases``, which are equally many for each key."""
    return listed(name, cases, hint)


def numbers(rng: Random, *shape: int, dtype: str = "float64") -> Tensor:
    """A tensor of this shape, its elements from -1 to 1."""
    return Tensor.of([rng.uniform(-1, 1) for _ in range(math.prod(shape))], dtype, shape)


def linear(rng: Random, width: int, trained: bool = True, dtype: str = "float64") -> Stage:
    """A stage of one matrix and, mostly, a bend after it."""
    layer = ("Linear", numbers(rng, width, width, dtype=dtype), numbers(rng, width, dtype=dtype))
    return Stage((layer, ("Tanh",)) if rng.random() < 0.8 else (layer,), frozen=not trained)
