"""The measured overhead of a tensor operation, and recorded programs (CUDA graphs) with their pitfalls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from rankzero.tiny.cpu_graph import CpuGraph, NotCapturable, best_device, graph_for

#: Bytes that an in-place addition moves per float32, which it reads and writes.
MOVED = 8


def op_seconds(elements: int, device: str = "cpu", chain: int = 200, repeats: int = 5) -> float:
    """Time of one in-place addition within a chain of them, on one thread; the best of a few chains."""
    x = torch.zeros(elements, device=device)
    chain = max(5, min(chain, 20_000_000 // max(elements, 1)))

    def work() -> None:
        for _ in range(chain):
            x.add_(1.0)

    return min(_timed(work, device) for _ in range(repeats)) / chain


def floor_and_bandwidth(times: dict[int, float]) -> tuple[float, float]:
    """Seconds of an operation that does almost no work, and the bandwidth of the largest one beyond that, bytes/s.

    Args:
        times: seconds of one operation, by the elements of its tensor; at least two sizes.
    """
    low, high = min(times), max(times)
    return times[low], MOVED * (high - low) / max(times[high] - times[low], 1e-12)


def small_layers(count: int = 100, width: int = 32) -> torch.nn.Module:
    """Many small layers: matrix product, bias, activation."""
    layers = [part for _ in range(count) for part in (torch.nn.Linear(width, width), torch.nn.Tanh())]
    return torch.nn.Sequential(*layers).eval()


@dataclass(frozen=True)
class Recorded:
    """A program run eagerly and as a graph: seconds of one run of each, and the largest difference of their outputs."""

    device: str
    operations: int | None
    eager: float
    replay: float
    difference: float


def eager_and_graph(device: str | None = None, batch: int = 32, runs: int = 20, layers: int = 100) -> Recorded:
    """Small layers, eager and replayed, on new inputs; on a GPU with a warm-up on a stream of its own."""
    device = device or best_device()
    model = small_layers(layers).to(device)
    x = torch.zeros(batch, 32, device=device)
    graph = graph_for(device)()
    y = graph.record(lambda: model(x))
    inputs = [torch.randn(batch, 32, generator=torch.Generator().manual_seed(seed)).to(device) for seed in range(3)]
    difference = 0.0
    with torch.no_grad():
        for new in inputs:
            x.copy_(new)
            graph.replay()
            difference = max(difference, (y - model(new)).abs().max().item())
        eager = _timed(lambda: [model(x) for _ in range(runs)], device) / runs
    replay = _timed(lambda: [graph.replay() for _ in range(runs)], device) / runs
    operations = len(graph.operations) if isinstance(graph, CpuGraph) else None
    return Recorded(device, operations, eager, replay, difference)


def _timed(work: Callable[[], Any], device: str) -> float:
    """Seconds of ``work`` on one thread; on a GPU, until all of it is done."""
    wait = torch.cuda.synchronize if device.startswith("cuda") else lambda: None
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        work()
        wait()
        start = time.perf_counter()
        work()
        wait()
        return time.perf_counter() - start
    finally:
        torch.set_num_threads(threads)


def medians(work: Sequence[Callable[[], Any]], repeats: int = 5) -> list[float]:
    """The median time of each of a few pieces of work, taken in turn, in seconds."""
    times: list[list[float]] = [[] for _ in work]
    for _ in range(repeats):
        for own, one in zip(times, work, strict=True):
            own.append(_timed(one, "cpu"))
    return [statistics.median(own) for own in times]


# What goes wrong


@dataclass(frozen=True)
class Pitfall:
    """A mistake with graphs: what was done, the result, and the intended result."""

    name: str
    got: str
    wanted: str


def _captured(program: Callable[[torch.Tensor], torch.Tensor], values: Sequence[float]) -> tuple[Any, ...]:
    x, graph = torch.tensor(values), CpuGraph()
    with graph.capture():
        y = program(x)
    return graph, x, y


def stale_input() -> Pitfall:
    """A replay without a copy: the name ``x`` now refers to another tensor, the buffer still holds the old values."""
    graph, x, y = _captured(lambda x: 2 * x + 1, [0.0, 0.0])
    x = torch.tensor([5.0, 7.0])
    graph.replay()
    return Pitfall("replay without a copy", str(y.tolist()), str((2 * x + 1).tolist()))


def rebound_output() -> Pitfall:
    """The output's name is bound to another tensor, but a replay writes to the old one."""
    graph, x, y = _captured(lambda x: 2 * x + 1, [0.0, 0.0])
    y = torch.zeros(2)
    x.copy_(torch.tensor([5.0, 7.0]))
    graph.replay()
    return Pitfall("a new tensor for the output", str(y.tolist()), str((2 * x + 1).tolist()))


def kept_view() -> Pitfall:
    """An answer that is not copied out: the next replay overwrites it."""
    graph, x, y = _captured(lambda x: 2 * x + 1, [0.0, 0.0])
    answers = []
    for value in (1.0, 2.0):
        x.fill_(value)
        graph.replay()
        answers.append(y)
    return Pitfall("an answer that is not copied out", str(answers[0].tolist()), "[3.0, 3.0]")


def frozen_branch() -> Pitfall:
    """A Python ``if`` runs once, during the capture."""
    host = [1.0, 1.0]
    graph, x, z = _captured(lambda x: 2 * x if sum(host) > 0 else -x, host)
    host[:] = [-1.0, -1.0]
    x.copy_(torch.tensor(host))
    graph.replay()
    return Pitfall("an `if` on the host's copy", str(z.tolist()), str((-x).tolist()))


def number_on_the_host() -> Pitfall:
    """``.item()`` and ``if`` on a tensor wait for the device, which is forbidden during a capture."""
    try:
        _captured(lambda x: x * x.sum().item(), [1.0, 2.0])
    except NotCapturable as error:
        return Pitfall("`.item()` in a capture", str(error), "an error")
    raise AssertionError("the capture should have failed")


def another_shape() -> Pitfall:
    """A graph has the shape that it was captured with."""
    _, x, _ = _captured(lambda x: 2 * x + 1, [0.0, 0.0])
    try:
        x.copy_(torch.zeros(3))
    except RuntimeError:
        return Pitfall("three rows into two", "an error at the copy", "an error")
    raise AssertionError("the copy should have failed")


def broadcast_shape() -> Pitfall:
    """One row into many: the copy broadcasts it, without any error."""
    graph, x, y = _captured(lambda x: 2 * x + 1, [0.0, 0.0, 0.0])
    x.copy_(torch.tensor([5.0]))
    graph.replay()
    return Pitfall("one row into three", str(y.tolist()), "one row, [11.0]")


def random_numbers() -> Pitfall:
    """Dropout is recorded with its generator: each replay draws new numbers."""
    graph, _, y = _captured(lambda x: torch.nn.functional.dropout(x, 0.5), [1.0] * 64)
    seen = set()
    for _ in range(4):
        graph.replay()
        seen.add(tuple(y.tolist()))
    return Pitfall("dropout, four replays", f"{len(seen)} different masks", "4 different masks")


def weight_moves(in_a_tensor: bool, rates: tuple[float, float]) -> tuple[float, float]:
    """How far a weight moves in a step captured at the first learning rate, and in its replay at the second."""
    weight, gradient, rate = torch.zeros(1), torch.ones(1), torch.tensor(rates[0])
    graph = CpuGraph()
    with graph.capture():
        weight -= (rate if in_a_tensor else rates[0]) * gradient
    first = -weight.item()
    rate.fill_(rates[1])
    graph.replay()
    return first, -weight.item() - first


#: The page's pitfalls in its order, including one that only looks like a mistake.
PITFALLS = (
    stale_input,
    rebound_output,
    kept_view,
    frozen_branch,
    number_on_the_host,
    another_shape,
    broadcast_shape,
    random_numbers,
)
