"""An MLP split over ranks against the whole one: every error, and the traffic.

>>> mlp_run(4).calls  # doctest: +SKIP
{'all_reduce': 2}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch.nn import functional

from rankzero import world
from solutions.ch06.tensor_parallel import ColumnParallelLinear, RowParallelLinear, reduce_from_ranks

from .ring_bytes import collective_calls, ring_bytes
from .sharding_runs import block_of, drawn, gradient_of, shard_error

#: ``[batch, sequence, hidden]`` of the input; the MLP widens ``hidden`` four times.
BATCH, SEQUENCE, HIDDEN = 2, 8, 16

Shape = tuple[int, int, int]

#: Makes a layer with ``weight`` and ``bias`` from the whole ones.
Layer = Callable[..., Any]


@dataclass(frozen=True)
class SplitMlp:
    """A split MLP beside the whole one.

    Attributes:
        ranks: how many.
        errors: largest absolute difference of the output ``Y``, of the input's gradient ``dX``, and of the gradients of
            both matrices and biases, ``dW1``, ``db1``, ``dW2``, ``db2``. A shard counts against its slice.
        calls: collectives of one rank, by name, in the forward pass or in both passes.
        bytes: bytes that one rank would send in optimal rings.
    """

    ranks: int
    errors: dict[str, float]
    calls: dict[str, int]
    bytes: float


def mlp_run(
    ranks: int,
    kind: str = "split",
    backward: bool = True,
    shape: Shape = (BATCH, SEQUENCE, HIDDEN),
    column: Layer = ColumnParallelLinear,
    row: Layer = RowParallelLinear,
) -> SplitMlp:
    """One pass through an MLP on ``ranks`` ranks, in double precision.

    Args:
        ranks: a divisor of the hidden size.
        kind: ``"split"``: column, GELU, row. ``"gathering"``: two column layers that each gather their output.
        backward: run a backward pass, too.
        shape: of the input, ``[batch, sequence, hidden]``.
        column: the class of column-parallel layers.
        row: the class of row-parallel layers.
    """
    run = world.run(_pass, kind, backward, shape, column, row, ranks=ranks, backend="gloo")
    x, (up, up_bias, down, down_bias), upstream = tensors(shape)
    y = functional.linear(functional.gelu(functional.linear(x, up, up_bias)), down, down_bias)
    right = {"Y": y.detach()}
    if backward:
        (y * upstream).sum().backward()
        leaves = {"dX": x, "dW1": up, "db1": up_bias, "dW2": down, "db2": down_bias}
        right |= {name: gradient_of(leaf) for name, leaf in leaves.items()}
    errors = dict.fromkeys(right, 0.0)
    for rank, found in enumerate(run.values):
        for name, value in found.items():
            errors[name] = max(errors[name], shard_error(value, right[name], rank, ranks))
    return SplitMlp(ranks, errors, collective_calls(run.events), ring_bytes(run.events))


def tensors(shape: Shape) -> tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]:
    """Input, the four parameters and the upstream gradient, all seeded: every process draws the same."""
    hidden, inner = shape[2], 4 * shape[2]
    shapes = [(inner, hidden), (inner,), (hidden, inner), (hidden,)]
    parameters = [drawn(2 + i, *size) / size[-1] ** 0.5 for i, size in enumerate(shapes)]
    return drawn(1, *shape).requires_grad_(), [p.requires_grad_() for p in parameters], drawn(9, *shape)


def _pass(
    kind: str,
    backward: bool,
    shape: Shape,
    column: Layer,
    row: Layer,
) -> dict[str, torch.Tensor]:
    """On each rank: the output, and the gradients of what it holds."""
    x, parameters, upstream = tensors(shape)
    up, up_bias, down, down_bias = (p.detach() for p in parameters)
    first = column(up, up_bias, gather_output=kind == "gathering")
    second = row(down, down_bias) if kind == "split" else column(down, down_bias, gather_output=True)
    y = second(functional.gelu(first(x)))
    if not backward:
        return {"Y": y.detach()}
    (y * upstream).sum().backward()
    leaves = {"dX": x, "dW1": first.weight, "db1": first.bias, "dW2": second.weight, "db2": second.bias}
    return {"Y": y.detach()} | {name: gradient_of(leaf) for name, leaf in leaves.items()}


def bias_error(ranks: int, before: bool) -> list[float]:
    """The error of a row layer's output, in multiples of its bias, feature by feature.

    Args:
        ranks: a divisor of 16.
        before: each rank adds the bias to its partial result, before the sum over ranks.
    """
    y = world.run(_biased, before, ranks=ranks, backend="gloo").values[0]
    x, (_, _, down, bias), _ = tensors((1, 1, HIDDEN))
    surplus = (y - functional.linear(copied(x), down, bias)) / bias
    return surplus.detach().flatten().round(decimals=9).abs().tolist()


def copied(x: torch.Tensor) -> torch.Tensor:
    """Four copies of the features side by side: an input for the second matrix."""
    return x.detach().repeat(1, 1, 4)


def _biased(before: bool) -> torch.Tensor:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    x, (_, _, down, bias), _ = tensors((1, 1, HIDDEN))
    partial = functional.linear(block_of(copied(x), 2, rank, ranks), block_of(down.detach(), 1, rank, ranks))
    if before:
        return reduce_from_ranks(partial + bias.detach()).detach()
    return (reduce_from_ranks(partial) + bias.detach()).detach()
