"""The data, the counting and the twin of chapter 5's ZeRO programs: four square layers in fp32, and AdamW.

Programs on the page take ``weights, x, y = start()``, cut each weight with :func:`mine`, and return
``slices, held(...)``. :func:`compare` puts their slices together and prices their collectives.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist

from rankzero.world.results import World
from solutions.ch03.collective_cost import traffic

WIDTH, LAYERS, ROWS, STEPS = 24, 4, 24, 5
PARAMETERS = LAYERS * WIDTH * WIDTH
#: AdamW's options. The eps is large: with a small one, a gradient that is N times too large gives the same step.
OPTIONS: dict[str, Any] = {"lr": 0.01, "weight_decay": 0.1, "eps": 0.01}
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather")


def start() -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
    """The same weights on every rank, each layer one flat tensor, and this rank's rows: inputs and targets."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    weights = [torch.randn(WIDTH * WIDTH) / WIDTH**0.5 for _ in range(LAYERS)]
    return weights, mine(torch.randn(ROWS, WIDTH)), mine(torch.randn(ROWS, WIDTH).tanh())


def mine(whole: torch.Tensor) -> torch.Tensor:
    """This rank's part of a tensor: a view without a gradient, so whoever changes it changes the whole."""
    size = len(whole) // dist.get_world_size()
    return whole.detach()[dist.get_rank() * size :][:size]


def layer(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """One layer of the network."""
    return torch.tanh(x @ weight.view(WIDTH, WIDTH))


def error(weights: Iterable[torch.Tensor], x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """This rank's mean squared error over the number of ranks: summed over the ranks, its gradients are means."""
    for weight in weights:
        x = layer(weight, x)
    return (x - y).square().mean() / dist.get_world_size()


def stage_0() -> tuple[list[torch.Tensor], int]:
    """Plain data parallelism: gradients are all-reduced, and every rank updates every weight."""
    weights, x, y = start()
    adam = torch.optim.AdamW([weight.requires_grad_() for weight in weights], **OPTIONS)
    for _ in range(STEPS):
        adam.zero_grad()
        error(weights, x, y).backward()
        for weight in weights:
            dist.all_reduce(weight.grad)
        adam.step()
    return [mine(weight) for weight in weights], held(weights, [], adam)


def held(weights: Iterable[torch.Tensor], slices: Iterable[torch.Tensor], adam: torch.optim.Optimizer) -> int:
    """Bytes of weights, gradients and moments on this rank; shared storage counts once."""
    tensors = [*weights, *slices]
    tensors += [tensor.grad for tensor in tensors if tensor.grad is not None]
    tensors += [t for state in adam.state.values() for name, t in state.items() if name != "step"]
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def compare(run: World, twin: World) -> tuple[int, float, float]:
    """Bytes that a rank of ``run`` holds, bytes that it has to send in a step, and how far its weights are from those
    of ``twin``, a run on one rank."""
    slices = zip(*(parts for parts, _ in run.values), strict=True)
    weights = torch.cat([torch.cat(parts) for parts in slices])
    alone = torch.cat(twin.values[0][0])
    calls = [event for event in run.events if event.rank == 0 and event.operation in COLLECTIVES]
    sent = sum(traffic(e.operation, max(e.sent, e.received), run.ranks, 0)[0] for e in calls) / STEPS
    return run.values[0][1], sent, float((weights - alone).abs().max())
