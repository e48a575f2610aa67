"""Bus bandwidth against the published factors, the fit against NumPy's least squares."""

from __future__ import annotations

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts.units import GB, MB, TFLOP, Gbit, ms, us
from solutions.ch03.collective_cost import ring_all_reduce_time, traffic
from solutions.ch04.bandwidth import MEASURED, bus_bandwidth, communication_ratio, debug_gbit, fit_alpha_beta

FACTORS = {  # nccl-tests, doc/PERFORMANCE.md, as written there
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1,
    "reduce": lambda n: 1,
}


@given(st.sampled_from(MEASURED), st.floats(0, 1e12), st.floats(1e-6, 1e3), st.integers(1, 4096))
def test_published_factors(operation, size, seconds, ranks):
    expected = size / seconds * FACTORS[operation](ranks)
    assert bus_bandwidth(operation, size, seconds, ranks) == pytest.approx(expected, rel=1e-12)


@given(st.floats(1, 1e12), st.integers(2, 4096), st.floats(1e6, 1e12))
def test_a_ring_without_latency_has_the_bus_bandwidth_of_its_link(size, ranks, bandwidth):
    time = ring_all_reduce_time(size, ranks, bandwidth)
    assert bus_bandwidth("all_reduce", size, time, ranks) == pytest.approx(bandwidth, rel=1e-12)


@given(st.sampled_from(MEASURED), st.integers(2, 64))
def test_the_bus_carries_what_the_busiest_rank_sends(operation, ranks):
    """Kills: a factor of another operation, a shard for S."""
    sent = max(traffic(operation, 1.0, ranks, rank)[0] for rank in range(ranks))
    assert bus_bandwidth(operation, 1.0, 1.0, ranks) == pytest.approx(sent, rel=1e-12)


def test_published_bandwidths():
    assert bus_bandwidth("all_reduce", 4 * GB, 30 * ms, 8) == pytest.approx(2.33333e11, rel=1e-5)
    assert bus_bandwidth("all_gather", 4 * GB, 30 * ms, 8) == pytest.approx(1.16667e11, rel=1e-5)
    assert bus_bandwidth("all_reduce", 64 * MB, 12.5 * ms, 4) == pytest.approx(7.68e9)
    assert bus_bandwidth("broadcast", 1 * GB, 25 * ms, 16) == pytest.approx(4e10)
    assert bus_bandwidth("all_reduce", 1 * GB, 1.75 / 450, 8) == pytest.approx(4.5e11)


def test_one_rank_moves_nothing_but_has_a_factor_where_that_is_1():
    assert [bus_bandwidth(name, 1.0, 1.0, 1) for name in MEASURED] == [0, 0, 0, 0, 1, 1]


# The fit.


@st.composite
def measurements(draw):
    """Sizes around the one where start-up and bytes weigh the same, with times up to a fifth off."""
    latency, bandwidth = draw(st.floats(1e-6, 1e-3)), draw(st.floats(1e8, 1e12))
    powers = draw(st.lists(st.floats(-2, 3), min_size=4, max_size=12))
    sizes = [latency * bandwidth * 10**power for power in [-2.0, 3.0, *powers]]
    off = draw(st.lists(st.floats(-0.2, 0.2), min_size=len(sizes), max_size=len(sizes)))
    return sizes, [(latency + s / bandwidth) * (1 + e) for s, e in zip(sizes, off, strict=True)]


@given(measurements())
def test_the_fit_is_the_least_squares_solution_of_rows_over_t(measured):
    """Kills: absolute errors, a line through the origin, the first point taken for the latency."""
    sizes, seconds = map(numpy.array, measured)
    scale = sizes.max()
    rows = numpy.stack([1 / seconds, sizes / scale / seconds], axis=1)
    (latency, slope), *_ = numpy.linalg.lstsq(rows, numpy.ones(len(sizes)))
    fitted = fit_alpha_beta(*measured)
    assert fitted[0] == pytest.approx(latency, rel=1e-6, abs=1e-9 * seconds.min())
    assert fitted[1] == pytest.approx(scale / slope, rel=1e-6)


@given(st.floats(1e-7, 1e-2), st.floats(1e6, 1e12))
def test_exact_times_give_back_their_line(latency, bandwidth):
    sizes = [latency * bandwidth * factor for factor in (0, 0.1, 1, 7, 100)]
    fitted = fit_alpha_beta(sizes, [latency + size / bandwidth for size in sizes])
    assert fitted == pytest.approx((latency, bandwidth), rel=1e-9)


def test_published_fits():
    decades = [10.0**power for power in range(3, 8)]
    assert fit_alpha_beta(decades, [5 * us + size / (50 * GB) for size in decades]) == pytest.approx((5e-6, 5e10))
    sizes, times = [1e3, 1e5, 4e5, 4e6, 4e7], [52 * us, 55 * us, 95 * us, 420 * us, 4100 * us]
    assert fit_alpha_beta(sizes, times) == pytest.approx((4.95916e-5, 1.02285e10), rel=1e-5)
    assert fit_alpha_beta((0, 1e6), (10 * us, 30 * us)) == pytest.approx((1e-5, 5e10))


# Communication against compute.


@given(st.floats(0, 1e12), st.integers(1, 4096), st.floats(1e6, 1e12), st.floats(1e9, 1e16), st.floats(1e9, 1e16))
def test_the_ratio_is_one_time_over_the_other(size, ranks, bandwidth, flops, rate):
    expected = ring_all_reduce_time(size, ranks, bandwidth) / (flops / rate)
    assert communication_ratio(size, ranks, bandwidth, flops, rate) == pytest.approx(expected, rel=1e-12)


def test_published_ratios():
    work = (120 * TFLOP, 495 * TFLOP)
    assert communication_ratio(20 * GB, 8, 100 * GB, *work) == pytest.approx(1.44375)
    assert communication_ratio(20 * GB, 64, 400 * GB, *work) == pytest.approx(0.406055, rel=1e-5)
    assert communication_ratio(20 * GB, 64, 50 * GB, *work) == pytest.approx(3.24844, rel=1e-5)
    assert communication_ratio(20 * GB, 1, 50 * GB, *work) == 0


@pytest.mark.parametrize(
    ("form", "time"),
    [((100, 8, 100), 14e-3), ((100, 8, 400), 3.5e-3), ((1000, 8, 100), 140e-3), ((100, 64, 100), 15.75e-3)],
)
def test_the_mended_calculator(form, time):
    """Published examples; 8.192 times what bits taken for bytes and 1024 for 1000 give."""
    size, ranks, gigabits = form
    assert debug_gbit(*form) == pytest.approx(time)
    assert debug_gbit(*form) == pytest.approx(ring_all_reduce_time(size * MB, ranks, gigabits * Gbit))
    assert debug_gbit(*form) / (2 * (ranks - 1) / ranks * size / 1024 / gigabits) == pytest.approx(8.192)
