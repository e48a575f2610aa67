"""The classic layer split over ranks in three ways: what a rank keeps for the backward pass, and what it sends.

>>> layer_run(4, "split, gathered twice").calls  # doctest: +SKIP
{'all_gather': 6, 'reduce_scatter': 4}

Attention and the MLP are split as usual; the ways differ in how they treat the tokens around them. Four linear modules
of the whole layer are replaced: the first of each pair by :class:`Entered`, the second by :class:`Left`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from rankzero import world
from solutions.ch06.sharded_layers import gather_sequence, scatter_sequence

from .parallel_block import Operators
from .ring_bytes import collective_calls, ring_bytes
from .saved_tensors import ClassicLayer, Keeper, Kept, Sizes, beside_the_formula, unnamed
from .sharding_runs import block_of, drawn, gradient_of, shard_error

#: Every rank has all tokens; or it has a slice of them, gathers the rest and keeps everything; or it keeps only the
#: slice, and gathers the rest again in the backward pass.
WAYS = ("whole", "split, gathered once", "split, gathered twice")

#: A function of an input, a weight and a bias that returns the product; it begins with f or an all-gather.
Multiply = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Counted:
    """One pass of the layer in bf16, forward and backward, with dropout.

    Attributes:
        kept: bytes that rank 0 keeps after the forward pass, without parameters and ``statistics``.
        statistics: bytes of the norms' means and deviations, which the formula neglects.
        calls: collectives of rank 0, by name.
        bytes: bytes that rank 0 would send in optimal rings.
    """

    kept: int
    statistics: int
    calls: dict[str, int]
    bytes: float


def layer_run(ranks: int, way: str, sizes: Sizes | None = None, operators: Operators | None = None) -> Counted:
    """Count what one layer keeps and sends.

    Args:
        ranks: a divisor of heads and of the sequence.
        way: one of :data:`WAYS`.
        sizes: of the layer.
        operators: the operators around the split matrices.

    Raises:
        ValueError: ``way`` is none of the three, or the ranks do not divide heads and sequence.
    """
    run = _over_ranks(_kept, ranks, way, sizes or Sizes(), operators)
    return Counted(*beside_the_formula(run.values[0]), collective_calls(run.events), ring_bytes(run.events))


def layer_errors(
    ranks: int, way: str, sizes: Sizes | None = None, operators: Operators | None = None
) -> dict[str, float]:
    """Largest differences from the whole layer, in double precision and without dropout; arguments as above.

    Returns:
        By name: the output ``Y``, the input's gradient ``dX``, and the gradients of all parameters. A shard counts
        against its slice.
    """
    sizes = sizes or Sizes()
    run = _over_ranks(_gradients, ranks, way, sizes, operators)
    right = _differentiated(_whole(sizes).double().eval(), *_tokens(sizes))
    errors = dict.fromkeys(right, 0.0)
    for rank, found in enumerate(run.values):
        for name, value in found.items():
            errors[name] = max(errors[name], shard_error(value, right[name], rank, ranks))
    return errors


def _over_ranks(
    work: Callable[..., Any], ranks: int, way: str, sizes: Sizes, operators: Operators | None
) -> world.World:
    if way not in WAYS:
        raise ValueError(f"way must be one of {'; '.join(WAYS)}, got {way!r}")
    for name, count in (("heads", sizes.heads), ("sequence", sizes.sequence)):
        if count % ranks:
            raise ValueError(f"{name} must be divisible by {ranks} ranks, got {count}")
    return world.run(work, sizes, way, operators or Operators(), ranks=ranks, backend="gloo")


def split(layer: ClassicLayer, way: str, operators: Operators) -> ClassicLayer:
    """Cut ``layer`` to this rank's part, in place: whole heads, part of the MLP; norms and output biases stay whole."""
    ranks = dist.get_world_size()
    for name in ("qkv", "up"):
        setattr(layer, name, Entered(getattr(layer, name), _multiply(way, operators)))
    for name in ("output", "down"):
        setattr(layer, name, Left(getattr(layer, name), way, operators))
    layer.sizes = replace(layer.sizes, hidden=layer.sizes.hidden // ranks, heads=layer.sizes.heads // ranks)
    return layer


class Entered(nn.Module):
    """A column-parallel layer: a block of rows of ``whole``, and the operator before it."""

    def __init__(self, whole: nn.Linear, multiply: Multiply) -> None:
        super().__init__()
        self.weight, self.bias, self.multiply = _own(whole.weight, 0), _own(whole.bias, 0), multiply

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """This rank's output features of all tokens."""
        return self.multiply(x, self.weight, self.bias)


class Left(nn.Module):
    """A row-parallel layer: a block of columns of ``whole``, the operator after it, then the whole bias."""

    def __init__(self, whole: nn.Linear, way: str, operators: Operators) -> None:
        super().__init__()
        self.weight, self.bias = _own(whole.weight, 1), nn.Parameter(whole.bias.detach().clone())
        self.way, self.operators = way, operators

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """All output features, of all tokens or of this rank's."""
        partial = functional.linear(x, self.weight)
        y = self.operators.reduce(partial) if self.way == "whole" else self.operators.scatter(partial, 0)
        return y + self.bias


def _multiply(way: str, operators: Operators) -> Multiply:
    if way == "whole":
        return lambda x, weight, bias: functional.linear(operators.copy(x), weight, bias)
    if way == "split, gathered once":
        return lambda x, weight, bias: functional.linear(operators.gather(x, 0), weight, bias)
    return _GatheredTwice.apply


class _GatheredTwice(torch.autograd.Function):
    """A product with all tokens that keeps only this rank's; the backward pass gathers the others again."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        return functional.linear(gather_sequence(x, 0), weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x, weight = ctx.saved_tensors
        whole, rows = gather_sequence(x, 0).flatten(0, 1), upstream.flatten(0, 1)
        return scatter_sequence(upstream @ weight, 0), rows.t() @ whole, rows.sum(0)


def _own(full: torch.Tensor, dim: int) -> nn.Parameter:
    return nn.Parameter(block_of(full.detach(), dim, dist.get_rank(), dist.get_world_size()).clone())


def _whole(sizes: Sizes) -> ClassicLayer:
    """The whole layer; the same in every process."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return ClassicLayer(sizes)


def _tokens(sizes: Sizes) -> tuple[torch.Tensor, torch.Tensor]:
    """An input of the layer and an upstream gradient; the same in every process."""
    shape = (sizes.sequence, sizes.batch, sizes.hidden)
    return drawn(1, *shape), drawn(2, *shape)


def _mine(x: torch.Tensor, way: str) -> torch.Tensor:
    """This rank's tokens."""
    return x if way == "whole" else block_of(x, 0, dist.get_rank(), dist.get_world_size()).clone()


def _kept(sizes: Sizes, way: str, operators: Operators) -> list[Kept]:
    """What this rank keeps; the backward pass is run too."""
    layer = split(_whole(sizes), way, operators)
    x = _mine(_tokens(sizes)[0], way).bfloat16().requires_grad_()
    keeper = Keeper(layer.parameters())
    with keeper.watching():
        y = keeper.name("output", layer(x, keeper.name))
    y.sum().backward()
    return keeper.kept()


def _gradients(sizes: Sizes, way: str, operators: Operators) -> dict[str, torch.Tensor]:
    """On each rank: output and gradients of its part, summed for replicated parameters, which saw only its tokens."""
    layer = split(_whole(sizes).double().eval(), way, operators)
    found = _differentiated(layer, *(_mine(x, way) for x in _tokens(sizes)))
    if way != "whole":
        for name in found:
            if "norm" in name or name in ("output.bias", "down.bias"):
                dist.all_reduce(found[name])
    return found


def _differentiated(layer: ClassicLayer, x: torch.Tensor, upstream: torch.Tensor) -> dict[str, torch.Tensor]:
    y = layer(x.requires_grad_(), unnamed)
    y.backward(upstream)
    gradients = {name: gradient_of(weight) for name, weight in layer.named_parameters()}
    return {"Y": y.detach(), "dX": gradient_of(x)} | gradients
