"""The worked examples of chapter 1: each number that a text computes by hand is computed here."""

from __future__ import annotations

import math

import pytest

from experiments.ch01.group_steps import MINE, SIZES, groups_of
from experiments.ch01.process_steps import UNITS, turns
from experiments.ch01.program_steps import heard, passed_on
from experiments.ch01.shard_steps import ORDER, RANKS, dealt, padded
from rankzero.facts.hardware import H100_SXM
from rankzero.facts.units import GB, TFLOP, day, hour
from solutions.ch01.ranks import coordinates, locate
from solutions.ch01.scale import compute_optimal, minimum_ranks, training_flops_per_token, training_time
from solutions.ch01.scaling import amdahl_speedup, gustafson_speedup, scaling_efficiency
from solutions.ch01.sharding import shard_indices
from tests.worked_examples import examples, missing

WORDS = {6: "six", 3: "three", 2: "two"}


def strides(sizes: dict[str, int]) -> dict[str, int]:
    """What one step along each axis skips, found from two ranks that differ in that coordinate alone."""
    found = {}
    for axis in sizes:
        wanted = dict.fromkeys(sizes, 0) | {axis: 1}
        found[axis] = next(r for r in range(math.prod(sizes.values())) if coordinates(r, sizes) == wanted)
    return found


def job(ranks: int) -> float:
    """Seconds of a job with 80 s of computing and 10 s of communication, as the page draws it."""
    return 80 / ranks + (10 if ranks > 1 else 0)


THREADS, PROCESSES = len(turns(shared=True)), len(turns(shared=False))
PLACE = coordinates(MINE, SIZES)
STEPS = strides(SIZES)
SUM = " + ".join(f"{PLACE[axis]} · {STEPS[axis]}" for axis in SIZES)
OTHER = {"dp": 2, "pp": 4, "tp": 2}
PATH = {
    "first-example": [f"Rank 3 ends up with {passed_on(4)[-1][3]}", "rank 1 keeps 1 and sends 2"],
    "lock-example": [
        f"{WORDS[THREADS]} units one after another, {10 * THREADS} ms",
        f"need {10 * PROCESSES} ms",
        f"Eight threads would need {10 * len(turns(True, workers=8))} ms, eight processes {10 * UNITS} ms",
    ],
    "hello-example": [f"0 + 1 + 2 = {heard(3)[-1].total}", "contributes the pair (20, 21)"],
    "meeting-example": [],
    "arithmetic-example": ["13 = {} · 8 + {}, node {} and device {}".format(*locate(13, 8), *locate(13, 8))],
    "groups-example": [
        f"a step along pp raises it by 2 · 2 = {STEPS['pp']}",
        f"Rank {MINE} is {SUM}",
        ", ".join(f"{axis} {PLACE[axis]}" for axis in SIZES),
        f"averages its gradients with rank {next(rank for rank in groups_of(MINE)['dp'] if rank != MINE)}",
    ],
    "shards-example": [
        f"first two samples, {padded()[-2]} and {padded()[-1]}",
        "samples {}, {} and {}".format(*dealt()[-1][1]),
        f"Every rank takes {WORDS[len(dealt()[-1][0])]}",
    ],
    "scaling-example": [
        f"80 / 8 = {80 / 8:g} s, and with the communication the job takes {job(8):g} s",
        f"80 / 20 = {job(1) / job(8):g}",
        f"efficiency** of {100 * scaling_efficiency(job(1), job(8), 8):.0f} percent",
        f"{80 / 16:g} + 10 = {job(16):g} s",
        f"80 + 10 = 90 s on two or more ranks, an efficiency of {100 * scaling_efficiency(80, 90, 8, weak=True):.0f}",
    ],
    "weight-example": [f"6 · 1,000 · 50 = {training_flops_per_token(1000) * 50:,.0f}"],
}
DEEPER = {
    "places-example": [
        "node {}, device {}".format(*locate(11, 8)),
        ", ".join(f"{axis} {place}" for axis, place in coordinates(11, SIZES).items()),
        "strides are {}, {} and {}".format(*strides(OTHER).values()),
        ", ".join(f"{axis} {place}" for axis, place in coordinates(11, OTHER).items()),
    ],
    "shards-example": [", ".join(str(shard_indices(2, 5, rank)[0]) for rank in range(5)), "nobody visits anything"],
    "speed-example": [
        f"5 + 95 / 20 = {5 + 95 / 20:g} s, a speed-up of {amdahl_speedup(0.05, 20):.1f}",
        f"= {100 * gustafson_speedup(0.05, 20):,.0f} s for that problem: a speed-up of {gustafson_speedup(0.05, 20):g}",
    ],
    "work-example": [f"cost {2 * 192} FLOP", f"4 · 6 · 4 = {4 * 6 * 4} on top, a quarter"],
    "plan-example": [
        f"does {0.4 * H100_SXM.peak_bf16 / TFLOP:.0f} TFLOP",
        f"{training_time(1.2e20, 1, H100_SXM.peak_bf16, 0.4) / hour:.0f} hours",
        f"take {training_time(1.2e20, 8, H100_SXM.peak_bf16, 0.4) / hour:.1f} hours",
    ],
    "tokens-example": [
        "{:.1f} billion parameters on {:.0f} billion".format(*(n / 1e9 for n in compute_optimal(1.2e21)))
    ],
    "memory-example": [
        f"exactly {WORDS[minimum_ranks(10e9, 80 * GB)]} devices",
        f"it takes {WORDS[minimum_ranks(10e9, 80 * GB, reserve=20 * GB)]}",
    ],
}
PAGES = {"01-first-program": PATH, "deeper/01-first-program-deeper": DEEPER}
CASES = [(page, name) for page, computed in PAGES.items() for name in computed]


@pytest.mark.parametrize(("page", "name"), CASES)
def test_the_numbers_of_an_example(page, name):
    """Kills a number that is typed and wrong."""
    assert missing(examples(page)[name], PAGES[page][name]) == []


@pytest.mark.parametrize("page", PAGES)
def test_every_example_is_computed(page):
    assert examples(page).keys() == PAGES[page].keys()


def test_what_the_examples_presuppose():
    assert shard_indices(2, 5, 0, drop_last=True) == []
    assert training_flops_per_token(192, 1, 4, 6) / training_flops_per_token(192) == pytest.approx(1.25)
    assert (len(ORDER), RANKS) == (10, 4)
    assert day == 24 * hour
