"""Training on responses that another process writes at the same time: a rollout worker, a trainer, and a gate.

    run = together(reference(), max_staleness=1)
    run.seconds, run.staleness, run.judge()

One process writes responses, scores them with the judge of :mod:`rankzero.grammar.toy_language` and sends them; the
other learns from them as :mod:`experiments.ch14.lag_runs` does. The weights go back through slots in shared memory.
Nothing polls or sleeps for a fixed time: a process that waits is woken by the event it waits for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

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
    """

    model: GPT
    max_staleness: int
    steps: int
    recipe: Recipe
    seed: int
    slots_class: Callable[[int], shared_weights.Rules]
    gate_class: Callable[[int, int, int], StalenessGate]


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

    Raises:
        ValueError: an argument of gate or slots is out of range.
        WorldError: a process failed.
    """
    gate_class(recipe.settings.responses, max_staleness, recipe.settings.responses)
    job = Job(model, max_staleness, steps, recipe, seed, slots_class, gate_class)
    with shared_weights.create(4 * flat(model).numel()) as address:
        trained, worked = world.run(_work, address, job, ranks=2, timeout=60 + 2 * steps).values
    return Together(max_staleness, tuple(Trained(*row) for row in trained[0]), tuple(trained[1]), tuple(worked))


def _work(address: Address, job: Job) -> object:
    """Rank 0 trains, rank 1 writes responses."""
    box, model = SharedWeights(address, dist.get_rank(), job.slots_class(address.slots)), copied(job.model)
    optimizer = optimizer_of(model, job.recipe.settings)  # slow the first time: torch imports many modules
    start = torch.tensor(time.monotonic(), dtype=torch.float64)
    dist.broadcast(start, 0)  # one zero of time: a rank may leave a barrier later than the other
    clock = Clock(start.item())
    return _train(box, job, model, optimizer, clock) if box.process == 0 else _roll_out(box, job, model, clock)


class Clock:
    """Seconds since ``start`` of the machine's own clock, and what was done when."""

    def __init__(self, start: float) -> None:
        self.start, self.spans = start, list[Span]()

    def now(self) -> float:
        return time.monotonic() - self.start

    def note(self, name: str, since: float) -> float:
        """Something that began at ``since`` ends now."""
        self.spans.append((name, since, self.now()))
        return self.now()


def _train(
    box: SharedWeights, job: Job, actor: GPT, optimizer: torch.optim.Optimizer, clock: Clock
) -> tuple[list[tuple], list[Span]]:
    rows = []
    box.publish(0, lambda memory: floats(memory).copy_(flat(actor)))
    for version in range(job.steps):
        behaviour, rollout, rewards = receive(job.recipe)
        began = clock.now()
        share = learn(actor, optimizer, rollout, rewards, job.recipe)
        done = clock.note("train", began)
        box.publish(version + 1, lambda memory: floats(memory).copy_(flat(actor)))
        rows.append((version, behaviour, rewards.mean().item(), share, clock.note("publish", done)))
    return rows, clock.spans


def _roll_out(box: SharedWeights, job: Job, model: GPT, clock: Clock) -> list[Span]:
    batch = job.recipe.settings.responses
    gate = job.gate_class(batch, job.max_staleness, batch)
    generator, sent = torch.Generator().manual_seed(job.seed), []
    for step in range(job.steps):
        _admit(box, gate, batch)
        began = clock.now()
        with box.reading() as (memory, version):
            load(model, floats(memory))
        done = clock.note("load", began)
        rollout = written(model, job.recipe.settings, job.seed, step, generator)
        sent += send(version, rollout, judged(rollout.tokens))
        for _ in range(batch):
            gate.accept()
        clock.note("generate", done)
    for message in sent:
        message.wait()
    return clock.spans


def _admit(box: SharedWeights, gate: StalenessGate, batch: int) -> None:
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
