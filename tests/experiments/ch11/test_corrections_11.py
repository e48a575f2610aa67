"""Chapter 11's corrections on speculation: each number shown is worked out here again, and none is typed."""

from __future__ import annotations

import inspect
import re

import pytest

from experiments.ch11 import corrections as corrections_11
from experiments.ch11.corrections import CONSTRAINT_CORRECTIONS, CORRECTIONS

#: A word of each claim, and what its correction must show: plain arithmetic, in the order of the page.
SHOWN = (
    ("3.36.", [f"{(1 - 0.8**6) / 0.2:.5f}", f"{(1 - 0.8**5) / 0.2:.5f} belongs to k = 4"]),
    ("one draft pass", ["Five passes", "make 4 tokens", "or EAGLE's head", "Medusa's heads guess several"]),
    ("70 %", [f"{(1 - 0.7**6) / 0.3 - 1:.2f} on average", f"{(1 - 0.7**6) / 0.3:.2f} tokens", f"{70 * 0.7**4:.1f} %"]),
    ("3.4 times", [f"{(1 - 0.8**6) / 0.2 / 1.25:.2f} times", "5 %"]),
    ("10 to 50", [f"{6 / 51:.2f}"]),
    ("one draft call", [f"{(1 - 0.8**6) / 0.2 / 1.5:.2f} times", f"not {(1 - 0.8**6) / 0.2 / 1.1:.2f}"]),
    ("perfect draft", [f"{9 * 50 / 130:.2f}, not {8 * 50 / 130:.2f}"]),
    ("Below 50 %", [f"{1.5 / 1.2:.2f} times", "best length is 2", f"{1.24 / 1.04:.2f} times"]),
    (
        "compute-bound",
        [f"c = 0.05 give {(1 - 0.8**5) / 0.2 / (0.2 + 256 * 5 * 3.35 / 989.4):.2f} times", "length is 0"],
    ),
    ("at random", ["(0.40, 0.34, 0.26, 0.00)", "off by 0.10"]),
    ("additional token", ["off by 0", f"{(1 - 0.8**5) / 0.2:.2f} of a pass", f"place of {(1 - 0.8**6) / 0.2:.2f}"]),
)
OWN = CORRECTIONS[: len(CORRECTIONS) - len(CONSTRAINT_CORRECTIONS)]


def text_of(correction) -> str:
    return f"{correction.right} {correction.because}"


def test_those_of_the_page_in_its_order():
    assert len(OWN) == len(SHOWN)
    assert all(key in one.claim for one, (key, _) in zip(OWN, SHOWN, strict=True))
    assert {one.chapter for one in CORRECTIONS} == {"11"}
    assert CORRECTIONS[len(OWN) :] == tuple(CONSTRAINT_CORRECTIONS)


@pytest.mark.parametrize("correction", OWN, ids=lambda correction: correction.claim[:30])
def test_says_all_in_short_sentences(correction):
    for part in (correction.claim, correction.right, correction.because, correction.source):
        assert part.strip() == part != ""
    assert all(sentence.endswith(".") for sentence in (correction.claim, correction.right, correction.because))


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_shows_the_right_numbers(place):
    text = text_of(OWN[place])
    assert [number for number in SHOWN[place][1] if number not in text] == []


def test_no_result_stands_in_the_source():
    """The results that the texts show, searched for outside the claims."""
    source = inspect.getsource(corrections_11)
    for one in OWN:
        source = source.replace(one.claim, "")
    results = ["3.68", "3.36", "1.94", "2.94", "16.8", "2.95", "0.12", "2.46", "3.35", "3.46", "3.08", "1.25", "1.19"]
    results += ["0.74", "0.40", "0.34", "0.26"]
    assert [r for r in results if re.search(rf"(?<![\d.,:]){re.escape(r)}(?![\d.]\d?)", source)] == []
