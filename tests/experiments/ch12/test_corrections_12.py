"""Chapter 12's corrections: each number shown is worked out here again, and none is typed."""

from __future__ import annotations

import inspect
import re

import pytest

from experiments.ch12 import corrections as corrections_12
from experiments.ch12.corrections import CORRECTIONS

#: A word of each claim, and what its correction must show: plain arithmetic, in the order of the page.
SHOWN = (
    ("two-dimensional", ["Four numbers", "475 over 100"]),
    ("clip fraction of 0.00", [f"clip fraction {0:.2f} forever"]),
    (
        "ten-step",
        [f"{1 + 0.99 * 0.4 - 0.8:.3f}, {0.99 * 0.5 - 0.4:.3f}, {1 + 0.99 * 0.9 - 0.8:.3f}", "1.17611", "0.221, 0.175"],
    ),
    ("(gamma lambda)^10", [f"{0.9405**10:.6f}", "11.3 steps"]),
    ("terminated or truncated", [f"then {1 - 50}, and should be {1 + 0.98 * 50 - 50:.0f}"]),
    ("at every step", [f"A is {1 + 0.9 * 9 - 0.5:.1f} instead of {1 - 0.5:.1f}"]),
    ("sample-efficient", [f"by {1.2**10:.1f}"]),
    ("bounds the ratio", [f"objective is {-5}"]),
    ("in a log", ["1.0 in the four-sample example, of which 0.5"]),
    ("trades bias", ["0.25", f"{(99**2 + 100**2) / 4 - 0.125:,.0f} in place of 0.125"]),
    ("least variance", [f"{(0.234 * 1 + 0.196 * 5) / 0.62:.3f} against V = 1.3", "1.78 against 2.05"]),
    ("low bias", [f"off by {1 / 6:.3f}", "off by 0.000"]),
)


def test_those_of_the_page_in_its_order():
    assert len(CORRECTIONS) == len(SHOWN)
    assert all(key in one.claim for one, (key, _) in zip(CORRECTIONS, SHOWN, strict=True))
    assert {one.chapter for one in CORRECTIONS} == {"12"}


@pytest.mark.parametrize("correction", CORRECTIONS, ids=lambda correction: correction.claim[:30])
def test_says_all_in_short_sentences(correction):
    for part in (correction.claim, correction.right, correction.because, correction.source):
        assert part.strip() == part != ""
    assert all(text.endswith(".") for text in (correction.claim, correction.right, correction.because))


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    text = f"{CORRECTIONS[place].right} {CORRECTIONS[place].because}"
    assert [number for number in SHOWN[place][1] if number not in text] == []


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for outside the claims."""
    source = inspect.getsource(corrections_12)
    for one in CORRECTIONS:
        source = source.replace(one.claim, "")
    results = ["0.596", "1.091", "1.17611", "0.221", "0.541487", "11.3", "-49", "8.6", "6.2", "4,950", "1.958", "0.167"]
    assert [r for r in results if re.search(rf"(?<![\d.,:]){re.escape(r)}(?![\d.]\d?)", source)] == []
