"""Chapter 1: ``training_time``, time of a training run."""

from __future__ import annotations

from random import Random

from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Right, Slip
from rankzero.facts.hardware import A100_SXM, H100_SXM
from rankzero.facts.units import TFLOP


def _run(rng: Random) -> Case:
    flops = 6 * 10 ** rng.uniform(6, 12.3) * 10 ** rng.uniform(8, 13.6)
    return Case((flops, rng.randint(2, 32_768), rng.uniform(50, 2500) * TFLOP, rng.uniform(0.05, 0.95)))


def _plain_run(rng: Random) -> list[Case]:
    """One device, the whole peak, no work."""
    flops = 10 ** rng.uniform(18, 25)
    return [
        Case((flops, 1, A100_SXM.peak_bf16, rng.uniform(0.1, 0.9))),
        Case((flops, rng.randint(2, 4096), H100_SXM.peak_bf16, 1.0)),
        Case((0.0, rng.randint(1, 4096), H100_SXM.peak_bf16, 0.5)),
    ]


EXERCISE = Build(
    "01 scale.training_time",
    section="1.15",
    topic="time of a training run",
    bonus=True,
    cases=(
        Case((8 * 175e9 * 300e9, 1024, 140 * TFLOP, 1.0)),  # Narayanan et al. (2021) estimate 34 days
        Case((8 * 1e12 * 450e9, 3072, 163 * TFLOP, 1.0)),  # and 84 days
        Case((6 * 405e9 * 15.6e12, 16_384, 989.4 * TFLOP, 0.40)),
    ),
    groups=(
        Group("runs", _run, 6, "The work is shared by all devices, each at its share of the peak."),
        listed("one device, whole peak", _plain_run, "There may be one device, its whole peak, or nothing to do."),
    ),
    slips=(
        Slip(
            "The time was multiplied by the utilization: a lower one takes longer.",
            edit=("flops / (ranks * peak * utilization)", "flops / (ranks * peak) * utilization"),
        ),
        Slip(
            "The utilization was left out: no run sustains the peak.",
            edit=("ranks * peak * utilization", "ranks * peak"),
        ),
        Slip(
            "The peak was doubled: data sheets print it for sparse matrices, the argument is dense.",
            edit=("ranks * peak", "ranks * 2 * peak"),
        ),
        Slip("That is the time of all devices together: they work side by side.", edit=("ranks * peak", "peak")),
        Slip(
            "The time is in hours: seconds are asked for.",
            edit=("flops / (ranks * peak * utilization)", "flops / (ranks * peak * utilization) / 3600"),
        ),
        Slip(
            "The time is in days: seconds are asked for.",
            edit=("flops / (ranks * peak * utilization)", "flops / (ranks * peak * utilization) / 86_400"),
        ),
    ),
    rights=(
        Right("the rate first", edit=("flops / (ranks * peak * utilization)", "flops / (peak * utilization * ranks)")),
        Right(
            "a device's share first",
            edit=("flops / (ranks * peak * utilization)", "flops / ranks / peak / utilization"),
        ),
    ),
)
