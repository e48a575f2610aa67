"""The published times of messages, and what the page of chapter 2 says of them."""

from __future__ import annotations

import pytest

from rankzero.facts import measured
from rankzero.facts.measured_links import ALPS, PORT, WITHOUT_HOOK, line_through
from rankzero.facts.units import GB, us

LARGE = [size for size in ALPS if size >= 8192]


@pytest.mark.parametrize("table", [ALPS, WITHOUT_HOOK], ids=["ALPS", "WITHOUT_HOOK"])
def test_sizes_double_from_one_byte_to_four_mebibytes(table):
    assert list(table) == [2**power for power in range(23)]


def test_two_numbers_give_the_times_of_large_messages_to_within_five_percent():
    """The ten sizes from 8 KiB on; a line through all sizes is off by more than half."""
    alpha, bandwidth = line_through(ALPS, 8192)
    errors = [(alpha + size / bandwidth) / ALPS[size] - 1 for size in LARGE]
    assert len(errors) == 10
    assert max(map(abs, errors)) < 0.05
    alpha, bandwidth = line_through(ALPS)
    assert (alpha + 8192 / bandwidth) / ALPS[8192] - 1 < -0.5


def test_the_bandwidth_is_close_to_that_of_the_port():
    assert PORT == 25 * GB
    assert 0.95 < line_through(ALPS, 8192)[1] / PORT < 1


def test_without_the_networks_interface_large_messages_are_eight_times_slower():
    assert round(WITHOUT_HOOK[2**22] / ALPS[2**22]) == 8
    assert WITHOUT_HOOK[1] == pytest.approx(28.92 * us)


def test_two_numbers_give_the_times_of_copies_to_a_gpu_to_within_eleven_percent():
    """What the page says of the H100, from one byte to a gigabyte."""
    times = dict(measured.copies("host to device, pinned"))
    alpha, bandwidth = line_through(times)
    assert max(abs((alpha + size / bandwidth) / seconds - 1) for size, seconds in times.items()) == pytest.approx(
        0.11, abs=0.005
    )


@pytest.mark.parametrize("smallest", [3, 2**22, 0])
def test_the_first_point_is_a_size_below_the_largest(smallest):
    with pytest.raises(
        ValueError, match=rf"^smallest must be a size below 4194304 bytes in the table, got {smallest}$"
    ):
        line_through(ALPS, smallest)
