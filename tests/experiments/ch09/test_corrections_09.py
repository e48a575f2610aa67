"""Chapter 9's corrections: each number shown is worked out here again, and none is typed where it is computed."""

from __future__ import annotations

import inspect
import re

import pytest

from experiments.ch09 import corrections as corrections_09
from experiments.ch09.corrections import CORRECTIONS

TOKEN = 2 * 80 * 8 * 128 * 2

#: Words of each claim, and what its correction must show: plain arithmetic.
SHOWN = (
    ("2 L d_model", [f"{TOKEN:,} B", "8 times less", f"{2 * 80 * 8192 * 2 / 1e6:.3g} MB"]),
    ("2 GB", [f"{TOKEN * 2**15 / 1e9:.2f} GB", f"{100 * TOKEN * 2**15 / 1e9:,.0f} GB"]),
    (
        "10.24 GB",
        [f"{TOKEN * 2**15 / 1e9:.4f} GB", "is 10 GiB", f"{TOKEN * 4096 / 1e9:.3f} GB or 1.25 GiB", "320 KiB"],
    ),
    ("480 GB", ["357 of 4K, 178 of 8K, 44 of 32K, 11 of 128K", "1.28 GB"]),
    ("num_heads", ["320 KiB", "not 2.5 MiB"]),
    ("Qwen2-72B", ["keeps 2.5 MiB", "Qwen2-72B 320 KiB"]),
    ("TP 8", [f"{2 * 80 * 128 * 2 * 8192 / 2**30:g} GiB", "10.00 GiB"]),
    ("O(N²)", ["O(N²) with a cache and O(N³) without"]),
    ("dwarf", [f"{2 * 70_553_706_496 / 1e9:.1f} GB", "from 14 requests", "10.7 GB"]),
    ("doubles the capacity", ["20.4 to 38.2 %", "over 96 %", f"{100 * (1 - 100 / 256):.3g} %"]),
    ("oldest unused", ["only leaves", "all ancestors"]),
    ("90 % and more", ["82.5 %", f"{100 * 99 * 1000 / (100 * 1050):.3g} %", "83.3 %", f"{100 * 1000 / 1050:.3g} %"]),
)


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    claim, numbers = SHOWN[place]
    one = CORRECTIONS[place]
    assert claim in one.claim
    assert [number for number in numbers if number not in f"{one.right} {one.because}"] == []


def test_all_of_the_page():
    assert len(CORRECTIONS) == len(SHOWN)
    assert {one.chapter for one in CORRECTIONS} == {"09"}
    assert all(one.source for one in CORRECTIONS)


def test_what_the_claim_of_480_gb_divides():
    """375, 187.5, 46.875 and 11.7, rounded down."""
    assert [int(480e9 // (320e3 * 1000 * k)) for k in (4, 8, 32, 128)] == [375, 187, 46, 11]
    assert 480e9 / (320e3 * 32_000) == 46.875


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for outside the claims."""
    source = inspect.getsource(corrections_09)
    for one in CORRECTIONS:
        source = source.replace(one.claim, "")
    results = ["327,680", "2.62", "10.74", "1,074", "10.7374", "1.342", "1.25", "357", "178", "0.3125", "10.00"]
    results += ["141.1", "14 requests", "82.5", "94.3", "83.3", "95.2", "60.9", "2.5 MiB", "320 KiB"]
    assert [r for r in results if re.search(rf"(?<![\d.,:]){re.escape(r)}(?![\d.]\d?)", source)] == []
