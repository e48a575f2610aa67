"""The chapter's formulas beside what others measured: the claims of the page about both."""

from __future__ import annotations

import pytest

from experiments.ch07.published import GPIPE_SPEEDUPS, LLAMA3_405B, MEMORY, ONE_F_ONE_B
from solutions.ch07.pipeline import bubble_fraction
from solutions.ch07.pipeline_charts import pipeline_chart
from solutions.ch15.llama_405b import STAGES


@pytest.mark.parametrize("run", ONE_F_ONE_B, ids=lambda run: run.model)
def test_more_micro_batches_gain_what_the_idle_time_says(run):
    """Qi et al., table 4: the throughput grows as the useful share of the time does."""
    first, *others = run.samples_per_second
    for m in others:
        measured = run.samples_per_second[m] / run.samples_per_second[first]
        useful = [1 - bubble_fraction(run.stages, count) for count in (m, first)]
        assert useful[0] / useful[1] == pytest.approx(measured, rel=0.02)


def test_gpipe_gains_from_stages_only_with_micro_batches():
    """Huang et al., table 2: within a tenth of the formula at 32 micro-batches, above it at 4, hardly a gain at one."""
    for (stages, m), speedup in GPIPE_SPEEDUPS.items():
        if m == 32:
            assert stages * (1 - bubble_fraction(stages, m)) == pytest.approx(speedup, rel=0.09)
        elif m == 4:
            assert speedup > stages * (1 - bubble_fraction(stages, m))
        else:
            assert speedup < 1.31


def test_interleaving_never_saves_memory():
    assert all(interleaved > plain for plain, interleaved in MEMORY.values())
    assert MEMORY.keys() == {run.model for run in ONE_F_ONE_B}


def test_chunks_hold_more_the_fewer_they_are():
    """The page: with two chunks a rank holds more activations than with four."""
    held = {v: pipeline_chart("interleaved", 4, 12, v).peaks[0] for v in (2, 4)}
    assert held == {v: 4 + (4 - 1) / v for v in held}


def test_a_boundary_takes_a_third_of_the_all_reduces_time():
    """The page: over links nine times slower. A stage of 8 layers has 4 all-reduces each, on 8 ranks."""
    inside, boundary = 8 * 4 * 2 * 7 / 8 / 450, 2 / 50
    assert (450 / 50, round(inside / boundary)) == (9, 3)


def test_llamas_utilization_falls_as_eight_chunks_would_have_it():
    """Only the largest number of chunks comes within a percent of the published ratio; without chunks it is far off."""
    (_, before, high), (_, now, low) = LLAMA3_405B
    ratios = {v: (1 - bubble_fraction(16, now, v)) / (1 - bubble_fraction(16, before, v)) for v in (1, 2, 4, 8)}
    errors = {v: ratio / (low / high) - 1 for v, ratio in ratios.items()}
    assert abs(errors[8]) < 0.01
    assert errors[1] < -0.2
    assert min(errors, key=lambda v: abs(errors[v])) == 8


def test_the_capstone_prints_the_same_rows():
    rows = {(row.gpus, row.batch_per_dp, row.mfu) for row in STAGES}
    assert set(LLAMA3_405B) <= rows


@pytest.mark.parametrize("stages", [4, 8, 16])
def test_the_zero_bubble_row_of_dualpipes_table_is_that_of_zb_h1(stages):
    """DeepSeek's table, B a whole backward: (p - 1)(F + B) for 1F1B, (p - 1)(F + B - 2W) with equal halves."""
    forward, backward, weights = 1.0, 2.0, 1.0
    for schedule, published in (
        ("1f1b", (stages - 1) * (forward + backward)),
        ("zb-h1", (stages - 1) * (forward + backward - 2 * weights)),
    ):
        assert pipeline_chart(schedule, stages, 2 * stages).idle[0] == pytest.approx(published)
