"""A training job that runs for so long that it will be killed, and a disk for its checkpoints.

See ``solutions/ch15/survivor.py``, which saves and resumes it.

>>> sampler = Sampler(4)
>>> sampler.take(3), sampler.take(3)
([0, 1, 2], [3, 0, 1])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
import torch.distributed as dist
from torch.nn import functional

from rankzero.tiny.layers import GPTConfig
from rankzero.tiny.model import GPT

#: Rows of one rank in one step.
SHARE = 2
#: Moments of a step: it begins, or its gradients are there and the weights have not moved yet.
Moment = Literal["begin", "middle"]


class Sampler:
    """Indices of rows, in order or in random orders, drawn anew whenever all rows have been used.

    Args:
        rows: how many there are; at least 1.
        seed: of the random orders; None goes through the rows from first to last, again and again.
    """

    def __init__(self, rows: int, seed: int | None = None) -> None:
        self.rows, self.shuffled, self.order = rows, seed is not None, torch.empty(0, dtype=torch.int64)
        self.generator = torch.Generator().manual_seed(seed or 0)

    def take(self, count: int) -> list[int]:
        """The next ``count`` rows."""
        while len(self.order) < count:
            more = torch.randperm(self.rows, generator=self.generator) if self.shuffled else torch.arange(self.rows)
            self.order = torch.cat([self.order, more])
        taken, self.order = self.order[:count], self.order[count:]
        return taken.tolist()  # type: ignore[no-any-return]

    def state_dict(self) -> dict[str, torch.Tensor]:
        """What is left of the order, and the state of the generator that draws the next one."""
        return {"order": self.order.clone(), "generator": self.generator.get_state()}

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        """Continue where another sampler stopped."""
        self.order = state["order"].clone()
        self.generator.set_state(state["generator"])


@dataclass
class LongJob:
    """What one rank of a data-parallel run is handed: everything is as it is before the first step.

    Attributes:
        model: with its starting weights, in float64, the same on every rank.
        optimizer: of all parameters of the model.
        sampler: which rows come next; the same on every rank.
        rows: sequences of tokens that the sampler chooses from, int64 [rows, tokens + 1].
        steps: of the whole run.
        every: steps between two checkpoints; the last step is followed by one, too.
        keep: most whole checkpoints that may be on a disk between two steps.
        blotted: share of the input tokens that each rank blots out at random, with torch's own generator.
        rank: of this process.
        ranks: in the run.
        at: called with each moment of a step.
        done: steps that have been made.
    """

    model: GPT
    optimizer: torch.optim.Optimizer
    sampler: Sampler
    rows: torch.Tensor
    steps: int
    every: int
    keep: int
    blotted: float
    rank: int
    ranks: int
    at: Callable[[Moment], object] = field(default=lambda moment: None)
    done: int = 0

    def step(self) -> None:
        """One step of data parallelism: every rank has to make it, and ``done`` grows by one."""
        self.at("begin")
        self.backward()
        self.at("middle")
        if self.ranks > 1:
            flat = self.gradients()
            dist.all_reduce(flat)
            self.spread(flat / self.ranks)
        self.update()

    def backward(self) -> None:
        """The gradients of this rank's own rows."""
        mine = self.rows[self.sampler.take(SHARE * self.ranks)[self.rank :: self.ranks]]
        inputs, targets = mine[:, :-1], mine[:, 1:]
        if self.blotted:
            inputs = inputs.masked_fill(torch.rand(inputs.shape) < self.blotted, 0)
        self.optimizer.zero_grad()
        functional.cross_entropy(self.model(inputs).flatten(0, 1), targets.flatten()).backward()  # type: ignore[no-untyped-call]

    def gradients(self) -> torch.Tensor:
        """All gradients, one after the other [parameters]."""
        return torch.cat([weight.grad.flatten() for weight in self.model.parameters() if weight.grad is not None])

    def spread(self, flat: torch.Tensor) -> None:
        """Put these numbers in place of all gradients."""
        sizes = [weight.numel() for weight in self.model.parameters()]
        for weight, part in zip(self.model.parameters(), flat.split(sizes), strict=True):
            weight.grad = part.view_as(weight).clone()

    def update(self) -> None:
        """Move the weights."""
        self.optimizer.step()
        self.done += 1


def started(
    settings: Mapping[str, Any],
    rows: torch.Tensor,
    rank: int = 0,
    ranks: int = 1,
    at: Callable[[Moment], object] = lambda moment: None,
) -> LongJob:
    """A job before its first step, from plain data; torch's generator is seeded, as in every new process of the job.

    Args:
        settings: ``shape`` of the model, as :class:`GPTConfig` takes it, ``seed``, ``optimizer`` (``"SGD"`` without
            momentum or ``"AdamW"``), ``shuffled`` (whether rows come in random orders), and ``steps``, ``every``,
            ``keep`` and ``blotted`` of :class:`LongJob`.
        rows: as in :class:`LongJob`.
        rank: of this process.
        ranks: in the run.
        at: as in :class:`LongJob`.
    """
    seed = settings["seed"]
    model = GPT(GPTConfig(**settings["shape"]), seed).double()
    if settings["optimizer"] == "SGD":
        optimizer: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    torch.manual_seed(seed + rank)
    sampler = Sampler(len(rows), seed if settings["shuffled"] else None)
    counts = settings["steps"], settings["every"], settings["keep"]
    return LongJob(model, optimizer, sampler, rows, *counts, settings["blotted"], rank, ranks, at)


class FolderDisk:
    """A disk for the checkpoints of one rank: the files of a folder, with the operations that the grader's disk has.

    Args:
        path: the folder; it is made if it does not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.mkdir(parents=True, exist_ok=True)

    def names(self) -> list[str]:
        """The names of all files, sorted."""
        return sorted(file.name for file in self.path.iterdir())

    def read(self, name: str) -> bytes:
        """What is in a file."""
        return (self.path / name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        """Put ``data`` into a file, in place of what is there; whoever is killed meanwhile leaves a part of it."""
        (self.path / name).write_bytes(data)

    def sync(self, name: str) -> None:
        """Return when what was written to a file is on the disk for good, even if the machine crashes."""
        descriptor = os.open(self.path / name, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, name: str, to: str) -> None:
        """Give a file another name, in place of the file that has it: as a whole or not at all, and for good."""
        os.replace(self.path / name, self.path / to)
        self.sync(".")

    def remove(self, name: str) -> None:
        """Delete a file."""
        (self.path / name).unlink()
