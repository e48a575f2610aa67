"""Training on responses that another process writes at the same time: a rollout worker, a trainer, and a gate.

    run = together(reference(), max_staleness=1)
    run.seconds, run.staleness, run.judge()

One process writes responses, scores them with the judge of :mod:`rankzero.grammar.toy_language` and sends them; the
other learns from them as :mod:`experiments.ch14.lag_runs` does. The weights go back through slots in shared memory.
Nothing polls or sleeps for a fixed time: a process that waits is woken by the event it waits for.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist

from rankzero import world
from rankzero.grammar.toy_language import EOS, PROMPT
from rankzero.tiny import GPT
from rankzero.world import shared_weights
from rankzero.world.shared_weights import Address, SharedWeights
from solutions.ch13.rlhf import response_mask
from solutions.ch14.weight_slots import StalenessGate, WeightSlots

from ..ch12.toy_models import Rollout, copied, judged
from ..ch13.rlhf_steps import optimizer_of
from .lag_runs import DECOUPLED, STEPS, Recipe, flat, learn, load, mean, written


@dataclass(frozen=True)
class Job:
    """The settings that both processes receive.

    Attributes:
        model: the reference.
        max_staleness: batches that the worker may be ahead.
        steps: updates.
        recipe: how the trainer learns.
        seed: of prompts and responses.
        slots_class, gate_class: whose rules hold.
        learns, writes: what the two processes do: :func:`train`, :func:`roll_out` or others like them.
    """

    model: GPT
    max_staleness: int
    steps: int
    recipe: Recipe
    seed: int
    slots_class: Callable[[int], shared_weights.Rules]
    gate_class: Callable[[int, int, int], StalenessGate]
    learns: Callable[..., list[tuple]]
    writes: Callable[..., list[Any]]

    @property
    def batch(self) -> int:
        """Responses of an update."""
        return self.recipe.settings.responses


#: Name, start and end of a piece of work, seconds from the common start.
Span = tuple[str, float, float]


@dataclass(frozen=True)
class Trained:
    """One update.

    Attributes:
        version: of the trainer before it.
        behaviour: the version that wrote its batch.
        judge: mean verdict of the batch.
        share: effective sample size over the number of responses.
        end: seconds from the common start.
    """

    version: int
    behaviour: int
    judge: float
    share: float
    end: float

    @property
    def staleness(self) -> int:
        """Number of versions between writing a response and learning from it."""
        return self.version - self.behaviour


@dataclass(frozen=True)
class Together:
    """One run of two processes.

    Attributes:
        max_staleness: that the gate was set to.
        steps: the updates, in order.
        trainer, worker: what each did when; waiting is left out.
    """

    max_staleness: int
    steps: tuple[Trained, ...]
    trainer: tuple[Span, ...]
    worker: tuple[Span, ...]

    @property
    def seconds(self) -> float:
        """From the common start to the last update."""
        return self.steps[-1].end

    @property
    def staleness(self) -> float:
        """Its mean over the updates."""
        return mean([step.staleness for step in self.steps])

    def judge(self, steps: int = 10) -> float:
        """Its mean over the last updates."""
        return mean([step.judge for step in self.steps[-steps:]])

    def idle(self, who: str) -> float:
        """Seconds of the run in which "trainer" or "worker" waited."""
        spans = {"trainer": self.trainer, "worker": self.worker}[who]
        return self.seconds - math.fsum(min(end, self.seconds) - start for _, start, end in spans)


def together(
    model: GPT,
    max_staleness: int = 1,
    steps: int = STEPS,
    recipe: Recipe = DECOUPLED,
    seed: int = 0,
    slots_class: Callable[[int], shared_weights.Rules] = WeightSlots,
    gate_class: Callable[[int, int, int], StalenessGate] = StalenessGate,
    learns: Callable[..., list[tuple]] | None = None,
    writes: Callable[..., list[Any]] | None = None,
) -> Together:
    """Train a copy of ``model`` in one process on responses that another process writes with the weights it finds.

    Args:
        model: the reference.
        max_staleness: batches that the worker may be ahead; with 0 the two take turns.
        steps: updates, each with a batch of ``recipe.settings.responses``.
        recipe: how the trainer learns.
        seed: of prompts and responses.
        slots_class: the rules of the weights in shared memory; called with the number of slots.
        gate_class: the rule of admission; called with batch, bound and the most that may run.
        learns, writes: what the two processes do; None for :func:`train` and :func:`roll_out`.

    Raises:
        ValueError: an argument of gate or slots is out of range.
        WorldError: a process failed.
    """
    gate_class(recipe.settings.responses, max_staleness, recipe.settings.responses)
    sides = learns or train, writes or roll_out
    job = Job(model, max_staleness, steps, recipe, seed, slots_class, gate_class, *sides)
    with shared_weights.create(4 * flat(model).numel()) as address:
        trained, worked = world.run(_work, address, job, ranks=2, timeout=60 + 2 * steps).values
    return Together(max_staleness, tuple(Trained(*row) for row in trained[0]), tuple(trained[1]), tuple(worked[1]))


def _work(address: Address, job: Job) -> tuple[list[tuple], list[Span]]:
    """Rank 0 trains, rank 1 writes responses."""
    box, model = SharedWeights(address, dist.get_rank(), job.slots_class(address.slots)), copied(job.model)
    optimizer = optimizer_of(model, job.recipe.settings)  # slow the first time: torch imports many modules
    gate = job.gate_class(job.batch, job.max_staleness, job.batch)
    start = torch.tensor(time.monotonic(), dtype=torch.float64)
    dist.broadcast(start, 0)  # one zero of time: a rank may leave a barrier later than the other
    clock = Clock(start.item())
    if box.process == 0:
        return job.learns(box, model, optimizer, job, clock), clock.spans
    for message in job.writes(box, model, gate, job, clock):
        message.wait()
    return [], clock.spans


class Clock:
    """Seconds since ``start`` of the machine's own clock, and what was done when."""

    def __init__(self, start: float) -> None:
        self.start, self.spans = start, list[Span]()

    def now(self) -> float:
        """Seconds since the common start."""
        return time.monotonic() - self.start

    @contextlib.contextmanager
    def noting(self, name: str) -> Iterator[None]:
        """Note when the block began and ended."""
        began = self.now()
        yield
        self.spans.append((name, began, self.now()))


def train(box: SharedWeights, actor: GPT, optimizer: torch.optim.Optimizer, job: Job, clock: Clock) -> list[tuple]:
    """Learn from every batch that comes, and publish the weights; a row of :class:`Trained` for each update."""
    rows = []
    publish(box, 0, actor)
    for version in range(job.steps):
        behaviour, batch, rewards = receive(job.recipe)
        with clock.noting("train"):
            share = learn(actor, optimizer, batch, rewards, job.recipe)
        with clock.noting("publish"):
            publish(box, version + 1, actor)
        rows.append((version, behaviour, rewards.mean().item(), share, clock.now()))
    return rows


def roll_out(box: SharedWeights, model: GPT, gate: StalenessGate, job: Job, clock: Clock) -> list[Any]:
    """Write a batch whenever one may start, with the newest weights, and send it; the messages, on their way."""
    generator, sent = torch.Generator().manual_seed(job.seed), []
    for step in range(job.steps):
        admit(box, gate, job.batch)
        with clock.noting("load"), box.reading() as (memory, version):
            load(model, floats(memory))
        with clock.noting("generate"):
            batch = written(model, job.recipe.settings, job.seed, step, generator)
            sent += send(version, batch, judged(batch.tokens))
            for _ in range(job.batch):
                gate.accept()
    return sent


def publish(box: SharedWeights, version: int, model: GPT) -> None:
    """Put the model's weights into a free slot, under this version."""
    box.publish(version, lambda memory: floats(memory).copy_(flat(model)))


def admit(box: SharedWeights, gate: StalenessGate, batch: int) -> None:
    """Wait until a whole batch may start, and start it."""
    _follow(gate, box.newer(None))
    while gate.capacity() < batch:
        _follow(gate, box.newer(gate.version))
    for _ in range(batch):
        gate.submit()


def _follow(gate: StalenessGate, version: int) -> None:
    while gate.version < version:
        gate.advance()


def send(version: int, rollout: Rollout, rewards: torch.Tensor) -> list:
    """Messages to the trainer, on their way."""
    told = torch.cat([torch.tensor([version]), rollout.tokens.flatten()])
    return [dist.isend(told, 0), dist.isend(torch.cat([rewards, rollout.log_probs.flatten()]), 0)]


def receive(recipe: Recipe) -> tuple[int, Rollout, torch.Tensor]:
    """The next batch of the worker: version, responses, rewards."""
    count, length = recipe.settings.responses, recipe.settings.length
    told = torch.empty(1 + count * (PROMPT + length), dtype=torch.int64)
    numbers = torch.empty(count * (1 + length))
    dist.recv(told, 1)
    dist.recv(numbers, 1)
    tokens = told[1:].view(count, -1)
    rollout = Rollout(tokens, response_mask(tokens[:, PROMPT:], EOS), numbers[count:].view(count, -1))
    return int(told[0]), rollout, numbers[:count]


def floats(memory: memoryview) -> torch.Tensor:
    """A slot as float32, in place."""
    return torch.frombuffer(memory, dtype=torch.float32)
