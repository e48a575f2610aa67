"""Random tensors for the ranks of a world."""

from __future__ import annotations

from random import Random

from autograder.items import Case, Tensor


def vector(rng: Random, count: int, dtype: str = "float32") -> Tensor:
    """``count`` random numbers: integers from -1000 to 1000, floats from -1 to 1."""
    if dtype == "int64":
        return Tensor.of([rng.randint(-1000, 1000) for _ in range(count)], dtype)
    return Tensor.of([rng.uniform(-1, 1) for _ in range(count)], dtype)


def alike(rng: Random, ranks: int, count: int, dtype: str = "float32") -> Case:
    """A case with one tensor of ``count`` elements on every rank."""
    return Case(args=tuple((vector(rng, count, dtype),) for _ in range(ranks)))


def matrices(rng: Random, ranks: int, rows: int, columns: int) -> Case:
    """A case with one matrix on every rank."""
    flat = alike(rng, ranks, rows * columns)
    return Case(args=tuple((Tensor(x.dtype, (rows, columns), x.data),) for (x,) in flat.args))
