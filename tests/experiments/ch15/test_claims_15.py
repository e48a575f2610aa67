"""What the capstone's sections say, held against the course's own functions."""

from __future__ import annotations

from itertools import accumulate

import nbformat

from autograder.bank.ch15 import design, survival
from experiments.ch15 import small_stages
from rankzero.facts.chapters import CHAPTERS
from rankzero.facts.models import LLAMA3_405B
from solutions.ch07.pipeline import bubble_overhead, pipeline_schedule
from solutions.ch15.run_plan import memory_per_stage
from tools.common import BOOK
from tools.prose_numbers import numbers

PAGE = BOOK / f"{CHAPTERS[-1].page}.ipynb"
STAGE = small_stages.stages()[1]
SHAPE = small_stages.SHAPE


def test_rounded_speeds_allow_the_ratio_of_the_bubble():
    """Section 15.3 says how far the two printed speeds, and the two utilizations, may be from each other."""
    assert 395 / 435 < (1 + bubble_overhead(16, 32, 8)) / (1 + bubble_overhead(16, 16, 8)) < 405 / 425


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
    assert f"{design.efficiency():.0%}" == "46%"
    idle = design.overhead(8)
    assert 0.5 < idle / (1 + idle) < 0.55


def test_the_small_pipeline():
    """By hand: the kinds of numbers that a layer keeps; and the published shape by the same function."""
    kinds = 4 * SHAPE.hidden + 2 * SHAPE.heads * SHAPE.head_dim + 2 * SHAPE.kv_heads * SHAPE.head_dim + 4 * SHAPE.ffn
    assert STAGE["activations"] / (2 * 3 * small_stages.TOKENS) == 2 * kinds
    assert [sum(parts.values()) for parts in small_stages.bars().values()] == [
        row["total"] for row in small_stages.stages()
    ]
    fullest = memory_per_stage(LLAMA3_405B, [7, *[8] * 14, 7], 8, 1, 128, 16, 8192)
    assert max(range(16), key=lambda stage: fullest[stage]["total"]) == 1


def test_what_the_last_level_allows():
    """Section 15.8 tells how many files and bytes pass: two whole checkpoints and a draft, 1.5 times the bytes."""
    (text,) = (cell.source for cell in nbformat.read(PAGE, 4).cells if cell["id"] == "milestone-levels")
    assert survival.KEEP == 2
    assert survival.SLACK in [number.value for number in numbers(text)]
