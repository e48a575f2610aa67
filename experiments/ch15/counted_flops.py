"""Count a published model without a single weight: its module on the meta device, and the library's FLOP counter.

    counted_parameters(LLAMA3_405B)
    counted_step(LLAMA3_405B, sequence=8192).step

A tensor on the meta device has a shape but no numbers, so a model of any size fits. Its parameters can be added up one
by one, and ``torch.utils.flop_counter`` sees every matrix product that a step would make. No formula is used here; the
chapter makes the comparison.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from rankzero.facts.models import Model


@dataclass(frozen=True)
class CountedStep:
    """FLOPs of a step on one sequence, as the library counts them: the full square of attention, no optimizer.

    Attributes:
        tokens: of the sequence.
        forward: FLOP of the forward pass.
        step: FLOP of the forward and the backward pass together.
    """

    tokens: int
    forward: int
    step: int


class Skeleton(nn.Module):
    """A dense model as modules: every matrix, table and norm that ``shape`` describes, and the products between them.

    Rotations and masks are left out: they multiply no matrices.
    """

    def __init__(self, shape: Model) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = _rows(shape.vocab, shape.hidden)
        self.positions = _rows(shape.positions, shape.hidden) if shape.positions else None
        self.blocks = nn.ModuleList(_Layer(shape) for _ in range(shape.layers))
        self.norm = _norm(shape)
        self.head = nn.Linear(shape.hidden, shape.vocab, bias=False)
        if shape.tied_embeddings:
            self.head.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits [B, T, vocab] of tokens [B, T]."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class _Layer(nn.Module):
    def __init__(self, shape: Model) -> None:
        super().__init__()
        self.shape, width, shared = shape, shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        self.attention_norm, self.ffn_norm = _norm(shape), _norm(shape)
        self.query, self.output = self._matrix(shape.hidden, width), self._matrix(width, shape.hidden)
        self.key, self.value = self._matrix(shape.hidden, shared), self._matrix(shape.hidden, shared)
        self.gate = self._matrix(shape.hidden, shape.ffn) if shape.gated else None
        self.up, self.down = self._matrix(shape.hidden, shape.ffn), self._matrix(shape.ffn, shape.hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self._attention(self.attention_norm(x))
        y = self.ffn_norm(x)
        inner = functional.gelu(self.up(y)) if self.gate is None else functional.silu(self.gate(y)) * self.up(y)
        return x + self.down(inner)

    def _attention(self, x: torch.Tensor) -> torch.Tensor:
        queries, keys, values = (
            product(x).unflatten(2, (-1, self.shape.head_dim)).transpose(1, 2)
            for product in (self.query, self.key, self.value)
        )
        groups = self.shape.heads // self.shape.kv_heads
        keys, values = (shared.repeat_interleave(groups, dim=1) for shared in (keys, values))
        weights = (queries @ keys.transpose(2, 3)).softmax(dim=-1)  # [B, heads, T, T]
        return self.output((weights @ values).transpose(1, 2).flatten(2))

    def _matrix(self, inputs: int, outputs: int) -> nn.Linear:
        return nn.Linear(inputs, outputs, bias=self.shape.biases)


def _rows(count: int, width: int) -> nn.Embedding:
    """An embedding table without initialization, which takes seconds even on the meta device."""
    return nn.Embedding.from_pretrained(torch.empty(count, width), freeze=False)


def _norm(shape: Model) -> nn.Module:
    return nn.LayerNorm(shape.hidden) if shape.biases else nn.RMSNorm(shape.hidden)


def skeleton(shape: Model) -> Skeleton:
    """The module of a dense model on the meta device.

    Raises:
        ValueError: the model has experts.
    """
    if shape.experts:
        raise ValueError(f"shape must be a dense model, got {shape.name} with {shape.experts} experts")
    with torch.device("meta"):
        return Skeleton(shape)


def counted_parameters(shape: Model) -> int:
    """All parameters of the module of a dense model, added up tensor by tensor; a shared one counts once."""
    return sum(weight.numel() for weight in skeleton(shape).parameters())


def matrix_parameters(shape: Model) -> int:
    """Elements of the matrices that every token is multiplied with: the head counts; the look-up and norms do not."""
    return sum(module.weight.numel() for module in skeleton(shape).modules() if isinstance(module, nn.Linear))


def counted_step(shape: Model, sequence: int) -> CountedStep:
    """Count the FLOPs of one step of a dense model on one sequence of ``sequence`` tokens."""
    model = skeleton(shape)
    tokens = torch.zeros(1, sequence, dtype=torch.int64, device="meta")
    with FlopCounterMode(display=False) as forward:
        model(tokens)
    with FlopCounterMode(display=False) as step:
        model(tokens).sum().backward()
    return CountedStep(sequence, forward.get_total_flops(), step.get_total_flops())
