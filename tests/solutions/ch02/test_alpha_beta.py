"""Times of messages and relays: against laws, a published schedule, and a simulator of ports and chunks."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts.units import GB, KB, MB, MiB, us
from solutions.ch02.alpha_beta import best_chunks, message_time, relay_time

EXACT = st.fractions(Fraction(1, 1000), 1000, max_denominator=1000)


def test_examples():
    assert message_time(1 * MB, 50 * GB, 5 * us) == pytest.approx(2.5e-05, rel=1e-12)
    assert message_time(0, 50 * GB, 5 * us) == 5 * us
    assert message_time(64 * MiB, 450 * GB, 1 * us) == pytest.approx(1.50131e-04, rel=1e-5)
    assert message_time(2048 * 12288 * 2, 50 * GB, 5 * us) == pytest.approx(1.01163e-03, rel=1e-5)


@given(EXACT, EXACT, EXACT)
def test_twice_the_bytes_cost_their_transfer_and_no_second_start(size, bandwidth, latency):
    """Kills: a bandwidth in bits or of both directions, the larger of two times for their sum."""
    once, twice = (message_time(float(m), float(bandwidth), float(latency)) for m in (size, 2 * size))
    assert (once, twice) == pytest.approx([float(latency + m / bandwidth) for m in (size, 2 * size)], rel=1e-12)
    assert message_time(0.0, float(bandwidth), float(latency)) == float(latency)


@given(st.floats(1e6, 2e12), st.floats(1e-9, 1))
def test_half_of_the_bandwidth_is_reached_at_alpha_times_beta(bandwidth, latency):
    size = latency * bandwidth
    assert size / message_time(size, bandwidth, latency) == pytest.approx(bandwidth / 2)


def simulated_relay(
    size: Fraction, hops: int, chunks: int, bandwidth: Fraction, latency: Fraction, both: bool
) -> Fraction:
    """When the last rank has the last chunk. A rank has a port out and one in; with ``both``, both work at once."""
    out, into = [Fraction(0)] * (hops + 1), [Fraction(0)] * (hops + 1)
    arrived = Fraction(0)
    for _ in range(chunks):
        arrived = Fraction(0)
        for rank in range(hops):
            end = max(arrived, out[rank], into[rank + 1]) + latency + size / chunks / bandwidth
            out[rank] = into[rank + 1] = end
            if not both:  # one port for everything
                into[rank] = out[rank + 1] = end
            arrived = end
    return arrived


@given(EXACT, st.integers(0, 8), st.integers(1, 12), EXACT, EXACT)
def test_a_relay_takes_as_long_as_its_ports_do(size, hops, chunks, bandwidth, latency):
    """Kills: a step too many or too few, chunks as large as the message, an overlap that is not there."""
    simulated = simulated_relay(size, hops, chunks, bandwidth, latency, both=True)
    found = relay_time(float(size), hops, chunks, float(bandwidth), float(latency))
    assert found == pytest.approx(float(simulated), rel=1e-12)


@given(EXACT, st.integers(2, 8), st.integers(1, 12), EXACT, EXACT)
def test_without_overlap_it_takes_two_steps_for_each_chunk(size, hops, chunks, bandwidth, latency):
    """What the page says of blocking calls, by the same ports."""
    step = latency + size / chunks / bandwidth
    assert simulated_relay(size, hops, chunks, bandwidth, latency, both=False) == (hops + 2 * (chunks - 1)) * step


def test_a_published_tree_all_reduce():
    """Sanders, Speck and Traeff (2009): the pipelined tree over 1,024 ranks goes 10 hops up and 10 down."""
    assert 2 * relay_time(1 * GB, 10, 190, 50 * GB, 5 * us) == pytest.approx(4.38847e-02, rel=1e-5)


def test_relay_examples():
    link = (50 * GB, 5 * us)
    assert relay_time(64 * MB, 3, 1, *link) == pytest.approx(3.855e-03)
    assert relay_time(64 * MB, 3, 8, *link) == pytest.approx(1.65e-03)
    assert relay_time(64 * MB, 3, 23, *link) == pytest.approx(1.51630e-03, rel=1e-5)
    assert relay_time(1 * GB, 15, 237, *link) == pytest.approx(2.24364e-02, rel=1e-5)
    assert relay_time(1 * GB, 0, 8, *link) == 0


def searched(size: float, hops: int, bandwidth: float, latency: float, limit: int) -> int:
    """The best of all numbers."""
    return min(range(1, limit + 1), key=lambda chunks: relay_time(size, hops, chunks, bandwidth, latency))


@given(st.floats(1e3, 1e10), st.integers(2, 64), st.floats(1e8, 1e12), st.floats(1e-7, 1e-3), st.integers(1, 300))
def test_no_other_number_of_chunks_is_faster(size, hops, bandwidth, latency, limit):
    """Kills: a rounded ideal, hops for hops - 1, a limit that is ignored."""
    found = best_chunks(size, hops, bandwidth, latency, limit)
    best = searched(size, hops, bandwidth, latency, limit)
    times = [relay_time(size, hops, chunks, bandwidth, latency) for chunks in (found, best)]
    assert found == best or times[0] == pytest.approx(times[1], rel=1e-14)


@pytest.mark.parametrize(
    ("size", "hops", "chunks"), [(64 * MB, 3, 23), (1 * MB, 7, 5), (1 * GB, 15, 237), (10 * KB, 3, 1), (0, 3, 1)]
)
def test_best_chunks_of_the_page(size, hops, chunks):
    assert best_chunks(size, hops, 50 * GB, 5 * us) == searched(size, hops, 50 * GB, 5 * us, 4096) == chunks


def test_where_the_formula_does_not_hold():
    assert best_chunks(64 * MB, 3, 50 * GB, 0.0) == 4096
    assert best_chunks(64 * MB, 3, 50 * GB, 0.0, limit=7) == 7
    assert [best_chunks(64 * MB, hops, 50 * GB, latency) for hops in (0, 1) for latency in (0.0, 5 * us)] == [1] * 4
    assert best_chunks(0, 3, 50 * GB, 0.0) == 1
    assert best_chunks(1 * GB, 3, 1.0, 5e-324) == 4096  # the ideal is beyond every float
