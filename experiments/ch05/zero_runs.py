"""ZeRO by hand: one small network under stages 0 to 3 on real ranks, with every byte counted.

    zero_run(stage=3, ranks=4).sent

Everything is float32, and an fp32 weight is its own master copy: 4 bytes per weight, 4 per gradient, 8 for the moments.
Under stages 1 and 2 a rank's slice of a layer is a piece of the layer's own weights: updating it updates the model.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch.utils.checkpoint import checkpoint

from rankzero import checks, world
from rankzero.events import Event
from solutions.ch03.collective_cost import traffic
from solutions.ch05.data_parallel import ShardedAdamW, gather_parameter, reduce_to_slice

#: Called as ``reduce(gradient, kept)``, and as ``gather(shard, numel)``.
Reduce = Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]
Gather = Callable[[torch.Tensor, int], torch.Tensor]

#: Widths between the layers. Every layer has a number of parameters that 1, 2, 3, 4 and 6 divide.
WIDTHS = (24, 48, 48, 48, 12)
ROWS = 24  # of a batch, over all ranks
OPERATIONS = ("all_reduce", "reduce_scatter", "all_gather")
#: AdamW's options. The eps is large: with a small one, a gradient that is N times too large gives the same step.
OPTIONS = {"lr": 0.01, "weight_decay": 0.1, "eps": 0.01}


@dataclass(frozen=True)
class ZeroRun:
    """A training run under one stage.

    Attributes:
        stage: of ZeRO.
        ranks: how many.
        parameters: of the model.
        weight_bytes, gradient_bytes, optimizer_bytes: what each rank held between the backward pass and the step.
        sent: bytes that each rank has to send in one step if each collective moves as few as possible.
        calls: collectives of rank 0 in one step, by operation.
        weights: the whole model's at the end, one flat tensor.
    """

    stage: int
    ranks: int
    parameters: int
    weight_bytes: tuple[int, ...]
    gradient_bytes: tuple[int, ...]
    optimizer_bytes: tuple[int, ...]
    sent: tuple[float, ...]
    calls: dict[str, int]
    weights: torch.Tensor = field(repr=False)

    @property
    def state_bytes(self) -> tuple[int, ...]:
        """Weights, gradients and optimizer states of each rank."""
        kinds = (self.weight_bytes, self.gradient_bytes, self.optimizer_bytes)
        return tuple(sum(parts) for parts in zip(*kinds, strict=True))


def zero_run(
    stage: int,
    ranks: int,
    steps: int = 3,
    micro_steps: int = 1,
    reshard: bool = True,
    widths: Sequence[int] = WIDTHS,
    reduce: Reduce = reduce_to_slice,
    gather: Gather = gather_parameter,
) -> ZeroRun:
    """Train from the same weights on the same rows, whatever the stage and the number of ranks.

    Args:
        stage: 0 (replicas), 1 (moments in slices), 2 (gradients too) or 3 (weights too).
        ranks: 1, 2, 3, 4 or 6.
        steps: of AdamW.
        micro_steps: backward passes before each optimizer step, each on an equal part of the rank's rows.
        reshard: under stage 3, free gathered weights after the forward pass and gather them again.
        widths: between the layers.
        reduce: what stage 2 does with a gradient in the backward pass.
        gather: what stage 3 does with a slice before a layer uses it.

    Raises:
        ValueError: ranks and micro-steps do not divide the rows.
    """
    checks.one_of(range(4), stage=stage)
    if ROWS % (ranks * micro_steps):
        raise ValueError(f"ranks * micro_steps must divide {ROWS} rows, got {ranks} and {micro_steps}")
    run = world.run(_train, stage, steps, micro_steps, reshard, tuple(widths), reduce, gather, ranks=ranks)
    counted, weights = zip(*run.values, strict=True)
    kinds = [tuple(sizes) for sizes in zip(*counted, strict=True)]
    by_rank = [[e for e in run.events if e.rank == rank and e.operation in OPERATIONS] for rank in range(ranks)]
    sent = tuple(_wire_bytes(events, ranks, rank) / steps for rank, events in enumerate(by_rank))
    calls = {name: sum(e.operation == name for e in by_rank[0]) // steps for name in OPERATIONS}
    return ZeroRun(stage, ranks, weights[0].numel(), kinds[0], kinds[1], kinds[2], sent, calls, weights[0])


def _wire_bytes(events: Iterable[Event], ranks: int, rank: int) -> float:
    """What a rank has to send for these collectives; the larger side of each is the full tensor."""
    return sum(traffic(event.operation, max(event.sent, event.received), ranks, rank)[0] for event in events)


class _Layer(torch.nn.Module):
    """A linear layer and a tanh, whose weight and bias are views of one flat tensor.

    Attributes:
        flat: all parameters of the layer; empty under stage 3, where they are gathered.
        slice: this rank's part of it.
        parts: how many slices there are.
        gather: joins the slices in a forward pass (stage 3); None if ``flat`` is whole.
    """

    def __init__(self, fan_in: int, fan_out: int) -> None:
        super().__init__()
        self.shape, self.size = (fan_out, fan_in), fan_out * fan_in + fan_out
        self.parts = dist.get_world_size()
        self.flat: torch.Tensor = torch.randn(self.size) / fan_in**0.5
        self.slice = self.flat.chunk(self.parts)[dist.get_rank()]
        self.gather: Gather | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = self.gather(self.slice, self.size) if self.gather else self.flat
        weight, bias = whole.split([self.shape[0] * self.shape[1], self.shape[0]])
        return torch.tanh(torch.nn.functional.linear(x, weight.view(self.shape), bias))


def _train(
    stage: int, steps: int, micro_steps: int, reshard: bool, widths: tuple[int, ...], reduce: Reduce, gather: Gather
) -> tuple[tuple[int, int, int], torch.Tensor]:
    """On each rank: the bytes of weights, gradients and moments, and all weights at the end."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = [_Layer(*pair) for pair in pairwise(widths)]
    data = torch.randn(ROWS, widths[0]), torch.randn(ROWS, widths[-1]).tanh()
    mine = [part.chunk(dist.get_world_size())[dist.get_rank()] for part in data]
    way = (_Replicas, _SlicedMoments, _SlicedGradients, _SlicedWeights)[stage](layers, micro_steps, reduce, gather)
    for _ in range(steps):
        for x, y in zip(*(part.chunk(micro_steps) for part in mine), strict=True):
            _loss(layers, x, y, again=stage == 3 and reshard).backward()
        way.step()
    return way.held, torch.cat([_final(layer) for layer in layers])


def _loss(layers: Sequence[_Layer], x: torch.Tensor, y: torch.Tensor, again: bool) -> torch.Tensor:
    """Mean squared error; with ``again``, a layer's backward pass first repeats its forward pass, gather included."""
    for layer in layers:
        x = checkpoint(layer, x, use_reentrant=False) if again else layer(x)
    return (x - y).square().mean()


def _final(layer: _Layer) -> torch.Tensor:
    """A layer's final parameters; slices are gathered as objects, so the byte count ignores them."""
    if not layer.gather:
        return layer.flat.detach()
    parts: list[Any] = [None] * layer.parts
    dist.all_gather_object(parts, layer.slice.detach())
    return torch.cat(parts)


class _Replicas:
    """Stage 0: everyone has everything, and gradients are all-reduced."""

    def __init__(self, layers: Sequence[_Layer], micro_steps: int, reduce: Reduce, gather: Gather) -> None:
        self.layers, self.micro_steps, self.held = layers, micro_steps, (0, 0, 0)
        self.reduce, self.gather = reduce, gather
        self.share = 1 / (micro_steps * dist.get_world_size())
        self.optimizer = torch.optim.AdamW(self.own(), **OPTIONS)

    def own(self) -> list[torch.Tensor]:
        """The tensors that this rank's optimizer updates."""
        return [layer.flat.requires_grad_() for layer in self.layers]

    def exchange(self) -> None:
        """Exchange gradients before the optimizer's step."""
        for layer in self.layers:
            gradient: Any = layer.flat.grad
            dist.all_reduce(gradient)
            gradient *= self.share

    def spread(self) -> None:
        """Exchange weights after the optimizer's step."""

    def step(self) -> None:
        self.exchange()
        self.optimizer.step()
        states = [t for state in self.optimizer.state.values() for name, t in state.items() if name != "step"]
        every = [t for layer in self.layers for t in (layer.flat, layer.slice)]
        self.held = _held(every), _held(t.grad for t in every if t.grad is not None), _held(states)
        for tensor in every:
            tensor.grad = None
        self.spread()


class _SlicedMoments(_Replicas):
    """Stage 1: a rank updates its slice; gradients are reduce-scattered, updated weights all-gathered."""

    def own(self) -> list[torch.Tensor]:
        super().own()
        for layer in self.layers:
            layer.slice = layer.flat.detach().chunk(layer.parts)[dist.get_rank()]
        return [layer.slice for layer in self.layers]

    def exchange(self) -> None:
        for layer in self.layers:
            gradient: Any = layer.flat.grad
            mine = gradient.chunk(layer.parts)[dist.get_rank()]  # stays where it is
            mine.copy_(_summed(gradient, layer.parts) * self.share)
            layer.slice.grad = mine

    def spread(self) -> None:
        for layer in self.layers:
            dist.all_gather(list(layer.flat.detach().chunk(layer.parts)), layer.slice.clone())


class _SlicedGradients(_SlicedMoments):
    """Stage 2: a gradient is reduce-scattered as soon as it is computed, and only the slice is kept."""

    def own(self) -> list[torch.Tensor]:
        slices = super().own()
        for layer in self.layers:
            layer.flat.register_post_accumulate_grad_hook(lambda flat, layer=layer: self.keep_slice(layer))
        return slices

    def keep_slice(self, layer: _Layer) -> None:
        """Reduce-scatter the layer's gradient; called during the backward pass."""
        gradient: Any = layer.flat.grad
        layer.flat.grad = None
        layer.slice.grad = self.reduce(gradient, layer.slice.grad)

    def exchange(self) -> None:
        """``reduce`` has averaged over the ranks; what remains is to average over the micro-steps."""
        for layer in self.layers:
            layer.slice.grad /= self.micro_steps


class _SlicedWeights(_Replicas):
    """Stage 3: only slices are kept; whole weights are gathered for a layer and freed after it."""

    def own(self) -> list[torch.Tensor]:
        for layer in self.layers:
            layer.slice, layer.gather = layer.slice.clone().requires_grad_(), self.gather
            layer.flat = torch.empty(0)
        return [layer.slice for layer in self.layers]

    def exchange(self) -> None:
        """``gather`` has averaged over the ranks; what remains is to average over the micro-steps."""
        for layer in self.layers:
            layer.slice.grad /= self.micro_steps


def _summed(whole: torch.Tensor, parts: int) -> torch.Tensor:
    """This rank's slice of the sum over all ranks."""
    mine = torch.empty_like(whole.chunk(parts)[0])
    dist.reduce_scatter(mine, list(whole.chunk(parts)))
    return mine


def _held(tensors: Iterable[torch.Tensor]) -> int:
    """Bytes of memory behind these tensors; shared storage counts once."""
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


# The optimizer of the exercise.


@dataclass(frozen=True)
class Sharded:
    """A network 5-7-3 trained on ``ranks`` ranks with an optimizer whose states are cut into slices.

    Attributes:
        ranks: how many.
        parameters: of the network.
        state_bytes: what the optimizer says it holds, by rank.
        calls: number of rank 0's collectives over all steps, by operation.
        sent: bytes that rank 0 has to send in one step if each collective moves as few as possible.
        difference: largest difference of a weight from plain AdamW in one process on all rows.
    """

    ranks: int
    parameters: int
    state_bytes: tuple[int, ...]
    calls: dict[str, int]
    sent: float
    difference: float


def sharded_run(ranks: int, steps: int = 10, optimizer: Any = ShardedAdamW) -> Sharded:
    """Train with ``optimizer(parameters, lr=..., eps=..., weight_decay=...)`` on real ranks, and compare with AdamW.

    Args:
        ranks: a divisor of 24, the rows of the batch.
        steps: of the optimizer.
        optimizer: the class.
    """
    run = world.run(_train_sharded, steps, optimizer, ranks=ranks)
    plain = _trained_plainly(steps)
    weights, held = zip(*run.values, strict=True)
    events = [event for event in run.events if event.rank == 0]
    calls = {name: sum(event.operation == name for event in events) for name in OPERATIONS}
    difference = max(float((w - plain).abs().max()) for w in weights)
    return Sharded(ranks, plain.numel(), held, calls, _wire_bytes(events, ranks, 0) / steps, difference)


@functools.cache
def _trained_plainly(steps: int) -> torch.Tensor:
    """The weights after AdamW in one process on all rows; cached, so callers must not change them."""
    return world.run(_train_sharded, steps, torch.optim.AdamW, ranks=1).values[0][0]  # type: ignore[no-any-return]


def _train_sharded(steps: int, optimizer: Any) -> tuple[torch.Tensor, int]:
    torch.manual_seed(0)
    rank, ranks = dist.get_rank(), dist.get_world_size()
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    x, y = torch.randn(ROWS, 5).chunk(ranks)[rank], torch.randn(ROWS, 3).chunk(ranks)[rank]
    moves = optimizer(model.parameters(), **OPTIONS)
    for _ in range(steps):
        model.zero_grad()
        (model(x) - y).square().mean().backward()
        moves.step()
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    return weights, moves.state_bytes() if hasattr(moves, "state_bytes") else 0
