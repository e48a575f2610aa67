"""Chapter 1's models beside published runs. Standard library only."""

from __future__ import annotations

from rankzero.facts.units import hour, million
from solutions.ch01.scale import training_time

from ..comparison import Compared, Comparison
from . import published_runs

#: The utilization that the page assumes.
ASSUMED = 0.5

COMPARISONS = (
    Comparison(
        "1.9",
        "Device-hours of a training run, 6 FLOP per parameter and token at half of the peak",
        "ch01.scale.training_time",
        "measured",
        "; ".join(run.source for run in published_runs.RUNS),
        tuple(
            Compared(
                run.name,
                run.device_hours / million,
                training_time(run.work, 1, run.peak, ASSUMED) / hour / million,
                "million h",
            )
            for run in published_runs.RUNS
        ),
        "No run kept half of its peak: recomputation, attention and interruptions are left out.",
        "the order of magnitude of a run; put a measured utilization in for more",
    ),
)
