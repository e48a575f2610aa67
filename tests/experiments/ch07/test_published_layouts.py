"""The advisor beside published runs: the table of section 7.12, and the numbers that the sources print beside it."""

from __future__ import annotations

import pytest

from experiments.ch07.published_layouts import SERIES, Run
from rankzero.facts.units import billion, day
from solutions.ch07 import layout

RUNS = [run for series in SERIES for run in series.runs]
FULLY_SHARDED = [run for run in RUNS if run.layout.zero == 3]
PIPELINES = [run for run in RUNS if run.layout.pp > 1]
#: Narayanan et al. (2021), table 2: days for 300 billion tokens, in the order of the series.
DAYS = (90, 74, 74, 169, 137, 140, 84, 43, 23, 156, 80, 42)
#: Jiang et al. (2024), table 2, rows Megatron-LM: thousands of tokens per second.
TOKENS = (39.3, 74.1, 103.8, 132.7, 433.6, 851.6, 1027.9, 1466.8)


def error(run: Run) -> float:
    """Of the advisor's step time, relative to the measured one."""
    return layout.step_time(run.layout, run.job) / run.seconds - 1


def tokens(run: Run) -> int:
    return run.job.global_batch * run.job.sequence


def test_the_seconds_agree_with_the_printed_days():
    for run, days in zip(RUNS, DAYS, strict=False):
        assert 300 * billion / tokens(run) * run.seconds / day == pytest.approx(days, abs=0.8, rel=0.01)


def test_the_seconds_agree_with_the_printed_throughput():
    (megascale,) = (series for series in SERIES if "MegaScale" in series.source)
    for run, thousands in zip(megascale.runs, TOKENS, strict=True):
        assert tokens(run) / run.seconds / 1000 == pytest.approx(thousands, rel=0.01)


def test_the_rows_are_the_layouts_of_their_sources():
    assert len(RUNS) == len(FULLY_SHARDED) + len(PIPELINES) == 22
    assert all(run.layout.gpus == run.job.gpus for run in RUNS)
    assert [run.job.global_batch // run.layout.dp for run in RUNS[-2:]] == [32, 16]
    assert [run.job.micro_batch for run in FULLY_SHARDED] == [4, 2, 1] * 2
    assert all(layout.candidates(run.job) for run in PIPELINES[:3])
    assert {run.layout.tp for run in PIPELINES} == {8}  # what the page trusts it on


@pytest.mark.parametrize("run", PIPELINES, ids=lambda run: f"{run.job.model.name}, {run.job.gpus}")
def test_with_stages_the_advisor_is_within_a_fifth(run):
    assert abs(error(run)) < 0.2


@pytest.mark.parametrize("run", FULLY_SHARDED, ids=lambda run: f"{run.job.model.name}, {run.job.gpus}")
def test_fully_sharded_it_is_far_too_fast(run):
    assert error(run) < -0.2


def test_more_gpus_did_not_help_zero_3():
    """The page: the measured step was no shorter on 1,536 GPUs than on 768, at less than the rate of a port."""
    _, half, whole = FULLY_SHARDED[:3]
    assert whole.seconds == pytest.approx(half.seconds, rel=0.001)
    sent = 3 * 2 * 174.6 * billion
    assert sent / whole.seconds < 0.7 * whole.job.network_bandwidth


def test_where_both_ran_the_stages_were_faster():
    """On 384, 768 and 1,536 GPUs, and on 1,120 and 2,240: the advisor says the opposite on the fewest."""
    pairs = [(one, two) for one in FULLY_SHARDED for two in PIPELINES[:6] if one.job.gpus == two.job.gpus]
    assert [one.job.gpus for one, _ in pairs] == [384, 768, 1536, 1120, 2240]
    assert all(two.seconds < one.seconds for one, two in pairs)
    one, two = pairs[0]
    assert layout.step_time(one.layout, one.job) < layout.step_time(two.layout, two.job)
