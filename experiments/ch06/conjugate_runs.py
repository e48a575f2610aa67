"""A column layer and a row layer, with and without the operator that sums the gradient of the input over ranks.

>>> pair_errors()["dX"] < 1e-12, pair_errors(drop_f=True)["dX"] > 1  # doctest: +SKIP
(True, True)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch
import torch.distributed as dist
from torch.nn import functional

from rankzero import world
from solutions.ch06.tensor_parallel import copy_to_ranks, reduce_from_ranks

from .sharding_runs import block_of, drawn, gradient_of

#: Tokens, and the widths of the two layers: ``[INNER, WIDTH]`` split by rows, ``[WIDTH, INNER]`` by columns.
TOKENS, WIDTH, INNER = 6, 8, 16

Operator = Callable[[torch.Tensor], torch.Tensor]


def pair_errors(
    ranks: int = 4,
    drop_f: bool = False,
    f: Operator = copy_to_ranks,
    g: Operator = reduce_from_ranks,
    inner: int = INNER,
    width: int = WIDTH,
) -> dict[str, float]:
    """How far a split pair of layers is from the whole pair, after one forward and one backward pass.

    Args:
        ranks: a divisor of ``inner``.
        drop_f: leave out ``f`` before the first layer.
        f: copy forward, sum backward.
        g: sum forward, copy backward.
        inner: features between the layers.
        width: features before and after them.

    Returns:
        The largest absolute difference, over all ranks, of the output ``Y`` and of the gradients ``dX``, ``dA`` (first
        matrix) and ``dB`` (second); ``largest dX`` is the largest element of the right gradient.
    """
    values = world.run(_split_pair, f if not drop_f else None, g, inner, width, ranks=ranks, backend="gloo").values
    x, a, b, upstream = _tensors(inner, width)
    y = functional.linear(functional.linear(x, a), b)
    (y * upstream).sum().backward()
    dx = gradient_of(x)
    errors = {name: max(_far(rank[name], right) for rank in values) for name, right in (("Y", y.detach()), ("dX", dx))}
    errors["dA"] = _far(torch.cat([rank["dA"] for rank in values]), gradient_of(a))
    errors["dB"] = _far(torch.cat([rank["dB"] for rank in values], 1), gradient_of(b))
    return errors | {"largest dX": float(dx.abs().max())}


def _far(found: torch.Tensor, whole: torch.Tensor) -> float:
    return float((found - whole).abs().max())


def _tensors(inner: int, width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Input, both matrices and the upstream gradient; the same on every rank."""
    x, a, b = drawn(1, TOKENS, width), drawn(2, inner, width), drawn(3, width, inner)
    return x.requires_grad_(), a.requires_grad_(), b.requires_grad_(), drawn(4, TOKENS, width)


def _split_pair(f: Operator | None, g: Operator, inner: int, width: int) -> dict[str, torch.Tensor]:
    """On each rank: output and gradients of its part."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x, a, b, upstream = _tensors(inner, width)
    rows = block_of(a.detach(), 0, rank, ranks).clone().requires_grad_()
    columns = block_of(b.detach(), 1, rank, ranks).clone().requires_grad_()
    y = g(functional.linear(functional.linear(f(x) if f else x, rows), columns))
    (y * upstream).sum().backward()
    return {"Y": y.detach(), "dX": gradient_of(x), "dA": gradient_of(rows), "dB": gradient_of(columns)}


def raw_collectives(ranks: int = 2) -> dict[str, str]:
    """What happens to gradients when a forward pass calls collectives directly.

    Returns:
        For ``dist.all_reduce`` the first sentence of the warning in the backward pass; for ``dist.all_gather`` the
        value of ``requires_grad`` of the gathered buffers.
    """
    return world.run(_raw, ranks=ranks, backend="gloo").values[0]


def _raw() -> dict[str, str]:
    weight = torch.ones(3, requires_grad=True)
    summed = weight * 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dist.all_reduce(summed)
        summed.sum().backward()
    gathered = [torch.empty(3) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, weight * 2)
    said = str(caught[0].message).strip().partition(". ")[0] if caught else "no warning"
    return {"dist.all_reduce": said, "dist.all_gather": f"requires_grad = {torch.cat(gathered).requires_grad}"}
