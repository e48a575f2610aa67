"""The explorers of chapter 5: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(hiding, layers=Range(1, 200, 40), ...)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from rankzero.charts import COLOURS, Axis, Spec, below, chart, lines, stacks, timeline
from rankzero.charts.vega_lite import USUAL
from rankzero.facts.hardware import GPUS
from rankzero.facts.units import GB, MB, MiB, billion, format_bytes, format_time, ms, us
from rankzero.room import room
from solutions.ch03.collective_cost import ring_all_reduce_time
from solutions.ch05.batching import learning_rate_at, scaled_learning_rate
from solutions.ch05.buckets import assign_buckets, exposed_communication
from solutions.ch05.precision import round_to_format
from solutions.ch05.zero import state_bytes, zero_memory, zero_traffic

# 5.3


def bucket_times(
    layers: int, compute: float, gradient_bytes: float, ranks: int, bandwidth: float, latency: float, cap: float
) -> tuple[list[float], list[float], list[int]]:
    """For each bucket of a model of equal layers: seconds of computation, seconds of all-reduce, and its layers."""
    counts = [len(bucket) for bucket in assign_buckets([gradient_bytes] * layers, [cap])]
    sent = [ring_all_reduce_time(count * gradient_bytes, ranks, bandwidth, latency) for count in counts]
    return [count * compute for count in counts], sent, counts


def hiding(
    layers: int = 40,
    compute: float = 5 * ms,
    gradient_bytes: float = 40 * MB,
    ranks: int = 8,
    bandwidth: float = 50 * GB,
    latency: float = 5 * us,
    cap: int = 25 * MiB,
) -> Spec:
    """A backward pass and its all-reduces over time, and the communication time that stays visible for each bucket cap.

    Args:
        layers: of the model, all alike; 1 to 200.
        compute: backward time of one layer, seconds.
        gradient_bytes: gradients of one layer, bytes.
        ranks: N of the ring, 2 to 1,024.
        bandwidth: of one rank's port, one direction, bytes/s.
        latency: start-up of one message, seconds.
        cap: of a bucket, bytes.
    """
    job = (layers, compute, gradient_bytes, ranks, bandwidth, latency)
    computing, sending, counts = bucket_times(*job, cap)
    exposed = exposed_communication(computing, sending)
    size, unit = next(((size, name) for size, name in ((1.0, "s"), (ms, "ms")) if sum(computing) >= size), (us, "µs"))
    rows, ready, free = [], 0.0, 0.0
    for number, (busy, sent, count) in enumerate(zip(computing, sending, counts, strict=True)):
        start = max(ready + busy, free)
        spans = {"backward": (ready, ready + busy), "all-reduce": (start, start + sent)}
        ready, free = ready + busy, start + sent
        told = {"bucket": number, "layers": count}
        rows += [{"lane": k, "start": a / size, "end": b / size, "kind": k} | told for k, (a, b) in spans.items()]
    hidden = 1 - exposed / sum(sending)
    title = f"{len(counts)} buckets: {format_time(exposed)} stay visible, {hidden:.1%} of the communication is hidden"
    streams = timeline(rows, Axis("start", f"time ({unit})"), Axis("lane", ""), title=title)
    sweep = []
    for power in range(20, 39):
        times = bucket_times(*job, 2.0**power)
        sweep += [{"cap": 2.0**power, "seconds": exposed_communication(*times[:2]), "what": "visible"}]
        sweep += [{"cap": 2.0**power, "seconds": sum(times[1]), "what": "all communication"}]
    x, y = Axis("cap", "cap of a bucket (bytes)", log=True), Axis("seconds", "time (seconds)", log=True)
    picture = below(streams, lines(sweep, x, y, by="what", mark=float(cap)))
    return chart(picture, f"Backward pass of {layers} layers and its all-reduces over {ranks} ranks. {title}.")


# 5.12


def learning_rates(
    base: float = 3e-4,
    base_batch: int = 256,
    batch: int = 2048,
    rule: str = "sqrt",
    noise_scale: float = 1000.0,
    warmup_percent: float = 2.0,
    total: int = 10_000,
) -> Spec:
    """The learning rate of a run, and of the same run with another batch size, against steps and against sequences.

    Args:
        base: peak learning rate of the first run.
        base_batch: its sequences in a step.
        batch: sequences in a step of the second run, which sees as many sequences in all, but for a part of a step.
        rule: ``"linear"``, ``"sqrt"`` or ``"noise"``.
        noise_scale: the gradient noise scale in sequences, used by the rule ``"noise"``.
        warmup_percent: of the steps.
        total: steps of the first run.
    """
    peak = scaled_learning_rate(base, base_batch, batch, rule, noise_scale if rule == "noise" else None)
    steps = max(1, round(total * base_batch / batch))
    rows: list[Spec] = []
    for name, top, size, count in (
        (f"batch {base_batch}", base, base_batch, total),
        (f"batch {batch}, {rule} rule", peak, batch, steps),
    ):
        warmup = round(warmup_percent / 100 * count)
        for step in sorted({max(1, warmup), *(1 + round(part * (count - 1) / 120) for part in range(121))}):
            value = learning_rate_at(step, top, warmup, count, top / 100)
            rows.append({"step": step, "sequences": step * size, "rate": value, "run": name})
    y = Axis("rate", "learning rate", plain=True)
    title = f"peak {base:.3g} becomes {peak:.3g}; {total:,} steps become {steps:,}"
    by_step = lines(rows, Axis("step", "step", plain=True), y, by="run", title=title)
    by_row = lines(rows, Axis("sequences", "sequences seen"), y, by="run")
    return chart(below(by_step, by_row), f"Learning rate of two runs against steps and against sequences: {title}.")


# 5.6

#: Recipes of training by name, each as arguments of ``state_bytes``.
RECIPES: dict[str, dict[str, Any]] = {
    "bf16, fp32 states": {},
    "bf16, fp32 gradients and states": {"gradient": "fp32"},
    "bf16, no master copy": {"master": False},
    "bf16 everything": {"moment": "bf16", "master": False},
    "bf16, 8-bit Adam": {"moment": "int8"},
    "fp32": {"compute": "fp32"},
}
PARTS = ("weights", "gradients", "moments", "master copy")


def parts_of(recipe: str) -> dict[str, float]:
    """Bytes per parameter of a recipe, by purpose."""
    options = RECIPES[recipe]
    weights, gradients, optimizer = state_bytes(**options)
    moments = state_bytes(**options | {"master": False})[2]
    return dict(zip(PARTS, (weights, gradients, moments, optimizer - moments), strict=True))


def sliced(params: float, stage: int, ranks: int, parts: Mapping[str, float]) -> dict[str, float]:
    """Bytes on one rank, by purpose."""
    result = {}
    for name, size in parts.items():
        kinds = {"weights": (size, 0.0, 0.0), "gradients": (0.0, size, 0.0)}.get(name, (0.0, 0.0, size))
        result[name] = zero_memory(params, stage, ranks, *kinds)
    return result


def slices(
    billion_parameters: float = 70.0, ranks: int = 8, recipe: str = "bf16, fp32 states", gpu: str = "H100 SXM"
) -> Spec:
    """The model states on one GPU and its traffic per step under every stage of ZeRO.

    Args:
        billion_parameters: of the model, in units of 1e9.
        ranks: N, data-parallel ranks.
        recipe: a key of :data:`RECIPES`.
        gpu: the name of a GPU, whose memory is the dashed line.
    """
    params, parts = billion_parameters * billion, parts_of(recipe)
    memory = next(one.memory for one in GPUS if one.name == gpu)
    names = ("0: replicas", "1: optimizer", "2: + gradients", "3: + weights")
    rows, sent, fitting = [], [], []
    for stage, name in enumerate(names):
        held = sliced(params, stage, ranks, parts)
        rows += [{"stage": name, "part": part, "GB": size / GB} for part, size in held.items()]
        traffic = zero_traffic(params, stage, ranks, parts["weights"], parts["gradients"])
        sent.append({"stage": name, "what": "sent", "GB": traffic / GB})
        fitting += [str(stage)] if sum(held.values()) <= memory else []
    x = Axis("stage", "stage of ZeRO", category=True)
    said = f"stages that fit: {', '.join(fitting)}" if fitting else "no stage fits"
    title = f"{billion_parameters:g}B on {ranks} GPUs of {format_bytes(memory)}: {said}"
    held_view = stacks(rows, x, Axis("GB", "model states of one GPU (GB)"), by="part", title=title, mark=memory / GB)
    sent_view = stacks(sent, x, Axis("GB", "sent by one GPU in a step (GB)"), by="what")
    return chart(below(held_view, sent_view), f"Memory and traffic of one GPU under the stages of ZeRO. {title}.")


# 5.15

#: Formats: exponent bits, mantissa bits, infinities.
FORMATS = {"fp16": (5, 10, True), "bf16": (8, 7, True), "E4M3": (4, 3, False), "E5M2": (5, 2, True)}

#: Gradients of real backward passes in fp32: how many have each binary exponent, from the lowest one up. A test
#: recomputes them (``experiments.ch05.loss_scale_runs``: 20 steps of the tiny language model, and a 12-layer tanh
#: network).
GRADIENTS: dict[str, tuple[int, tuple[int, ...]]] = {
    "tiny language model": (
        -31,
        (1, 1, 5, 0, 2, 17, 29, 40, 78, 175, 319, 696, 1373, 2745, 5118, 10336, 19123, 32598)
        + (43238, 43547, 32989, 17900, 7244, 2179, 689, 286, 69, 3),
    ),
    "12-layer tanh network": (
        -32,
        (1, 2, 7, 18, 32, 50, 98, 202, 416, 862, 1580, 3171, 5720, 8549, 7987, 5618, 4286, 3537)
        + (3254, 2335, 1466, 549, 112, 47, 19, 2),
    ),
}
FATES = ("becomes 0", "subnormal", "normal", "too large")


def fate(value: float, exponent_bits: int, mantissa_bits: int, infinities: bool) -> str:
    """What becomes of a positive number in a format: one of :data:`FATES`."""
    rounded = round_to_format(value, exponent_bits, mantissa_bits, infinities)
    if rounded == 0:
        return FATES[0]
    largest = round_to_format(math.inf, exponent_bits, mantissa_bits, infinities)
    if math.isinf(rounded) or value > largest + 2.0 ** (math.frexp(largest)[1] - 2 - mantissa_bits):
        return FATES[3]  # infinity, or saturation: more than half a step above the largest number
    return FATES[1] if rounded < 2.0 ** (2 - 2 ** (exponent_bits - 1)) else FATES[2]


#: Parts of a power of two whose fates are told apart.
FINE = 32


def fates(exponent: int, number_format: str) -> list[tuple[float, float, str]]:
    """The parts of the numbers from ``2**exponent`` to twice that which meet one fate: from and to (powers), and it."""
    found: list[tuple[float, float, str]] = []
    for part in range(FINE):
        low, high = exponent + part / FINE, exponent + (part + 1) / FINE
        kind = fate(2.0 ** ((low + high) / 2), *FORMATS[number_format])
        if found and found[-1][2] == kind:
            low = found.pop()[0]
        found.append((low, high, kind))
    return found


def few_bits(gradients: str = "tiny language model", number_format: str = "fp16", scale_power: int = 0) -> Spec:
    """Real gradients, multiplied by a loss scale, above a ruler of the numbers that a format can represent.

    They are counted by powers of two; inside one they are taken to lie evenly, by their logarithms.

    Args:
        gradients: a key of :data:`GRADIENTS`.
        number_format: a key of :data:`FORMATS`.
        scale_power: the loss scale is 2 to this power, 0 to 24.
    """
    lowest, counts = GRADIENTS[gradients]
    rows = []
    shares = dict.fromkeys(FATES, 0.0)
    for index, count in enumerate(counts):
        for low, high, kind in fates(lowest + index + scale_power, number_format):
            rows.append({"low": low, "high": high, "count": count, "fate": kind})
            shares[kind] += (high - low) * count / sum(counts)
    said = ", ".join(f"{share:.1%} {kind}" for kind, share in shares.items())
    x = {"type": "quantitative", "scale": {"domain": [-46, 24]}, "title": "power of two"}
    colour = {"field": "fate", "scale": {"domain": list(FATES), "range": list(COLOURS[:4])}}
    hover = [{"field": "fate", "title": " "}, {"field": "low", "title": "from 2 to the"}, {"field": "count"}]
    bars = {
        "title": f"{number_format}, S = 2^{scale_power}: {said}",
        "width": room(*USUAL),
        "height": 180,
        "data": {"values": rows},
        "mark": {"type": "rect", "stroke": "currentColor", "strokeWidth": 0.5},
        "encoding": {
            "x": x | {"field": "low", "title": ""},
            "x2": {"field": "high"},
            "y": {"field": "count", "type": "quantitative", "title": "gradients"},
            "y2": {"datum": 0},
            "color": colour | {"type": "nominal", "title": " "},
            "tooltip": hover,
        },
    }
    ruler = {
        "width": room(*USUAL),
        "height": 36,
        "data": {"values": [{"power": power} for power in marks(number_format)]},
        "mark": {"type": "tick", "color": "currentColor", "thickness": 1},
        "encoding": {"x": x | {"field": "power"}},
    }
    return chart(
        below(bars, ruler),
        f"Gradients of a {gradients} in {number_format} with a loss scale of 2^{scale_power}: {said}.",
    )


def marks(number_format: str) -> list[float]:
    """Binary logarithms of a format's positive numbers from 2**-46 to 2**24, at most eight per power of two."""
    exponent_bits, mantissa_bits, infinities = FORMATS[number_format]
    found = set()
    for power in range(-46, 24):
        for eighth in range(8):
            rounded = round_to_format(2.0**power * (1 + eighth / 8), exponent_bits, mantissa_bits, infinities)
            if 0 < rounded < 2.0**24:
                found.add(rounded)
    return sorted(math.log2(value) for value in found)
