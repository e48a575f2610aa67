"""A mixture layer over real ranks against the same layer in one process, and how many bytes each rank sends to each.

>>> run = expert_parallel_run([128, 96, 160, 128])  # doctest: +SKIP
>>> run.output_difference, run.gradient_difference  # doctest: +SKIP
>>> figures.routing(run.matrix, "bytes")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn

from rankzero import world
from solutions.ch07 import moe

HIDDEN, FFN = 32, 64

#: A layer in one process: ``layer(x, weights, chosen, local_experts, experts)``.
Layer = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Spread:
    """One forward and backward pass of a mixture layer over several ranks.

    Attributes:
        output_difference: largest absolute difference from the layer in one process.
        gradient_difference: the same, over the gradients of tokens and experts.
        matrix: ``matrix[r][c]``: bytes that rank r has for the experts of rank c on the way out; the diagonal is not
            sent.
        handed_in: by rank, the bytes of each exchange of rows in the event log: out, back, and their gradients.
    """

    output_difference: float
    gradient_difference: float
    matrix: list[list[int]]
    handed_in: list[list[int]]

    @property
    def travelling(self) -> list[int]:
        """Bytes of rows that leave each rank in the forward pass: its tokens out, other ranks' results back."""
        ranks = range(len(self.matrix))
        return [sum(self.matrix[r][c] + self.matrix[c][r] for c in ranks if c != r) for r in ranks]


def expert_parallel_run(
    tokens: Sequence[int] = (128, 96, 160, 128),
    experts: int = 8,
    top_k: int = 2,
    dtype: torch.dtype = torch.float64,
    layer: Layer | None = None,
) -> Spread:
    """Route random tokens to random experts, once over ranks and once in one process.

    Args:
        tokens: number of tokens on each rank; the number of experts is a multiple of the number of ranks.
        experts: of the layer.
        top_k: experts of one token.
        dtype: of everything.
        layer: called like ``expert_parallel_forward``; None uses the course's.
    """
    layer = layer or moe.expert_parallel_forward
    run = world.run(_spread, list(tokens), experts, top_k, dtype, layer, ranks=len(tokens), backend="gloo")
    outputs, tables, gradients = zip(*run.values, strict=True)
    dense, expected = _dense(list(tokens), experts, top_k, dtype)
    found = {name: gradient for part in gradients for name, gradient in part.items()}
    if found.keys() != expected.keys():
        raise ValueError(f"gradients are missing of {sorted(found.keys() ^ expected.keys())}")
    differences = [float((found[name] - expected[name]).abs().max()) for name in expected if len(expected[name])]
    row = HIDDEN * torch.empty((), dtype=dtype).element_size()
    handed_in = [
        [e.sent for e in run.events if e.rank == rank and e.operation == "all_to_all"][1:] for rank in range(run.ranks)
    ]
    return Spread(
        output_difference=float((torch.cat(outputs) - dense).abs().max()),
        gradient_difference=max(differences),
        matrix=[[rows * row for rows in table] for table in tables],
        handed_in=handed_in,
    )


def dense_layer(
    x: torch.Tensor, weights: torch.Tensor, chosen: torch.Tensor, all_experts: Sequence[nn.Module]
) -> torch.Tensor:
    """A mixture layer as one would write it for one process: a loop over the experts."""
    y = torch.zeros_like(x)
    for number, expert in enumerate(all_experts):
        token, slot = (chosen == number).nonzero(as_tuple=True)
        y = y.index_add(0, token, expert(x[token]) * weights[token, slot].unsqueeze(1))
    return y


def _parts(
    tokens: list[int], experts: int, dtype: torch.dtype
) -> tuple[list[torch.Tensor], nn.Module, list[nn.Module]]:
    """Tokens of every rank, the router and all experts: the same on every rank."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        blocks = [nn.Sequential(nn.Linear(HIDDEN, FFN), nn.SiLU(), nn.Linear(FFN, HIDDEN)) for _ in range(experts)]
        made: list[nn.Module] = [block.to(dtype) for block in blocks]
        router = nn.Linear(HIDDEN, experts, bias=False).to(dtype)
        return list(torch.randn(sum(tokens), HIDDEN, dtype=dtype).split(tokens)), router, made


def _spread(
    tokens: list[int], experts: int, top_k: int, dtype: torch.dtype, layer: Layer
) -> tuple[torch.Tensor, list[int], dict[str, torch.Tensor]]:
    """On each rank: its output, how many rows it has for every rank, and the gradients it can see."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    parts, router, blocks = _parts(tokens, experts, dtype)
    share = experts // ranks
    mine = range(rank * share, (rank + 1) * share)
    x = parts[rank].requires_grad_()
    weights, chosen = moe.route(router(x), top_k)
    y = layer(x, weights, chosen, [blocks[number] for number in mine], experts)
    y.square().sum().backward()
    gradients = {f"tokens of rank {rank}": x.grad}
    gradients |= {f"expert {n}: {name}": p.grad for n in mine for name, p in blocks[n].named_parameters()}
    rows = torch.bincount(chosen.flatten() // share, minlength=ranks).tolist()
    return y.detach(), rows, {name: gradient for name, gradient in gradients.items() if gradient is not None}


def _dense(
    tokens: list[int], experts: int, top_k: int, dtype: torch.dtype
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The same in this process."""
    parts, router, blocks = _parts(tokens, experts, dtype)
    leaves = [part.requires_grad_() for part in parts]
    x = torch.cat(leaves)
    y = dense_layer(x, *moe.route(router(x), top_k), blocks)
    y.square().sum().backward()
    gradients = {f"tokens of rank {rank}": leaf.grad for rank, leaf in enumerate(leaves)}
    gradients |= {
        f"expert {n}: {name}": p.grad for n, block in enumerate(blocks) for name, p in block.named_parameters()
    }
    return y.detach(), {name: gradient for name, gradient in gradients.items() if gradient is not None}
