# Generated from solutions/ch14/rlhf_schedule.py by make stubs. Write the bodies; names and signatures stay.
"""Where an RLHF job generates and where it trains, what is in memory in which phase, and how stale samples get.

Standard library only. Work is in GPU-seconds: what a phase would take on one GPU if it could be split at will. Two
things cannot be split. The longest response is a *tail* of so many seconds, however many GPUs there are. And the
weights are read for every token, however few sequences share them: a *floor* under the time of generation.

>>> best_placement(100, generate_work=6000, train_work=3500, tail=100, barrier=True)
Placement(kind='disaggregated', rollout_gpus=60, train_gpus=40, iteration_time=100.0)
>>> best_placement(100, generate_work=6000, train_work=3500, tail=100).rollout_gpus
63
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rankzero import checks


@dataclass(frozen=True)
class Placement:
    """Where the two halves of the job run.

    Attributes:
        kind: ``"colocated"``: all GPUs generate, then all train; ``"disaggregated"``: two pools work side by side.
        rollout_gpus: GPUs that generate.
        train_gpus: GPUs that train; colocated, the same ones.
        iteration_time: seconds of one iteration.
    """

    kind: str
    rollout_gpus: int
    train_gpus: int
    iteration_time: float


def best_placement(
    gpus: int,
    generate_work: float,
    train_work: float,
    tail: float = 0.0,
    train_bytes: float = 0.0,
    rollout_bytes: float = 0.0,
    rollout_tp: int = 1,
    gpu_memory: float = math.inf,
    reserve: float = 0.0,
    generate_floor: float = 0.0,
    barrier: bool = False,
) -> Placement | None:
    """The fastest placement that fits, colocated or in two pools.

    On g GPUs generation takes ``generate_floor + generate_work / g`` seconds.

    Colocated, all n GPUs generate, until the longest response is finished, then train: the longer of generation and
    ``tail``, plus ``train_work / n`` seconds. It needs n to be a multiple of ``rollout_tp``, and every GPU to hold its
    share of the training state, its slice of the rollout weights and the reserve.

    Disaggregated, g GPUs generate while n - g train: the longer of generation and ``train_work / (n - g)`` seconds,
    with g a multiple of ``rollout_tp`` and 0 < g < n. With a barrier, the next batch is begun when the longest response
    is finished: at least ``tail`` seconds. A training GPU holds its share of the training state and the reserve; a
    rollout GPU its slice of the rollout weights and the reserve.

    Args:
        gpus: n, of the job; at least 1.
        generate_work: of one iteration's rollout, what the GPUs share, GPU-seconds; not negative.
        train_work: of one iteration's training, GPU-seconds; not negative.
        tail: of the longest response, seconds; not negative.
        train_bytes: weights, gradients and optimizer states, sharded evenly over the GPUs that train; not negative.
        rollout_bytes: one copy of the rollout weights, split over ``rollout_tp`` GPUs; not negative.
        rollout_tp: GPUs that hold one copy of the rollout weights; at least 1.
        gpu_memory: bytes of one GPU; positive, may be infinite.
        reserve: bytes that every GPU keeps free for what else it holds; not negative.
        generate_floor: of one iteration's rollout, what more GPUs do not shorten, seconds; not negative.
        barrier: whether a rollout pool waits for all responses of a batch before it begins the next.

    Returns:
        The fastest; of equally fast ones the colocated, then the one with fewer rollout GPUs. None if nothing fits.

    Source: Sheng et al. (2024), arXiv:2409.19256, section 6 (the search for a placement).
    """
    checks.count(gpus=gpus, rollout_tp=rollout_tp)
    checks.amount(generate_work=generate_work, train_work=train_work, tail=tail, generate_floor=generate_floor)
    checks.amount(train_bytes=train_bytes, rollout_bytes=rollout_bytes, reserve=reserve)
    checks.require(gpu_memory > 0, "be > 0", gpu_memory=gpu_memory)
    raise NotImplementedError("14-best-placement: not written yet")


@dataclass(frozen=True)
class PhaseUse:
    """Memory in one phase, bytes.

    Attributes:
        name: of the phase.
        resident: all that is there.
        loaded: copied in since the phase before.
        evicted: copied out since the phase before.
    """

    name: str
    resident: float
    loaded: float
    evicted: float


def memory_timeline(
    phases: Sequence[tuple[str, Collection[str]]],
    sizes: Mapping[str, float],
    discardable: Collection[str] = frozenset(),
) -> list[PhaseUse]:
    """What is in memory in each phase of a cycle, and what had to be copied in and out before it.

    The phases repeat: before the first one comes the last. A tenant that the phase before did not hold is loaded, and
    one that only the phase before held is evicted. Discardable tenants (caches, activations, gradients, a copy that is
    rebuilt) count as resident; they are allocated and freed, but never copied.

    Args:
        phases: name and tenants of each, in their order; every tenant has a size.
        sizes: bytes by tenant; not negative.
        discardable: tenants that need no copy; those that no phase holds are ignored.

    Returns:
        One :class:`PhaseUse` for each phase.
    """
    checks.amount(sizes=sizes)
    for _, tenants in phases:
        checks.require(set(tenants) <= set(sizes), "have sizes", tenants=list(tenants))
    raise NotImplementedError("14-memory-timeline: not written yet")


@dataclass(frozen=True)
class Run:
    """What a simulated run did.

    Attributes:
        total: end of the last step, seconds; 0 without a step.
        steps: start, end and the staleness of each response of the batch, step by step, in the order of the batch.
        busy: slot-seconds of generation until ``total``, of every response, trained or not.
    """

    total: float
    steps: tuple[tuple[float, float, tuple[int, ...]], ...]
    busy: float


def simulate_async(
    lengths: Sequence[int],
    slots: int,
    batch: int,
    token_time: float,
    train_time: float,
    sync_time: float,
    max_staleness: int,
) -> Run:
    """Rollout slots and a trainer that work side by side, under a bound on how far production runs ahead.

    Responses start in order, as soon as a slot is free and fewer than ``(max_staleness + version + 1) * batch`` have
    started. A response keeps the version with which it started. Finished responses queue by the time at which they
    finish, ties by their order. An idle trainer takes the first ``batch`` of the queue. Its step lasts
    ``train_time + sync_time``, and then the version rises by one. Staleness is the version at the start of the step
    minus the response's own.

    At any instant, responses and steps that end come first, then the trainer, then what starts. A step that takes no
    time raises the version before anything starts. Responses left at the end that do not fill a batch are not trained
    on.

    Args:
        lengths: tokens of each response; at least 1.
        slots: responses that are generated at once; at least 1.
        batch: responses of one training step; at least 1.
        token_time: seconds of one token of one response; positive.
        train_time: seconds of one training step; not negative.
        sync_time: seconds in which the new weights reach the rollout, after each step; not negative.
        max_staleness: 0 makes the run synchronous; not negative.

    Source: Fu et al. (2025), arXiv:2505.24298, section 5.1.
    """
    checks.count(lengths=lengths, slots=slots, batch=batch)
    checks.count(0, max_staleness=max_staleness)
    checks.positive(token_time=token_time)
    checks.amount(train_time=train_time, sync_time=sync_time)
    raise NotImplementedError("14-simulate-async: not written yet")


def debug_scaled_gen(lengths: Sequence[int], slots: int, token_time: float, gpus: int) -> float:
    """Seconds until a pool of GPUs has written all responses, when work can be split at will but a response cannot.

    Args:
        lengths: tokens of each response; at least 1.
        slots: responses that one GPU writes at once; at least 1.
        token_time: seconds of one token of one response; positive.
        gpus: of the pool; at least 1.
    """
    checks.count(lengths=lengths, slots=slots, gpus=gpus)
    checks.positive(token_time=token_time)
    work = sum(lengths) * token_time / slots
    return max(work, max(lengths, default=0) * token_time)
