"""Explorers of chapter 14: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(two_pools, gpus=Range(2, 256, 100), ...)``.
"""

from __future__ import annotations

from rankzero.charts import Axis, Spec, below, chart, lines, shares, stacks, timeline
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B, LLAMA3_70B, LLAMA3_405B
from rankzero.facts.units import GB, format_bytes
from solutions.ch14.rlhf_profile import (
    DISCARDABLE,
    Iteration,
    asynchronous_time,
    cycle,
    phase_seconds,
    synchronous_time,
    tenants,
)
from solutions.ch14.rlhf_schedule import memory_timeline

#: Models by the name of the control.
MODELS = {model.name: model for model in (LLAMA3_8B, LLAMA3_70B, LLAMA3_405B)}

#: Two pools: one batch ahead of the trainer, begun when the last one is finished; or a new response in every free slot.
_WAITING, _FLOWING = "with a barrier", "without"

#: Bytes/s between a GPU and its host, as the page counts.
HOST = 50 * GB


def phases(
    model: str = "Llama 3 70B",
    gpus: int = 256,
    prompt: int = 100,
    response: int = 1024,
    batch: int = 512,
    epochs: int = 1,
    critic: str = "yes",
) -> Spec:
    """Seconds of each phase of an iteration, from rooflines: H100s, copies over 8 GPUs, 40 % of the peak.

    Args:
        model: a name in :data:`MODELS`.
        gpus: of the job, a multiple of 8.
        prompt: tokens of a prompt.
        response: tokens of a response.
        batch: responses.
        epochs: of the training.
        critic: ``"yes"`` for PPO with four models, ``"no"`` for GRPO with a rule.
    """
    work = Iteration(batch, prompt, response, epochs, critic == "yes")
    seconds = phase_seconds(MODELS[model], gpus, work)
    whole = sum(seconds.values())
    rows: list[Spec] = [{"job": "one iteration", "seconds": spent, "phase": name} for name, spent in seconds.items()]
    told = ", ".join(f"{name} {spent:.3g} s" for name, spent in seconds.items())
    largest = max(seconds, key=lambda name: seconds[name])
    view = shares(rows, Axis("seconds", "seconds"), Axis("job", "", category=True), "phase", f"{whole:.3g} s: {told}")
    return chart(view, f"{model} on {gpus} GPUs: {told}; most goes to {largest}.")


def _owner(tenant: str) -> str:
    """The name under which a tenant is drawn: only eight colors can be told apart, but there are ten tenants."""
    if tenant.endswith("_optimizer"):
        return "optimizers"
    return "frozen models" if tenant in ("reference", "reward") else tenant.replace("_", " ")


def memory(
    model: str = "Llama 3 70B",
    gpus: int = 64,
    algorithm: str = "ppo",
    rollout_tp: int = 8,
    kv: float = 40 * GB,
    activations: float = 12 * GB,
    offload: str = "and frozen models",
) -> Spec:
    """The memory of one GPU in each phase, and what is copied before it.

    Args:
        model: a name in :data:`MODELS`.
        gpus: that share the states.
        algorithm: ``"ppo"`` or ``"grpo"``.
        rollout_tp: GPUs that share one rollout copy.
        kv: cache on one GPU, bytes.
        activations: of a training step on one GPU, bytes.
        offload: what is moved off the GPU while it is not used, as in ``cycle``.
    """
    parameters = MODELS[model].parameters
    sizes = tenants(parameters, gpus, rollout_tp, kv, activations, algorithm)
    held = cycle(sizes, offload)
    uses = memory_timeline(held, sizes, DISCARDABLE)
    rows: list[Spec] = []
    for name, present in held:
        owned: dict[str, float] = {}
        for owner in [one for one in sizes if one in present]:
            owned[_owner(owner)] = owned.get(_owner(owner), 0.0) + sizes[owner] / GB
        rows += [{"phase": name, "GB": size, "owner": owner} for owner, size in owned.items()]
    peak, loaded = max(use.resident for use in uses), sum(use.loaded for use in uses)
    host = sum(size for owner, size in sizes.items() if owner.endswith("_optimizer")) * gpus
    fits = "fits" if peak <= H100_SXM.memory else "does not fit"
    title = f"peak {peak / GB:.1f} GB, {fits}; {2 * loaded / GB:.1f} GB copied, {2 * loaded / HOST:.2f} s"
    view = stacks(
        rows, Axis("phase", "phase", category=True), Axis("GB", "GB on one GPU"), "owner", title, H100_SXM.memory / GB
    )
    kept = format_bytes(host) if loaded and offload != "what is rebuilt" else "nothing"
    text = f"{title}, in and out at 50 GB/s. Optimizer states in the memory of the hosts: {kept}."
    return chart(view, text)


def two_pools(
    gpus: int = 100,
    generate_work: float = 6000.0,
    train_work: float = 3500.0,
    tail: float = 100.0,
    rollout_gpus: int = 60,
    generate_floor: float = 0.0,
) -> Spec:
    """An iteration on all GPUs in turn and on two pools, with and without a barrier, and the times against the split.

    Args:
        gpus: of the job.
        generate_work: what the GPUs that generate share, GPU-seconds.
        train_work: GPU-seconds.
        tail: of the longest response, seconds.
        rollout_gpus: GPUs of the pool that generates; capped to leave one GPU for training.
        generate_floor: seconds of generation that more GPUs do not shorten.
    """
    split = min(max(rollout_gpus, 1), gpus - 1)
    job = gpus, generate_work, train_work, tail
    together = synchronous_time(*job, generate_floor)
    writing = together - train_work / gpus

    def of(g: int, way: str) -> Spec:
        seconds = asynchronous_time(*job, g, way == _WAITING, generate_floor)
        return {"g": g, "seconds": seconds, "way": way}

    points = {way: of(split, way) for way in (_WAITING, _FLOWING)}
    rows: list[Spec] = [
        {"lane": "all GPUs in turn", "start": 0.0, "end": writing, "kind": "generate"},
        {"lane": "all GPUs in turn", "start": writing, "end": together, "kind": "train"},
    ]
    written, trained = generate_floor + generate_work / split, train_work / (gpus - split)
    for way, wait in ((_WAITING, tail), (_FLOWING, 0.0)):
        rows += [
            {"lane": f"{split} generate, {way}", "start": 0.0, "end": max(written, wait), "kind": "generate"},
            {"lane": f"{gpus - split} train, {way}", "start": 0.0, "end": trained, "kind": "train"},
        ]
    curve = [of(g, way) for way in points for g in range(1, gpus)]
    best = {way: min((row for row in curve if row["way"] == way), key=lambda row: row["seconds"]) for way in points}
    top = 4 * max(together, *(row["seconds"] for row in best.values()))
    shown = [row for row in curve if row["seconds"] <= top]
    shown += [{"g": g, "seconds": together, "way": "all in turn"} for g in (1, gpus - 1)]
    told = [f"in turn {together:.4g} s"]
    for way, row in best.items():
        told.append(
            f"{way} {points[way]['seconds']:.4g} s, at best {row['g']} and {gpus - row['g']}: {row['seconds']:.4g} s, "
            f"{together / row['seconds']:.3f} times as fast"
        )
    title = f"{together / points[_FLOWING]['seconds']:.3f} times as fast"
    bars = timeline(rows, Axis("start", "time (s)"), Axis("lane", ""), title)
    axes = Axis("g", "GPUs that generate"), Axis("seconds", "iteration (s)")
    chosen = [point for point in points.values() if point["seconds"] <= top]
    view = lines(shown, *axes, "way", best[_FLOWING]["g"], points=chosen)
    return chart(below(bars, view), f"{'; '.join(told)}.")
