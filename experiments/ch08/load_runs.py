"""Requests that arrive at random in the simulator, at one load after another. Standard library only."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from random import Random

from rankzero.sim import batching
from solutions.ch08.serving import workload


@dataclass(frozen=True)
class Load:
    """Requests that arrive at random, at one rate, in the simulator. Times are in steps, the rate is of one step.

    Attributes:
        offered: work that arrives over work that all slots can do.
        rate: arrivals.
        inside: mean over time of the number inside, queue and slots.
        time: mean time inside.
        throughput: tokens per step, from step 0 to the last finish.
    """

    offered: float
    rate: float
    inside: float
    time: float
    throughput: float


def load_at(offered: float, slots: int = 8, requests: int = 10_000, seed: int = 8) -> Load:
    """The lengths of the chapter's workload, arriving at random with ``offered`` of what the slots can do."""
    lengths = workload(requests, seed=seed)
    rate = offered * slots / statistics.fmean(lengths)
    run = batching.continuous(lengths, slots, batching.poisson_arrivals(rate, requests, Random(seed)))
    law = batching.little(run)
    return Load(offered, law.rate, law.inside, law.time, run.tokens / run.makespan)
