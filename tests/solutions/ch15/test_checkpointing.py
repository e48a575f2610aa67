"""The checkpoint interval and what it wastes: Daly's printed figures, Lambert's W, a minimiser of its own, and laws."""

import math

import pytest
import torch
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.special import lambertw

from solutions.ch15.checkpointing import (
    checkpoint_waste,
    checkpoint_write_time,
    debug_interval,
    failure_cost,
    shard_reads,
)
from solutions.ch15.checkpointing import optimal_checkpoint_interval as interval

MINUTE, HOUR = 60.0, 3600.0

stalls = st.floats(math.log(0.1), math.log(7200)).map(math.exp)
mtbfs = st.floats(math.log(60), math.log(5e6)).map(math.exp)
methods = st.sampled_from(["young", "daly", "exact"])


def log_wall(t, stall, mtbf):
    """Logarithm of the expected wall-clock per unit of work, up to a constant (restarts only add to it)."""
    y = (t + stall) / mtbf
    return (y if y > 30 else math.log(math.expm1(y))) - math.log(t)


def golden_minimum(stall, mtbf):
    """The interval of least expected wall-clock, by golden-section search: it knows no derivative and no formula."""
    low, high, ratio = 1e-6 * mtbf, mtbf, (math.sqrt(5) - 1) / 2
    for _ in range(200):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if log_wall(left, stall, mtbf) < log_wall(right, stall, mtbf):
            high = right
        else:
            low = left
    return (low + high) / 2


@pytest.mark.parametrize(("mtbf", "printed"), [(24 * HOUR, 117), (6 * HOUR, 57), (15 * MINUTE, 9.1)])
def test_daly_prints_117_57_and_9_1_minutes(mtbf, printed):
    """Daly (2006): a dump of 5 minutes, an MTBF of 24 h, 6 h and 15 min."""
    digits = 1 if printed < 10 else 0
    assert round(interval(5 * MINUTE, mtbf) / MINUTE, digits) == printed


@pytest.mark.parametrize(
    ("stall", "mtbf", "young", "daly", "exact"),
    [
        (300, 86_400, 7200, 7001.39, 7001.40),
        (300, 21_600, 3600, 3402.78, 3402.84),
        (300, 900, 734.847, 548.455, 549.990),
        (98, 86_400, 4115.14, 4050.07, 4050.07),
        (60, 11_135.0835, 1155.95, 1116.29, 1116.30),
        (1800, 3600, 3600, 2500, 2513.85),
        (600, 600, 848.528, 495.669, 504.843),
        (3600, 1800, 3600, 1800, 1705.56),
    ],
)
def test_page_values(stall, mtbf, young, daly, exact):
    assert interval(stall, mtbf, "young") == pytest.approx(young, rel=1e-5)
    assert interval(stall, mtbf) == pytest.approx(daly, rel=1e-5)
    assert interval(stall, mtbf, "exact") == pytest.approx(exact, rel=1e-5)


@given(stalls, mtbfs)
@example(7200.0, 60.0)
@example(0.1, 5e6)
def test_exact_is_lamberts_w(stall, mtbf):
    """SciPy loses digits near the branch point, where its argument is -1/e within rounding: keep away from there."""
    assume(stall / mtbf > 1e-3)
    w = lambertw(-math.exp(-1 - stall / mtbf)).real
    assert interval(stall, mtbf, "exact") == pytest.approx(mtbf * (1 + w), rel=1e-9)


@given(stalls, mtbfs)
def test_exact_solves_its_equation(stall, mtbf):
    """Also near the branch point: sum the series of -u - ln(1 - u), which has no cancellation, term by term."""
    u = interval(stall, mtbf, "exact") / mtbf
    assume(u < 0.9)
    series = math.fsum(u**k / k for k in range(2, 2000))
    assert series == pytest.approx(stall / mtbf, rel=1e-9)


@settings(max_examples=300, deadline=None)
@given(mtbfs, st.floats(math.log(1e-4), math.log(10)).map(math.exp))
def test_exact_minimises_the_expected_wall_clock(mtbf, ratio):
    """Against a search that knows neither derivative nor formula, for C from a ten-thousandth of M to ten times M."""
    stall = ratio * mtbf
    assert interval(stall, mtbf, "exact") == pytest.approx(golden_minimum(stall, mtbf), rel=1e-6)


@given(stalls, mtbfs)
def test_no_interval_beside_the_exact_one_is_better(stall, mtbf):
    best = interval(stall, mtbf, "exact")
    least = log_wall(best, stall, mtbf)
    assert least <= log_wall(0.9 * best, stall, mtbf)
    assert least <= log_wall(1.1 * best, stall, mtbf)


@given(stalls, mtbfs, methods, st.floats(1e-3, 1e3))
def test_the_unit_that_goes_in_comes_out(stall, mtbf, method, k):
    """Kills a program that takes C in seconds and M in hours, or answers in minutes."""
    assume(abs(stall / (2 * mtbf) - 1) > 1e-9)
    assert interval(k * stall, k * mtbf, method) == pytest.approx(k * interval(stall, mtbf, method), rel=1e-9)


@given(stalls, mtbfs)
def test_exact_lies_between_nothing_and_young_and_the_mtbf(stall, mtbf):
    best = interval(stall, mtbf, "exact")
    assert 0 < best <= mtbf
    assert best <= interval(stall, mtbf, "young") * (1 + 1e-12)


@given(mtbfs, st.floats(1e-12, 1e-2))
def test_daly_is_within_a_hundred_thousandth_while_the_checkpoint_is_short(mtbf, ratio):
    """The next term of the series is (C/M)^(3/2)/95: below 1.2e-5 for C up to a hundredth of M."""
    assert interval(ratio * mtbf, mtbf) == pytest.approx(interval(ratio * mtbf, mtbf, "exact"), rel=1.2e-5)


@pytest.mark.parametrize(
    ("x", "young", "daly"), [(1e-4, 0.67, 0), (0.01, 7.0, -0.003), (0.1, 24.8, -0.12), (0.5, 68, -1.8)]
)
def test_how_far_young_and_daly_are_off(x, young, daly):
    """Percent of the exact interval, for x = C/(2M)."""
    exact = interval(2 * x, 1.0, "exact")
    assert 100 * (interval(2 * x, 1.0, "young") / exact - 1) == pytest.approx(young, rel=0.01)
    assert 100 * (interval(2 * x, 1.0) / exact - 1) == pytest.approx(daly, rel=0.1, abs=1e-3)


@pytest.mark.parametrize("mtbf", [60.0, 1800.0, 5e6])
def test_daly_gives_the_mtbf_from_twice_the_mtbf_on(mtbf):
    assert interval(2 * mtbf, mtbf) == interval(3 * mtbf, mtbf) == mtbf
    assert interval(2 * mtbf * (1 - 1e-12), mtbf) == pytest.approx(8 / 9 * mtbf, rel=1e-9)


@pytest.mark.parametrize("ratio", [40, 1000, 1e300])
def test_exact_is_the_mtbf_when_checkpoints_take_many_of_them(ratio):
    """Kills a program that calls log1p(-1)."""
    assert interval(ratio, 1.0, "exact") == 1.0


def test_no_ratio_is_so_extreme_that_the_search_does_not_end():
    assert interval(1e308, 1e-10, "exact") == 1e-10
    assert interval(1e-12, 1.0, "exact") == pytest.approx(math.sqrt(2e-12), rel=1e-5)


# The waste.


@pytest.mark.parametrize(
    ("arguments", "waste"),
    [
        ((4115.142768, 98, 86_400), 0.0468815),
        ((4115.142768, 98, 86_400, 120), 0.0482043),
        ((3600, 300, 21_600, 600), 0.180824),
        ((2500, 1800, 3600), 0.698294),
        ((1116.29, 60, 11_135.0835, 300), 0.124168),
        ((3600, 2.84097, 11_135.0835, 300), 0.176233),
        ((600, 60, 1e7), 0.0909391),
    ],
)
def test_waste_of_the_page(arguments, waste):
    assert checkpoint_waste(*arguments) == pytest.approx(waste, rel=1e-5)


def expected_wall(t, stall, mtbf, restart, steps=20_000):
    """Expected wall-clock of one segment, by adding up what may happen: no formula, only probabilities and integrals.

    A try succeeds, or fails after a time that is cut off at the end of the segment. A restart is a segment
    of its own that has to succeed before the next try.
    """

    def tries(length):
        """Expected failures before a success, and the expected time of a failed try, by the trapezoid rule."""
        success = math.exp(-length / mtbf)
        width = length / steps
        density = [math.exp(-k * width / mtbf) / mtbf * k * width for k in range(steps + 1)]
        lost = width * (math.fsum(density) - density[0] / 2 - density[-1] / 2)
        return (1 - success) / success, lost / (1 - success)

    failures, lost = tries(t + stall)
    again, spent = tries(restart) if restart else (0.0, 0.0)
    return (t + stall) + failures * (lost + restart + again * spent)


@pytest.mark.parametrize("case", [(1000, 60, 4000, 300), (500, 500, 800, 0), (3000, 10, 1500, 900), (50, 0, 9000, 20)])
def test_waste_is_one_minus_useful_over_expected(case):
    """Kills: restarts that cannot fail, checkpoints that cannot fail, whole intervals lost."""
    assert checkpoint_waste(*case) == pytest.approx(1 - case[0] / expected_wall(*case), rel=1e-6)


@given(stalls, mtbfs, st.floats(0.01, 10), st.floats(0, 3))
def test_waste_is_a_share_and_restarts_do_not_move_its_minimum(stall, mtbf, factor, restart):
    assume(1e-3 < stall / mtbf < 5)
    best = interval(stall, mtbf, "exact")
    least, other = (checkpoint_waste(t, stall, mtbf, restart * mtbf) for t in (best, factor * best))
    assert 0 <= least <= other + 1e-12 <= 1 + 1e-12


def test_waste_of_the_hopeless_is_one():
    assert checkpoint_waste(1e6, 60, 60) == checkpoint_waste(60, 1, 60, 1e6) == 1.0
    assert checkpoint_waste(1e-9, 0, 1e9) == 0.0


def test_waste_of_an_interval_that_vanishes_beside_the_mtbf_is_zero():
    """Kills: a division by an expectation that has become 0."""
    assert checkpoint_waste(1e-300, 0, 1e300) == 0.0


def test_at_youngs_interval_rework_equals_writing():
    young = interval(60, 1e6, "young")
    assert 60 / young == pytest.approx(young / (2 * 1e6))


# Writing, failing, one unit.


@pytest.mark.parametrize(
    ("arguments", "seconds"),
    [
        ((70e9, 14, 1, 10e9, 10e9), 98),
        ((70e9, 14, 64, 10e9, 10e9), 98),
        ((70e9, 14, 64, 1e9, 100e9), 15.3125),
        ((405_853_388_800, 14, 16_384, 2e9, 2e12), 2.84097),
        ((405_853_388_800, 12, 16_384, 2e9, 2e12), 2.43512),
    ],
)
def test_writing_of_the_page(arguments, seconds):
    assert checkpoint_write_time(*arguments) == pytest.approx(seconds, rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "dollars"),
    [
        ((4115.142768, 98, 86_400, 120, 512, 2), 628.466),
        ((249.6428, 2.840974, 11_135.0835, 600, 16_384, 2), 6606.07),
        ((1116.2915, 60, 11_135.0835, 600, 16_384, 2), 10_720.5),
    ],
)
def test_cost_of_the_page(arguments, dollars):
    assert failure_cost(*arguments) == pytest.approx(dollars, rel=1e-5)


def test_cost_is_the_mean_of_many_failures():
    """Uniform random numbers turned into failures that fall inside a segment: their mean is what is lost."""
    segment, mtbf, count = 1500.0, 4000.0, 100_000
    ends = -math.expm1(-segment / mtbf)
    lost = math.fsum(-mtbf * math.log1p(-(k + 0.5) / count * ends) for k in range(count)) / count
    assert failure_cost(1440, 60, mtbf, 300, 3600, 1) == pytest.approx(lost + 300, rel=1e-6)


def test_young_in_minutes():
    assert debug_interval(98, 24) == pytest.approx(interval(98, 24 * HOUR, "young") / MINUTE)


@given(st.integers(1, 40), st.integers(1, 9), st.integers(1, 9))
def test_shards_read_make_the_shards_of_torch(rows, saved, ranks):
    """``torch.chunk`` cuts the rows, as ``fully_shard`` does: what is read of its shards is the rank's own shard."""
    weight = torch.arange(rows)
    files, wanted = weight.chunk(saved), weight.chunk(ranks)
    for rank in range(ranks):
        reads = shard_reads(rows, saved, ranks, rank)
        found = [row for shard, start, stop in reads for row in files[shard][start:stop].tolist()]
        assert found == (wanted[rank].tolist() if rank < len(wanted) else [])
        assert all(0 <= start < stop <= len(files[shard]) for shard, start, stop in reads)
        assert len({shard for shard, *_ in reads}) == len(reads)
