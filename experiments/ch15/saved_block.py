"""What one transformer block keeps for its backward pass, tensor by tensor, as the library saves it.

    for kept in saved_activations(Shape()):
        print(kept.name, kept.bytes_per_token)

Chapter 6's ``Keeper`` sees every tensor that autograd saves. Weights and the table of rotations are in memory anyway;
the rest are the activations. The block is in fp32 and has what fast trainers use: a norm that saves its input and one
number per token, and flash attention, which saves one number per token and head in place of the matrix of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from rankzero import checks

from ..ch06.saved_tensors import UNNAMED, Keeper

RECOMPUTE = ("none", "cheap", "full")


@dataclass(frozen=True)
class Shape:
    """One block: width of the stream, query and key/value heads, their width, inner width of the feed-forward block."""

    hidden: int = 256
    heads: int = 8
    kv_heads: int = 2
    head_dim: int = 32
    ffn: int = 688


@dataclass(frozen=True)
class Activation:
    """What is kept for the backward pass under one name.

    Attributes:
        name: what it is.
        bytes_per_token: of its storage, over all tokens.
    """

    name: str
    bytes_per_token: float


class _FusedNorm(torch.autograd.Function):
    """RMSNorm that saves its input and one number per token, as a fused kernel does; the rest is computed again."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        scale = x.square().mean(-1, keepdim=True).add(1e-5).rsqrt()
        ctx.save_for_backward(x, gain, scale)
        return x * scale * gain

    @staticmethod
    def backward(ctx: Any, upstream: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:  # type: ignore[override]
        x, gain, scale = ctx.saved_tensors
        unit, inner = x * scale, upstream * gain
        moved = scale * (inner - unit * (inner * unit).mean(-1, keepdim=True))
        return moved, (upstream * unit).flatten(0, -2).sum(0)


class AuditedBlock(nn.Module):
    """A Llama block: RMSNorm, rotary positions, shared key/value heads, flash attention, a gated feed-forward block.

    Args:
        shape: of the block.
        recompute: ``"none"``; ``"cheap"``: norm outputs and the feed-forward product again in the backward pass;
            ``"full"``: everything again, from the block's input.
    """

    def __init__(self, shape: Shape, recompute: str = "none") -> None:
        super().__init__()
        self.shape, self.recompute = shape, recompute
        width, shared = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        self.gains = nn.ParameterList(torch.ones(shape.hidden) for _ in range(2))
        self.qkv = nn.ModuleList(nn.Linear(shape.hidden, size, bias=False) for size in (width, shared, shared))
        self.output = nn.Linear(width, shape.hidden, bias=False)
        self.gate, self.up = (nn.Linear(shape.hidden, shape.ffn, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.ffn, shape.hidden, bias=False)
        self.keeper: Keeper | None = None

    def forward(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        """One pass over ``x`` [B, T, hidden]; ``turn`` [2, T, 1, head_dim / 2] holds cosines and sines."""
        self._named("the block's input", x)
        return self._again(self._block, x, turn) if self.recompute == "full" else self._block(x, turn)

    def _block(self, x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
        piece = self._again if self.recompute == "cheap" else _now
        queries, keys, values = piece(self._project, x, turn)
        mixed = functional.scaled_dot_product_attention(queries, keys, values, is_causal=True, enable_gqa=True)
        self._named("attention output", mixed, "attention's log-sums")
        x = self._named("input of the second norm", x + self.output(mixed.transpose(1, 2).flatten(2)))
        gate, up = piece(self._widen, x)
        return x + piece(self._narrow, gate, up)

    def _project(self, x: torch.Tensor, turn: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = self._named("output of the first norm", _FusedNorm.apply(x, self.gains[0]), "the norms' scales")
        split = [product(y).unflatten(2, (-1, self.shape.head_dim)) for product in self.qkv]
        turned = (_rotated(split[0], turn), _rotated(split[1], turn), split[2])
        names = ("queries", "keys", "values")
        return tuple(self._named(name, x).transpose(1, 2) for name, x in zip(names, turned, strict=True))

    def _widen(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = self._named("output of the second norm", _FusedNorm.apply(x, self.gains[1]), "the norms' scales")
        return self._named("gate", self.gate(y)), self._named("up", self.up(y))

    def _narrow(self, gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        opened = self._named("SiLU of the gate", functional.silu(gate))
        return self.down(self._named("product, input of the last matrix", opened * up))

    def _again(self, work: Callable[..., Any], *args: torch.Tensor) -> Any:
        """Do the work, keep only its inputs, and repeat it in the backward pass."""
        return checkpoint(work, *args, use_reentrant=False)

    def _named(self, name: str, tensor: torch.Tensor, inside: str = UNNAMED) -> torch.Tensor:
        """Tell the keeper, if there is one, what a tensor is, and what was saved on the way to it."""
        return tensor if self.keeper is None else self.keeper.name(name, tensor, inside)


def _now(work: Callable[..., Any], *args: torch.Tensor) -> Any:
    return work(*args)


def _rotated(x: torch.Tensor, turn: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * turn[0] - second * turn[1], second * turn[0] + first * turn[1]), dim=-1)


def saved_activations(shape: Shape, recompute: str = "none", batch: int = 2, sequence: int = 64) -> list[Activation]:
    """What a block keeps between its forward and its backward pass, largest first; the backward pass is run too.

    Args:
        shape: of the block.
        recompute: as in :class:`AuditedBlock`.
        batch: sequences.
        sequence: tokens of each.
    """
    checks.one_of(RECOMPUTE, recompute=recompute)
    block, tokens = AuditedBlock(shape, recompute), batch * sequence
    x = torch.randn(batch, sequence, shape.hidden, requires_grad=True)
    turn = torch.randn(2, sequence, 1, shape.head_dim // 2)
    block.keeper = Keeper((*block.parameters(), turn))
    with block.keeper.watching():
        y = block(x, turn)
    found = [Activation(kept.name, kept.bytes / tokens) for kept in block.keeper.kept()]
    y.sum().backward()
    return sorted(found, key=lambda one: -one.bytes_per_token)


def kept_formula(shape: Shape, recompute: str = "none", element_bytes: int = 4) -> int:
    """Bytes of activations per token and layer by the formula; :func:`statistics_bytes` come on top.

    With h = hidden, A = heads x head_dim, K = kv_heads x head_dim and f = ffn: ``4h + 2A + 2K + 4f`` elements; half of
    the h and f with ``"cheap"``; h alone with ``"full"``.
    """
    h, f = shape.hidden, shape.ffn
    attention = 2 * shape.head_dim * (shape.heads + shape.kv_heads)
    elements = {"none": 4 * h + attention + 4 * f, "cheap": 2 * h + attention + 2 * f, "full": h}
    return element_bytes * elements[recompute]


def statistics_bytes(shape: Shape, recompute: str = "none") -> int:
    """Bytes per token of the statistics in fp32: one number for each norm, and one for each head of flash attention."""
    return {"none": 8 + 4 * shape.heads, "cheap": 4 * shape.heads, "full": 0}[recompute]
