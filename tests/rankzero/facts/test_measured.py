"""Stored times of a GPU: whole, plausible, and no faster than the data sheet allows."""

from __future__ import annotations

import statistics
from typing import get_args

import pytest

from rankzero.facts import hardware, measured


@pytest.mark.parametrize("way", get_args(measured.Way))
def test_no_copy_beats_its_link(way):
    """Kills a time in the wrong unit: PCIe moves at most its rate, and memory reads and writes within its bandwidth."""
    most = hardware.H100_SXM.memory_bandwidth / 2 if way == "device to device" else hardware.PCIE5.bandwidth
    found = measured.copies(way)
    assert [size for size, _ in found] == [2**power for power in range(0, 31, 2)]
    assert all(size / seconds < most for size, seconds in found)
    size, seconds = found[-1]
    assert size / seconds > most / 8


def test_pinned_memory_is_the_faster_road_for_large_copies():
    pinned, pageable = (dict(measured.copies(f"host to device, {kind}")) for kind in ("pinned", "pageable"))
    assert pinned[2**30] < pageable[2**30] / 2


@pytest.mark.parametrize(("form", "peak"), [("fp32", None), ("tf32", 494.7e12), ("bf16", hardware.H100_SXM.peak_bf16)])
def test_no_product_beats_the_peak(form, peak):
    rates = [2 * rows**3 / seconds for rows, seconds in measured.products(form)]
    assert max(rates) < (peak or 67e12)
    assert max(rates) > 0.5 * (peak or 67e12)


def test_a_batch_is_free_until_compute_takes_over():
    """The weights have to be read whatever the batch: a hundred tokens take as long as one."""
    times = dict(measured.decoding())
    reading = 2 * measured.decoding_width() ** 2 / hardware.H100_SXM.memory_bandwidth
    assert reading < times[1] < 1.5 * reading
    assert times[128] < 1.1 * times[1]
    assert times[2048] > 5 * times[1]


def test_graphs_win_where_kernels_are_short():
    small, *_, large = measured.chains()
    assert small.eager > 4 * small.graph
    assert large.eager < 1.1 * large.graph
    assert statistics.pstdev([one.eager_issue for one in measured.chains()]) < 0.1 * small.eager_issue
    assert all(one.graph_issue < one.eager_issue for one in measured.chains())
    assert measured.kernels() == 100


def test_what_was_not_measured_is_refused():
    with pytest.raises(ValueError, match=r"copies were measured of 'host to device, pinned', .*, got 'over NVLink'"):
        measured.copies("over NVLink")
    with pytest.raises(ValueError, match="products were measured of 'fp32', 'tf32', 'bf16', got 'fp8'"):
        measured.products("fp8")


def test_it_says_what_it_was_measured_with():
    assert measured.source().startswith("NVIDIA H100 80GB HBM3, PCIe 5.0 x16, torch 2.")
