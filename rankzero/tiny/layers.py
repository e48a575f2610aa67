"""The configuration of the tiny model, and the layers that :mod:`rankzero.tiny` assembles.

Letters in shapes: B sequences, T new tokens of each, S cached and new tokens together.

Sources: Llama Team (2024), arXiv:2407.21783; Su et al. (2021), arXiv:2104.09864 (rotary positions).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import nn
from torch.nn import functional

from rankzero import checks
from rankzero.facts.models import Model

ROTARY_BASE = 10_000.0


@dataclass(frozen=True)
class GPTConfig:
    """The shape of a tiny model. Every number is an integer >= 1.

    Attributes:
        vocab: rows of the embedding.
        layers: transformer blocks.
        heads: query heads.
        kv_heads: key and value heads, a divisor of ``heads``; None means ``heads``.
        head_dim: width of one head; even.
        ffn: inner width of the feed-forward block; None means 8/3 of ``hidden``, rounded up to a multiple of 8.
        context: the maximum number of tokens in a sequence, cached ones included.
        outputs: the number of outputs of the head for each token, 1 for a value or a reward; None means ``vocab``.
    """

    vocab: int = 256
    layers: int = 4
    heads: int = 4
    kv_heads: int = None  # type: ignore[assignment]  # __post_init__ replaces None
    head_dim: int = 16
    ffn: int = None  # type: ignore[assignment]  # __post_init__ replaces None
    context: int = 128
    outputs: int | None = None

    def __post_init__(self) -> None:
        if self.kv_heads is None:
            object.__setattr__(self, "kv_heads", self.heads)
        if self.ffn is None:
            object.__setattr__(self, "ffn", 8 * math.ceil(self.hidden / 3))
        checks.count(**vars(self) | {"outputs": 1 if self.outputs is None else self.outputs})
        checks.require(self.heads % self.kv_heads == 0, f"divide heads = {self.heads}", kv_heads=self.kv_heads)
        checks.require(self.head_dim % 2 == 0, "be even", head_dim=self.head_dim)

    @property
    def hidden(self) -> int:
        """Width of the residual stream, ``heads * head_dim``."""
        return self.heads * self.head_dim

    def as_model(self, name: str = "tiny") -> Model:
        """This shape as a :class:`Model`, for the calculators that take a published model.

        Raises:
            ValueError: the model has another number of outputs than ``vocab``, which a :class:`Model` cannot describe.
        """
        if self.outputs not in (None, self.vocab):
            raise ValueError(f"outputs must be None or vocab = {self.vocab} in a record, got {self.outputs}")
        shape = (self.layers, self.hidden, self.heads, self.kv_heads, self.head_dim, self.ffn, self.vocab)
        return Model(name, *shape, source="rankzero.tiny")


class Cache(Protocol):
    """The cache of keys and values that a layer needs; :class:`rankzero.tiny.KVCache` is one."""

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store a layer's new keys and values, and return all of that layer's."""
        ...


@dataclass(frozen=True)
class Pass:
    """What all layers of one forward pass share: rotary angles, the attention mask, and the cache.

    Attributes:
        cosine, sine: cosine and sine of the rotary angles, [B or 1, 1, T, head_dim / 2].
        mask: True where a new token may attend, [B or 1, 1, T, S].
        cache: where keys and values are stored; None to store nothing.
    """

    cosine: torch.Tensor
    sine: torch.Tensor
    mask: torch.Tensor
    cache: Cache | None

    def rotate(self, x: torch.Tensor) -> torch.Tensor:
        """Rotate every pair (i, i + head_dim / 2) of ``x`` [B, heads, T, head_dim] by the angle of its position."""
        first, second = x.chunk(2, dim=-1)
        rotated = first * self.cosine - second * self.sine, second * self.cosine + first * self.sine
        return torch.cat(rotated, dim=-1)


class Attention(nn.Module):
    """Grouped-query attention, written as plain matrix products."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        shared = config.kv_heads * config.head_dim
        self.heads, self.kv_heads, self.head_dim = config.heads, config.kv_heads, config.head_dim
        self.query = nn.Linear(config.hidden, config.hidden, bias=False)
        self.key = nn.Linear(config.hidden, shared, bias=False)
        self.value = nn.Linear(config.hidden, shared, bias=False)
        self.output = nn.Linear(config.hidden, config.hidden, bias=False)

    def forward(self, x: torch.Tensor, now: Pass, layer: int) -> torch.Tensor:
        queries = now.rotate(self._split(self.query(x), self.heads))  # [B, heads, T, head_dim]
        keys = now.rotate(self._split(self.key(x), self.kv_heads))  # [B, kv_heads, T, head_dim]
        values = self._split(self.value(x), self.kv_heads)
        if now.cache is not None:
            keys, values = now.cache.append(layer, keys, values)  # [B, kv_heads, S, head_dim]
        keys, values = (held.repeat_interleave(self.heads // self.kv_heads, dim=1) for held in (keys, values))
        scores = queries / math.sqrt(self.head_dim) @ keys.transpose(2, 3)  # [B, heads, T, S]
        weights = scores.masked_fill(~now.mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
        return self.output((weights @ values).transpose(1, 2).flatten(2))

    def _split(self, x: torch.Tensor, heads: int) -> torch.Tensor:
        return x.unflatten(2, (heads, self.head_dim)).transpose(1, 2)


class FeedForward(nn.Module):
    """A gated feed-forward block (SwiGLU)."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.gate = nn.Linear(config.hidden, config.ffn, bias=False)
        self.up = nn.Linear(config.hidden, config.ffn, bias=False)
        self.down = nn.Linear(config.ffn, config.hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """One layer: attention, then a feed-forward block, each with a residual connection."""

    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.attention_norm, self.attention = norm(config), Attention(config)
        self.ffn_norm, self.ffn = norm(config), FeedForward(config)

    def forward(self, x: torch.Tensor, now: Pass, layer: int) -> torch.Tensor:
        x = x + self.attention(self.attention_norm(x), now, layer)
        return x + self.ffn(self.ffn_norm(x))


def norm(config: GPTConfig) -> nn.RMSNorm:
    """An RMSNorm of the residual stream: it scales every token's vector to an RMS of 1, times a learned gain."""
    return nn.RMSNorm(config.hidden, eps=1e-5)


def angles(positions: torch.Tensor, head_dim: int) -> torch.Tensor:
    """Rotary angles [B, T, head_dim / 2] of positions [B, T], in double precision."""
    pairs = torch.arange(0, head_dim, 2, dtype=torch.float64, device=positions.device)
    return positions.unsqueeze(-1) * ROTARY_BASE ** (-pairs / head_dim)
