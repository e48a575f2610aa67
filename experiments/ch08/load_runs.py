"""Requests that arrive at random in the simulator, at different loads. Standard library only."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from random import Random

from rankzero.sim import batching
from solutions.ch08.serving import workload


@dataclass(frozen=True)
class Load:
    """A simulation with random arrivals at one rate. Times are in steps, the rate is per step.

    Attributes:
        offered: the work that arrives, over the work that all slots can do.
        rate: arrivals.
        inside: mean number of requests inside, in the queue or in slots, over time.
        time: mean time inside.
        throughput: tokens per step, from step 0 to the last finish.
    """

    offered: float
    rate: float
    inside: float
    time: float
    throughput: float


def load_at(offered: float, slots: int = 8, requests: int = 10_000, seed: int = 8) -> Load:
    """Simulate the chapter's workload with random arrivals that offer this share of what the slots can do."""
    lengths = workload(requests, seed=seed)
    rate = offered * slots / statistics.fmean(lengths)
    run = batching.continuous(lengths, slots, batching.poisson_arrivals(rate, requests, Random(seed)))
    law = batching.little(run)
    return Load(offered, law.rate, law.inside, law.time, run.tokens / run.makespan)
