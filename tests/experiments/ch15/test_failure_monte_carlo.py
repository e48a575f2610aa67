"""Runs with failures: the page's walks, a second program, the closed form, and thousands at once."""

from __future__ import annotations

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.ch15.failure_monte_carlo import simulate_many
from solutions.ch15.checkpointing import checkpoint_waste, failure_cost, optimal_checkpoint_interval
from solutions.ch15.failing_runs import simulate_run

PARTS = ("useful", "checkpoint", "lost", "restart")


@pytest.mark.parametrize(
    ("arguments", "wall", "some"),
    [
        ((100, 30, 5, 10, []), 120, {"checkpoint": 20, "failures": 0}),
        ((100, 30, 5, 10, [50]), 145, {"lost": 15, "restart": 10, "failures": 1}),
        ((100, 30, 5, 10, [35, 3, 100]), 133, {"lost": 0, "restart": 13, "failures": 2}),
        ((100, 30, 5, 10, [20, 4, 4, 60]), 183, {"lost": 35, "restart": 28, "failures": 4}),
        ((60, 30, 5, 0, [33, 33]), 136, {"lost": 66}),
        ((10, 100, 5, 1, [14, 1000]), 30, {}),
        ((100, 50, 5, 10, [110]), 120, {"lost": 0, "restart": 10, "failures": 1}),
    ],
)
def test_walks_of_the_page(arguments, wall, some):
    run = simulate_run(*arguments)
    assert run["wall"] == wall
    assert run["useful"] == arguments[0]
    assert {key: run[key] for key in some} == some


def second_by_second(work, interval, stall, restart, gaps):
    """The same rules by another road: a clock that ticks, and a machine with a state."""
    failures = set(itertools.accumulate(gaps))
    clock, left, saved, segment, phase = 0, 0, 0, min(interval, work), "compute"
    spent = dict.fromkeys(PARTS, 0)
    since = 0  # seconds in this segment
    while True:
        if phase == "compute" and since == segment + stall:
            spent["useful"] += segment
            spent["checkpoint"] += stall
            saved, since = saved + segment, 0
            segment = min(interval, work - saved)
        if clock in failures:
            spent["lost"] += since
            phase, since, left = "restart", 0, restart
            failures.discard(clock)
        if phase == "restart" and left == 0:
            phase = "compute"
        if phase == "compute" and saved == work:
            return spent
        clock += 1
        if phase == "restart":
            left -= 1
            spent["restart"] += 1
        else:
            since += 1


whole = st.integers(1, 30)


@given(whole, whole, st.integers(0, 5), st.integers(0, 12), st.lists(st.integers(1, 40), max_size=8))
def test_a_clock_that_ticks_comes_to_the_same(work, interval, stall, restart, gaps):
    """Kills: clocks that stop, gaps that are read as times, segments that are safe too early or too late."""
    run = simulate_run(work, interval, stall, restart, iter(gaps))
    assert {part: run[part] for part in PARTS} == second_by_second(work, interval, stall, restart, gaps)
    assert run["wall"] == sum(run[part] for part in PARTS)
    assert isinstance(run["failures"], int)


def endless(rng, mtbf):
    while True:
        yield rng.expovariate(1 / mtbf)


@pytest.mark.parametrize("case", [(60, 11_135, 300), (500, 3000, 200), (1800, 3600, 0), (10, 600, 600)])
def test_two_hundred_seeds_agree_with_the_closed_form(case):
    """Within four standard errors, also where a checkpoint takes half an MTBF."""
    stall, mtbf, restart = case
    interval = optimal_checkpoint_interval(stall, mtbf, "exact")
    work = 40 * interval
    walls = [
        simulate_run(work, interval, stall, restart, endless(random.Random(seed), mtbf))["wall"] for seed in range(200)
    ]
    error = statistics.stdev(walls) / math.sqrt(200)
    expected = work / (1 - checkpoint_waste(interval, stall, mtbf, restart))
    assert abs(statistics.fmean(walls) - expected) < 4 * error


@pytest.mark.parametrize("case", [(60, 11_135, 300), (500, 3000, 200), (1800, 3600, 0), (10, 600, 600)])
def test_many_at_once_agree_with_the_closed_form(case):
    stall, mtbf, restart = case
    interval = optimal_checkpoint_interval(stall, mtbf, "exact")
    work = 20.5 * interval
    runs = simulate_many(work, interval, stall, restart, mtbf, trials=4000)
    # the last segment is half an interval: one more term of the same expectation
    factor = mtbf * math.exp(restart / mtbf)
    expected = factor * (20 * math.expm1((interval + stall) / mtbf) + math.expm1((interval / 2 + stall) / mtbf))
    assert abs(runs["wall"].mean() - expected) < 4 * runs["wall"].std(ddof=1) / math.sqrt(4000)
    assert runs["wall"] == pytest.approx(sum(runs[part] for part in PARTS))
    assert set(runs["useful"]) == {work}
    assert runs["failures"].mean() == pytest.approx(expected / mtbf, rel=0.05)


@pytest.mark.parametrize("shape", [1.0, 0.7, 2.0])
def test_one_run_at_a_time_has_the_same_distribution(shape):
    """The same Weibull gaps through the plain simulator: the two means lie within five standard errors."""
    rng, scale = random.Random(1), 4000 / math.gamma(1 + 1 / shape)

    def gaps():
        while True:
            yield rng.weibullvariate(scale, shape)

    many = simulate_many(10_000, 1000, 60, 300, 4000, trials=3000, shape=shape)
    single = [simulate_run(10_000, 1000, 60, 300, gaps()) for _ in range(3000)]
    for part in ("wall", "lost", "restart", "failures"):
        values = [run[part] for run in single]
        error = math.sqrt((statistics.variance(values) + many[part].var(ddof=1)) / 3000)
        assert abs(statistics.fmean(values) - many[part].mean()) < 5 * error


def test_a_failure_loses_what_failure_cost_says():
    """Restarts that take no time cannot fail, so that every failure strikes a segment."""
    runs = simulate_many(2e6, 3000, 200, 0, 6000, trials=400)
    lost = runs["lost"].sum() / runs["failures"].sum()
    assert lost == pytest.approx(failure_cost(3000, 200, 6000, 0, 3600, 1), rel=0.02)


def test_a_seed_makes_it_repeatable():
    one, same, other = (simulate_many(1e5, 1000, 60, 300, 4000, trials=5, seed=seed)["wall"] for seed in (3, 3, 4))
    assert list(one) == list(same) != list(other)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulate_run(10, 10, 1, 1, [3, 0]), "failure_gaps must be > 0, got 0"),
        (lambda: simulate_many(9e9, 1e6, 1, 1, 60, 9), "mtbf must be at least a tenth of a segment and of a restart"),
    ],
)
def test_names_what_is_impossible(call, message):
    with pytest.raises(ValueError, match=message):
        call()
