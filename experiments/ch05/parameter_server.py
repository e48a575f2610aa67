"""Training without a barrier: one rank serves the weights; the others pull, compute, and push when they are ready.

    serve(updates=60).mean_staleness

A message is one tensor: a version, and weights or a gradient.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from rankzero import world

#: A linear regression: parameters, rows of one gradient, rows in all.
WIDTH, ROWS, DATA = 32, 16, 512


@dataclass(frozen=True)
class Served:
    """A run of a server and its workers.

    Attributes:
        staleness: of each update, in order: the server's version when the gradient arrived, minus the version of the
            weights that the gradient was computed with.
        workers: rank that sent each update (in synchronous runs, the last one of the round).
        losses: mean squared error over all rows after each update, and before the first.
        seconds: since the start, of each update.
        unused: staleness of the gradients still in flight after the last update, one from each worker.
    """

    staleness: tuple[int, ...]
    workers: tuple[int, ...]
    losses: tuple[float, ...]
    seconds: tuple[float, ...]
    unused: tuple[int, ...]

    @property
    def mean_staleness(self) -> float:
        """Other workers' updates between a pull and its push, of all pushes together, those that came too late
        included, for each update that was made.

        Without rounds, every update falls between a pull and a push of each other worker, so this is the number of
        other workers, whatever their speeds.
        """
        return (sum(self.staleness) + sum(self.unused)) / len(self.staleness)


def serve(
    updates: int = 60,
    work: Sequence[int] = (1, 2, 4),
    learning_rate: float = 0.05,
    synchronous: bool = False,
    size: int = 640,
) -> Served:
    """Run a server on rank 0 and one worker for each entry of ``work``.

    A worker pulls weights, computes a gradient from its own rows, does its extra matrix products (so a slow worker
    really is busy), and pushes. The server handles whichever push arrives first and answers with the newest weights.

    Args:
        updates: of the weights, in all.
        work: extra matrix products of each worker for one gradient.
        learning_rate: of each update. A synchronous update moves by the mean of one gradient of every worker.
        synchronous: wait for all workers, then update once and answer all of them.
        size: of the extra matrices.
    """
    run = world.run(_run, updates, tuple(work), learning_rate, synchronous, size, ranks=1 + len(work))
    rows, unused = run.values[0]
    staleness, workers, losses, seconds = zip(*rows, strict=True)
    return Served(staleness[1:], workers[1:], losses, seconds[1:], tuple(unused))


Row = tuple[int, int, float, float]  # staleness, worker, loss, seconds
Diary = tuple[list[Row], list[int]]  # the rows, and the staleness of unused gradients


def _run(updates: int, work: tuple[int, ...], rate: float, synchronous: bool, size: int) -> Diary:
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(DATA, WIDTH, generator=generator)
    y = x @ torch.randn(WIDTH, generator=generator) + 0.1 * torch.randn(DATA, generator=generator)
    if dist.get_rank() == 0:
        dist.barrier()  # all start together
        return (_serve_rounds if synchronous else _serve_at_once)(updates, len(work), rate, x, y)
    _work(work[dist.get_rank() - 1], size, x, y)
    return [], []


def _work(extra: int, size: int, x: torch.Tensor, y: torch.Tensor) -> None:
    """Pull, compute and push until the server says stop. A message is [version, weights or gradient]."""
    generator = torch.Generator().manual_seed(dist.get_rank())
    matrix = torch.randn(size, size)
    matrix @ matrix  # the first product is slower
    dist.barrier()
    told = torch.zeros(1 + WIDTH)
    dist.recv(told, 0)
    while told[0] >= 0:
        rows = torch.randint(DATA, (ROWS,), generator=generator)
        error = x[rows] @ told[1:] - y[rows]
        for _ in range(extra):
            matrix @ matrix
        dist.send(torch.cat([told[:1], 2 * error @ x[rows] / ROWS]), 0)
        dist.recv(told, 0)


class _Server:
    """Weights, their version, and the diary of updates."""

    def __init__(self, rate: float, x: torch.Tensor, y: torch.Tensor) -> None:
        self.weights, self.version, self.rate, self.data = torch.zeros(WIDTH), 0, rate, (x, y)
        self.start = time.monotonic()
        self.rows: list[Row] = []
        self.note(0, 0)

    def note(self, staleness: int, worker: int) -> None:
        x, y = self.data
        error = float((x @ self.weights - y).square().mean())
        self.rows.append((staleness, worker, error, time.monotonic() - self.start))

    def move(self, gradient: torch.Tensor, staleness: int, worker: int) -> None:
        self.weights = self.weights - self.rate * gradient
        self.version += 1
        self.note(staleness, worker)

    def tell(self, worker: int, stop: bool = False) -> None:
        """Answer with the version, -1 for the end, and the weights."""
        dist.send(torch.cat([torch.tensor([-1.0 if stop else float(self.version)]), self.weights]), worker)


def _serve_at_once(updates: int, workers: int, rate: float, x: torch.Tensor, y: torch.Tensor) -> Diary:
    """Apply each gradient as soon as it arrives, however old the weights it was computed with."""
    server, told = _Server(rate, x, y), torch.zeros(1 + WIDTH)
    for worker in range(1, workers + 1):
        server.tell(worker)
    for _ in range(updates):
        sender = int(dist.recv(told))
        server.move(told[1:], server.version - int(told[0]), sender)
        server.tell(sender)
    unused = []
    for _ in range(workers):  # gradients still in flight are not used
        server.tell(int(dist.recv(told)), stop=True)
        unused.append(server.version - int(told[0]))
    return server.rows, unused


def _serve_rounds(updates: int, workers: int, rate: float, x: torch.Tensor, y: torch.Tensor) -> Diary:
    """Wait for all workers, then update once with the mean of their gradients."""
    server, told = _Server(rate, x, y), torch.zeros(1 + WIDTH)
    for _ in range(updates):
        for worker in range(1, workers + 1):
            server.tell(worker)
        total, last = torch.zeros(WIDTH), 0
        for _ in range(workers):
            last = int(dist.recv(told))
            total += told[1:]
        server.move(total / workers, 0, last)
    for worker in range(1, workers + 1):
        server.tell(worker, stop=True)
    return server.rows, []
