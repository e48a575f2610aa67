"""The four explorers of chapter 10: pure functions that return charts. Standard library only; browsers run them.

A page shows one with ``explore(launches, kernels=Range(1, 2000, 500, ""), ...)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from random import Random

from rankzero.charts import Axis, Spec, chart, lines, timeline
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.models import LLAMA3_8B
from rankzero.facts.units import ms, us
from solutions.ch08.serving import pass_time
from solutions.ch10.scheduler import Scheduler
from solutions.ch10.scheduling import capture_size, eager_time, graph_time, overlap_time, padding_waste, published_sizes

from .timelines import Rows, eager_rows, graph_rows, step_rows, with_gaps

#: Kernels and steps whose bars are drawn.
DRAWN_KERNELS, DRAWN_STEPS = 16, 12

#: The lists of captured sizes, by the names of their control.
LISTS = {
    "powers of two": [2**power for power in range(9)],
    "every 8th": published_sizes(256),
    "every 32nd": [1, 2, 4, 8, 16, *range(32, 257, 32)],
    "the largest alone": [256],
}

#: Budgets of the trade-off, tokens of one step.
BUDGETS = (16, 64, 128, 256, 512, 1024, 2048, 8192)


def _bars(runs: dict[str, Rows], names: tuple[str, str], unit: float) -> list[Spec]:
    rows = []
    for run, (cpu, device) in runs.items():
        for place, spans in zip(names, (cpu, device), strict=True):
            for name, start, end in spans:
                rows.append({"lane": f"{run}: {place}", "start": start / unit, "end": end / unit, "kind": name})
    return rows


def launches(kernels: int = 500, kernel_time: float = 2 * us, launch: float = 5 * us, replay: float = 10 * us) -> Spec:
    """Kernels one by one and as a graph: the first few as bars, the total times in the title.

    Args:
        kernels: number of equally long kernels, 1 to 2,000.
        kernel_time: time of one kernel on the GPU, seconds.
        launch: time to launch one kernel on the CPU, seconds.
        replay: time to launch the graph on the CPU, seconds.
    """
    every, shown = [kernel_time] * kernels, [kernel_time] * min(kernels, DRAWN_KERNELS)
    eager, graph = eager_time(every, launch), graph_time(every, replay)
    runs = {"one by one": with_gaps(eager_rows(shown, launch)), "graph": with_gaps(graph_rows(shown, replay))}
    title = (
        f"{kernels} kernels: one by one {eager / ms:.4g} ms, as a graph {graph / ms:.4g} ms, {eager / graph:.3g} times"
    )
    few = f" The first {len(shown)} are drawn." if len(shown) < kernels else ""
    kinds = ["launch", "idle", "kernel"]
    bars = _bars(runs, ("CPU", "GPU"), us)
    drawn = timeline(bars, Axis("start", "time (µs)"), Axis("lane", ""), title=title, names=kinds)
    return chart(drawn, f"{title}.{few}")


def _traffic(kind: str, mean: float, count: int = 2000) -> list[int]:
    """The batch sizes of many steps, 1 to 256."""
    rng = Random(10)
    if kind == "uniform":
        return list(range(1, 257))
    spread = 0.7
    drawn = (rng.lognormvariate(math.log(mean) - spread**2 / 2, spread) for _ in range(count))
    return [min(256, max(1, round(value))) for value in drawn]


def captured(sizes: str = "powers of two", traffic: str = "uniform", mean: float = 40.0) -> Spec:
    """The padding of each batch size for a list of captured sizes, and its share for a kind of traffic.

    Args:
        sizes: a key of ``LISTS``.
        traffic: ``uniform``, each batch from 1 to 256 once, or ``log-normal`` around ``mean``.
        mean: batch of the log-normal traffic, before it is cut at 256.
    """
    chosen = LISTS[sizes]
    rows = []
    for name, own in (("chosen", chosen), ("every size", list(range(1, 257)))):
        for batch in range(1, 257):
            size = capture_size(batch, own) or batch
            rows.append({"batch": batch, "share": 100 * (size - batch) / size, "list": name})
    waste = padding_waste(_traffic(traffic, mean), chosen)
    said = f"{len(chosen)} graphs ({sizes}), {traffic} traffic: {100 * waste:.3g} % of all rows are padding"
    drawn = lines(rows, Axis("batch", "batch"), Axis("share", "padded rows (%)"), by="list", title=said)
    return chart(drawn, f"{said}.")


def overlapped(schedule: float = 2 * ms, compute: float = 10 * ms, post: float = 1 * ms, steps: int = 20) -> Spec:
    """The loop around the model, in turn and overlapped: the first steps as bars, the total times in the title.

    Args:
        schedule, compute, post: seconds of one step.
        steps: 1 to 100.
    """
    both = [overlap_time(steps, schedule, compute, post, side) for side in (False, True)]
    shown = min(steps, DRAWN_STEPS)
    runs = {
        "in turn": step_rows(shown, schedule, compute, post, False),
        "overlapped": step_rows(shown, schedule, compute, post),
    }
    title = f"{steps} steps: in turn {both[0] / ms:.4g} ms, overlapped {both[1] / ms:.4g} ms"
    kinds = ["schedule", "process", "compute"]
    bars = _bars(runs, ("CPU", "device"), ms)
    drawn = timeline(bars, Axis("start", "time (ms)"), Axis("lane", ""), title=title, names=kinds)
    pace = max(compute, schedule + post)
    return chart(drawn, f"{title}; in the steady state a step takes {pace / ms:.4g} ms.")


def step_seconds(tokens: int) -> float:
    """A step of Llama 3 8B in bf16 on an H100 at its peak, counting only matrix products and weights."""
    model, gpu = LLAMA3_8B, H100_SXM
    return pass_time(tokens, [], model.parameters, 2 * model.parameters, 0, gpu.peak_bf16, gpu.memory_bandwidth)


@lru_cache(maxsize=256)
def simulated(budget: int, long_share: float, rate: float, requests: int = 60) -> tuple[float, float, float]:
    """Run requests that arrive at random through the chapter's scheduler, with step times from a roofline.

    Prompts have 200 tokens, or 4,000 for ``long_share`` of the requests; every answer has 60.

    Returns:
        The 99th percentile of the inter-token latency, the median and the 99th percentile of the time to first token,
        seconds.
    """
    rng = Random(10)
    scheduler = Scheduler(budget, 128, 40_000, 16)
    arrivals, now = [], 0.0
    for number in range(requests):
        now += rng.expovariate(rate)
        arrivals.append((now, str(number), 4000 if rng.random() < long_share else 200))
    clock, came, missing = 0.0, 0, {name: prompt for _, name, prompt in arrivals}
    start, last, firsts, gaps = {name: at for at, name, _ in arrivals}, dict[str, float](), list[float](), list[float]()
    while came < requests or scheduler.waiting or scheduler.running:
        if not (scheduler.waiting or scheduler.running):
            clock = max(clock, arrivals[came][0])
        while came < requests and arrivals[came][0] <= clock:
            scheduler.add(arrivals[came][1], arrivals[came][2], 60)
            came += 1
        plan = scheduler.schedule()
        clock += step_seconds(sum(tokens for _, tokens in plan))
        scheduler.update()
        for name, tokens in plan:
            missing[name] -= min(missing[name], tokens)
            if missing[name] == 0:
                (gaps if name in last else firsts).append(clock - last.get(name, start[name]))
                last[name] = clock
    return _quantile(gaps, 0.99), _quantile(firsts, 0.5), _quantile(firsts, 0.99)


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def budgets(budget: int = 512, long_share: float = 0.2, rate: float = 10.0) -> Spec:
    """How long streams and new requests wait, against the token budget of a step; the chosen budget is marked.

    Args:
        budget: tokens of one step, one of ``BUDGETS``.
        long_share: share of requests with a prompt of 4,000 tokens; the others have 200.
        rate: requests per second.
    """
    rows = []
    for one in BUDGETS:
        gap, _, first = simulated(one, long_share, rate)
        for what, seconds in (("inter-token latency, p99", gap), ("time to first token, p99", first)):
            rows.append({"budget": one, "time": seconds / ms, "what": what})
    gap, middle, first = simulated(budget, long_share, rate)
    said = (
        f"budget {budget}: p99 inter-token latency {gap / ms:.3g} ms, "
        f"time to first token {middle / ms:.3g} ms (median) and {first / ms:.3g} ms (p99)"
    )
    x, y = Axis("budget", "budget (tokens in a step)", log=True), Axis("time", "time (ms)", log=True)
    return chart(lines(rows, x, y, by="what", mark=budget, title=said), f"{said}.")
