"""What the capstone's sections say, held against the course's own functions."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from dataclasses import fields
from itertools import accumulate

import nbformat

from autograder.bank.ch15 import design, survival
from experiments.ch15 import small_stages
from experiments.ch15.plan_sheet import Plan
from rankzero.facts import hardware, models, units
from rankzero.facts.chapters import CHAPTERS
from rankzero.facts.models import LLAMA3_70B, LLAMA3_405B
from solutions.ch07.pipeline import bubble_overhead, pipeline_schedule
from solutions.ch15.checkpointing import optimal_checkpoint_interval
from solutions.ch15.flops import training_flops
from solutions.ch15.run_plan import memory_per_stage, traffic_per_gpu
from tools.common import BOOK
from tools.prose_numbers import numbers

PAGE = BOOK / f"{CHAPTERS[-1].page}.ipynb"
STAGE = small_stages.stages()[1]
SHAPE = small_stages.SHAPE

#: What the page's reader builds and its sheet is filled with.
BUILT = (training_flops, traffic_per_gpu, memory_per_stage, optimal_checkpoint_interval)


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


#: The plan on the page, each field changed.
OTHER_PLANS = {
    "model": LLAMA3_70B,
    "tokens": 5e12,
    "gpus": 8192,
    "batch": 8192,
    "sequence": 4096,
    "tp": 4,
    "cp": 2,
    "pp": 8,
    "recompute": "full",
    "saved": 12,
    "interval": 60,
}


def filled_sheet(**changed) -> dict[str, str]:
    """What the cells of the page print in the column of another plan: values by row."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(PAGE, 4).cells if cell.cell_type == "code"}
    page = {
        **vars(units),
        "hardware": hardware,
        "models": models,
        "units": units,
        "plan": Plan(**{"batch": 4096} | changed),
    }
    page |= {function.__name__: function for function in BUILT}
    with redirect_stdout(io.StringIO()):
        for name, source in cells.items():
            if name in ("imports-course", "inputs") or "sheet.fill(" in source:
                exec(source, page)
    lines = page["sheet"].whole().splitlines()[2:]
    return {line[11:44].strip(): line[44:55].strip() for line in lines}


def test_every_row_of_the_sheet_hears_of_the_plan():
    """The page's first cell promises it: a field moves some row, and a row is moved by some field."""
    assert set(OTHER_PLANS) == {field.name for field in fields(Plan)}
    plain, moved = filled_sheet(), set()
    for name, value in OTHER_PLANS.items():
        changed = filled_sheet(**{name: value})
        mine = {what for what in plain if changed[what] != plain[what]}
        assert mine, name
        moved |= mine
    assert moved == set(plain)
    assert len(plain) > 20
