"""How long the advisor searches for 16,384 GPUs, and what it throws away: ``python benchmarks/layout_advisor.py``.

The search must cost no more than pricing each layout that divides some hundred times over; it prices each once. The
report says how many splits of the GPUs were pruned by which rule, and how many layouts did not fit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence

from rankzero.layouts import Job
from rankzero.models import LLAMA3_405B
from solutions.layout import candidates, choose_layout, layout_memory, step_time
from solutions.layout_model import LEAST_TOKENS

#: What is aimed at: search time over one call of the memory and time model for each surviving layout.
MOST_CALLS = 200.0
JOB = Job(LLAMA3_405B, 16_384, 2048, 8192)


def reason(job: Job, tp: int, cp: int, pp: int, dp: int) -> str:
    """The first rule that a split of the GPUs breaks; empty for one that divides."""
    model = job.model
    if tp > job.gpus_per_node:
        return "TP leaves the node"
    if model.heads % tp or (model.kv_heads % tp and tp % model.kv_heads):
        return "TP does not divide the heads"
    if cp > 1 and (job.sequence % (2 * cp) or job.sequence // cp < LEAST_TOKENS):
        return "CP cuts the sequence too short"
    if pp > model.layers:
        return "more stages than layers"
    if job.global_batch % (dp * job.micro_batch):
        return "the batch does not divide among replicas"
    return ""


def pruned(job: Job) -> Counter[str]:
    """How many splits of all GPUs into TP, CP, PP and DP each rule throws away; those that divide under ``""``."""
    sizes = [size for size in range(1, job.gpus + 1) if job.gpus % size == 0]
    found: Counter[str] = Counter()
    for tp in sizes:
        for cp in [size for size in sizes if job.gpus // tp % size == 0]:
            for pp in [size for size in sizes if job.gpus // (tp * cp) % size == 0]:
                found[reason(job, tp, cp, pp, job.gpus // (tp * cp * pp))] += 1
    return found


def median(repeats: int, action: Callable[[], object]) -> float:
    """Median processor time, seconds."""
    laps = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        laps.append(time.process_time() - start)
    return statistics.median(laps)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args(argv)
    layouts, splits = candidates(JOB), pruned(JOB)
    room = JOB.gpu_memory * (1 - JOB.reserve)
    fitting = [layout for layout in layouts if sum(layout_memory(layout, JOB)) <= room]

    def price_all() -> None:
        for layout in layouts:
            layout_memory(layout, JOB)
            step_time(layout, JOB)

    priced = median(options.repeats, price_all) / len(layouts)
    search = median(options.repeats, lambda: choose_layout(JOB))
    calls = search / (priced * len(layouts))
    whole = splits.pop("")
    row = {
        "gpus": JOB.gpus,
        "splits of the GPUs": whole + sum(splits.values()),
        **{f"pruned: {rule}": count for rule, count in splits.most_common()},
        "splits that divide": whole,
        "layouts (with ZeRO, chunks, recomputation)": len(layouts),
        "layouts that do not fit": len(layouts) - len(fitting),
        "best": str(choose_layout(JOB)),
        "search, ms": round(1e3 * search, 2),
        "one call of the model, us": round(1e6 * priced, 2),
        "search over one call per surviving layout": round(calls, 2),
        "aimed at": MOST_CALLS,
    }
    print(json.dumps(row, indent=1))
    return int(calls > MOST_CALLS)


if __name__ == "__main__":
    sys.exit(main())
