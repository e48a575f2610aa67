"""What each rank does in :mod:`experiments.ch05.fsdp_runs`; only ranks import the parts of torch it needs.

It runs four linear layers under ``fully_shard``, each a group of its own, beside the same model in one process.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor


class _Layer(torch.nn.Linear):
    """A linear layer that reports when its forward and its backward pass start."""

    tell: Any = None
    number = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.tell(f"forward {self.number}")
        y = super().forward(x)
        if y.requires_grad:
            y.register_hook(lambda gradient: self.tell(f"backward {self.number}"))
        return torch.tanh(y)


def _model(widths: tuple[int, ...], dtype: str) -> torch.nn.Sequential:
    torch.manual_seed(0)
    layers: list[Any] = [_Layer(*pair, dtype=getattr(torch, dtype)) for pair in pairwise(widths)]
    for number, layer in enumerate(layers):
        layer.number, layer.tell = number, lambda name: None
    return torch.nn.Sequential(*layers)


def step(
    reshard: bool, passes: int, exchange: str, dtype: str, widths: tuple[int, ...]
) -> tuple[int, int, list[tuple[str, int, int]], float, int]:
    """On each rank: bytes of weights and of gradients, moments, error of the weights, bytes of AdamW's states."""
    torch.set_num_threads(1)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    alone, model = _model(widths, dtype), _model(widths, dtype)
    mesh = init_device_mesh("cpu", (ranks,))
    for layer in model:
        fully_shard(layer, mesh=mesh, reshard_after_forward=reshard)
    sharded: Any = fully_shard(model, mesh=mesh, reshard_after_forward=reshard)
    local = sum(p.to_local().nbytes for p in sharded.parameters())
    moments: list[tuple[str, int, int]] = []
    layers: Any = model
    for layer in layers:
        layer.tell = lambda name: moments.append((name, _whole_bytes(model), local))
    # a large eps: with a small one, a gradient that is N times too large would give the same step
    optimizers = [torch.optim.AdamW(m.parameters(), lr=0.01, eps=0.01) for m in (sharded, alone)]
    for number in range(passes):
        moments.clear()
        last = number == passes - 1
        sharded.set_requires_gradient_sync(exchange == "every" or (exchange == "last" and last))
        rows = torch.randn(4 * ranks, widths[0], dtype=getattr(torch, dtype))
        sharded(rows.chunk(ranks)[rank]).square().mean().backward()
        alone(rows).square().mean().backward()
    gradients = _gradient_bytes(sharded)
    if exchange == "never":
        return local, gradients, moments, 0.0, 0
    for optimizer in optimizers:
        optimizer.step()
    pairs = zip(sharded.parameters(), alone.parameters(), strict=True)
    differences = [(_mine(p) - _slice(q.detach(), ranks, rank)).abs().max() for p, q in pairs]
    states = [t for state in optimizers[0].state.values() for name, t in state.items() if name != "step"]
    return local, gradients, moments, float(max(differences)), sum(_mine(state).nbytes for state in states)


def _whole_bytes(model: torch.nn.Module) -> int:
    """Bytes of weights that are whole at the moment; a sliced parameter is a DTensor, also while its layer is gathered
    ahead of time."""
    return sum(p.nbytes for p in model.parameters() if not isinstance(p, DTensor))


def _gradient_bytes(model: Any) -> int:
    """Bytes of gradients, including whole ones that are kept aside because they have not been reduced."""
    found = sum(_mine(p.grad).nbytes for p in model.parameters() if p.grad is not None)
    for layer in model:  # the library has no public way to reach gradients that it has not reduced
        group = layer._get_fsdp_state()._fsdp_param_group
        kept = [p.unsharded_accumulated_grad for p in group.fsdp_params]
        whole = [p._unsharded_param.grad for p in group.fsdp_params if hasattr(p, "_unsharded_param")]
        found += sum(gradient.nbytes for gradient in [*kept, *whole] if gradient is not None)
    return found


def _mine(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor.detach()


def _slice(whole: torch.Tensor, ranks: int, rank: int) -> torch.Tensor:
    """This rank's rows, as ``fully_shard`` assigns them."""
    rows = -(-len(whole) // ranks)
    return whole[rank * rows : (rank + 1) * rows]
