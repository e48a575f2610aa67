"""One matrix on several ranks: slices of the output that are joined, or partial sums that are added.

>>> joined(4).by_rows < 1e-12  # doctest: +SKIP
True
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist

from rankzero import world

#: Shape of the matrix, ``[OUT, IN]``, and how many tokens it is applied to.
OUT, IN, TOKENS = 16, 8, 5


@dataclass(frozen=True)
class Joined:
    """Largest differences from the whole product.

    Attributes:
        by_rows: output features split, the slices joined.
        by_columns: input features split, the partial sums added.
        shuffled: output features split, the slices joined in the reverse order of the ranks.
        shards: the matrix rows that each rank holds.
    """

    by_rows: float
    by_columns: float
    shuffled: float
    shards: tuple[torch.Tensor, ...]


def drawn(seed: int, *shape: int) -> torch.Tensor:
    """Standard normal numbers in double precision; the same everywhere for the same seed."""
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def block_of(x: torch.Tensor, dim: int, rank: int, ranks: int) -> torch.Tensor:
    """The block of ``x`` along ``dim`` that belongs to ``rank``; ``ranks`` must divide it."""
    return x.tensor_split(ranks, dim)[rank]


def shard_error(found: torch.Tensor, whole: torch.Tensor, rank: int, ranks: int) -> float:
    """The largest absolute difference from the whole tensor, or from the rank's block if ``found`` has that shape.

    Args:
        found: what a rank has: all of it, or one of ``ranks`` equal blocks along any dimension.
        whole: the right tensor.
        rank: whose block ``found`` is.
        ranks: how many blocks there are.
    """
    for dim in range(whole.dim()):
        if found.shape[dim] != whole.shape[dim]:
            whole = block_of(whole, dim, rank, ranks)
    return float((found - whole).abs().max())


def gradient_of(tensor: torch.Tensor) -> torch.Tensor:
    """The gradient of a leaf after the backward pass; zeros if no gradient reached it."""
    return torch.zeros_like(tensor) if tensor.grad is None else tensor.grad


def joined(ranks: int = 4, alike: bool = False) -> Joined:
    """Multiply with a matrix that is split over the ranks, both ways, and compare with the whole product.

    Args:
        ranks: a divisor of 8.
        alike: every rank draws *its shard* from the same seed, instead of cutting it from a matrix that all draw.
    """
    shards, slices, sums = zip(*world.run(_split_products, alike, ranks=ranks, backend="gloo").values, strict=True)
    weight, x = torch.cat(shards), drawn(1, TOKENS, IN)
    whole = x @ weight.T

    def far(y: torch.Tensor) -> float:
        return float((y - whole).abs().max())

    return Joined(far(torch.cat(slices, -1)), far(sums[0]), far(torch.cat(slices[::-1], -1)), shards)


def _split_products(alike: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """On each rank: its rows, its slice of the product, and the sum of all partial products."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    rows = drawn(0, OUT // ranks, IN) if alike else block_of(drawn(0, OUT, IN), 0, rank, ranks)
    weight = torch.cat([rows] * ranks) if alike else drawn(0, OUT, IN)
    x = drawn(1, TOKENS, IN)
    partial = block_of(x, 1, rank, ranks) @ block_of(weight, 1, rank, ranks).T  # [TOKENS, OUT], not yet the product
    dist.all_reduce(partial)
    return rows, x @ rows.T, partial


def initial_variances(hidden: int = 512, ranks: int = 8) -> dict[str, float]:
    """Measured variance of Xavier-initialized shards, relative to that of the whole matrices.

    The first matrix of an MLP widens ``hidden`` to ``4 hidden`` and is split by rows, the second is split by columns.

    Returns:
        The ratio for each way to draw a shard.
    """
    inner = 4 * hidden
    up, down = _xavier(inner, hidden), _xavier(hidden, inner)
    own_up, own_down = _xavier(inner // ranks, hidden), _xavier(hidden, inner // ranks)
    shards = {
        "first matrix, cut from the whole": block_of(up, 0, 0, ranks).var() / up.var(),
        "first matrix, drawn with the shard's shape": own_up.var() / up.var(),
        "second matrix, cut from the whole": block_of(down, 1, 0, ranks).var() / down.var(),
        f"second matrix, cut from the whole, divided by {ranks}": (block_of(down, 1, 0, ranks) / ranks).var()
        / down.var(),
        f"second matrix, drawn with the shard's shape, divided by {ranks}": (own_down / ranks).var() / down.var(),
    }
    return {name: float(variance) for name, variance in shards.items()}


def _xavier(out: int, inputs: int) -> torch.Tensor:
    return torch.nn.init.xavier_normal_(torch.empty(out, inputs), generator=torch.Generator().manual_seed(0))
