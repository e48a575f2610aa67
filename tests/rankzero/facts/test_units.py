"""Units as numbers, and sizes and times as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankzero.facts import units
from rankzero.facts.units import format_bytes, format_time

PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
BINARY = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
SECONDS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def test_decimal_and_binary_prefixes_differ():
    assert (units.GB, units.GiB) == (1_000_000_000, 1_073_741_824)
    assert units.TiB / units.TB == pytest.approx(1.0995, rel=1e-4)


@pytest.mark.parametrize("prefix", ["K", "M", "G", "T"])
def test_a_byte_has_eight_bits_and_prefixes_are_powers_of_their_base(prefix):
    power = 1 + "KMGT".index(prefix)
    assert getattr(units, f"{prefix}B") == 1000**power
    assert getattr(units, f"{prefix}iB") == 1024**power
    assert 8 * getattr(units, f"{prefix}bit") == 1000**power


def test_a_400_gigabit_port_carries_50_gigabytes_a_second():
    assert 400 * units.Gbit == 50 * units.GB


def test_times_are_in_seconds():
    assert 1000 * units.ms == 1_000_000 * units.us == pytest.approx(1e9 * units.ns) == 1.0
    assert units.day == 24 * units.hour == 1440 * units.minute == 86_400


@pytest.mark.parametrize(
    ("size", "binary", "text"),
    [
        (0, False, "0 B"),
        (999, False, "999 B"),
        (1000, False, "1 kB"),
        (1.75e9, False, "1.75 GB"),
        (1.75e9, True, "1.63 GiB"),
        (25 * 2**20, True, "25 MiB"),
        (-2.5e12, False, "-2.5 TB"),
        (3e15, False, "3 PB"),
    ],
)
def test_sizes_read_as_people_write_them(size, binary, text):
    assert format_bytes(size, binary=binary) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.07, "70 ms"),
        (0.07007, "70.07 ms"),
        (5e-6, "5 µs"),
        (3e-9, "3 ns"),
        (90, "90 s"),
        (-0.002, "-2 ms"),
    ],
)
def test_times_read_as_people_write_them(seconds, text):
    assert format_time(seconds) == text


@given(st.floats(1, 9e17), st.booleans())
def test_a_size_can_be_read_back_to_four_digits(size, binary):
    number, unit = format_bytes(size, binary=binary).split()
    scale = (BINARY if binary else PREFIXES)[unit.removesuffix("B")]
    assert float(number) * scale == pytest.approx(size, rel=6e-4)


@given(st.floats(1e-9, 1e6))
def test_a_time_can_be_read_back_to_four_digits(seconds):
    number, unit = format_time(seconds).split()
    assert float(number) * SECONDS[unit] == pytest.approx(seconds, rel=6e-4)
