"""The two explorers of chapter 8: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(decode_roofline, batch=Range(1, 1024, 64, "sequences", log=True), ...)``.
"""

from __future__ import annotations

import math
from random import Random

from rankzero.charts import Axis, Spec, below, chart, lines, timeline
from rankzero.facts import models
from rankzero.facts.hardware import A100_SXM, B200_SXM, H100_SXM, H200_SXM
from rankzero.facts.units import ms
from rankzero.sim.batching import Run, continuous, poisson_arrivals, static
from solutions.ch08.serving import workload

from .deployments import Deployment

#: By the names of the controls.
MODELS = {
    "Llama 3 8B": models.LLAMA3_8B,
    "Llama 2 7B": models.LLAMA2_7B,
    "Llama 3 70B": models.LLAMA3_70B,
    "Llama 3 405B": models.LLAMA3_405B,
}
GPUS = {"H100": H100_SXM, "A100": A100_SXM, "H200": H200_SXM, "B200": B200_SXM}

#: The largest batch of the roofline, and the requests of the other explorer.
LARGEST, REQUESTS = 1024, 50


def decode_roofline(
    model: str = "Llama 3 8B",
    gpu: str = "H100",
    tensor_parallel: int = 1,
    batch: int = 64,
    context: int = 2048,
    weight_bytes: float = 2,
    kv_bytes: float = 2,
) -> Spec:
    """Time of a decode step against the batch, with its parts; below it, tokens per second.

    Args:
        model: a key of ``MODELS``.
        gpu: a key of ``GPUS``.
        tensor_parallel: GPUs that share every matrix, 1 to 8.
        batch: the chosen batch, 1 to 1,024.
        context: cached tokens of each sequence, 0 to 131,072.
        weight_bytes: of one weight: 2, 1 or 0.5.
        kv_bytes: of one element of the cache: 2, 1 or 0.5.
    """
    made = Deployment(MODELS[model], GPUS[gpu], tensor_parallel, weight_bytes, kv_bytes)
    batches = sorted({round(2 ** (power / 4)) for power in range(4 * int(math.log2(LARGEST)) + 1)} | {batch})
    rows: list[Spec] = []
    speeds: list[Spec] = []
    for size in batches:
        step = made.decode_step([context] * size)
        read = made.kv_bytes_per_token * context * size / made.bandwidth
        parts = {
            "step": step,
            "multiplying": 2 * made.model.parameters * size / made.peak,
            "reading weights": made.weight_bytes / made.bandwidth,
            "reading the cache": read,
        }
        rows += [{"batch": size, "what": what, "time": time} for what, time in parts.items() if time > 0]
        speeds.append({"batch": size, "what": "throughput", "tokens": size / step})
    chosen = made.decode_step([context] * batch)
    fitting = made.requests_that_fit(max(1, context))
    bound = f"matrices compute-bound from batch {made.critical_batch:.0f}"
    fits = f"{fitting:,} requests fit" if made.room() > 0 else "the weights do not fit"
    title = f"batch {batch}: {chosen / ms:.3g} ms, {batch / chosen:,.0f} tokens/s; {bound}; {fits}"
    x = Axis("batch", "batch (sequences)", log=True)
    point = [{"batch": batch, "what": "step", "time": chosen}]
    times = lines(rows, x, Axis("time", "time of a step (s)", log=True), "what", float(batch), title, point)
    rates = lines(speeds, x, Axis("tokens", "tokens/s", log=True), "what", float(batch))
    alt = f"Decode step of {model} on {tensor_parallel} {gpu} at {context} tokens of context: {title}."
    return chart(below(times, rates), alt)


def batching(slots: int = 8, sigma: float = 0.9, seed: int = 8, rate: float = 0.0) -> Spec:
    """Fifty requests in the slots of a batch, with static batching above and continuous batching below.

    Args:
        slots: 1 to 32.
        sigma: standard deviation of the logarithm of the lengths, 0 to 1.5; the median is 60 tokens.
        seed: of lengths and arrivals.
        rate: arrivals per 100 steps; below 0.01 all requests are there from the start.
    """
    lengths = workload(REQUESTS, sigma=sigma, seed=seed)
    arrivals = poisson_arrivals(rate / 100, REQUESTS, Random(seed)) if rate >= 0.01 else None
    runs = {"static": static(lengths, slots, arrivals), "continuous": continuous(lengths, slots, arrivals)}
    said = {name: _said(run) for name, run in runs.items()}
    longest = max(run.steps for run in runs.values())
    views = below(*(_slots(run, f"{name}: {said[name]}", longest) for name, run in runs.items()))
    told = "; ".join(f"{name}: {text}" for name, text in said.items())
    return chart(
        views | {"resolve": {"scale": {"x": "shared", "color": "independent"}}},
        f"Fifty requests on {slots} slots. {told}.",
    )


def _said(run: Run) -> str:
    ends = f"mean latency {run.mean_latency:.0f}, p99 {run.percentile_latency(0.99):.0f}"
    return f"{run.steps:,} steps, occupancy {100 * run.occupancy:.1f} %, {ends}"


def _slots(run: Run, title: str, longest: int) -> Spec:
    """A lane per slot and a bar per request, on an axis of ``longest`` steps; the time that a static slot is kept after
    its answer is another bar."""
    rows = []
    for request, (start, finish) in enumerate(run.spans):
        done = start + run.lengths[request]
        place = {"lane": run.places[request], "request": request}
        rows.append(place | {"start": start, "end": done, "kind": "tokens", "label": str(request)})
        if done < finish:
            rows.append(place | {"start": done, "end": finish, "kind": "kept, done", "label": ""})
    rows.sort(key=lambda row: (row["lane"], row["start"]))
    names = ["tokens", "kept, done"]
    height = {"step": max(9, min(26, 220 // run.slots)), "for": "position"}
    steps = Axis("start", "step", settings={"scale": {"domain": [0, longest]}})
    return timeline(rows, steps, Axis("lane", "slot"), title=title, names=names) | {"height": height}
