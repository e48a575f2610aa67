"""Chapter 10: ``graph_time``, graphs."""

from __future__ import annotations

import itertools
from random import Random

from autograder.bank.ch10.shared import kernels
from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import us


def _recorded(rng: Random) -> Case:
    return Case((kernels(rng, 0, 500), rng.uniform(1, 50) * us))


def _nothing_recorded(rng: Random) -> Case:
    return Case(([], rng.uniform(1, 50) * us))


def kernel_after_kernel(kernel_times, replay_time):
    *_, end = itertools.accumulate(kernel_times, initial=replay_time)
    return end if kernel_times else 0.0


EXERCISE = Build(
    "10 scheduling.graph_time",
    section="10.14",
    bonus=True,
    topic="graphs",
    cases=(
        Case(([2 * us] * 500, 10 * us)),
        Case(([10 * us] * 500, 10 * us)),
        Case(([100 * us] * 5, 10 * us)),
        Case(([], 10 * us)),
    ),
    groups=(
        Group("graphs", _recorded, 8, "One launch for all kernels, and then kernel after kernel."),
        Group("no kernels", _nothing_recorded, 3, "Without kernels there is nothing to launch."),
    ),
    slips=(
        Slip(
            "The graph is launched once, not once for each kernel.",
            edit=(
                "replay_time + sum(kernel_times) if kernel_times else 0.0",
                "len(kernel_times) * replay_time + sum(kernel_times)",
            ),
        ),
        Slip(
            "A graph takes the launches away, not the kernels: they still run.",
            edit=("replay_time + sum(kernel_times)", "replay_time"),
        ),
        Slip(
            "The first kernel waits for the launch of the graph: the two add up.",
            edit=("replay_time + sum(kernel_times)", "max(replay_time, sum(kernel_times))"),
        ),
        Slip(
            "Without kernels there is no graph to launch.",
            edit=("replay_time + sum(kernel_times) if kernel_times else 0.0", "replay_time + sum(kernel_times)"),
        ),
    ),
    rights=(
        Right("kernel after kernel", program=kernel_after_kernel),
        Right("summed in one go", edit=("replay_time + sum(kernel_times)", "sum([*kernel_times, replay_time])")),
    ),
    promises=(
        Promise("Without kernels the time is 0.", edit=(" if kernel_times else 0.0", "")),
        Promise(
            "one launch for all, then each right after the one before",
            edit=("replay_time + sum(kernel_times)", "max(replay_time, sum(kernel_times))"),
        ),
    ),
)
