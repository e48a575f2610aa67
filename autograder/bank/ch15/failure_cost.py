"""The capstone: ``failure_cost``, cost of a failure."""

from __future__ import annotations

import math
from random import Random

from autograder.bank.ch15.shared import log
from autograder.items import Build, Case, Group, Right, Slip


def _struck(rng: Random) -> Case:
    mtbf = log(rng, 3600, 1e6)
    times = mtbf * rng.uniform(0.05, 1), mtbf * rng.uniform(0.005, 0.1), mtbf, mtbf * rng.uniform(0.01, 0.2)
    return Case((*times, rng.randint(2, 20_000), rng.choice((0.5, 2, 2.75, 12))))


def _long_segments(rng: Random) -> Case:
    mtbf = log(rng, 60, 3600)
    return Case((mtbf * rng.uniform(3, 600), mtbf, mtbf, rng.uniform(1, 900), rng.randint(2, 2000), 2))


def cost_as_printed(interval, checkpoint_time, mtbf, restart_time, gpus, price_per_gpu_hour):
    """``exp(l/M)`` overflows from 710 MTBFs on."""
    length = interval + checkpoint_time
    lost = mtbf - length / (math.exp(length / mtbf) - 1)
    return (lost + restart_time) / 3600 * gpus * price_per_gpu_hour


EXERCISE = Build(
    "cap checkpointing.failure_cost",
    section="15.22",
    topic="cost of a failure",
    bonus=True,
    cases=(
        Case((4115.142768, 98, 86_400, 120, 512, 2)),
        Case((249.6428, 2.840974, 11_135.0835, 600, 16_384, 2)),
        Case((1116.2915, 60, 11_135.0835, 600, 16_384, 2)),
    ),
    groups=(
        Group("one failure", _struck, 6, "The expected time since the last checkpoint, and the restart, on all GPUs."),
        Group("long segments", _long_segments, 3, "Segments longer than the MTBF: the loss nears the MTBF."),
    ),
    slips=(
        Slip(
            "A failure in the checkpoint loses the interval, too: the segment is t + C long.",
            edit=("mtbf * (1 - segment / math.expm1(segment))", "mtbf - interval / math.expm1(interval / mtbf)"),
        ),
        Slip(
            "Half a segment is the first order: failures strike early in a segment more often than late.",
            edit=("return (lost", "return ((interval + checkpoint_time) / 2"),
        ),
        Slip(
            "A failure loses half a segment on average, not a whole one.",
            edit=("return (lost", "return (interval + checkpoint_time"),
        ),
        Slip(
            "The whole job waits: every GPU is paid for.",
            edit=("(lost + restart_time) * gpus", "(lost + restart_time)"),
        ),
        Slip(
            "What is lost began at the last checkpoint, not at the last failure.",
            edit=("return (lost", "return (mtbf / 2"),
        ),
        Slip("The restart is missing.", edit=("(lost + restart_time) * gpus", "lost * gpus")),
    ),
    rights=(
        Right("the formula as it is printed", program=cost_as_printed),
        Right(
            "a hyperbolic tangent",
            edit=(
                "mtbf * (1 - segment / math.expm1(segment)) if segment < 700 else mtbf",
                "mtbf * (1 + segment / 2 - segment / 2 / math.tanh(segment / 2))",
            ),
        ),
        Right(
            "the mean of a truncated exponential",
            edit=(
                "mtbf * (1 - segment / math.expm1(segment)) if segment < 700 else mtbf",
                "mtbf * (1 + segment * math.exp(-segment) / math.expm1(-segment))",
            ),
        ),
    ),
)
