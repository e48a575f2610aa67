"""How long the advisor searches for 16,384 GPUs, and what it throws away: ``python -m benchmarks.layout_advisor``.

The search must cost no more than pricing each layout that divides some hundred times over; it prices each once. The
report says how many splits of the GPUs were pruned by which rule, and how many layouts did not fit.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence

from benchmarks._rows import Row, arguments, finish
from experiments.ch07.layout_search import search
from rankzero.facts.layouts import Job
from rankzero.facts.models import LLAMA3_405B
from solutions.ch07.layout import candidates, choose_layout, layout_memory, step_time

#: What is aimed at: search time over one call of the memory and time model for each surviving layout.
MOST_CALLS = 200.0
JOB = Job(LLAMA3_405B, 16_384, 2048, 8192)


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
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args(argv)
    layouts, found = candidates(JOB), search(JOB)

    def price_all() -> None:
        for layout in layouts:
            layout_memory(layout, JOB)
            step_time(layout, JOB)

    priced = median(options.repeats, price_all) / len(layouts)
    searched = median(options.repeats, lambda: choose_layout(JOB))
    calls = searched / (priced * len(layouts))
    row = {
        "gpus": JOB.gpus,
        "splits of the GPUs": found.splits,
        **{f"pruned: {rule}": count for rule, count in found.pruned.items()},
        "splits that divide": found.splits - sum(found.pruned.values()),
        "layouts (with ZeRO, chunks, recomputation)": found.layouts,
        "layouts that do not fit": found.too_large,
        "best": str(found.best),
        "search, ms": round(1e3 * searched, 2),
        "one call of the model, us": round(1e6 * priced, 2),
        "search over one call per surviving layout": round(calls, 2),
        "aimed at": MOST_CALLS,
    }
    print(json.dumps(row, indent=1))
    best = Row(
        f"best of {found.layouts:,} layouts for {JOB.gpus:,} GPUs",
        *(1e3 * searched, "ms", "one call of the model for each layout", 1e3 * priced * len(layouts)),
        fair="The same layouts; the search needs no time of a layout that does not fit.",
        most=MOST_CALLS,
        goal="ratio",
    )
    return finish([best], options)


if __name__ == "__main__":
    sys.exit(main())
