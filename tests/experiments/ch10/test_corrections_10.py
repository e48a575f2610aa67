"""Chapter 10's corrections: each number shown is worked out here again, and none is typed where it is computed."""

from __future__ import annotations

import inspect
import re

import pytest

from experiments.ch10 import corrections as corrections_10
from experiments.ch10.corrections import CORRECTIONS

ROOFLINE = [(16060522496 + 131072 * 2048 * batch) / 3.35e12 * 1e3 for batch in (1, 64)]
POWERS = 100 * (1 - 256 * 257 / 2 / (1 + sum(2 ** (2 * k - 1) for k in range(1, 9))))

#: A word of each claim, and what its correction must show: plain arithmetic, in the order of the page.
SHOWN = (
    (
        "saves n launches",
        [f"{0.05 + 5 * 0.1:.3g} ms", f"{0.005 + 0.5:.4g} ms", f"{500 * 0.005 + 0.002:.4g} ms", "1.01 ms"],
    ),
    ("call replay()", ["copy the input"]),
    ("forbid random numbers", ["All three work"]),
    ("rarely uses graphs", ["capturable=True"]),
    ("exact size", ["35 sizes", f"{POWERS:.3g} %", "9 powers"]),
    ("40 % in one table", [f"{100 * 2.1 / 5.2:.0f} %", f"{100 * 2.1 / 7.3:.0f} %"]),
    ("45.2 ms at batch 64", [f"{ROOFLINE[0]:.3g} ms", f"{ROOFLINE[1]:.3g} ms"]),
    ("2 ms against 5 ms", [f"{100 * 2 / 7:.0f} %"]),
    ("stays serial", [f"{2 + 20 * 10 + 1} ms", f"{20 * 13} ms", f"{2 + 20 * 11} ms"]),
    ("async def", ["`await`"]),
    ("Overlap is free", ["1 of 301"]),
    ("made of sleeps", ["the timer"]),
)


def text_of(one) -> str:
    return f"{one.right} {one.because}"


def test_all_of_the_page_are_there():
    assert len(CORRECTIONS) == len(SHOWN)
    assert [word for one, (word, _) in zip(CORRECTIONS, SHOWN, strict=True) if word not in one.claim] == []
    assert all(one.chapter == "10" and one.source for one in CORRECTIONS)


@pytest.mark.parametrize("place", range(len(SHOWN)), ids=lambda place: SHOWN[place][0])
def test_shows_the_right_numbers(place):
    text = text_of(CORRECTIONS[place])
    assert [number for number in SHOWN[place][1] if number not in text] == []


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for outside the claims."""
    source = inspect.getsource(corrections_10)
    for one in CORRECTIONS:
        source = source.replace(one.claim, "")
    results = ["0.55", "0.505", "2.502", "1.01", "24.7", "2.59", "35", "4.87", "9.92", "203", "260", "222", "301", "29"]
    assert [r for r in results if re.search(rf"(?<![\d.,:]){re.escape(r)}(?![\d.]\d?)", source)] == []
