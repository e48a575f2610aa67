"""One training run over three roads: weights go from trainer to worker by disk, broadcast or shared memory.

    run = in_turns(reference(), "broadcast")
    run.exchanges[0].bytes, run.exchanges[0].seconds

The two processes take turns, so the road affects only the time: responses and weights are bitwise identical.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
import torch.distributed as dist

from rankzero import checks, world
from rankzero.tiny import GPT
from rankzero.world import shared_weights
from rankzero.world.shared_weights import Address, SharedWeights
from solutions.ch14.weight_push import push_weights
from solutions.ch14.weight_slots import WeightSlots

from ..ch12.toy_models import copied, judged
from ..ch13.rlhf_steps import optimizer_of
from .async_runs import floats, receive, send
from .lag_runs import DECOUPLED, Recipe, flat, learn, load, written

#: Bytes of a bucket of the broadcast.
BUCKET = 1 << 16


class Road(Protocol):
    """How weights go from rank 0 to rank 1; both know the version."""

    def give(self, model: GPT, version: int) -> None: ...
    def take(self, model: GPT, version: int) -> int:
        """Load them in place; returns the bytes that were read."""
        ...


class Disk:
    """A file for each version; a message announces it once it has reached the disk."""

    def __init__(self, address: Address, folder: Path) -> None:
        self.folder = folder

    def give(self, model: GPT, version: int) -> None:
        with (self.folder / f"{version}.pt").open("wb") as file:
            torch.save(model.state_dict(), file)
            file.flush()
            os.fsync(file.fileno())
        dist.send(torch.tensor([version]), 1)

    def take(self, model: GPT, version: int) -> int:
        dist.recv(torch.empty(1, dtype=torch.int64), 0)
        path = self.folder / f"{version}.pt"
        model.load_state_dict(torch.load(path))
        return path.stat().st_size


class Broadcast:
    """Buckets, as :func:`push_weights` sends them."""

    def __init__(self, address: Address, folder: Path) -> None:
        self.group: Any = dist.group.WORLD

    def give(self, model: GPT, version: int) -> None:
        push_weights(model.state_dict(), 0, self.group, BUCKET)

    def take(self, model: GPT, version: int) -> int:
        push_weights(model.state_dict(), 0, self.group, BUCKET)
        return sum(tensor.nbytes for tensor in model.state_dict().values())


class Shared:
    """Slots of one file in shared memory."""

    def __init__(self, address: Address, folder: Path) -> None:
        self.box = SharedWeights(address, dist.get_rank(), WeightSlots(address.slots))

    def give(self, model: GPT, version: int) -> None:
        self.box.publish(version, lambda memory: floats(memory).copy_(flat(model)))

    def take(self, model: GPT, version: int) -> int:
        while self.box.newer(version - 1 if version else None) != version:
            continue
        with self.box.reading() as (memory, _):
            load(model, floats(memory))
            return memory.nbytes


ROADS: Mapping[str, type[Disk] | type[Broadcast] | type[Shared]] = {
    "disk": Disk,
    "broadcast": Broadcast,
    "shared": Shared,
}


@dataclass(frozen=True)
class Exchange:
    """One transfer of the weights.

    Attributes:
        bytes: that the worker read.
        seconds: from the trainer's start until the worker has them in its model.
    """

    bytes: int
    seconds: float


@dataclass(frozen=True)
class Turns:
    """One run.

    Attributes:
        road: its name.
        judges: mean verdict of each batch.
        exchanges: one before each batch.
        broadcast_bytes: that the event log saw the worker receive by broadcast.
    """

    road: str
    judges: tuple[float, ...]
    exchanges: tuple[Exchange, ...]
    broadcast_bytes: int

    @property
    def seconds(self) -> float:
        """Median of an exchange."""
        return statistics.median(exchange.seconds for exchange in self.exchanges)


def in_turns(model: GPT, road: str, steps: int = 8, recipe: Recipe = DECOUPLED, seed: int = 0) -> Turns:
    """Train a copy of ``model`` in one process on responses that another process writes with the newest weights.

    Args:
        model: the reference.
        road: one of ``ROADS``.
        steps: updates.
        recipe: how the trainer learns.
        seed: of prompts and responses.

    Raises:
        WorldError: a process failed.
    """
    checks.one_of(ROADS, road=road)
    with shared_weights.create(4 * flat(model).numel()) as address, tempfile.TemporaryDirectory() as folder:
        places = address, Path(folder)
        done = world.run(_work, places, road, model, steps, recipe, seed, ranks=2, timeout=60 + 2 * steps)
    (judges, begun), (sizes, ended) = done.values
    exchanges = tuple(Exchange(size, end - start) for size, start, end in zip(sizes, begun, ended, strict=True))
    entry = done.ledger().get((1, "broadcast"))
    return Turns(road, tuple(judges), exchanges, entry.received if entry else 0)


def _work(
    places: tuple[Address, Path], road: str, model: GPT, steps: int, recipe: Recipe, seed: int
) -> tuple[list, list]:
    way, own = ROADS[road](*places), copied(model)
    return _train(way, own, steps, recipe) if dist.get_rank() == 0 else _roll_out(way, own, steps, recipe, seed)


def _train(way: Road, model: GPT, steps: int, recipe: Recipe) -> tuple[list[float], list[float]]:
    """Verdicts, and when the trainer began to give each version."""
    optimizer, judges, begun = optimizer_of(model, recipe.settings), [], []
    for version in range(steps):
        begun.append(time.monotonic())
        way.give(model, version)
        _, rollout, rewards = receive(recipe)
        learn(model, optimizer, rollout, rewards, recipe)
        judges.append(rewards.mean().item())
    return judges, begun


def _roll_out(way: Road, model: GPT, steps: int, recipe: Recipe, seed: int) -> tuple[list[int], list[float]]:
    """Bytes of each version, and when the worker had it."""
    generator, sizes, ended = torch.Generator().manual_seed(seed), [], []
    for version in range(steps):
        sizes.append(way.take(model, version))
        ended.append(time.monotonic())
        rollout = written(model, recipe.settings, seed, version, generator)
        for message in send(version, rollout, judged(rollout.tokens)):
            message.wait()
    return sizes, ended
