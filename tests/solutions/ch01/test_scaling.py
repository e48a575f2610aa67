"""Efficiency and speed-up against their definitions, a published measurement and a simulation of workers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solutions.ch01.scaling import amdahl_speedup, gustafson_speedup, scaling_efficiency

FRACTIONS = st.floats(0, 1)
RANKS = st.integers(1, 4096)
TIMES = st.floats(1e-3, 1e6)


def test_worked_examples():
    assert scaling_efficiency(1000, 50, 32) == 0.625
    assert scaling_efficiency(100, 15, 8) == pytest.approx(0.833333, abs=5e-7)
    assert scaling_efficiency(52, 6, 32, baseline_ranks=2) == pytest.approx(0.541667, abs=5e-7)
    assert scaling_efficiency(1.00, 1.30, 32, weak=True) == pytest.approx(0.769231, abs=5e-7)


def test_a_table_of_runs():
    """Times on 2 to 32 ranks, from 100 s on one."""
    runs = {2: (52, 0.961538), 4: (27, 0.925926), 8: (15, 0.833333), 16: (9, 0.694444), 32: (6, 0.520833)}
    for ranks, (time, efficiency) in runs.items():
        assert scaling_efficiency(100, time, ranks) == pytest.approx(efficiency, abs=5e-7)


@given(TIMES, TIMES, RANKS, RANKS)
def test_strong_is_rank_seconds_over_rank_seconds(before, after, few, many):
    exact = Fraction(before) * few / (Fraction(after) * many)
    assert scaling_efficiency(before, after, many, baseline_ranks=few) == pytest.approx(float(exact), rel=1e-12)


@given(TIMES, TIMES, RANKS, RANKS)
def test_weak_does_not_ask_for_ranks(before, after, few, many):
    assert scaling_efficiency(before, after, many, baseline_ranks=few, weak=True) == before / after


def test_an_efficiency_above_one_is_not_cut():
    assert scaling_efficiency(100, 20, 4) == 1.25


def makespan(serial: int, parallel: int, workers: int) -> int:
    """Seconds until all unit tasks are done: the serial ones one by one, then the parallel ones, side by side."""
    clock, free = serial, [0] * workers
    for _ in range(parallel):
        earliest = free.index(min(free))
        free[earliest] += 1
    return clock + max(free)


@pytest.mark.parametrize(
    ("serial", "parallel", "ranks"), [(5, 96, 16), (10, 720, 8), (1, 1024, 4), (7, 60, 1), (0, 64, 64)]
)
def test_amdahl_by_simulation(serial, parallel, ranks):
    """A fixed problem, tasks of one second, as many as the ranks divide."""
    measured = makespan(serial, parallel, 1) / makespan(serial, parallel, ranks)
    assert amdahl_speedup(serial / (serial + parallel), ranks) == pytest.approx(measured)


@pytest.mark.parametrize(("serial", "share", "ranks"), [(5, 95, 16), (10, 90, 8), (1, 249, 32), (7, 60, 1)])
def test_gustafson_by_simulation(serial, share, ranks):
    """Every rank does ``share`` tasks; one rank would do all of them."""
    measured = makespan(serial, share * ranks, 1) / makespan(serial, share * ranks, ranks)
    assert gustafson_speedup(serial / (serial + share), ranks) == pytest.approx(measured)


def test_published_speedups():
    """Gustafson (1988): 1,020 and 1,016 measured on 1,024 processors; on a fixed problem about 201 at most."""
    assert gustafson_speedup(0.004, 1024) == pytest.approx(1020, abs=0.5)
    assert gustafson_speedup(0.008, 1024) == pytest.approx(1016, abs=0.5)
    assert amdahl_speedup(0.004, 1024) == pytest.approx(201.100, abs=5e-4)
    assert amdahl_speedup(0.05, 16) == pytest.approx(9.14286, abs=5e-6)
    assert amdahl_speedup(0.1, 8) == pytest.approx(4.70588, abs=5e-6)
    assert gustafson_speedup(0.1, 8) == pytest.approx(7.3)


@given(FRACTIONS, RANKS)
def test_bounds(serial, ranks):
    for speedup in (amdahl_speedup, gustafson_speedup):
        assert speedup(0, ranks) == ranks
        assert speedup(1, ranks) == 1
        assert speedup(serial, 1) == 1
    assert amdahl_speedup(serial, ranks) <= gustafson_speedup(serial, ranks) * (1 + 1e-12)
    if serial:
        assert amdahl_speedup(serial, ranks) <= (1 + 1e-12) / serial
