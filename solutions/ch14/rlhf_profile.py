"""An RLHF iteration on paper: seconds of its phases from rooflines, three kinds of iteration, what each phase holds.

Standard library only. N is the number of parameters; all models of a job have as many.

>>> round(synchronous_time(100, 6000, 3500, tail=100))
135
>>> asynchronous_time(100, 6000, 3500, tail=100, rollout_gpus=60, barrier=True)
100.0
>>> round(asynchronous_time(100, 6000, 3500, rollout_gpus=63), 1)
95.2
"""

from __future__ import annotations

import bisect
import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rankzero.facts.hardware import H100_SXM, Gpu
from rankzero.facts.models import Model

from ..ch09.kv_cache import kv_bytes_per_token
from ..ch13.rlhf_memory import role_bytes
from .rlhf_schedule import simulate_async

#: What is allocated or rebuilt, never copied.
DISCARDABLE = frozenset({"rollout", "kv", "gradients", "activations"})

#: What leaves the GPU where a phase does not use it, from nothing to all.
OFFLOADS = ("nothing", "what is rebuilt", "and optimizers", "and frozen models", "all that is not used")


@dataclass(frozen=True)
class Iteration:
    """One iteration of a job.

    Attributes:
        responses: of a batch.
        prompt: tokens of each prompt.
        response: tokens of each response.
        epochs: passes of the training over the batch.
        critic: actor and an equal critic learn, and a reward model scores (PPO); else the actor alone (GRPO, with a
            rule as the judge).
    """

    responses: int = 512
    prompt: int = 100
    response: int = 1024
    epochs: int = 1
    critic: bool = True

    @property
    def tokens(self) -> int:
        """Prompt and response tokens of a batch."""
        return self.responses * (self.prompt + self.response)


def phase_flops(parameters: float, work: Iteration) -> dict[str, float]:
    """FLOPs of each phase: 2N for each token that a model evaluates, 6N for each token that it learns from.

    The old log-probabilities come from the rollout. The attention's own products, a few percent, are left out.

    Args:
        parameters: N.
        work: the iteration.
    """
    forwards, learners = (3, 2) if work.critic else (1, 1)
    return {
        "prefill": 2 * parameters * work.responses * work.prompt,
        "generate": 2 * parameters * work.responses * work.response,
        "score": 2 * parameters * work.tokens * forwards,
        "train": 6 * parameters * work.tokens * learners * work.epochs,
    }


def flops_per_response_token(work: Iteration) -> float:
    """FLOPs of a whole iteration for each response token, in units of N, where prompts are short."""
    short = Iteration(1, 0, 1, work.epochs, work.critic)
    return sum(phase_flops(1.0, short).values())


def phase_seconds(
    model: Model, gpus: int, work: Iteration, rollout_tp: int = 8, mfu: float = 0.4, gpu: Gpu = H100_SXM
) -> dict[str, float]:
    """Seconds of each phase; all GPUs work on one phase after the other.

    Prefill, scoring and training are compute-bound: FLOPs over ``gpus * peak * mfu``. Generation is decoding: a step
    reads the keys and values of its sequences, and multiplies while it reads a copy's weights, of which the longer
    counts. The batch is shared evenly by ``gpus / rollout_tp`` copies, and every response has the same length.

    Args:
        model: the shape of actor, reference, reward model and critic, in bf16.
        gpus: of the job.
        work: the iteration.
        rollout_tp: GPUs that hold one copy of the rollout weights.
        mfu: share of the peak that large products reach, 0 to 1.
        gpu: the kind of GPU.

    Returns:
        Seconds of ``prefill``, ``generate``, ``score`` and ``train``.

    Raises:
        ValueError: ``gpus`` is not a multiple of ``rollout_tp``.
    """
    if rollout_tp < 1 or gpus < 1 or gpus % rollout_tp:
        raise ValueError(f"gpus must be a multiple of rollout_tp = {rollout_tp}, got {gpus}")
    seconds = {
        name: flops / (gpus * gpu.peak_bf16 * mfu) for name, flops in phase_flops(model.parameters, work).items()
    }
    sequences = work.responses * rollout_tp / gpus
    mean_context = work.prompt + work.response / 2
    kv = kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim) * sequences * mean_context
    caches = kv / (rollout_tp * gpu.memory_bandwidth)
    weights = 2 * model.parameters / (rollout_tp * gpu.memory_bandwidth)
    multiplying = 2 * model.parameters * sequences / (rollout_tp * gpu.peak_bf16)
    return seconds | {"generate": work.response * (caches + max(weights, multiplying))}


def generation(model: Model, work: Iteration, rollout_tp: int = 8, gpu: Gpu = H100_SXM) -> tuple[float, float]:
    """The two parts of decoding that :func:`phase_seconds` adds up while the weights take longer to read than to use.

    On g GPUs it takes ``floor + work / g`` seconds. Every token of a response waits until the copy's weights have been
    read, on however many GPUs; the reading of keys and values is divided among the copies.

    Returns:
        The floor, seconds, and the work, GPU-seconds.
    """
    floor = work.response * 2 * model.parameters / (rollout_tp * gpu.memory_bandwidth)
    kv = kv_bytes_per_token(model.layers, model.kv_heads, model.head_dim) * (work.prompt + work.response / 2)
    return floor, work.response * work.responses * kv / gpu.memory_bandwidth


def synchronous_time(
    gpus: int, generate_work: float, train_work: float, tail: float = 0.0, generate_floor: float = 0.0
) -> float:
    """Seconds of an iteration in which all GPUs generate, then all train.

    Args:
        gpus: of the job; at least 1.
        generate_work: what the GPUs share, GPU-seconds.
        train_work: GPU-seconds.
        tail: of the longest response, seconds: nobody trains before it is finished.
        generate_floor: seconds of generation that more GPUs do not shorten, because weights are read for every token.
    """
    return max(generate_floor + generate_work / gpus, tail) + train_work / gpus


def asynchronous_time(
    gpus: int,
    generate_work: float,
    train_work: float,
    tail: float = 0.0,
    rollout_gpus: int | None = None,
    barrier: bool = False,
    generate_floor: float = 0.0,
) -> float:
    """Seconds from one update to the next when two pools work side by side.

    With a barrier the rollout pool is one batch ahead, and begins the next one when the batch is finished: an iteration
    is never shorter than the longest response. Without it, a slot whose response has ended begins the next response at
    once. Then the longest response delays no update: it is trained on later, ``tail`` divided by the time of an update
    in versions, and the time does not depend on it.

    Args:
        gpus: of both pools; at least 2.
        generate_work: what the rollout pool shares, GPU-seconds.
        train_work: GPU-seconds.
        tail: of the longest response, seconds.
        rollout_gpus: of the pool that generates, 0 < g < gpus; None takes the best.
        barrier: whether the pool waits for all responses of a batch.
        generate_floor: seconds of generation that more GPUs do not shorten.
    """
    wait = tail if barrier else 0.0
    choices = range(1, gpus) if rollout_gpus is None else (rollout_gpus,)
    return float(min(max(generate_floor + generate_work / g, wait, train_work / (gpus - g)) for g in choices))


def tenants(
    parameters: float,
    gpus: int,
    rollout_tp: int = 8,
    kv: float = 40e9,
    activations: float = 12e9,
    algorithm: str = "ppo",
) -> dict[str, float]:
    """Bytes on one GPU by tenant: states are sharded over all GPUs, the rollout copy over ``rollout_tp``.

    Args:
        parameters: N of each model.
        gpus: of the job.
        rollout_tp: GPUs that hold one copy of the rollout weights.
        kv: bytes of the cache on one GPU.
        activations: bytes of a training step on one GPU.
        algorithm: ``"ppo"``, or ``"grpo"``, which has no critic.
    """
    learns, frozen = role_bytes(parameters, trained=True), role_bytes(parameters, trained=False)
    trained = ("actor", "critic") if algorithm == "ppo" else ("actor",)
    sizes = {f"{name}_weights": learns["weights"] / gpus for name in trained}
    sizes |= {"reference": frozen["weights"] / gpus, "reward": frozen["weights"] / gpus}
    sizes |= {f"{name}_optimizer": learns["optimizer"] / gpus for name in trained}
    sizes |= {"gradients": len(trained) * learns["gradients"] / gpus}
    return sizes | {"rollout": frozen["weights"] / rollout_tp, "kv": kv, "activations": activations}


def cycle(sizes: Mapping[str, float], offload: str = "and frozen models") -> list[tuple[str, set[str]]]:
    """The phases of an iteration and what each holds in memory.

    Args:
        sizes: bytes by tenant; its names alone matter.
        offload: one of :data:`OFFLOADS`: what leaves where it is not used. Each includes those before it.

    Raises:
        ValueError: an unknown ``offload``.
    """
    if offload not in OFFLOADS:
        raise ValueError(f"offload must be one of {', '.join(OFFLOADS)}, got {offload!r}")
    step = OFFLOADS.index(offload)
    weights = {name for name in sizes if name.endswith("_weights")}
    optimizers = {name for name in sizes if name.endswith("_optimizer")}
    frozen = {"reference", "reward"}
    uses = {
        "generate": {"rollout", "kv"},
        "score": weights | frozen,
        "train": weights | optimizers | {"gradients", "activations"},
    }
    stays = (set(sizes), weights | frozen | optimizers, weights | frozen, weights, set[str]())[step]
    if offload == "and frozen models":
        stays_in = {"generate": stays | frozen, "score": stays | frozen, "train": stays}
        return [(name, used | stays_in[name]) for name, used in uses.items()]
    return [(name, used | stays) for name, used in uses.items()]


# Who works when.

#: Name, start and end of a piece of work, seconds.
Spans = list[tuple[str, float, float]]

#: Where the two halves of a job run, and whether they take turns.
WHERE, WHEN = ("colocated", "disaggregated", "hybrid"), ("synchronous", "asynchronous")


@dataclass(frozen=True)
class Response:
    """A response in a simulated run: in which slot, from when to when, seconds, and the version that wrote it."""

    slot: int
    start: float
    end: float
    version: int


def response_spans(
    lengths: Sequence[int],
    slots: int,
    batch: int,
    token_time: float,
    max_staleness: int,
    steps: Sequence[tuple[float, float, tuple[int, ...]]],
) -> list[Response]:
    """When each response of a run of ``simulate_async`` was written, found from the ends of its steps.

    Response i may start once ``i < (max_staleness + version + 1) * batch``, hence with version
    ``ceil((i + 1) / batch) - 1 - max_staleness``, and when a slot is free.

    Args:
        lengths, slots, batch, token_time, max_staleness: as the run was given.
        steps: of the run.
    """
    ends = [end for _, end, _ in steps]
    free = [(0.0, slot) for slot in range(slots)]
    found = []
    for index, length in enumerate(lengths):
        needed = max(0, math.ceil((index + 1) / batch) - 1 - max_staleness)
        ready, slot = heapq.heappop(free)
        start = max(ready, ends[needed - 1] if needed else 0.0)
        end = start + length * token_time
        found.append(Response(slot, start, end, bisect.bisect_right(ends, start)))
        heapq.heappush(free, (end, slot))
    return found


def sketch(
    where: str, when: str, generate: float = 6.0, train: float = 4.0, move: float = 0.5
) -> dict[str, Spans] | None:
    """Three iterations of a job as rows of a chart; None for an asynchronous job whose halves share their GPUs.

    ``simulate_async`` runs them, with one response to a batch. The GPUs are two equal halves; where both work on each
    phase, it takes half as long. A hybrid moves weights from one layout to another within its GPUs, and two pools send
    them; a colocated job with one layout for both has nothing to move.

    Args:
        where: one of :data:`WHERE`.
        when: one of :data:`WHEN`.
        generate: work of generation, in seconds of one half.
        train: the same of training.
        move: seconds that moving the weights takes.
    """
    apart = where == "disaggregated"
    if when == "asynchronous" and not apart:
        return None
    share, move = (1, move) if apart else (2, 0.0 if where == "colocated" else move)
    bound = 0 if when == "synchronous" else 1
    run = simulate_async([1] * 3, 1, 1, generate / share, train / share, move, bound)
    written = response_spans([1] * 3, 1, 1, generate / share, bound, run.steps)
    rollout: Spans = [("generate", one.start, one.end) for one in written]
    trainer: Spans = []
    for start, end, _ in run.steps:
        trainer += [("train", start, end - move), *([("move weights", end - move, end)] if move else [])]
    return {"rollout": rollout, "trainer": trainer} if apart else {"all GPUs": rollout + trainer}
