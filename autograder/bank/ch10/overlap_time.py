"""Chapter 10: ``overlap_time``, overlap scheduling."""

from __future__ import annotations

import math
from random import Random

from autograder.items import Build, Case, Group, Promise, Right, Slip
from rankzero.facts.units import ms


def _longer_compute(rng: Random) -> Case:
    schedule, post = rng.uniform(0.5, 5) * ms, rng.uniform(0.5, 5) * ms
    return Case((rng.randint(3, 60), schedule, (schedule + post) * rng.uniform(1.1, 4), post))


def _longer_cpu(rng: Random) -> Case:
    schedule, post = rng.uniform(1, 9) * ms, rng.uniform(1, 9) * ms
    return Case((rng.randint(3, 60), schedule, (schedule + post) * rng.uniform(0.3, 0.9), post))


def _few_steps(rng: Random) -> Case:
    return Case((rng.randint(0, 3), *(rng.uniform(0.1, 9) * ms for _ in range(3))))


def _few_steps_corners(rng: Random) -> list[Case]:
    times = [rng.uniform(0.1, 9) * ms for _ in range(3)]
    return [Case((steps, *times)) for steps in (0, 1, 2)] + [Case((rng.randint(2, 20), 0.0, times[0], 0.0))]


def _in_turn(rng: Random) -> Case:
    return Case((rng.randint(1, 60), *(rng.uniform(0, 9) * ms for _ in range(3))), {"overlap": False})


def rows_of_both(steps, schedule, compute, post, overlap=True):
    """Lists of the moments at which each step is launched, ended and processed."""
    if not overlap:
        return math.fsum([schedule, compute, post] * steps)
    launched, ended, processed = [], [], []
    for step in range(steps):
        if step > 1:
            processed.append(max(launched[-1], ended[-2]) + post)
        launched.append((processed[-1] if processed else launched[-1] if launched else 0.0) + schedule)
        ended.append(max(launched[-1], ended[-1] if ended else 0.0) + compute)
    if steps > 1:
        processed.append(max(launched[-1], ended[-2]) + post)
    return max(ended[-1], *processed, 0.0) + post if steps else 0.0


def in_milliseconds(steps, schedule, compute, post, overlap=True):
    from solutions.ch10.scheduling import overlap_time

    return overlap_time(steps, 1e3 * schedule, 1e3 * compute, 1e3 * post, overlap) / 1e3


EXERCISE = Build(
    "10 scheduling.overlap_time",
    section="10.17",
    bonus=True,
    topic="overlap scheduling",
    cases=(
        Case((20, 2 * ms, 10 * ms, 1 * ms)),
        Case((20, 2 * ms, 10 * ms, 1 * ms), {"overlap": False}),
        Case((1, 2 * ms, 10 * ms, 1 * ms)),
        Case((2, 2 * ms, 10 * ms, 1 * ms)),
        Case((20, 6 * ms, 5 * ms, 1 * ms)),
        Case((20, 6 * ms, 6 * ms, 2 * ms)),
        Case((100, 2 * ms, 5 * ms, 1 * ms)),
        Case((0, 2 * ms, 10 * ms, 1 * ms)),
    ),
    groups=(
        Group(
            "the device is the slower one",
            _longer_compute,
            6,
            "The CPU's work hides behind the device's, but for the ends.",
        ),
        Group(
            "the CPU is the slower one",
            _longer_cpu,
            6,
            "One CPU does both: it schedules a step and processes the one before.",
        ),
        Group("few steps", _few_steps, 6, "Draw the two rows for one step and for two.", _few_steps_corners),
        Group("in turn", _in_turn, 3, "Without overlap the three times of a step add up."),
    ),
    slips=(
        Slip(
            "Processing overlaps too: step N's results are read while step N+1 runs.",
            edit=(
                "max(cpu, device) + post",
                "schedule + (steps - 1) * max(schedule, compute) + compute + steps * post",
            ),
        ),
        Slip(
            "Scheduling and processing share one CPU: a step takes it the sum of both.",
            edit=("max(cpu, device) + post", "schedule + compute + post + (steps - 1) * max(schedule, compute, post)"),
        ),
        Slip(
            "The first schedule and the last processing have nothing to hide behind.",
            edit=("max(cpu, device) + post if steps else 0.0", "steps * max(compute, schedule + post)"),
        ),
        Slip(
            "Where the CPU is the slower side its steps hold the first schedule and the last processing already: "
            "follow both rows.",
            edit=("max(cpu, device) + post", "schedule + steps * max(compute, schedule + post) + post"),
        ),
        Slip(
            "That holds where compute is the longer side; otherwise the device waits for the CPU.",
            edit=("max(cpu, device) + post", "schedule + steps * compute + post"),
        ),
        Slip(
            "That is one after the other: the CPU processes the step *before* while the device computes.",
            edit=("max(cpu, device) + post if steps else 0.0", "steps * (schedule + compute + post)"),
        ),
    ),
    rights=(
        Right("lists of moments", program=rows_of_both),
        Right("in milliseconds", program=in_milliseconds),
    ),
    promises=(
        Promise("0 steps take no time", edit=("+ post if steps else 0.0", "+ post")),
        Promise(
            "Then the CPU processes the step *before*, as soon as the device has ended that one",
            edit=("cpu = max(cpu, previous) + post", "cpu = max(cpu, device) + post"),
        ),
        Promise(
            "Then the CPU processes the step *before*, as soon as the device has ended that one",
            edit=("cpu = max(cpu, previous) + post", "cpu = cpu + post"),
        ),
        Promise(
            "or when it has ended the step before",
            edit=("max(cpu, device) + compute", "cpu + compute"),
        ),
        Promise(
            "After the last step it waits for the device, and processes it.",
            edit=("return max(cpu, device) + post", "return max(cpu + post, device)"),
        ),
        Promise("without it the steps run in turn", edit=("    if not overlap:\n", "    if overlap is None:\n")),
    ),
)
