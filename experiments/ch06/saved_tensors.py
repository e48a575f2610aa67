"""The bytes that autograd really keeps for a layer, tensor by tensor, as seen by hooks on every saved tensor.

    kept(ClassicLayer(Sizes()))

There are two layers in bf16. The classic one is GPT-3's: dropout, a GELU MLP of width 4h, and attention by explicit
matrix products. The modern one has grouped key and value heads, a gated MLP, flash attention and no dropout. Both use
LayerNorm, because PyTorch's RMSNorm on a CPU would keep a copy of its input in fp32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

#: Bytes of a dropout mask's element on a CPU: the library keeps it in the type of the activations.
CPU_MASK = 2

#: Tensors that the formula leaves out.
NEGLECTED = ("norm statistics", "log-sum-exp")

#: The name of saved tensors that nobody named. They count like the others.
UNNAMED = "?"


@dataclass(frozen=True)
class Sizes:
    """Sequence, micro-batch, hidden, heads, and, for the modern layer, inner width and key and value heads."""

    sequence: int = 32
    batch: int = 2
    hidden: int = 64
    heads: int = 4
    ffn: int = 176
    kv_heads: int = 2

    @property
    def head_dim(self) -> int:
        """Width of one head."""
        return self.hidden // self.heads


@dataclass(frozen=True)
class Kept:
    """A tensor that lives until the backward pass: what it is, and the bytes of its storage."""

    name: str
    bytes: int


class Keeper:
    """Counts the storages that autograd saves while it watches; views of one storage count once.

    Args:
        parameters: not counted, because they are in memory anyway.
    """

    def __init__(self, parameters: Iterable[torch.Tensor] = ()) -> None:
        self._apart = {_storage(parameter) for parameter in parameters}
        self._names: dict[int, str] = {}
        self._found: dict[int, int] = {}
        self._alive: list[torch.Tensor] = []  # so that no address is used twice

    def name(self, name: str, tensor: torch.Tensor, inside: str = UNNAMED) -> torch.Tensor:
        """Name ``tensor``; unnamed tensors that were saved since the last call get the name ``inside``."""
        self._alive.append(tensor)
        self._names.setdefault(_storage(tensor), name)
        for storage in self._found:
            self._names.setdefault(storage, inside)
        return tensor

    def watching(self) -> saved_tensors_hooks:
        """A context in which saved tensors are counted."""
        return saved_tensors_hooks(self._save, lambda tensor: tensor)

    def _save(self, tensor: torch.Tensor) -> torch.Tensor:
        self._alive.append(tensor)
        if _storage(tensor) not in self._apart:
            self._found.setdefault(_storage(tensor), tensor.untyped_storage().nbytes())
        return tensor

    def kept(self) -> list[Kept]:
        """What was saved, in the order of saving; storages of one name are added up."""
        total: dict[str, int] = {}
        for storage, size in self._found.items():
            name = self._names.get(storage, UNNAMED)
            total[name] = total.get(name, 0) + size
        return [Kept(name, size) for name, size in total.items()]


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


Name = Callable[..., torch.Tensor]


class ClassicLayer(nn.Module):
    """LayerNorm, attention, dropout, add; LayerNorm, MLP with GELU, dropout, add. Tensors are ``[s, b, h]``.

    Args:
        sizes: of the layer.
        flash: the library's fused attention in place of matrix products and a softmax.
        recompute: ``"none"``, or ``"selective"`` to run the attention core again in the backward pass.
    """

    def __init__(self, sizes: Sizes, flash: bool = False, recompute: str = "none") -> None:
        super().__init__()
        h = sizes.hidden
        self.sizes = replace(sizes, ffn=4 * h, kv_heads=sizes.heads)
        self.flash, self.recompute = flash, recompute
        self.norm1, self.norm2 = nn.LayerNorm(h), nn.LayerNorm(h)
        self.qkv, self.output = nn.Linear(h, 3 * h), nn.Linear(h, h)
        self.up, self.down = nn.Linear(h, 4 * h), nn.Linear(4 * h, h)
        self.dropout = nn.Dropout(0.1)
        self.to(torch.bfloat16)

    def forward(self, x: torch.Tensor, name: Name) -> torch.Tensor:
        """``[s, b, h]`` to ``[s, b, h]``; ``name`` names every tensor that is kept."""
        inner = name("what norm 1 gives", self.norm1(name("input of norm 1", x)), "norm statistics")
        attended = self._attend(name("queries, keys and values", self.qkv(inner)), name)
        x = x + name("dropped", self.dropout(self.output(attended)), "dropout mask after attention")
        inner = name("what norm 2 gives", self.norm2(name("input of norm 2", x)), "norm statistics")
        inner = name("input of GELU", self.up(inner))
        inner = name("output of GELU", functional.gelu(inner))
        return x + name("dropped", self.dropout(self.down(inner)), "dropout mask after the MLP")

    def _attend(self, qkv: torch.Tensor, name: Name) -> torch.Tensor:
        s, b, _ = qkv.shape
        parts = qkv.view(s, b * self.sizes.heads, 3, self.sizes.head_dim).unbind(2)  # of each head: q, k, v
        if self.flash:
            q, k, v = (part.view(s, b, self.sizes.heads, -1).permute(1, 2, 0, 3) for part in parts)
            out = functional.scaled_dot_product_attention(q, k, v, is_causal=True)  # [b, a, s, d]
            name("output of flash attention", out, "log-sum-exp")
            return name("input of the projection", out.permute(2, 0, 1, 3).reshape(s, b, -1))
        q, k, v = parts
        if self.recompute == "selective":
            core = checkpoint(partial(_core, self.dropout, name=unnamed), q, k, v, use_reentrant=False)
        else:
            core = _core(self.dropout, q, k, v, name)
        return name("input of the projection", core.transpose(0, 1).reshape(s, b, -1))


def unnamed(name: str, tensor: torch.Tensor, inside: str = UNNAMED) -> torch.Tensor:
    """The tensor itself: takes the place of ``name`` in passes that are not recorded."""
    return tensor


def _core(dropout: nn.Module, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, name: Name) -> torch.Tensor:
    """Causal attention of ``[s, b a, d]``, with dropout on its weights; ``[b a, s, d]``."""
    q, k, v = (part.transpose(0, 1) for part in (q, k, v))
    s = q.shape[1]
    future = torch.full((s, s), -math.inf, dtype=q.dtype).triu(1)  # added, so autograd need not keep it
    scores = torch.baddbmm(future, q, k.transpose(1, 2), alpha=q.shape[-1] ** -0.5)  # [b a, s, s]
    weights = name("attention weights", scores.softmax(-1))
    return name("dropped weights", dropout(weights), "dropout mask of the weights") @ v


class ModernLayer(nn.Module):
    """Grouped queries, flash attention, a gated MLP, no dropout and no biases. Tensors are ``[b, s, h]``."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        h, shared = sizes.hidden, sizes.kv_heads * sizes.head_dim
        self.norm1, self.norm2 = (nn.LayerNorm(h, bias=False) for _ in range(2))
        self.query, self.output = nn.Linear(h, h, bias=False), nn.Linear(h, h, bias=False)
        self.key, self.value = nn.Linear(h, shared, bias=False), nn.Linear(h, shared, bias=False)
        self.gate, self.up = nn.Linear(h, sizes.ffn, bias=False), nn.Linear(h, sizes.ffn, bias=False)
        self.down = nn.Linear(sizes.ffn, h, bias=False)
        self.to(torch.bfloat16)

    def forward(self, x: torch.Tensor, name: Name) -> torch.Tensor:
        """``[b, s, h]`` to ``[b, s, h]``; ``name`` names every tensor that is kept."""
        inner = name("what norm 1 gives", self.norm1(name("input of norm 1", x)), "norm statistics")
        q = self._heads(name("queries", self.query(inner)))
        k, v = self._heads(name("keys", self.key(inner))), self._heads(name("values", self.value(inner)))
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        name("output of attention", out, "log-sum-exp")
        x = x + self.output(out.transpose(1, 2).flatten(2))
        inner = name("what norm 2 gives", self.norm2(name("input of norm 2", x)), "norm statistics")
        gate = name("gate", self.gate(inner))
        opened, up = name("SiLU of the gate", functional.silu(gate)), name("up", self.up(inner))
        return x + self.down(name("their product", opened * up))

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(2, (-1, self.sizes.head_dim)).transpose(1, 2)


def kept(layer: ClassicLayer | ModernLayer) -> list[Kept]:
    """What autograd keeps for one pass through ``layer``, except parameters, in the order of saving."""
    sizes = layer.sizes
    leading = (sizes.sequence, sizes.batch) if isinstance(layer, ClassicLayer) else (sizes.batch, sizes.sequence)
    x = torch.ones(*leading, sizes.hidden, dtype=torch.bfloat16, requires_grad=True)
    keeper = Keeper(layer.parameters())
    with keeper.watching():
        keeper.name("output", layer(x, keeper.name))
    return keeper.kept()


def beside_the_formula(found: Iterable[Kept]) -> tuple[int, int]:
    """Bytes of the tensors that ``stored_by_layer`` counts, and of those that it neglects."""
    sizes = {False: 0, True: 0}
    for tensor in found:
        sizes[tensor.name in NEGLECTED] += tensor.bytes
    return sizes[False], sizes[True]


def classic(sizes: Sizes, attention: str = "materialised", recompute: str = "none") -> list[Kept]:
    """What autograd keeps for the classic layer; the options are those of ``stored_by_layer``."""
    if recompute == "full":
        return [Kept("input of the layer", bytes_of_fully_recomputed(ClassicLayer(sizes)))]
    return kept(ClassicLayer(sizes, attention == "flash", recompute))


def bytes_of_fully_recomputed(layer: ClassicLayer) -> int:
    """What autograd keeps when the whole layer runs again in the backward pass."""
    sizes = layer.sizes
    x = torch.ones(sizes.sequence, sizes.batch, sizes.hidden, dtype=torch.bfloat16, requires_grad=True)
    keeper = Keeper(layer.parameters())
    with keeper.watching():
        checkpoint(layer, x, unnamed, use_reentrant=False)
    return sum(found.bytes for found in keeper.kept())
