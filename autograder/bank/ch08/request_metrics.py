"""Chapter 8: ``request_metrics``, latencies of a request."""

from __future__ import annotations

import itertools
import statistics
from itertools import accumulate
from random import Random

from autograder.items import Build, Case, Group, Right, Slip


def _times(rng: Random, least: int = 2, most: int = 50) -> tuple[float, list[float]]:
    arrival = round(rng.uniform(0.5, 100), 3)
    gaps = [rng.uniform(0.01, 2)] + [rng.choice((0.0, rng.uniform(0.01, 0.5))) for _ in range(rng.randint(least, most))]
    return arrival, [arrival + passed for passed in accumulate(gaps[:-1])]


def _one_token(rng: Random) -> Case:
    arrival = round(rng.uniform(0.5, 100), 3)
    return Case((arrival, [arrival + rng.uniform(0, 3)]))


def metrics_from_gaps(arrival, token_times):
    from solutions.ch08.serving import RequestMetrics

    times = [arrival, *token_times]
    ttft, *itls = (later - earlier for earlier, later in itertools.pairwise(times))
    return RequestMetrics(ttft, statistics.fmean(itls) if itls else None, ttft + sum(itls), tuple(itls))


EXERCISE = Build(
    "08 serving.request_metrics",
    section="8.15",
    topic="latencies of a request",
    bonus=True,
    cases=(
        Case((10.0, [10.25, 10.30, 10.36, 10.41, 10.75])),
        Case((0, [0.4])),
        Case((1.0, [1.5, 1.5, 2.0])),
    ),
    groups=(
        Group(
            "requests", lambda rng: Case(_times(rng)), 6, "TTFT from the arrival; TPOT over the gaps, not the tokens."
        ),
        Group("one token", _one_token, 3, "One token has no gap: `tpot` is None, `itls` is empty."),
    ),
    slips=(
        Slip(
            "TPOT leaves the first token out: it is the mean gap, not end-to-end over tokens.",
            edit=("(last - first) / len(itls)", "(last - arrival) / len(token_times)"),
        ),
        Slip(
            "TPOT is the mean of n - 1 gaps: n tokens have no more between them.",
            edit=("(last - first) / len(itls)", "(last - first) / len(token_times)"),
        ),
        Slip(
            "TTFT and end-to-end time count from the arrival of the request.",
            edits=(("ttft=first - arrival", "ttft=first"), ("e2e=last - arrival", "e2e=last")),
        ),
        Slip(
            "The wait for the first token is TTFT, not an inter-token latency.",
            edit=("itls=itls)", "itls=(first - arrival, *itls))"),
        ),
        Slip("With one token there is no gap to average: None, not 0.", edit=("if itls else None", "if itls else 0.0")),
        Slip(
            "End-to-end starts at the arrival: the user waited for the first token too.",
            edit=("e2e=last - arrival", "e2e=last - first"),
        ),
    ),
    rights=(
        Right("everything from the gaps", program=metrics_from_gaps),
        Right(
            "times counted from the arrival",
            edit=(
                "    first, last = token_times[0], token_times[-1]\n",
                "    token_times = [time - arrival for time in token_times]\n"
                "    arrival, first, last = 0.0, token_times[0], token_times[-1]\n",
            ),
        ),
    ),
)
