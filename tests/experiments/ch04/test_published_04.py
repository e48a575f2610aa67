"""The published table of chapter 4, and what the page says about it."""

from __future__ import annotations

import re
from itertools import pairwise

import nbformat
import pytest

from experiments.ch04.link_fits import fit_rows
from experiments.ch04.published import RANKS, TWO_NODES
from rankzero.facts import measured
from rankzero.facts.hardware import DGX_H100, PCIE5
from rankzero.facts.units import GB, GiB, MiB, ms, us
from solutions.ch04.all_reduce_algorithms import all_reduce_time
from solutions.ch04.bandwidth import bus_bandwidth
from tools.common import BOOK


def said(name: str) -> str:
    """A text cell of the page, on one line."""
    cells = nbformat.read(BOOK / "04-topology.ipynb", 4).cells
    return re.sub(r"\s+", " ", next(cell.source for cell in cells if cell["id"] == name))


def test_the_printed_bus_bandwidths_follow_from_the_printed_times():
    """Kills a mistyped number: the table agrees with itself within its rounding, to 0.01 GB/s or half a digit."""
    for row in TWO_NODES:
        bus = bus_bandwidth("all_reduce", row.size, row.microseconds * us, RANKS) / GB
        assert bus == pytest.approx(row.bus, rel=1e-4, abs=0.015)


def test_sizes_double_from_8_bytes_to_16_gib():
    assert (TWO_NODES[0].size, TWO_NODES[-1].size) == (8, 16 * GiB)
    assert all(large.size == 2 * small.size for small, large in pairwise(TWO_NODES))


def test_what_the_page_says_of_the_largest_size():
    last = TWO_NODES[-1]
    bound = all_reduce_time("ring", last.size, 2, DGX_H100.network_bandwidth)
    assert last.bus * GB > DGX_H100.gpu.nvlink.bandwidth > DGX_H100.network_bandwidth
    assert "more than a GPU's NVLink carries" in said("busbw-above-question")
    assert f"{DGX_H100.network_bandwidth / GB:g} GB/s" in said("busbw-above-close")
    assert bound == pytest.approx(last.size / (400 * GB))
    assert bound < last.microseconds * us


def test_rings_over_all_ports_would_take_longer_than_was_measured():
    """Kills the figure of a verdict in 4.6: rings of 16 push 2 * 15/16 * S out of each of two nodes."""
    assert 2 * 15 / 16 * 16 * GiB / (400 * GB) / ms == pytest.approx(80, rel=0.01)


def test_one_line_misses_the_middle_of_the_curve():
    """What the choice of 4.7 says: good at both ends, worst near 16 MiB, and too fast there."""
    fit = fit_rows([(row.size, row.microseconds * us) for row in TWO_NODES])
    assert fit.worst.size == 16 * MiB
    assert -0.5 < fit.worst.error < -0.4
    assert all(abs(row.error) < 0.3 for row in (fit.held_out[0], fit.held_out[-1]))


def test_one_line_is_enough_for_one_link():
    """What the page says of the copies: most are predicted closely, not far below the data sheet's rate."""
    fit = fit_rows(measured.copies("host to device, pinned"))
    assert fit.median_error < 0.03
    assert 0.8 < fit.bandwidth / PCIE5.bandwidth < 1
    assert f"below the {PCIE5.bandwidth / GB:g} GB/s of PCIe 5" in said("fit-close")
