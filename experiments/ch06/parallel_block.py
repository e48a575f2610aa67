"""A block of the tiny model over several ranks: whole heads, split feed-forward, and norms replicated or split.

Each rank builds the block from the whole one, which every process draws from one seed, and keeps its part::

    ParallelBlock(GPT(config).blocks[0], config)(x, positions(config, x.shape[1], x.dtype))

Two all-reduces forward and two backward; or, with the sequence split, an all-gather and a reduce-scatter for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional

from rankzero.tiny import layers
from rankzero.tiny.layers import Block, GPTConfig, Pass
from solutions.ch06.sharded_layers import gather_sequence, head_partition, scatter_sequence
from solutions.ch06.tensor_parallel import copy_to_ranks, reduce_from_ranks


@dataclass(frozen=True)
class Operators:
    """The operators at the entry and the exit of a split computation, and the function that assigns heads to ranks."""

    copy: Callable[..., torch.Tensor] = copy_to_ranks
    reduce: Callable[..., torch.Tensor] = reduce_from_ranks
    gather: Callable[..., torch.Tensor] = gather_sequence
    scatter: Callable[..., torch.Tensor] = scatter_sequence
    heads: Callable[[int, int, int, int], tuple[range, range, int]] = head_partition


def positions(config: GPTConfig, tokens: int, dtype: torch.dtype) -> Pass:
    """What all layers share in a causal pass over whole sequences of ``tokens`` tokens."""
    angles = layers.angles(torch.arange(tokens).unsqueeze(0), config.head_dim).unsqueeze(1)
    mask = torch.ones(1, 1, tokens, tokens, dtype=torch.bool).tril()
    return Pass(angles.cos().to(dtype), angles.sin().to(dtype), mask, None)


class ParallelBlock(nn.Module):
    """This rank's part of a block.

    Args:
        block: the whole one, equal on all ranks.
        config: of its model; the ranks divide ``heads`` and ``ffn``.
        split_sequence: split the tokens outside the matrices over the ranks, and so the input and the output.
        operators: the functions that the part is built from.

    Attributes:
        replicas: ranks that hold the same key and value heads as this one.
    """

    def __init__(
        self, block: Block, config: GPTConfig, split_sequence: bool = False, operators: Operators | None = None
    ) -> None:
        super().__init__()
        self.operators, self.split_sequence = operators or Operators(), split_sequence
        rank, ranks = dist.get_rank(), dist.get_world_size()
        self.heads, self.kv_heads, self.replicas = self.operators.heads(config.heads, config.kv_heads, ranks, rank)
        self.head_dim = config.head_dim
        self.attention_gain, self.ffn_gain = _copy(block.attention_norm.weight), _copy(block.ffn_norm.weight)
        attention, ffn = block.attention, block.ffn
        queries, shared = _features(self.heads, config.head_dim), _features(self.kv_heads, config.head_dim)
        self.query, self.output = _copy(attention.query.weight[queries]), _copy(attention.output.weight[:, queries])
        self.key, self.value = _copy(attention.key.weight[shared]), _copy(attention.value.weight[shared])
        self.gate, self.up = (_copy(matrix.weight.chunk(ranks)[rank]) for matrix in (ffn.gate, ffn.up))
        self.down = _copy(ffn.down.weight.chunk(ranks, 1)[rank])
        self._replicas_group = _replica_groups(ranks, self.replicas)

    def forward(self, x: torch.Tensor, now: Pass) -> torch.Tensor:
        """One pass; ``x`` is ``[B, T, hidden]`` on every rank, or this rank's ``[B, T / ranks, hidden]``."""
        x = x + self._leave(self._attend(self._enter(_norm(x, self.attention_gain)), now))
        inner = self._enter(_norm(x, self.ffn_gain))
        gated = functional.silu(functional.linear(inner, self.gate)) * functional.linear(inner, self.up)
        return x + self._leave(functional.linear(gated, self.down))

    def sum_gradients(self) -> None:
        """Sum the gradients that are partial after the backward pass.

        A key or value head that several ranks hold has on each of them only the gradient from that rank's query heads.
        With the sequence split, the norms' gains have only the gradient from the rank's tokens.
        """
        if self.replicas > 1:
            for weight in (self.key, self.value):
                dist.all_reduce(weight.grad, group=self._replicas_group)
        if self.split_sequence and dist.get_world_size() > 1:
            for gain in (self.attention_gain, self.ffn_gain):
                dist.all_reduce(gain.grad)

    def _enter(self, x: torch.Tensor) -> torch.Tensor:
        return self.operators.gather(x, 1) if self.split_sequence else self.operators.copy(x)

    def _leave(self, partial: torch.Tensor) -> torch.Tensor:
        return self.operators.scatter(partial, 1) if self.split_sequence else self.operators.reduce(partial)

    def _attend(self, x: torch.Tensor, now: Pass) -> torch.Tensor:
        """This rank's heads, and their part of the output projection: a partial sum ``[B, T, hidden]``."""
        queries = now.rotate(self._split(functional.linear(x, self.query)))  # [B, own heads, T, head_dim]
        keys, values = (self._split(functional.linear(x, weight)) for weight in (self.key, self.value))
        times = len(self.heads) // len(self.kv_heads)
        keys, values = (held.repeat_interleave(times, dim=1) for held in (now.rotate(keys), values))
        scores = queries / math.sqrt(self.head_dim) @ keys.transpose(2, 3)  # [B, own heads, T, T]
        weights = scores.masked_fill(~now.mask, torch.finfo(scores.dtype).min).softmax(dim=-1)
        return functional.linear((weights @ values).transpose(1, 2).flatten(2), self.output)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(2, (-1, self.head_dim)).transpose(1, 2)


def whole_gradients(
    kv_heads: Sequence[range], gradients: Sequence[dict[str, torch.Tensor]], head_dim: int
) -> dict[str, torch.Tensor]:
    """The gradients of the whole block from those of all ranks' parts, by the names that :class:`Block` uses.

    Args:
        kv_heads: key and value heads of each rank.
        gradients: each rank's gradients, by the names of :class:`ParallelBlock`.
        head_dim: width of a head.
    """

    def joined(name: str, dim: int) -> torch.Tensor:
        return torch.cat([part[name] for part in gradients], dim)

    def of_heads(name: str) -> torch.Tensor:
        rows: dict[int, torch.Tensor] = {}
        for heads, part in zip(kv_heads, gradients, strict=True):  # among replicas, the last one counts
            rows.update(zip(heads, part[name].split(head_dim), strict=True))
        return torch.cat([rows[head] for head in sorted(rows)])

    found = {"attention.query.weight": joined("query", 0), "attention.output.weight": joined("output", 1)}
    found |= {f"attention.{name}.weight": of_heads(name) for name in ("key", "value")}
    found |= {f"ffn.{name}.weight": joined(name, 0) for name in ("gate", "up")} | {"ffn.down.weight": joined("down", 1)}
    gains = {"attention_norm.weight": "attention_gain", "ffn_norm.weight": "ffn_gain"}
    return found | {name: gradients[0][gain] for name, gain in gains.items()}


def _copy(weight: torch.Tensor) -> nn.Parameter:
    return nn.Parameter(weight.detach().clone())


def _features(heads: range, head_dim: int) -> slice:
    """The features of consecutive heads."""
    return slice(heads.start * head_dim, heads.stop * head_dim)


def _norm(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    return functional.rms_norm(x, gain.shape, gain, 1e-5)


def _replica_groups(ranks: int, replicas: int) -> dist.ProcessGroup | None:
    """This rank's group of replicas: consecutive ranks. Every rank creates all groups, in the same order."""
    if replicas == 1:
        return None
    groups = [dist.new_group(range(start, start + replicas)) for start in range(0, ranks, replicas)]
    return groups[dist.get_rank() // replicas]
