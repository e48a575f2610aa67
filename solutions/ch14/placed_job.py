"""GRPO with a 70B model on 64 H100s: who writes, how the training is cut, and on which road the weights travel.

Standard library only. Everything comes from formulas of the course: a step of the writers from this chapter's roofline,
time and memory of the training from chapter 7, the roads from this chapter, and the pools from ``simulate_async``.

>>> found = simulated(Plan(32, 1, PAIRS, SLICES))
>>> found.seconds < simulated(Plan(0, 0, PAIRS, SLICES)).seconds / 1.9
True
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from random import Random

from rankzero.facts.hardware import IB_NDR
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import LLAMA3_70B
from rankzero.facts.units import GB

from ..ch07.layout import layout_memory, step_time
from ..ch09.kv_cache import kv_bytes_per_token
from .rlhf_profile import Iteration, phase_seconds
from .rlhf_schedule import simulate_async
from .weight_sync import Box, chain_broadcast_time, reshard_plan, row_shards

#: GPUs of the job, and of a node, which holds one copy of the weights for writing.
GPUS, NODE = 64, 8
#: Answers that an update learns from; updates that fill the pools, and those after them, which are measured.
ANSWERS, FILLING, MEASURED = 512, 4, 4
#: The most batches that writing may be ahead.
FARTHEST = 16
#: Tokens of a prompt, of the longest answer, and of a micro-batch, into which prompts and answers are packed.
PROMPT, LONGEST, PACK = 500, 32_268, 32_768
#: The median length of an answer, tokens, and the deviation of its logarithm.
MEDIAN, SPREAD = 2500, 0.8
#: Tokens of a sequence whose attention a training step is charged with.
SEQUENCE = 4096
#: Bytes of a GPU that may be used, and of the weights in bf16.
USABLE, WEIGHTS = 72 * GB, 2.0 * LLAMA3_70B.parameters
#: A GPU's port to the network, bytes/s in one direction; bytes of a bucket.
PORT, BUCKET = IB_NDR.bandwidth, 1 * GB
#: Numbers of running answers that differ by a smaller share are equal.
SETTLED = 0.01

#: How training is cut: TP and the stage of ZeRO. Replicas take the other GPUs.
TRAININGS = ALONE, PAIRS, NODES = (1, 3), (2, 3), (8, 1)
#: How weights travel: rank 0 gathers all of them in its host's memory and then broadcasts them; each rank that has
#: a part broadcasts it; or every writer gets its own slice from the ranks that hold it.
ROADS = GATHER, WHOLE, SLICES = ("gather", "whole", "slices")


@functools.cache
def batches() -> tuple[tuple[int, ...], ...]:
    """Tokens of each answer, batch by batch, in the order in which they are begun; drawn once."""
    rng = Random(14)

    def drawn() -> int:
        return min(LONGEST, max(1, round(rng.lognormvariate(math.log(MEDIAN), SPREAD))))

    return tuple(tuple(drawn() for _ in range(ANSWERS)) for _ in range(FILLING + MEASURED + FARTHEST))


def measured() -> tuple[tuple[int, ...], ...]:
    """The batches that count."""
    return batches()[FILLING : FILLING + MEASURED]


@functools.cache
def tokens() -> float:
    """Tokens of the answers of a batch, on average."""
    return sum(map(sum, measured())) / MEASURED


@functools.cache
def behind() -> float:
    """Tokens of an answer that are there when one more is written, averaged over all tokens of all answers."""
    return sum(length**2 for lengths in measured() for length in lengths) / (2 * MEASURED * tokens())


# Writing.


def token_seconds(gpus: int, running: float, written: float) -> float:
    """Seconds of one token of each running answer, a copy on each node: a step of ``phase_seconds``.

    Args:
        gpus: that write, a multiple of :data:`NODE`.
        running: answers that are being written, on all copies together.
        written: tokens of an answer that are there, on average.
    """
    work = Iteration(max(1, round(running)), PROMPT, max(1, round(2 * written)))
    return phase_seconds(LLAMA3_70B, gpus, work, NODE)["generate"] / work.response


def cache_bytes(gpus: int, running: float, written: float) -> float:
    """Bytes of keys and values on one of the GPUs that write."""
    each = kv_bytes_per_token(LLAMA3_70B.layers, LLAMA3_70B.kv_heads, LLAMA3_70B.head_dim)
    return running * (PROMPT + written) * each / gpus


@functools.cache
def whole_batches(gpus: int) -> tuple[float, float]:
    """Seconds in which a batch is written if nothing else is begun, on average, and the most bytes of caches on a GPU.

    Between the ends of two answers the number of those that run is constant.
    """
    seconds = most = 0.0
    for lengths in measured():
        for ended, (start, end) in enumerate(itertools.pairwise([0, *sorted(lengths)])):
            running = len(lengths) - ended
            seconds += (end - start) * token_seconds(gpus, max(running, gpus / NODE), (start + end) / 2) / MEASURED
            most = max(most, cache_bytes(gpus, running, end))
    return seconds, most


# Training.


def trained(gpus: int, training: tuple[int, int]) -> tuple[Layout, Job]:
    """The layout of the training on these GPUs, and an update as a job of chapter 7.

    Every replica computes the same number of micro-batches, so some may be empty.
    """
    tp, zero = training
    replicas, each = gpus // tp, PACK // SEQUENCE
    packs = math.ceil((ANSWERS * PROMPT + tokens()) / PACK)
    job = Job(LLAMA3_70B, gpus, each * replicas * math.ceil(packs / replicas), SEQUENCE, micro_batch=each)
    return Layout(tp, 1, 1, replicas, zero=zero, recompute=True), job


# Moving weights.


def shards(gpus: int, training: tuple[int, int], shape: tuple[int, int]) -> list[Box]:
    """What each training GPU has of a matrix that is cut by rows."""
    tp, zero = training
    if zero == 3:
        pieces, replicas = row_shards(shape, gpus), gpus // tp
        return [pieces[rank % tp * replicas + rank // tp] for rank in range(gpus)]
    return row_shards(shape, tp) * (gpus // tp)


@functools.cache
def busiest(writers: int, training: tuple[int, int]) -> float:
    """The share of the weights that the busiest GPU sends or receives by ``reshard_plan``.

    Args:
        writers: GPUs that only write; 0 where all GPUs train and write.
        training: how training is cut.
    """
    trainers, nothing, shape = GPUS - writers, (0, 0, 0, 0), (960, 1)
    source = shards(trainers, training, shape) + [nothing] * writers
    copies = row_shards(shape, NODE) * ((writers or GPUS) // NODE)
    target = [nothing] * (trainers if writers else 0) + copies
    sent, got = [0] * GPUS, [0] * GPUS
    for move in reshard_plan(source, target):
        if move.source != move.destination:
            rows = move.box[1] - move.box[0]
            sent[move.source] += rows
            got[move.destination] += rows
    return max(*sent, *got) / shape[0]


def road_seconds(road: str, writers: int, training: tuple[int, int]) -> float:
    """Seconds until new weights are where answers are written, each GPU with one port."""
    if road == SLICES:
        return busiest(writers, training) * WEIGHTS / PORT
    broadcast = chain_broadcast_time(WEIGHTS, writers or GPUS - 1, PORT, chunks=math.ceil(WEIGHTS / BUCKET))
    return broadcast + (WEIGHTS / PORT if road == GATHER else 0.0)


# The whole job.


@dataclass(frozen=True)
class Plan:
    """The choices.

    Attributes:
        writers: GPUs that only write, a multiple of :data:`NODE`; 0: all GPUs write, then all train.
        bound: batches that writing may be ahead of training, at most :data:`FARTHEST`; 0 where all GPUs take turns.
        training: one of :data:`TRAININGS`.
        road: one of :data:`ROADS`.
    """

    writers: int
    bound: int
    training: tuple[int, int]
    road: str


@dataclass(frozen=True)
class Held:
    """Bytes of a GPU that writes and of one that trains. Where all take turns it is the same GPU.

    Attributes:
        copy: its slice of the weights for writing; where GPUs take turns also the states that stay beside it.
        caches: keys and values.
        states, activations: of the training.
    """

    copy: float
    caches: float
    states: float
    activations: float

    def lacking(self) -> str:
        """The largest part of a GPU that does not fit; empty where all fit."""
        if self.states + self.activations > USABLE:
            return "states" if self.states > self.activations else "activations"
        if self.copy + self.caches > USABLE:
            return "copy" if self.copy > self.caches else "caches"
        return ""


@dataclass(frozen=True)
class Update:
    """An update of a plan, on average over those that are measured.

    Attributes:
        seconds: from one to the next.
        staleness: versions that 99 of 100 answers are at most behind the weights that learn from them.
        token: seconds between two tokens of an answer.
        train, move: seconds of training, and until the new weights have travelled.
    """

    seconds: float
    staleness: int
    token: float
    train: float
    move: float


def held(plan: Plan) -> Held:
    """What a plan's GPUs have to hold; gradients are not there while GPUs that take turns write."""
    layout, job = trained(GPUS - plan.writers, plan.training)
    states, activations = layout_memory(layout, job)
    copy = WEIGHTS / NODE
    if plan.writers:
        return Held(copy, cache_bytes(plan.writers, ANSWERS, behind()), states, activations)
    gradients = WEIGHTS / (GPUS if layout.zero == 3 else layout.tp)
    return Held(copy + states - gradients, whole_batches(GPUS)[1], states, activations)


@functools.cache
def simulated(plan: Plan) -> Update:
    """What an update of a plan takes, whether it fits or not.

    A writer that may be ahead begins the next answer when one ends: ``simulate_async``. There all tokens take equally
    long: as long as the number of answers that run on average makes them. It is found again after each run.
    """
    layout, job = trained(GPUS - plan.writers, plan.training)
    train, move = step_time(layout, job), road_seconds(plan.road, plan.writers, plan.training)
    if plan.bound == 0:
        writing = whole_batches(plan.writers or GPUS)[0]
        return Update(writing + train + move, 0, writing * MEASURED / sum(map(max, measured())), train, move)
    lengths = [length for one in batches()[: FILLING + MEASURED + plan.bound] for length in one]
    running, before = enough(plan.writers, train + move), 0.0
    while abs(running - before) > SETTLED * running:
        before, token = running, token_seconds(plan.writers, running, behind())
        steps = simulate_async(lengths, ANSWERS, ANSWERS, token, train, move, plan.bound).steps
        seconds = (steps[FILLING + MEASURED - 1][1] - steps[FILLING - 1][1]) / MEASURED
        running = needed(token, seconds)
    ages = sorted(age for _, _, found in steps[FILLING : FILLING + MEASURED] for age in found)
    return Update(seconds, ages[math.ceil(0.99 * len(ages)) - 1], token, train, move)


def needed(token: float, seconds: float) -> float:
    """Answers that run, by Little's law, where tokens of so many seconds finish a batch every ``seconds``."""
    return min(float(ANSWERS), tokens() * token / seconds)


def enough(gpus: int, seconds: float) -> float:
    """Answers that have to run so that a batch is finished every ``seconds``; all slots if that is not enough."""
    before, running = 0.0, float(ANSWERS)
    while abs(running - before) >= 1:
        before, running = running, needed(token_seconds(gpus, running, behind()), seconds)
    return running
