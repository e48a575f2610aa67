"""Chapter 7: ``choose_layout``, choosing a layout."""

from __future__ import annotations

import functools
from dataclasses import replace
from random import Random

from autograder.bank.ch07.shared import BIG, DENSE, MIDDLE
from autograder.bank.groups import listed
from autograder.items import Build, Case, Group, Promise, Slip, lazily
from rankzero.facts.layouts import Job, Layout
from rankzero.facts.models import LLAMA2_13B, LLAMA3_8B, LLAMA3_70B, LLAMA3_405B, MIXTRAL_8X7B
from rankzero.facts.units import GB

layout = lazily("solutions.ch07.layout")


def _job(rng: Random) -> Job:
    model = rng.choice((*DENSE, LLAMA3_70B, MIXTRAL_8X7B))
    gpus = rng.choice((4, 8, 16))
    memory = rng.choice((24, 40, 80, 80, 141)) * GB
    network, reserve = rng.choice((12.5, 25.0, 50.0)) * GB, rng.choice((0.05, 0.1, 0.2))
    batch = gpus * rng.choice((2, 4, 8))
    job = Job(model, gpus, batch, rng.choice((2048, 4096, 8192)), gpu_memory=memory, network_bandwidth=network)
    return replace(job, reserve=reserve)


@functools.lru_cache(maxsize=1024)
def _priced(job: Job) -> tuple[Layout | None, dict[Layout, tuple[float, float, float]]]:
    """The best layout (None if two are too close or none fits), and each layout's state bytes, total bytes and time."""
    rows = {}
    for candidate in layout.candidates(job):
        states, activations = layout.layout_memory(candidate, job)
        rows[candidate] = (states, states + activations, layout.step_time(candidate, job))
    times = [time for _, memory, time in rows.values() if memory <= job.gpu_memory * (1 - job.reserve)]
    near = [time for time in times if 1e-9 < time / min(times) - 1 < 1e-6]
    return (layout.choose_layout(job) if times and not near else None), rows


def _telling(rng: Random, which: int) -> Case:
    """A job on which one of the mistakes leads elsewhere, and the fastest layout of all does not fit."""
    while True:
        job = _job(rng)
        best, rows = _priced(job)
        if best is None:
            continue
        room, time = job.gpu_memory * (1 - job.reserve), rows[best][2]
        tests = (
            min(row[2] for row in rows.values() if row[0] <= room) < 0.999 * time,
            min(row[2] for row in rows.values() if row[1] <= job.gpu_memory) < 0.999 * time,
            [one for one, row in rows.items() if row[1] <= room and row[2] <= time * (1 + 1e-9)][-1] != best,
        )
        if tests[which] and min(row[2] for row in rows.values()) < 0.999 * time:
            return Case((job,))


#: Jobs of which a faster network makes another layout best: one that splits less, one with more chunks.
TURNING = (
    Job(LLAMA3_70B, 16, 128, 8192, reserve=0.05),
    Job(LLAMA2_13B, 16, 32, 2048, gpu_memory=24 * GB, reserve=0.05),
)


def _near_tie(rng: Random, job: Job, apart: float) -> Case:
    """Two layouts are best, and the one that wins a tie is slower by the share ``apart``."""
    job = replace(job, efficiency=rng.uniform(0.4, 0.7))

    def on(bandwidth: float) -> Job:
        return replace(job, network_bandwidth=bandwidth)

    slow, fast = 5 * GB, 100 * GB
    first = layout.choose_layout(on(slow))
    while fast - slow > 1e-6 * slow:
        middle = (slow + fast) / 2
        slow, fast = (middle, fast) if layout.choose_layout(on(middle)) == first else (slow, middle)
    winner, other = sorted((first, layout.choose_layout(on(fast))), key=_in_a_tie)
    near, far = (0.9 * slow, 1.1 * slow) if winner == first else (1.1 * slow, 0.9 * slow)
    for _ in range(60):
        middle = (near + far) / 2
        behind = layout.step_time(winner, on(middle)) / layout.step_time(other, on(middle)) - 1
        near, far = (middle, far) if behind < apart else (near, middle)
    return Case((on(near),))


def _in_a_tie(one: Layout) -> tuple[int, int, int]:
    return one.tp * one.cp * one.pp * one.ep, one.zero, one.virtual_stages


def _near_ties(rng: Random) -> list[Case]:
    return [_near_tie(rng, job, apart) for job in TURNING for apart in (5e-10, 2e-9)]


def _with_limit(rng: Random) -> Case:
    while True:
        job = _job(rng)
        limit = job.gpu_memory * rng.choice((0.5, 0.75, 2.0))
        best, other = _priced(job)[0], _priced(replace(job, gpu_memory=limit))[0]
        if best and other and best != other:
            return Case((job, limit))


def _too_large(rng: Random) -> Case:
    gpus = rng.choice((8, 16))
    return Case((Job(LLAMA3_405B, gpus, gpus * rng.choice((1, 4)), 4096),))


EXERCISE = Build(
    "07 layout.choose_layout",
    section="7.25",
    topic="choosing a layout",
    bonus=True,
    probe="ch07_layouts.chosen",
    cases=(
        Case((MIDDLE,)),
        Case((MIDDLE, 141 * GB)),
        Case((Job(MIXTRAL_8X7B, 64, 1024, 4096),)),
        Case((BIG,)),  # the Llama 3 report trains on TP 8, PP 16, DP 128
        Case((Job(LLAMA3_8B, 8, 512, 8192),)),
        Case((Job(LLAMA3_70B, 8, 1024, 4096),)),
    ),
    groups=(
        listed(
            "jobs",
            lambda rng: [_telling(rng, which) for which in (0, 1, 2, 0, 1, 2)],
            "Of the layouts whose states and activations fit, the one with the least time; then the order of ties.",
        ),
        listed(
            "near ties",
            _near_ties,
            "Times are equal when they agree within a relative 1e-9, and only then does the order of ties decide.",
        ),
        Group("another limit", _with_limit, 2, "The limit takes the place of the GPU's memory; the reserve stays."),
        Group("too large", _too_large, 1, "Where no layout fits, the answer is None."),
    ),
    slips=(
        Slip(
            "Its states alone fit, but activations need room, too.",
            edit=("sum(layout_memory(layout, job)) <= room", "layout_memory(layout, job)[0] <= room"),
        ),
        Slip(
            "That is the layout that splits least, not the fastest one.",
            edit=(
                "min(tied, key=_simplicity)",
                "min(fitting, key=lambda layout: (_simplicity(layout)[0], times[layout]))",
            ),
        ),
        Slip(
            "That is the first one that fits. Go on, and keep the fastest.",
            edit=("min(tied, key=_simplicity)", "fitting[0] if fitting else None"),
        ),
        Slip(
            "The fastest layout of all was chosen, and its memory was checked only afterward.",
            edits=(
                (
                    "[layout for layout in candidates(job) if sum(layout_memory(layout, job)) <= room]",
                    "candidates(job)",
                ),
                (
                    "return min(tied, key=_simplicity)",
                    "best = min(tied, key=_simplicity)\n"
                    "    return best if sum(layout_memory(best, job)) <= room else None",
                ),
            ),
        ),
        Slip(
            "The reserve was ignored: the job says which share of the memory stays free.",
            edit=(
                "(job.gpu_memory if limit is None else limit) * (1 - job.reserve)",
                "job.gpu_memory if limit is None else limit",
            ),
        ),
        Slip(
            "Of equally fast layouts the last was taken: the order of ties decides.",
            edit=(
                "min(tied, key=_simplicity)",
                "[layout for layout in fitting if times[layout] <= min(times.values()) * (1 + 1e-9)][-1]",
            ),
        ),
        Slip(
            "The limit was not used: it replaces the GPU's memory.",
            edit=("(job.gpu_memory if limit is None else limit)", "job.gpu_memory"),
        ),
    ),
    promises=(
        Promise(
            "Step times that agree within a relative 1e-9 are a tie: then the least product",
            edit=(" * (1 + 1e-9)", ""),
        ),
        Promise("Step times that agree within a relative 1e-9 are a tie", edit=(" * (1 + 1e-9)", " * (1 + 1e-10)")),
        Promise("Step times that agree within a relative 1e-9 are a tie", edit=(" * (1 + 1e-9)", " * (1 + 1e-8)")),
        Promise("the least product ``tp cp pp ep`` wins", edit=("return ways, layout.zero,", "return 0, layout.zero,")),
        Promise("then the least ``zero``", edit=("return ways, layout.zero,", "return ways, -layout.zero,")),
        Promise(
            "then ``virtual_stages``",
            edit=("layout.virtual_stages, layout.recompute", "-layout.virtual_stages, layout.recompute"),
        ),
        Promise(
            "bytes of one GPU in place of ``job.gpu_memory``",
            edit=("(job.gpu_memory if limit is None else limit)", "job.gpu_memory"),
        ),
        Promise("less the job's reserve", edit=(" * (1 - job.reserve)", "")),
        Promise(
            "or None when none fits",
            edit=(
                "        return None\n",
                "        return min(candidates(job), key=lambda one: sum(layout_memory(one, job)))\n",
            ),
        ),
    ),
)
