"""The worked examples of the capstone: each number that a text computes by hand is computed here."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest

from autograder.bank.ch15 import designs, survival
from experiments.ch15 import layout_steps, rename_steps, save_steps, small_stages
from rankzero.facts.models import LLAMA3_405B
from solutions.ch01.scale import training_time
from solutions.ch07.pipeline import bubble_fraction, bubble_overhead, pipeline_schedule
from solutions.ch15.checkpointing import checkpoint_write_time, optimal_checkpoint_interval
from solutions.ch15.failing_runs import simulate_run
from solutions.ch15.flops import training_flops
from solutions.ch15.llama_405b import STAGES
from solutions.ch15.run_plan import memory_per_stage
from tests.worked_examples import examples, missing, texts

WEIGHTS = training_flops(1, [(1, 8)]) * 1000
SQUARE, HALF = (training_flops(0, [(1, 8)], 1, 10, causal) for causal in (False, True))
STEP = training_flops(1_000_000, [(8 * 4 * 1000, 1)])
PARTNERS = layout_steps.partners(layout_steps.CHOSEN)
STAGE = small_stages.stages()[1]
SHAPE = small_stages.SHAPE
(ROW,) = (row for row in STAGES if row.name == "B")


def rate(every: float) -> float:
    """Percent of the time, for a save of 1 minute and a failure every 50."""
    return 100 * (1 / every + every / 2 / 50)


def kept() -> float:
    """Bytes that a layer of the small model keeps for one token."""
    return STAGE["activations"] / (2 * 3 * small_stages.TOKENS)


COMPUTED = {
    "model-example": [
        f"6 · 1,000 · 20 = {training_flops(1000, [(20, 8)]):,.0f} FLOP",
        f"12 · 10 · 8 = {SQUARE:.0f} FLOP per token",
        f"pays {HALF:.0f}, which is {HALF / WEIGHTS:.0%}".replace("%", " percent of the weights' 6 · 1,000"),
    ],
    "batch-example": [
        f"{8 * 4 * 1000:,} tokens per step",
        f"so a run of 1.6 million tokens takes {1_600_000 // 32_000} steps",
        f"which is {STEP / 1e9:.0f} GFLOP",
        f"a step takes {1000 * training_time(STEP, 8, 1e12, 0.4):.0f} ms, and the run {50 * 0.06:g} seconds",
    ],
    "layout-example": [
        "GPU 5 has the places TP {TP}, CP {CP}, PP {PP} and DP {DP}".format(**layout_steps.coordinates(5)),
        "GPU {TP} in TP, {CP} in CP, {PP} in PP, and {DP} in DP".format(**PARTNERS),
        f"2 · 2 · 2 · 2 = {layout_steps.GPUS}",
        f"{ROW.tp} · {ROW.cp} · {ROW.pp} · {ROW.dp} = {ROW.ranks:,}",
    ],
    "memory-example": [
        f"Its two layers have {STAGE['parameters'] / 2:.0f} parameters",
        f"2 bytes each, {STAGE['parameters']:.0f}",
        f"16 · 304 / 2 = {STAGE['states']:,.0f}",
        f"16 + 8 + 4 + 32 = {kept() / 2:.0f} numbers, {kept():.0f} bytes",
        f"2 layers · 3 micro-batches · 10 tokens · 120 bytes = {STAGE['activations']:,.0f}",
    ],
    "checkpoint-example": [
        f"10 · (4 + 8) = {10 * 12} bytes, or {10 * 14} with",
        f"140 / 35 = {checkpoint_write_time(10, 14, 4, 20, 35):g} seconds",
    ],
    "failures-example": [
        "spends {checkpoint:g} minutes on saves and loses {lost:g} minutes of work".format(**save_steps.spent(4)),
        "it loses only {lost:g} but spends {checkpoint:g} on saves".format(**save_steps.spent(2)),
        f"it loses all of its work, {save_steps.spent(8)['lost']:g} minutes",
        f"Together that is {rate(10):.0f} percent",
        f"1/5 + 2.5/50 = {rate(5):.0f} percent, and so does one every 20 minutes: 1/20 + 10/50",
    ],
    "crash-example": [
        f"`draft-16`: {rename_steps.DISK[1]['draft-16']} of its {rename_steps.RANKS} files are whole",
        f"resumes from step {rename_steps.newest(1).removeprefix('step-')}",
        f"resumed from step {rename_steps.newest(3).removeprefix('step-')}",
    ],
}
LOST = simulate_run(100, 30, 5, 10, [50])


def rough(stall: float, flush: float) -> float:
    """Percent lost, to first order, at Young's interval and with a failure every 1,000 s."""
    interval = optimal_checkpoint_interval(stall, 1000, "young")
    return 100 * (stall / interval + (interval / 2 + flush) / 1000)


#: The milestone's example: saved every 3 steps, killed in the middle of step 8.
KILLED, SAVED = 8, [step for step in range(1, 8) if step % 3 == 0]

COMPUTED |= {
    "milestone-example": [
        "On the disk are " + " and ".join(f"`step-{step}`" for step in SAVED),
        f"resumes from step {SAVED[-1]} and repeats {KILLED - SAVED[-1]} steps, 7 and 8",
        f"starts from scratch and repeats {KILLED} steps",
        f"still has `step-{SAVED[0]}` repeats {KILLED - SAVED[0]}",
    ],
    "parameters-example": [
        f"2 · 4 · 4 = {2 * 4 * 4} weights, keys and values 2 · 4 · 2 = {2 * 4 * 2}",
        f"3 · 4 · 8 = {3 * 4 * 8}",
        f"A layer has {STAGE['parameters'] / 2 / 2:.0f} parameters",
    ],
    "bubble-example": [
        f"3 / (2 · 4) = {100 * bubble_overhead(4, 4, 2):g} percent",
        f"or {100 * bubble_fraction(4, 4, 2):.0f} percent",
    ],
    "async-example": [
        f"Young's interval is {optimal_checkpoint_interval(20, 1000, 'young'):.0f} s",
        f"= {rough(20, 0):.0f} percent",
        f"the interval is {optimal_checkpoint_interval(5, 1000, 'young'):.0f} s",
        f"= {rough(5, 15):g} percent",
    ],
    "simulation-example": [
        f"after {LOST['lost']:g} s, which are lost",
        f"the run ends after {LOST['wall']:g} s",
    ],
}
FOUND = examples("15-capstone") | examples("deeper/15-capstone-deeper")


@pytest.mark.parametrize("name", COMPUTED)
def test_the_numbers_of_an_example(name):
    """Kills a number that is typed and wrong."""
    assert missing(FOUND[name], COMPUTED[name]) == []


def test_every_example_is_computed():
    assert FOUND.keys() == COMPUTED.keys()


def test_the_best_interval_of_the_example():
    """The middle one of three is Young's; the other two are equally bad."""
    assert rate(5) == rate(20)
    assert math.sqrt(2 * 1 * 50) == 10


def test_rounded_speeds_allow_the_ratio_of_the_bubble():
    """Section 15.3 says how far the two printed speeds, and the two utilizations, may be from each other."""
    low, high = 395 / 435, 405 / 425
    assert f"{low:.2f} to {high:.2f}" == "0.91 to 0.95"
    assert low < (1 + bubble_overhead(16, 32, 8)) / (1 + bubble_overhead(16, 16, 8)) < high
    assert f"{41 / 43:.3f}" == "0.953"


def test_chunks_keep_every_micro_batch_in_flight():
    """Section 15.4: on ranks 0 to 7 of 16, all 16 micro-batches have passed all 8 chunks before one is done."""
    peaks = []
    for order in pipeline_schedule("interleaved", 16, 16, 8):
        held = accumulate(1 if "F" in operation else -1 for operation in order)
        peaks.append(max(held))
    assert peaks[:8] == [8 * 16] * 8
    assert max(peaks[8:]) < 8 * 16


def test_the_speed_outside_the_bubble():
    """Section 15.6 states it for the design."""
    assert f"{designs.efficiency():.0%}" == "46%"
    idle = designs.overhead(8)
    assert 0.5 < idle / (1 + idle) < 0.55


def test_the_small_pipeline():
    """By hand: the kinds of numbers that a layer keeps; and the published shape by the same function."""
    numbers = 4 * SHAPE.hidden + 2 * SHAPE.heads * SHAPE.head_dim + 2 * SHAPE.kv_heads * SHAPE.head_dim + 4 * SHAPE.ffn
    assert kept() == 2 * numbers
    assert [sum(parts.values()) for parts in small_stages.bars().values()] == [
        row["total"] for row in small_stages.stages()
    ]
    fullest = memory_per_stage(LLAMA3_405B, [7, *[8] * 14, 7], 8, 1, 128, 16, 8192)
    assert max(range(16), key=lambda stage: fullest[stage]["total"]) == 1


def test_what_the_last_level_allows():
    """Section 15.8 tells how many files and bytes pass."""
    text = texts("15-capstone")["milestone-levels"]
    assert survival.KEEP == 2
    assert f"limits the disk to {('two', 'three')[survival.KEEP - 1]} files (two whole checkpoints" in text
    assert f"a run's writes to {survival.SLACK:g} times the bytes of all its required checkpoints" in text
