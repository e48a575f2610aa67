"""The explorers of the capstone: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(days_and_bill, billion_parameters=Range(1, 2000, 405), ...)``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from random import Random
from typing import Any

from rankzero.charts import Axis, Spec, below, chart, lines, shares, stacks, timeline
from rankzero.facts import hardware, models
from rankzero.facts.units import GB, billion, day, hour, million, minute, trillion, year
from solutions.ch15.checkpointing import checkpoint_waste, optimal_checkpoint_interval
from solutions.ch15.run_plan import memory_per_stage, partition_layers
from solutions.ch15.run_sheet import run_bill

#: GPUs of the first explorer, by the names that people use.
KINDS = {
    "A100": hardware.A100_SXM,
    "H100": hardware.H100_SXM,
    "H200": hardware.H200_SXM,
    "B200": hardware.B200_SXM,
}

#: Models of the second explorer: gated, with a head of their own.
SHAPES = {"8B": models.LLAMA3_8B, "70B": models.LLAMA3_70B, "405B": models.LLAMA3_405B}

#: What a moment of a run is spent on, in the order of the legend.
KINDS_OF_TIME = ("useful", "checkpoint", "lost", "restart")


# A. Days and bill


def days_and_bill(
    billion_parameters: float = 405.0,
    trillion_tokens: float = 15.6,
    gpus: int = 16_384,
    gpu: str = "H100",
    mfu: float = 40.0,
    goodput: float = 90.0,
    price: float = 2.0,
    watts: float = 700.0,
    pue: float = 1.1,
    price_per_kwh: float = 0.05,
) -> Spec:
    """Days of a training run against the number of GPUs, and what the chosen run costs: useful, wasted, electricity.

    The work is 6 FLOP for each parameter and token.

    Args:
        billion_parameters: parameters that each token is multiplied with, in units of 1e9.
        trillion_tokens: in units of 1e12.
        gpus: the chosen number of GPUs.
        gpu: a name in ``KINDS``.
        mfu: share of the dense peak while the job computes, percent.
        goodput: share of the wall-clock that is useful compute, percent.
        price: of a GPU for an hour, dollars.
        watts: of one GPU.
        pue: power of the whole building over that of its computers.
        price_per_kwh: dollars.
    """
    flops = 6 * billion_parameters * billion * trillion_tokens * trillion

    def seconds(count: float) -> float:
        return flops / (count * KINDS[gpu].peak_bf16 * mfu / 100) / (goodput / 100)

    counts = [64 * 2 ** (step / 2) for step in range(22)]
    rows = [{"gpus": n, "days": seconds(n) / day, "of": gpu} for n in counts]
    chosen = [{"gpus": gpus, "days": seconds(gpus) / day, "of": gpu}]
    x, y = Axis("gpus", "GPUs", log=True), Axis("days", "training time (days)", log=True)
    title = f"{gpus:,} {gpu}: {seconds(gpus) / day:.1f} days, {gpus * seconds(gpus) / hour / million:.4g}M GPU-hours"
    curve = lines(rows, x, y, by="of", points=chosen, title=title)
    bill = run_bill(gpus, seconds(gpus), price, watts / 1000, pue, price_per_kwh)
    parts = {
        "rent, useful time": bill["dollars"] * goodput / 100,
        "rent, wasted time": bill["dollars"] * (1 - goodput / 100),
        "electricity (an owner pays it)": bill["electricity_dollars"],
    }
    cost = [{"what": "", "dollars": dollars / million, "part": part} for part, dollars in parts.items()]
    bars = shares(cost, Axis("dollars", "cost (M$)"), Axis("what", "", category=True), by="part", title="the bill")
    said = ", ".join(f"{part} {dollars / million:.4g} M$" for part, dollars in parts.items())
    return chart(below(curve, bars), f"{title}; {said}.")


# B. Memory of every stage


def memory_of_stages(
    model: str = "405B",
    tp: int = 8,
    cp: int = 1,
    pp: int = 16,
    dp: int = 128,
    microbatches: int = 16,
    tokens: int = 8192,
    shard: str = "optimizer+gradients",
    recompute: str = "none",
) -> Spec:
    """Memory of one GPU of every pipeline stage, in three parts, against the 80 GB of an H100.

    Args:
        model: a name in ``SHAPES``.
        tp, cp, pp, dp: ranks of each dimension.
        microbatches: of one replica and step.
        tokens: of one micro-batch.
        shard, recompute: of ``memory_per_stage``.
    """
    shape = SHAPES[model]
    partition = partition_layers(shape.layers, pp, *((1, 1) if pp > 1 else (0, 0)))
    memory = memory_per_stage(shape, partition, tp, cp, dp, microbatches, tokens, shard=shard, recompute=recompute)
    names = {"parameters": "weights", "states": "gradients and optimizer", "activations": "activations"}
    rows = [
        {"stage": str(stage), "gigabytes": row[key] / GB, "part": name}
        for stage, row in enumerate(memory)
        for key, name in names.items()
    ]
    totals = [row["total"] for row in memory]
    fullest = max(range(pp), key=totals.__getitem__)
    limit = hardware.H100_SXM.memory
    fits = "fits" if totals[fullest] <= limit else "does not fit"
    title = f"{tp * cp * pp * dp:,} GPUs; stage {fullest} is the fullest, {totals[fullest] / GB:.1f} GB: {fits}"
    x, y = Axis("stage", "pipeline stage", category=True), Axis("gigabytes", "memory of one GPU (GB)")
    return chart(stacks(rows, x, y, by="part", title=title, mark=limit / GB), f"{title}; the rule is at 80 GB.")


# C. The waste curve


def waste_curve(
    gpus: int = 16_384, years_per_gpu: float = 5.8, stall: float = 60.0, restart_minutes: float = 5.0
) -> Spec:
    """Waste against the checkpoint interval with the three optima, and how far two of them are from the third.

    Args:
        gpus: of the job.
        years_per_gpu: mean time between failures that one GPU causes, years.
        stall: seconds that the job pauses for a checkpoint.
        restart_minutes: from a failure until the job computes again.
    """
    mtbf, restart = years_per_gpu * year / gpus, restart_minutes * minute
    best = {name: optimal_checkpoint_interval(stall, mtbf, name) for name in ("young", "daly", "exact")}
    low, high = min(best.values()) / 20, max(best.values()) * 20
    intervals = [low * (high / low) ** (step / 80) for step in range(81)]

    def percent(interval: float) -> float:
        return 100 * checkpoint_waste(interval, stall, mtbf, restart)

    rows = [{"minutes": t / minute, "percent": percent(t), "of": "waste"} for t in intervals]
    marks = [{"minutes": t / minute, "percent": percent(t), "of": name} for name, t in best.items()]
    x, y = Axis("minutes", "interval (minutes)", log=True), Axis("percent", "waste (% of the wall-clock)")
    said = ", ".join(f"{name} {t / minute:.3g} min" for name, t in best.items())
    title = f"a failure every {mtbf / minute:.4g} min; {said}; {percent(best['exact']):.3g} % wasted"
    curve = lines(rows, x, y, by="of", points=marks, title=title)
    errors, here = _errors(), stall / (2 * mtbf)
    x, y = Axis("ratio", "C / (2M)", log=True), Axis("percent", "off by (%)")
    mark = here if errors[0]["ratio"] <= here <= errors[-1]["ratio"] else None
    job = "the rule is this job" if mark else f"this job, at {here:.2g}, is outside"
    inset = lines(errors, x, y, by="of", mark=mark, title=f"how far off the exact interval; {job}")
    return chart(below(curve, inset | {"height": 140}), f"Waste against the interval: {title}.")


def _errors() -> list[Spec]:
    """The error of two formulas for the interval, in percent of the exact one, against C/(2M)."""
    rows: list[Spec] = []
    for name in ("young", "daly"):
        for step in range(61):
            ratio = 10 ** (-4 + step / 15)
            exact = optimal_checkpoint_interval(2 * ratio, 1.0, "exact")
            off = optimal_checkpoint_interval(2 * ratio, 1.0, name) / exact - 1
            rows.append({"ratio": ratio, "percent": 100 * off, "of": name})
    return rows


# D. Strips of time

Strip = tuple[str, float, float]


def exponential_gaps(mtbf: float, seed: int) -> Iterator[float]:
    """An endless sequence of random gaps between failures, seconds."""
    random = Random(seed)
    while True:
        yield random.expovariate(1 / mtbf)


def strip(
    work: float, interval: float, checkpoint_time: float, restart_time: float, failure_gaps: Iterable[float]
) -> list[Strip]:
    """A run, moment by moment: ``(kind, start, end)`` in seconds; the kinds are those of ``KINDS_OF_TIME``.

    The rules are those of ``simulate_run``, but this function goes from event to event, so each checks the other. A
    failure interrupts whatever is running. Computation that no finished checkpoint covers is lost, and so is an
    unfinished checkpoint.
    """
    gaps = iter(failure_gaps)
    now, done, found = 0.0, 0.0, []
    fails = next(gaps, math.inf)
    while done < work * (1 - 1e-12):
        useful = min(interval, work - done)
        computed, saved = now + useful, now + useful + checkpoint_time
        if saved <= fails:
            found += [("useful", now, computed), ("checkpoint", computed, saved)]
            now, done = saved, done + useful
        else:
            found.append(("lost", now, fails))
            now = fails
        while now == fails:
            begun, fails = now, fails + next(gaps, math.inf)
            now = min(begun + restart_time, fails)
            found.append(("restart", begun, now))
    return [part for part in found if part[1] < part[2]]


def strips_of_time(
    hours: float = 12.0, mtbf_hours: float = 3.09, stall: float = 60.0, restart_minutes: float = 5.0, seed: int = 0
) -> Spec:
    """The same failures met with four checkpoint intervals: where the wall-clock of a run goes.

    Args:
        hours: of useful compute.
        mtbf_hours: mean time between failures of the job, hours.
        stall: seconds for a checkpoint.
        restart_minutes: of a restart.
        seed: of the failures.
    """
    mtbf = mtbf_hours * hour
    best = optimal_checkpoint_interval(stall, mtbf, "exact")
    rows: list[Spec] = []
    said = []
    for times in (0.25, 1.0, 4.0, 8.0):
        gaps = exponential_gaps(mtbf, seed)
        name = f"{times:g} x optimum, {times * best / minute:.3g} min"
        run = strip(hours * hour, times * best, stall, restart_minutes * minute, gaps)
        rows += [{"lane": name, "start": a / hour, "end": b / hour, "kind": kind} for kind, a, b in _joined(run)]
        said.append(f"{name}: {run[-1][2] / hour:.3g} h")
    x, y = Axis("hours", "wall-clock (hours)"), Axis("lane", "")
    picture = timeline(rows, x, y, title=f"{hours:g} hours of work, with a checkpoint every ...", names=KINDS_OF_TIME)
    return chart(picture, f"Strips of time of a run with {hours:g} hours of work; it ends after: {'; '.join(said)}.")


def _joined(run: list[Strip], most: int = 150) -> list[Any]:
    """Merge adjacent pieces of one kind; in a run of very many pieces, several saves in a row are drawn as one."""
    if len(run) > most:
        run = _fewer_saves(run, math.ceil(len(run) / most))
    borders = [0, *(i for i, (one, other) in enumerate(pairwise(run), start=1) if one[0] != other[0]), len(run)]
    return [(run[a][0], run[a][1], run[b - 1][2]) for a, b in pairwise(borders)]


def _fewer_saves(run: list[Strip], together: int) -> list[Strip]:
    """The run with so many pieces of work in a row as one, and their checkpoints behind it as one."""
    fewer: list[Strip] = []
    waiting: list[Strip] = []

    def drawn() -> None:
        if waiting:
            start, end = waiting[0][1], waiting[-1][2]
            worked = start + sum(b - a for kind, a, b in waiting if kind == "useful")
            fewer.extend([("useful", start, worked), ("checkpoint", worked, end)])
            waiting.clear()

    for part in run:
        if part[0] not in ("useful", "checkpoint") or len(waiting) == 2 * together:
            drawn()
        if part[0] in ("useful", "checkpoint"):
            waiting.append(part)
        else:
            fewer.append(part)
    drawn()
    return [part for part in fewer if part[1] < part[2]]
