"""The small model as a pipeline over real ranks: its gradients, its messages, its graphs, and who worked when.

>>> run = pipeline_run(4, 8)  # doctest: +SKIP
>>> run.difference(uncut_run(8)), run.messages, run.peaks  # doctest: +SKIP
>>> figures.schedules.draw(run.times)  # doctest: +SKIP
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.tiny import GPT, GPTConfig, batches
from solutions.ch02.model_parallel import stage_layers
from solutions.ch07 import pipeline_run as one_step
from solutions.ch07.pipeline import pipeline_schedule

from ..ch02.overlap import Diary, Timeline, laps_of, with_diaries

#: The model that is cut, and the sequences of one micro-batch.
CONFIG = GPTConfig(layers=8, heads=4, head_dim=16, context=32)
SEQUENCES = 2

#: Steps to take and time. The first is a warm-up; of any others the fastest counts.
STEPS = 2

#: A function that carries out a step; called like ``pipeline_step``.
Step = Callable[..., torch.Tensor]
Span = tuple[float, float]


@dataclass(frozen=True)
class Piped:
    """One step of the model, cut or not.

    Attributes:
        loss: the mean over the micro-batches.
        gradients: by the parameter's name in the uncut model.
        peaks: for every rank, the most graphs alive at once.
        messages: how many were sent in the step, by all ranks.
        times: start and end of every operation in the fastest step, seconds; ``{"0F0": (0.0, 0.1), ...}``.
        timeline: messages, forward and backward passes of that step.
    """

    loss: float
    gradients: dict[str, torch.Tensor]
    peaks: tuple[int, ...]
    messages: int
    times: dict[str, Span]
    timeline: Timeline

    def difference(self, other: Piped) -> float:
        """The largest absolute difference between two gradients of one parameter, over all parameters.

        Raises:
            ValueError: the two do not have gradients of the same parameters.
        """
        if self.gradients.keys() != other.gradients.keys():
            raise ValueError(f"gradients are missing of {sorted(self.gradients.keys() ^ other.gradients.keys())}")
        return max(float((g - other.gradients[name]).abs().max()) for name, g in self.gradients.items())


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean loss of the next token of one micro-batch, in nats."""
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def pipeline_run(
    ranks: int,
    microbatches: int,
    schedule: str = "1f1b",
    step: Step | None = None,
    config: GPTConfig = CONFIG,
    timeout: float = 60.0,
) -> Piped:
    """One step with the layers spread over ``ranks`` ranks, in float64.

    Args:
        ranks: stages; at most as many as layers.
        microbatches: micro-batches that the batch is cut into.
        schedule: ``"gpipe"`` or ``"1f1b"``.
        step: the function that carries it out; None uses the course's ``pipeline_step``.
        config: of the model.
        timeout: seconds that the run may take.
    """
    orders = pipeline_schedule(schedule, ranks, microbatches)
    step = step or one_step.pipeline_step
    return _gather(world.run(_cut, orders, step, config, ranks=ranks, timeout=timeout, backend="gloo"), orders)


def uncut_run(microbatches: int, config: GPTConfig = CONFIG) -> Piped:
    """The same step in one process, written without a pipeline: what :func:`pipeline_run` is compared with."""
    orders = pipeline_schedule("1f1b", 1, microbatches)
    return _gather(world.run(_cut, orders, plain_step, config, ranks=1, backend="gloo"), orders)


@dataclass(frozen=True)
class Part:
    """What one rank of a pipeline works with in one step.

    Attributes:
        rank: this rank, which is its stage, too.
        last: the last rank.
        stage: this rank's layers.
        inputs: of each micro-batch: tokens on rank 0, elsewhere an empty buffer for the activation that will come.
        targets: of each micro-batch.
        loss: ``loss(logits, targets)``, the share of one micro-batch in the mean loss of all.
        held: by micro-batch, the input and the output of its forward pass, until its backward pass.
        sending: handles of the messages that have been sent.
    """

    rank: int
    last: int
    stage: torch.nn.Module
    inputs: list[torch.Tensor]
    targets: list[torch.Tensor]
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    held: dict[int, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)
    sending: list[Any] = field(default_factory=list)


def my_part(microbatches: int, config: GPTConfig = CONFIG) -> Part:
    """This rank's part of the small model, cut over all ranks of the world, and of a step of ``microbatches``."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    inputs, targets = next(_microbatches(config, microbatches))
    if rank > 0:
        shape = (SEQUENCES, config.context, config.hidden)
        inputs = [torch.empty(shape, dtype=torch.float64) for _ in inputs]

    def loss(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return cross_entropy(logits, target) / microbatches

    return Part(rank, ranks - 1, _stage(config, rank, ranks), inputs, targets, loss)


def plain_step(
    module: torch.nn.Module, order: object, inputs: Any, targets: Any, loss_fn: Callable[..., torch.Tensor], *_: object
) -> torch.Tensor:
    """The mean loss over the micro-batches of an uncut model, and its gradients, one micro-batch after the other."""
    total = torch.zeros((), dtype=torch.float64)
    for x, target in zip(inputs, targets, strict=True):
        value = loss_fn(module(x), target) / len(inputs)
        value.backward()
        total += value.detach()
    return total


def blocking_step(*arguments: Any, **options: Any) -> torch.Tensor:
    """``pipeline_step`` with ``send`` for ``isend``: a rank continues only when its message has been received."""

    def send(tensor: torch.Tensor, destination: int) -> _Done:
        dist.send(tensor, destination)
        return _Done()

    with mock.patch.object(dist, "isend", send):
        return one_step.pipeline_step(*arguments, **options)


def blocked_at(orders: Sequence[Sequence[str]]) -> dict[int, str]:
    """Where each rank of :func:`blocking_step` waits forever; empty if none does.

    ``{0: "send to rank 1 in 0F1", ...}``: sends meet their receives, as in chapter 2.
    """
    calls = [blocking_calls(order, rank, len(orders)) for rank, order in enumerate(orders)]
    place = [0] * len(orders)
    moving = list(place)
    while moving:
        heads = {rank: calls[rank][at] for rank, at in enumerate(place) if at < len(calls[rank])}
        moving = [r for r, (verb, peer, _) in heads.items() if peer in heads and _meet(heads[peer], verb, r)]
        for rank in moving:
            place[rank] += 1
    return {
        rank: f"{verb} {'to' if verb == 'send' else 'from'} rank {peer} in {op}"
        for rank, (verb, peer, op) in heads.items()
    }


def blocking_calls(order: Sequence[str], rank: int, ranks: int) -> list[tuple[str, int, str]]:
    """What one rank of a pipeline sends and receives: the verb, the peer, and the operation it belongs to."""
    calls = []
    for op in order:
        before, after = (rank - 1, rank + 1) if "F" in op else (rank + 1, rank - 1)
        calls += [("recv", before, op)] * (0 <= before < ranks) + [("send", after, op)] * (0 <= after < ranks)
    return calls


def _meet(other: tuple[str, int, str], verb: str, rank: int) -> bool:
    return {other[0], verb} == {"send", "recv"} and other[1] == rank


class _Done:
    """The handle of a message that has arrived."""

    def wait(self) -> None:
        return None


def training_losses(
    ranks: int,
    microbatches: int,
    steps: int,
    schedule: str = "1f1b",
    rate: float = 0.1,
    step: Step | None = None,
) -> list[float]:
    """The loss of every step of plain gradient descent, with the model cut over ``ranks`` ranks.

    Args:
        ranks: stages; 1 trains the uncut model.
        microbatches: of each step.
        steps: how many; each has new text.
        schedule: ``"gpipe"`` or ``"1f1b"``.
        rate: the learning rate.
        step: the function that carries it out; None uses the course's ``pipeline_step``.
    """
    orders = pipeline_schedule(schedule, ranks, microbatches)
    step = step or one_step.pipeline_step
    return world.run(_train, orders, steps, rate, step, ranks=ranks, timeout=300.0, backend="gloo").values[-1]


@contextmanager
def counted_graphs(module: torch.nn.Module) -> Iterator[list[int]]:
    """Count the autograd graphs of ``module`` that are alive, and append the count to the list after each forward pass.

    A graph is alive as long as the tensors that it has saved for its backward pass.
    """
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    counts: list[int] = []
    plain = module.forward

    def forward(*args: Any, **kwargs: Any) -> torch.Tensor:
        graph = _Graph()
        alive.add(graph)
        with torch.autograd.graph.saved_tensors_hooks(partial(_kept, graph), _given):
            result = plain(*args, **kwargs)
        del graph
        counts.append(len(alive))
        return result

    module.forward = forward
    try:
        yield counts
    finally:
        module.forward = plain


class _Graph:
    """The object that every saved tensor of one forward pass refers to; it lives as long as they do."""


def _kept(graph: _Graph, tensor: torch.Tensor) -> tuple[_Graph, torch.Tensor]:
    return graph, tensor.detach()  # the tensor may be the output, which holds the graph: a reference cycle


def _given(kept: tuple[_Graph, torch.Tensor]) -> torch.Tensor:
    return kept[1]


def _stage(config: GPTConfig, rank: int, ranks: int) -> torch.nn.Module:
    """This rank's part of the model, in float64; the rest is dropped."""
    model = GPT(config).double()
    return model.part(stage_layers(config.layers, ranks, rank), first=rank == 0, last=rank == ranks - 1)


def _microbatches(config: GPTConfig, count: int) -> Iterator[tuple[list[torch.Tensor], list[torch.Tensor]]]:
    """Inputs and targets of each step's micro-batches."""
    for inputs, targets in batches(None, count * SEQUENCES, config.context, seed=0):
        yield list(inputs.split(SEQUENCES)), list(targets.split(SEQUENCES))


def _cut(
    orders: list[list[str]], step: Step, config: GPTConfig
) -> tuple[float, dict[str, torch.Tensor], int, list[Diary]]:
    """This rank's part of the steps: its loss, its gradients, its peak number of graphs, and its diaries."""
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage, order = _stage(config, rank, ranks), orders[rank]
    inputs, targets = next(_microbatches(config, sum("F" in op for op in order)))
    shape = (SEQUENCES, config.context, config.hidden)
    diaries = []
    with counted_graphs(stage) as counts:
        for _ in range(STEPS):
            stage.zero_grad()
            diary = Diary()
            with _noted(stage, diary):
                loss = step(stage, order, inputs, targets, cross_entropy, shape)
            diaries.append(diary)
    gradients = {name: p.grad for name, p in stage.named_parameters() if p.grad is not None}
    return float(loss), gradients, max(counts), diaries


@contextmanager
def _noted(stage: torch.nn.Module, diary: Diary) -> Iterator[None]:
    """Record forward and backward passes in a diary."""

    def noted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            with diary.entry(name):
                return call(*args, **kwargs)

        return watched

    plain = stage.forward
    stage.forward = noted("forward", plain)
    with mock.patch.object(torch.autograd, "backward", noted("backward", torch.autograd.backward)):
        yield
    stage.forward = plain


def _train(orders: list[list[str]], steps: int, rate: float, step: Step) -> list[float]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    stage, order = _stage(CONFIG, rank, ranks), orders[rank]
    shape, losses = (SEQUENCES, CONFIG.context, CONFIG.hidden), []
    for _, (inputs, targets) in zip(range(steps), _microbatches(CONFIG, sum("F" in op for op in order)), strict=False):
        stage.zero_grad()
        losses.append(float(step(stage, order, inputs, targets, cross_entropy, shape)))
        with torch.no_grad():
            for parameter in stage.parameters():
                if parameter.grad is not None:
                    parameter.sub_(parameter.grad, alpha=rate)
    return losses


def _gather(run: world.World, orders: Sequence[Sequence[str]]) -> Piped:
    losses, gradients, peaks, diaries = zip(*run.values, strict=True)
    laps = with_diaries(laps_of(run.events, run.ranks), list(zip(*diaries, strict=True)))
    timelines = [Timeline(max(event.end for event in events), events) for events in laps[1:]]
    best = min(timelines, key=lambda line: line.seconds)
    everything = {name: gradient for part in gradients for name, gradient in part.items()}
    messages = sum(event.operation == "send" for event in best.events)
    return Piped(losses[-1], everything, peaks, messages, _times(best, orders), best)


def _times(timeline: Timeline, orders: Sequence[Sequence[str]]) -> dict[str, Span]:
    """A timeline's spans by operation, such as ``2F5``, where a rank's passes are as many as its order has."""
    spans: dict[tuple[int, str], list[Span]] = defaultdict(list)
    for event in timeline.events:
        spans[event.rank, event.operation].append((event.start, event.end))
    result: dict[str, Span] = {}
    for rank, order in enumerate(orders):
        for kind, name in (("F", "forward"), ("B", "backward")):
            ops = [op for op in order if kind in op]
            if len(ops) == len(spans[rank, name]):
                result.update(zip(ops, spans[rank, name], strict=True))
    return result
