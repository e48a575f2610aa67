"""How long a pipeline takes to simulate: ``python -m benchmarks.schedule_simulator``.

Time must grow linearly with stages and with micro-batches, and stay near that of looking at every operation once. All
figures are ratios of processor times measured in one run, taking turns, so that a busy machine meets all of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence

from benchmarks._rows import Row, arguments, finish
from benchmarks._timing import medians
from solutions.ch07.pipeline import pipeline_schedule, simulate_schedule

#: What is aimed at: growth when one size doubles, and time over one pass over as many tuples.
MOST_GROWTH, MOST_RATIO = 2.3, 100.0
STAGES, MICROBATCHES = 64, 1024
DURATIONS = {"F": 1.0, "B": 2.0}


def simulation(stages: int, microbatches: int) -> Callable[[], object]:
    """Simulates 1F1B; its orders are made beforehand."""
    orders = pipeline_schedule("1f1b", stages, microbatches)
    return lambda: simulate_schedule(orders, DURATIONS)


def one_pass(stages: int, microbatches: int) -> Callable[[], object]:
    """Reads the three fields of as many tuples as there are operations, and adds up what each one takes."""
    ops = [(stage, kind, i) for stage in range(stages) for i in range(microbatches) for kind in "FB"]

    def run() -> float:
        total = 0.0
        for stage, kind, microbatch in ops:
            if stage >= 0 and microbatch >= 0:
                total += DURATIONS[kind]
        return total

    return run


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; exit status 1 when a figure is missed."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(argv)
    whole, half_stages, half_batches, passed = medians(
        options.repeats,
        simulation(STAGES, MICROBATCHES),
        simulation(STAGES // 2, MICROBATCHES),
        simulation(STAGES, MICROBATCHES // 2),
        one_pass(STAGES, MICROBATCHES),
    )
    growths = {"stages": whole / half_stages, "micro-batches": whole / half_batches}
    row = {
        "operations": 2 * STAGES * MICROBATCHES,
        "simulation, ms": round(1e3 * whole, 1),
        "one pass over as many tuples, ms": round(1e3 * passed, 2),
        "ratio": round(whole / passed, 1),
        "ratio aimed at": MOST_RATIO,
        "growth with twice the stages": round(growths["stages"], 2),
        "growth with twice the micro-batches": round(growths["micro-batches"], 2),
        "growth aimed at": MOST_GROWTH,
    }
    print(json.dumps(row, indent=1))
    simulated = Row(
        f"1F1B of {STAGES} stages and {MICROBATCHES:,} micro-batches",
        *(1e3 * whole, "ms", "one plain pass over as many tuples", 1e3 * passed),
        fair="Every operation has to be looked at once, in the same process, in turns.",
        most=MOST_RATIO,
        goal="ratio",
        missed_by="Most goes into its own loop over the operations and into the check of the orders.",
    )
    doubled = [
        Row(
            f"the same beside half of the {name}",
            *(1e3 * whole, "ms", f"half of the {name}", 1e3 * half),
            fair="Half of the operations: time must grow linearly.",
            most=MOST_GROWTH,
            goal="ratio",
        )
        for name, half in (("stages", half_stages), ("micro-batches", half_batches))
    ]
    return finish([simulated, *doubled], options)


if __name__ == "__main__":
    sys.exit(main())
